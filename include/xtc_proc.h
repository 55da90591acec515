/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_proc.h: processes: fibers with an identity and a mailbox.
 *
 *	static void
 *	server(void *arg)
 *	{
 *		void *msg;
 *		size_t size;
 *
 *		while (xtc_recv(&msg, &size, -1) == XTC_OK) {
 *			handle(msg, size);
 *			xtc_free(msg);
 *		}
 *	}
 *
 * A message is copied once, into memory that the receiver then owns and
 * gives back with xtc_free(). Messages of one sender arrive in order.
 *
 *	function		parks	alloc	called from
 *	xtc_proc_spawn		no	yes	any thread
 *	xtc_self		no	no	anywhere
 *	xtc_send		no	yes	any thread
 *	xtc_recv, xtc_recv_match	yes	no	process
 *	xtc_proc_sleep		yes	no	fiber
 *	xtc_exit_self		does not return	no	fiber
 *	xtc_exit_pid		no	no	any thread
 *	xtc_proc_at_exit	no	yes	fiber
 *	xtc_proc_critical_*	no	no	fiber
 *	xtc_proc_mailbox_stats	no	no	any thread
 */
#ifndef XTC_PROC_H
#define XTC_PROC_H

#include "xtc_base.h"
#include "xtc_loop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A process id: never used again in the life of the program. */
typedef struct xtc_pid {
	uint64_t id;
} xtc_pid_t;

#ifdef __cplusplus
#define XTC_PID_NONE (xtc_pid_t())
#else
#define XTC_PID_NONE ((xtc_pid_t){ 0 })
#endif

static inline int
xtc_pid_eq(xtc_pid_t a, xtc_pid_t b)
{
	return (a.id == b.id);
}

static inline int
xtc_pid_is_none(xtc_pid_t p)
{
	return (p.id == 0);
}

typedef struct xtc_proc_opts {
	uint32_t size;		/* sizeof(xtc_proc_opts_t), or 0 */
	uint32_t mailbox_cap;	/* messages; 0: 4096; at most 4194303 */
	const char *name;	/* copied, 31 bytes at most; NULL: none */
	size_t stack_size;	/* bytes; 0: xtc_stack_size() */
	int migratable;		/* an executor may move it */
	int trap_exit;		/* exits of linked processes are messages */
	int link_to_parent;	/* share the fate of the spawner */
	uint32_t mailbox_watermark_pct;	/* 1 to 100; 0: none */
	/*
	 * Called on the loop's own stack when the mailbox has filled up to
	 * that percentage of its capacity; must not wait.
	 */
	void (*mailbox_watermark_fn)(xtc_pid_t self, size_t depth,
	    size_t cap, void *user);
	void *mailbox_watermark_user;
} xtc_proc_opts_t;

#define XTC_PROC_OPTS_DEFAULT \
	{ (uint32_t)sizeof(xtc_proc_opts_t), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Start a process. opts and out may be NULL. XTC_E_INVAL: loop or fn is
 * NULL, or an option makes no sense. XTC_E_RANGE: stack_size, mailbox_cap
 * or the percentage is out of range. XTC_E_NOSYS: an option that this
 * version does not have (trap_exit, link_to_parent). XTC_E_NOMEM,
 * XTC_E_RESOURCE: no memory, or no mappings, for its stack.
 */
XTC_API int xtc_proc_spawn(xtc_loop_t *loop, void (*fn)(void *), void *arg,
    const xtc_proc_opts_t *opts, xtc_pid_t *out);

/* The calling process, or XTC_PID_NONE. */
XTC_API xtc_pid_t xtc_self(void);

/*
 * Copy a message into the mailbox of a process. Never blocks. data may be
 * NULL if bytes is 0. XTC_E_INVAL: no such process (any more), or data is
 * NULL. XTC_E_AGAIN: its mailbox is full. XTC_E_NOMEM: no memory.
 */
XTC_API int xtc_send(xtc_pid_t to, const void *data, size_t bytes);

/*
 * Take the oldest message; it is 16-byte aligned and goes back with
 * xtc_free(). A message that is there is taken without looking at the
 * timeout. size may be NULL. XTC_E_AGAIN: none came in time. XTC_E_INVAL:
 * out is NULL, or the caller is no process.
 * XTC_E_NOMEM: no memory for the timeout's timer; nothing was taken.
 */
XTC_API int xtc_recv(void **out, size_t *size, int64_t timeout_ns);

/*
 * The same for the oldest message that match() likes (returns non-zero);
 * the others stay, in their order. match must not call into the library.
 */
XTC_API int xtc_recv_match(int (*match)(const void *data, size_t bytes,
    void *user), void *user, void **out, size_t *size, int64_t timeout_ns);

/*
 * Sleep at least ns nanoseconds; 0 or less yields. XTC_E_INVAL: not in a
 * fiber. XTC_E_NOMEM: no memory for the timer; it did not sleep.
 */
XTC_API int xtc_proc_sleep(int64_t ns);

/*
 * End the calling fiber: at-exit functions run, last first, and what it
 * holds is released. Returns only with XTC_E_INVAL: not in a fiber, or in
 * an at-exit function.
 */
XTC_API int xtc_exit_self(int reason);

/*
 * Kill a process: a wait of its does not return, at-exit functions run, it
 * ends. One that never waits dies at its next wait, yield or yield check.
 * The first reason counts. XTC_E_INVAL: no such process (any more).
 */
XTC_API int xtc_exit_pid(xtc_pid_t pid, int reason);

/*
 * Call fn(arg) when the calling fiber ends, however it ends, on its own
 * stack; fn may wait and cannot be killed. XTC_E_INVAL: fn is NULL or not
 * in a fiber. XTC_E_NOMEM.
 */
XTC_API int xtc_proc_at_exit(void (*fn)(void *), void *arg);

/*
 * Between enter and leave a kill is deferred; they nest. XTC_E_INVAL: not
 * in a fiber, or leave without enter. A deferred kill is carried out in the
 * outermost leave.
 */
XTC_API int xtc_proc_critical_enter(void);
XTC_API int xtc_proc_critical_leave(void);

typedef struct xtc_mailbox_stats {
	size_t depth;		/* messages in it now, saved ones too */
	size_t saved;		/* passed over by xtc_recv_match() */
	size_t peak;		/* the highest depth so far */
	size_t cap;
	uint64_t recv_total;	/* messages received */
	uint64_t drop_total;	/* sends refused because it was full */
} xtc_mailbox_stats_t;

/* XTC_E_INVAL: out is NULL, or no such process (any more). */
XTC_API int xtc_proc_mailbox_stats(xtc_pid_t pid, xtc_mailbox_stats_t *out);

#ifdef __cplusplus
}
#endif
#endif
