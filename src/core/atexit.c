/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* atexit.c: a stack of functions a fiber, its nodes from a pool. */
#include "core/atexit.h"

#include <stddef.h>

#include "xtc_base.h"
#include "core/task.h"
#include "mem/pool.h"

struct xtc__atexit {
	void *pool_link;
	struct xtc__atexit *below;
	void (*fn)(void *);
	void *arg;
};

int
xtc__atexit_add(struct xtc_task *t, void (*fn)(void *), void *arg)
{
	struct xtc__atexit *a = xtc__pool_get(xtc__mags_self(),
	    XTC__POOL_ATEXIT);

	if (a == NULL)
		return XTC_E_NOMEM;
	a->fn = fn;
	a->arg = arg;
	a->below = t->at_exit;
	t->at_exit = a;
	return XTC_OK;
}

void
xtc__atexit_run(struct xtc_task *t)
{
	struct xtc__atexit *a;
	void (*fn)(void *);
	void *arg;

	while ((a = t->at_exit) != NULL) {
		t->at_exit = a->below;
		fn = a->fn;
		arg = a->arg;
		xtc__pool_put(xtc__mags_self(), XTC__POOL_ATEXIT, a);
		fn(arg);
	}
}
