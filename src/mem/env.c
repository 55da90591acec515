/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * env.c: envelopes too large for a pool.
 */
#include <stdint.h>

#include "base/attr.h"
#include "base/bits.h"
#include "mem/env.h"
#include "mem/mem.h"

XTC__COLD struct xtc__env *
xtc__env_get_large(size_t bytes)
{
	struct xtc__env *e;
	size_t total;

	if (bytes > UINT32_MAX ||
	    xtc__bits_add(bytes, sizeof(*e), &total) != 0) {
		xtc__mem_failed(bytes, XTC_ALLOC_ENVELOPE);
		return NULL;
	}
	e = xtc__mem_raw_alloc(total, XTC_ALLOC_ENVELOPE);
	if (e == NULL)
		return NULL;
	e->next = NULL;
	e->bytes = (uint32_t)bytes;
	e->pool = XTC__ENV_ON_HEAP;
	e->kind = 0;
	e->magic = XTC__MAGIC_ENV;
	return e;
}

XTC__COLD void
xtc__env_put_large(struct xtc__env *e)
{
	xtc__mem_raw_free(e);
}
