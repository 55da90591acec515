/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* darwin/self.c: a thread's name; timers have no slack to set here. */
#include <pthread.h>

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
	(void)pthread_setname_np(name);
}
