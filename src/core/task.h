/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * task.h: the fiber, the one schedulable thing. A process is a fiber with a
 * pid and an open mailbox.
 */
#ifndef XTC_CORE_TASK_H
#define XTC_CORE_TASK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "xtc_async.h"
#include "xtc_proc.h"
#include "arch/san.h"
#include "base/list.h"
#include "core/park.h"
#include "os/qlock.h"

struct xtc_loop;
struct xtc__env;

#define XTC__NAME_BYTES	32

/* The box word of a mailbox: generation, closed, sent. */
#define XTC__BOX_GEN_SHIFT	24
#define XTC__BOX_GEN		(UINT64_C(1) << XTC__BOX_GEN_SHIFT)
#define XTC__BOX_CLOSED		(UINT64_C(1) << 23)
#define XTC__BOX_SENT		(XTC__BOX_CLOSED - 1)

/*
 * What travels through a loop's inbox: a fiber to run, or something that
 * the loop does on its own stack.
 */
struct xtc__inode {
	struct xtc__inode *next;
	/* NULL: it is a fiber */
	void (*run)(struct xtc_loop *, struct xtc__inode *);
};

/*
 * The mailbox of a process; the code is in proc/mailbox.c.
 * (a) anybody; (o) the process; (s) set at spawn
 */
struct xtc__mbox {
	_Atomic uint64_t box;		/* (a) generation, closed, sent */
	_Atomic uintptr_t top;		/* (a) newest, 0 or WAITING */
	_Atomic uint64_t ticket;	/* (a) epoch of the receiver's wait */
	_Atomic uint64_t kill_reason;	/* (a) generation, set, reason */
	_Atomic uint32_t cap;		/* (a) */
	_Atomic uint32_t peak;		/* (a) */
	_Atomic uint32_t mark;		/* (a) depth of the watermark, 0 */
	_Atomic uint32_t taken;		/* (a) written by the process */
	_Atomic uint32_t saved;		/* (a) written by the process */
	struct xtc__env *first;		/* (o) taken, oldest first */
	struct xtc__env *last;		/* (o) */
	_Atomic uint64_t recv_total;	/* (a) written by the process */
	_Atomic uint64_t drop_total;	/* (a) */
};

struct xtc__watermark {
	struct xtc__inode node;
	_Atomic uint32_t queued;	/* the node is on its way */
	_Atomic uint32_t above;		/* told since it was last below */
	uint64_t pid;
	void (*fn)(xtc_pid_t self, size_t depth, size_t cap, void *user);
	void *user;
};

/* Who waits for a fiber's end: on the waiter's stack. */
struct xtc__joiner {
	struct xtc__list link;
	struct xtc__park *rec;
	uint64_t epoch;
};

enum xtc__join_state {
	XTC__JOIN_NONE,		/* no handle was given out */
	XTC__JOIN_LIVE,		/* it runs */
	XTC__JOIN_DONE,		/* it has ended; the result is here */
	XTC__JOIN_TAKEN		/* the result was collected */
};

struct xtc__atexit;

/*
 * The reason of a kill, with the lower 31 bits of the generation it is for,
 * so that a late killer cannot speak for the next incarnation.
 */
#define XTC__REASON_SET		(UINT64_C(1) << 32)
#define XTC__REASON_GEN_SHIFT	33

struct xtc_task {
	struct xtc__park park;		/* first: a task is its record */
	struct xtc__inode run;		/* in a run queue or an inbox */
	void *sp;			/* (o) while it does not run */
	uint64_t pid;			/* 0: not a process */
	struct xtc__mbox mbox;

	void (*proc_fn)(void *);	/* its entry; one of the two */
	intptr_t (*async_fn)(void *);
	void *arg;
	struct xtc__atexit *at_exit;	/* last registered first */
	void (*on_exit)(struct xtc_task *);	/* proc: close the mailbox */
	int reason;			/* of its exit */
	uint8_t migratable;
	uint8_t exiting;
	uint8_t in_match;		/* (o) a match function runs */
	uint8_t stack_class;
	_Atomic uint8_t alive;		/* between spawn and exit */

	_Atomic uint32_t refs;		/* its stack, its handle */
	struct xtc__qlock join_lock;
	uint8_t join;			/* enum xtc__join_state */
	uint8_t aborted;		/* killed, or xtc_exit_self */
	uint8_t collected;
	uint32_t n_joiners;
	intptr_t result;
	struct xtc__list joiners;

	struct xtc__watermark watermark;
	char name[XTC__NAME_BYTES];
	uint32_t slot;			/* index in the table, for good */
	uint32_t has_slot;
	void *stack_low;
	void *stack_top;
	struct xtc__san san;
};

/* What a spawn asks for. */
struct xtc__task_args {
	void (*proc_fn)(void *);
	intptr_t (*async_fn)(void *);
	void *arg;
	const char *name;
	size_t stack_bytes;
	int joinable;
	int migratable;		/* counts only on a loop of an executor */
};

/* A free task with a stack, fields filled in, not yet announced. */
int	xtc__task_new(struct xtc_loop *, const struct xtc__task_args *,
	    struct xtc_task **);
/* Announce it (fiber-create) and queue it on its loop. */
void	xtc__task_start(struct xtc_task *);
/* End the running fiber. */
_Noreturn void xtc__task_exit(struct xtc_task *, int reason, int aborted);
/* End it as killed, with the killer's reason. */
_Noreturn void xtc__task_die(struct xtc_task *);
/* Drop a reference: the last one makes the task free again. */
void	xtc__task_put(struct xtc_task *);
/* The running fiber, or NULL. */
struct xtc_task *xtc__task_self(void);
/* The task of a slot, or NULL: there never was one. */
struct xtc_task *xtc__task_at(uint32_t slot);
/* Slots so far. */
uint32_t xtc__task_slots(void);

/* Default stack. */
size_t	xtc__task_stack_size(void);
int	xtc__task_set_stack_size(size_t);

/* Free tasks of a loop, by stack class. */
#define XTC__STACK_CLASSES	17	/* 16 KiB << class */
struct xtc__task_cache {
	struct xtc_task *head[XTC__STACK_CLASSES];
	unsigned n[XTC__STACK_CLASSES];
};
void	xtc__task_cache_flush(struct xtc__task_cache *);

#endif
