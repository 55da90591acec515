/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * loop.h: the loop as the rest of the library sees it. How it schedules is
 * told on top of loop.c.
 */
#ifndef XTC_CORE_LOOP_H
#define XTC_CORE_LOOP_H

#include <stdatomic.h>
#include <stdint.h>

#include "xtc_loop.h"
#include "core/deque.h"
#include "core/task.h"
#include "core/wheel.h"
#include "mem/pool.h"
#include "poll/poll.h"

/* What is done for a fiber after it has left its stack. */
enum xtc__post {
	XTC__POST_NONE,
	XTC__POST_PARK,
	XTC__POST_YIELD,
	XTC__POST_EXIT
};

/*
 * What a simulator puts in place of the world: clock and chooser here, the
 * poller through poll.h.
 */
struct xtc__seams {
	int64_t (*now)(struct xtc__seams *);
	/* which of n runnable fibers is next: 0 to n - 1 */
	unsigned (*choose)(struct xtc__seams *, unsigned n);
};

/* Tags in the inbox word, below the pointer. */
#define XTC__INBOX_SLEEPING	1u
#define XTC__INBOX_STOP		2u
#define XTC__INBOX_TAGS		3u

/*
 * (a) anybody; all else belongs to the thread that runs the loop.
 */
struct xtc_loop {
	/* what every switch touches */
	struct xtc_task *cur;		/* NULL: the loop itself runs */
	struct xtc_task *next_up;	/* just woken: runs next */
	struct xtc__inode *q_head;
	struct xtc__inode *q_tail;
	struct xtc_exec *exec;		/* NULL: it stands alone */
	struct xtc_task *left;		/* whose post-switch action is due */
	uint8_t post;			/* enum xtc__post */
	int budget;			/* switches before the next visit */
	int next_left;			/* next_up runs before the queue's */
	int64_t on_ns;			/* when cur came on, with budget_ns */
	struct xtc__seams *seams;	/* NULL: the real world */
	void *sp;			/* of the loop's own stack */

	_Alignas(64) _Atomic uintptr_t inbox;	/* (a) newest | tags */
	_Atomic int64_t alive_in;	/* (a) spawned by other threads */

	_Alignas(64) _Atomic int64_t alive;	/* alive_in to be added */
	int64_t now_ns;			/* the cached clock */
	int64_t polled_ns;		/* when the poller was last asked */
	_Atomic int64_t user_timers;	/* pending; others read it */
	struct xtc__park *thread_rec;	/* of the thread that runs it */
	struct xtc__poller *poller;
	uint64_t owed;			/* poller wakes yet to come */
	uint64_t awoken;		/* ... that came */
	_Atomic int64_t budget_ns;	/* (a) xtc_yield_set_budget */
	_Atomic uint64_t due_count;	/* (a) written by the loop */
	int budget_full;		/* switches of a whole budget */
	int exec_i;			/* its place in exec */
	unsigned turn;			/* whose turn it is, of two queues */
	int spin;			/* the last short sleep was woken */
	int cpus;			/* spinning is no use with one */
	int64_t watch_ns;		/* the next short sleep of a watcher */
	_Atomic uint8_t hopeful;	/* asleep, but something may come */
	uint8_t told;			/* of a deadlock, since it last ran */
	uint8_t saw_one;		/* somebody has one fiber waiting */
	uint8_t is_watcher;
	int looks;			/* a watcher's, before it gives up */
	uint32_t *seen;			/* the others' run counts, last look */
	uint64_t *collected;		/* the others' naps */
	_Atomic uint64_t naps;		/* (a) written by the loop */
	_Atomic uint64_t runs;		/* (a) written by the loop */
	_Atomic uint64_t steals;	/* (a) written by the loop */
	int index;			/* the tracer's loop index */
	_Atomic uint32_t running;	/* (a) a thread runs it */
	uint8_t finishing;		/* xtc_loop_fini is at work */
	uint8_t gave_sigstack;		/* overflow.c */
	void *sigstack;
	int64_t slack_ns;		/* of the thread, to restore */
	struct xtc__san san;		/* of the loop's own stack */
	struct xtc__task_cache tasks;
	struct xtc__mags mags;
	struct xtc__wheel wheel;
	struct xtc__qlock over_lock;
	_Atomic uint32_t over_n;	/* (a) */
	struct xtc__inode *over_head;	/* under over_lock: what the ring */
	struct xtc__inode *over_tail;	/* had no room for */
	struct xtc__deque ring;		/* fibers that may migrate */
};

/* Count up or down what only the loop writes and others read. */
static inline void
xtc__loop_count(_Atomic int64_t *n, int64_t by)
{
	/* Relaxed: one writer; readers that need more have it by a sleep. */
	atomic_store_explicit(n, atomic_load_explicit(n,
	    memory_order_relaxed) + by, memory_order_relaxed);
}

/* The loop this thread runs, or NULL. Never cached across a switch. */
struct xtc_loop *xtc__loop_self(void);

#ifdef XTC_SIM
/* The simulated thread that goes on runs this loop. */
void	xtc__loop_self_set(struct xtc_loop *);
#endif

/* The time, read now. */
int64_t	xtc__loop_clock(struct xtc_loop *);

/* Wake the loop if it sleeps. From any thread. */
void	xtc__loop_kick(struct xtc_loop *);
/* Queue a fiber one owns on its loop. From any thread. */
void	xtc__loop_ready(struct xtc_task *, enum xtc__wake_how);
/* Push onto a loop's inbox and wake it if it sleeps. From any thread. */
void	xtc__loop_post(struct xtc_loop *, struct xtc__inode *);

/* The running fiber leaves the CPU; the loop it comes back on. */
struct xtc_loop *xtc__loop_switch(struct xtc_loop *, struct xtc_task *,
	    enum xtc__post);
/* First of all in whatever runs next. */
void	xtc__loop_post_switch(struct xtc_loop *);

/* timer.c */
struct xtc_timer;
struct xtc_timer *xtc__timer_get(struct xtc_loop *);
void	xtc__timer_put(struct xtc_timer *);
/* Arm a wait's timer on the loop the caller runs on. */
void	xtc__timer_arm_wait(struct xtc_timer *, struct xtc_loop *,
	    struct xtc__park *, uint64_t epoch, int64_t deadline_ns,
	    unsigned kind);
/*
 * Take a wait's timer back. 1: it is the caller's again; 0: it is another
 * loop's to free.
 */
int	xtc__timer_disarm(struct xtc_timer *, struct xtc_loop *);
void	xtc__timer_run(struct xtc_loop *);
void	xtc__timer_drop_all(struct xtc_loop *);

#endif
