/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * posix/thread.c: the threads of os.h by pthreads.
 *
 * The new thread inherits its signal mask from the one that makes it, so the
 * mask is changed here for the length of the call: there is no moment at
 * which the new thread could take a signal.
 */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "os/os.h"
#include "xtc_base.h"

static int
thread_error(int err)
{
	switch (err) {
	case 0:
		return XTC_OK;
	case EAGAIN:
		return XTC_E_RESOURCE;
	case ENOMEM:
		return XTC_E_NOMEM;
	default:
		return XTC_E_INVAL;
	}
}

/* Everything but what a thread brings on itself. */
static void
thread_mask(sigset_t *set)
{
	static const int own[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS
	};
	size_t i;

	(void)sigfillset(set);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		(void)sigdelset(set, own[i]);
}

/* At least what a thread needs, and whole pages. */
static int
thread_stack(pthread_attr_t *attr, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	long least = sysconf(_SC_THREAD_STACK_MIN);

	if (least > 0 && bytes < (size_t)least)
		bytes = (size_t)least;
	if (bytes > SIZE_MAX - page)
		return EINVAL;
	bytes = (bytes + page - 1) / page * page;
	return pthread_attr_setstacksize(attr, bytes);
}

static int
thread_start(struct xtc__os_thread *t, void *(*fn)(void *), void *arg,
    size_t stack_bytes)
{
	pthread_attr_t attr;
	sigset_t blocked, old;
	int err;

	err = pthread_attr_init(&attr);
	if (err != 0)
		return err;
	if (stack_bytes != 0)
		err = thread_stack(&attr, stack_bytes);
	if (err == 0)
		err = xtc__os_fault("os.thread_create");
	if (err == 0) {
		thread_mask(&blocked);
		(void)pthread_sigmask(SIG_SETMASK, &blocked, &old);
		err = pthread_create(&t->handle, &attr, fn, arg);
		(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	(void)pthread_attr_destroy(&attr);
	return err;
}

int
xtc__os_thread_create(struct xtc__os_thread *t, void *(*fn)(void *),
    void *arg, size_t stack_bytes)
{
	int saved = errno;
	int err = thread_start(t, fn, arg, stack_bytes);

	errno = saved;
	return thread_error(err);
}

int
xtc__os_thread_join(struct xtc__os_thread *t)
{
	return thread_error(pthread_join(t->handle, NULL));
}
