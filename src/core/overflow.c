/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * overflow.c: the last words of a fiber whose stack was too small.
 *
 * The fault is in a guard page, so there is no stack left to run a handler
 * on: each thread that runs a loop gets a signal stack. The handler writes
 * one line, with nothing but write(2), puts the default action back and
 * returns; the instruction faults again, and the program dies as it would
 * have, with a core if that is wanted. A fault anywhere else goes straight
 * to the default action. A program (or a sanitizer) that handles SIGSEGV
 * itself is left alone.
 */
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#define __EXTENSIONS__ 1
#include "core/overflow.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "core/loop.h"
#include "core/task.h"
#include "os/pages.h"

#define OVERFLOW_STACK_BYTES	((size_t)32 << 10)

static pthread_once_t overflow_once = PTHREAD_ONCE_INIT;
static size_t overflow_page;

size_t
xtc__overflow_stack_bytes(void)
{
#ifdef _SC_SIGSTKSZ
	long least = sysconf(_SC_SIGSTKSZ);

	if (least > (long)OVERFLOW_STACK_BYTES)
		return (size_t)least;
#endif
	return OVERFLOW_STACK_BYTES;
}

/* Did this fault hit the guard below the fiber's stack? */
static int
overflow_is_guard(const struct xtc_task *t, const void *at)
{
	uintptr_t low = (uintptr_t)t->stack_low, addr = (uintptr_t)at;

	return addr < low && addr >= low - overflow_page;
}

/* snprintf of integers and strings allocates nothing and locks nothing. */
static void
overflow_tell(const struct xtc_loop *loop, const struct xtc_task *t)
{
	char text[256];
	int n;

	n = snprintf(text, sizeof(text), "libxtc: stack overflow in %s "
	    "\"%s\", pid %llu, fiber %p, on loop %d: its stack has %zu KiB "
	    "(stack_size in its options, or xtc_set_stack_size)\n",
	    t->pid != 0 ? "process" : "fiber", t->name,
	    (unsigned long long)t->pid, (const void *)t, loop->index,
	    (size_t)16 << t->stack_class);
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		return;
}

static void
overflow_handler(int sig, siginfo_t *info, void *context)
{
	struct xtc_loop *loop = xtc__loop_self();
	struct sigaction plain;

	(void)context;
	if (loop != NULL && loop->cur != NULL &&
	    overflow_is_guard(loop->cur, info->si_addr))
		overflow_tell(loop, loop->cur);
	memset(&plain, 0, sizeof(plain));
	plain.sa_handler = SIG_DFL;
	(void)sigaction(sig, &plain, NULL);
	/* sent by kill(2), it would not come again by itself */
	if (info->si_code <= 0)
		(void)raise(sig);
}

/* Only where nobody else has. */
static void
overflow_install(int sig)
{
	struct sigaction now, ours;

	if (sigaction(sig, NULL, &now) != 0 ||
	    (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)
		return;
	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = overflow_handler;
	ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
	(void)sigemptyset(&ours.sa_mask);
	(void)sigaction(sig, &ours, NULL);
}

static void
overflow_init(void)
{
	overflow_page = xtc__pages_size();
	overflow_install(SIGSEGV);
	overflow_install(SIGBUS);
}

void
xtc__overflow_enter(struct xtc_loop *loop)
{
	stack_t now, ours;

	(void)pthread_once(&overflow_once, overflow_init);
	loop->gave_sigstack = 0;
	if (sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
		return;
	memset(&ours, 0, sizeof(ours));
	ours.ss_sp = loop->sigstack;
	ours.ss_size = xtc__overflow_stack_bytes();
	loop->gave_sigstack = sigaltstack(&ours, NULL) == 0;
}

void
xtc__overflow_leave(struct xtc_loop *loop)
{
	stack_t none;

	if (!loop->gave_sigstack)
		return;
	memset(&none, 0, sizeof(none));
	none.ss_flags = SS_DISABLE;
	(void)sigaltstack(&none, NULL);
}
