/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* linux/self.c: the calling thread's timer slack and name, by prctl(2). */
#define _GNU_SOURCE 1

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/os.h"

/* The kernel keeps 15 bytes and a NUL. */
#define SELF_NAME_BYTES 16

/*
 * By syscall(2), which returns a long; the C library's prctl() would cut the
 * slack to an int.
 */
int64_t
xtc__os_timer_slack_set(int64_t ns)
{
	int saved = errno;
	long old = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);
	/* 0 is the kernel's word for what the thread started with. */
	long slack = ns <= 0 ? 0 : ns > LONG_MAX ? LONG_MAX : (long)ns;

	if (old >= 0 &&
	    syscall(SYS_prctl, PR_SET_TIMERSLACK, slack, 0L, 0L, 0L) == -1)
		old = -1;
	errno = saved;
	return old < 0 ? -1 : (int64_t)old;
}

void
xtc__os_thread_name(const char *name)
{
	char cut[SELF_NAME_BYTES];
	size_t len = strnlen(name, sizeof(cut) - 1);
	int saved = errno;

	memcpy(cut, name, len);
	cut[len] = '\0';
	(void)prctl(PR_SET_NAME, cut, 0L, 0L, 0L);
	errno = saved;
}
