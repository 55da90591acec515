/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* posix/self.c: what a thread says of itself, where there is no way to. */
#include "os/os.h"

int64_t
xtc__os_timer_slack_set(int64_t ns)
{
	(void)ns;
	return -1;
}

void
xtc__os_thread_name(const char *name)
{
	(void)name;
}
