/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* poll.c: which backend a new poller gets. */
#define _POSIX_C_SOURCE 200809L

#include "poll/poll.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "xtc_base.h"

/* Once, however many loops an executor makes. */
static XTC__COLD void
poll_tell_impossible(const char *name)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	char text[256];
	int saved = errno;
	size_t i;
	int n;

	/* relaxed: nothing else is ordered by it. */
	if (atomic_flag_test_and_set_explicit(&told, memory_order_relaxed))
		return;
	n = snprintf(text, sizeof(text),
	    "xtc: no I/O backend \"%.40s\" here; there may be:", name);
	for (i = 0; xtc__poll_backends[i] != NULL; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %.20s",
		    xtc__poll_backends[i]->name);
	text[n++] = '\n';
	/* In one piece; nobody to tell if it fails. */
	(void)!write(STDERR_FILENO, text, (size_t)n);
	errno = saved;
}

static int
poll_create_named(const char *name, struct xtc__poller **out)
{
	size_t i;
	int rc = XTC_E_NOSYS;

	for (i = 0; xtc__poll_backends[i] != NULL; i++)
		if (strcmp(xtc__poll_backends[i]->name, name) == 0)
			rc = xtc__poll_backends[i]->create(out);
	if (rc == XTC_E_NOSYS)
		poll_tell_impossible(name);
	return rc;
}

/* Only for want of system support: out of descriptors is so for all. */
static int
poll_create_first(struct xtc__poller **out)
{
	size_t i;
	int rc = XTC_E_NOSYS;

	for (i = 0; rc == XTC_E_NOSYS && xtc__poll_backends[i] != NULL; i++)
		rc = xtc__poll_backends[i]->create(out);
	return rc;
}

int
xtc__poll_create(const char *name, struct xtc__poller **out)
{
	*out = NULL;
	if (name == NULL)
		name = getenv("XTC_IO_BACKEND");
	if (name == NULL || *name == '\0')
		return poll_create_first(out);
	return poll_create_named(name, out);
}
