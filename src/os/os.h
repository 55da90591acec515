/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * os/os.h: what the library asks of the operating system: clocks, threads,
 * a word to sleep on, the number of CPUs. (Pages are in os/pages.h, polling
 * is a room of its own.)
 *
 * This is the contract; the files beside it keep it:
 *
 *	posix/		what every POSIX system can do
 *	linux/ freebsd/ darwin/
 *			where the system does it better
 *
 * dist/sources.txt takes one file for each part, by system. A new system
 * starts with all of posix/ and replaces what it can.
 *
 * No function here changes errno, except xtc__os_thread_join(), which may
 * sleep as long as it likes. None of them knows what a fiber is: one that
 * sleeps stops the whole thread.
 */
#ifndef XTC_OS_OS_H
#define XTC_OS_OS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Clocks, in nanoseconds. mono never goes back, and is the clock of every
 * deadline in the library; real is the time since 1970 (UTC). Both may be
 * called from a signal handler.
 */
int64_t xtc__os_mono(void);
int64_t xtc__os_real(void);

/*
 * Sleep on a word. wait() looks whether *w is still `expect` and sleeps if
 * so, in one step with respect to wake(): a wake() that comes after the
 * store it tells of is never missed. The deadline is absolute, by
 * xtc__os_mono(); INT64_MAX is for ever, anything not after now is a look
 * without a sleep.
 *
 * 0: woken, or the word differs, or for no reason at all (a signal, a wake
 * meant for an earlier user of the address): the caller looks at its
 * condition again. XTC_E_AGAIN: the deadline has passed, and it never comes
 * before that.
 *
 * wake() wakes up to n of those asleep on w, INT_MAX for all; the fallback
 * of posix/ may wake more. It only uses the address: the word may be gone
 * already, which is what lets the last user of a lock free it. It may be
 * called from a signal handler where os is linux, freebsd or darwin, not
 * with the fallback.
 */
int xtc__os_futex_wait(_Atomic uint32_t *w, uint32_t expect,
    int64_t deadline_ns);
void xtc__os_futex_wake(_Atomic uint32_t *w, int n);

/* How many CPUs this process may run on, at least 1. */
int xtc__os_cpus(void);

/*
 * How late the kernel may make the timers of the calling thread so that it
 * can serve several with one interrupt (Linux: 50 us unless told otherwise).
 * Returns the old value, to give back later, or -1 where there is no such
 * thing. ns <= 0 puts back what the thread started with.
 */
int64_t xtc__os_timer_slack_set(int64_t ns);

/*
 * A thread of the library's own. It starts with every signal blocked that
 * somebody may send: the handlers of the program run on the program's
 * threads, and not on the small stack of a fiber. Signals that the thread
 * brings on itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) stay
 * as they are, otherwise the kernel would kill the process without a word
 * and a stack overflow could not be reported.
 *
 * stack_bytes 0 is the system's default; anything else is rounded up to what
 * the system can give. Returns 0, XTC_E_RESOURCE (no more threads),
 * XTC_E_NOMEM or XTC_E_INVAL; nothing is left behind then.
 */
struct xtc__os_thread {
	pthread_t handle;
};

int xtc__os_thread_create(struct xtc__os_thread *t, void *(*fn)(void *),
    void *arg, size_t stack_bytes);
/* Wait for its end and give it back. 0, or XTC_E_INVAL for itself. */
int xtc__os_thread_join(struct xtc__os_thread *t);
/* Name the calling thread, for ps, gdb and perf; cut where too long. */
void xtc__os_thread_name(const char *name);

/* For loops that watch a word another CPU is about to change. */
#if defined(__x86_64__) || defined(__i386__)
#define XTC__OS_RELAX "pause"
#elif defined(__aarch64__)
/* yield is a no-op on most cores; isb waits about as long as pause. */
#define XTC__OS_RELAX "isb"
#else
#define XTC__OS_RELAX ""
#endif

static inline void
xtc__os_cpu_relax(void)
{
	__asm__ __volatile__(XTC__OS_RELAX ::: "memory");
}

/*
 * Failures on order, for tests. A place that can fail asks
 * xtc__os_fault("its name") first and behaves as if the kernel had answered
 * with the errno that comes back; 0 is "go on". The function is one for the
 * process and must be safe in any thread; NULL, as at the start, is none.
 * Not for paths where a relaxed load would be felt.
 */
typedef int xtc__os_fault_fn(const char *site);
extern _Atomic(xtc__os_fault_fn *) xtc__os_fault_hook;

static inline void
xtc__os_fault_set(xtc__os_fault_fn *fn)
{
	atomic_store_explicit(&xtc__os_fault_hook, fn, memory_order_release);
}

static inline int
xtc__os_fault(const char *site)
{
	/* acquire: with the hook come the tables that the test set up. */
	xtc__os_fault_fn *fn = atomic_load_explicit(&xtc__os_fault_hook,
	    memory_order_acquire);

	return fn == NULL ? 0 : fn(site);
}

#endif
