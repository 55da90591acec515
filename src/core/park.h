/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * park.h: the park record, through which everything that waits waits.
 * The theory is on top of park.c.
 */
#ifndef XTC_CORE_PARK_H
#define XTC_CORE_PARK_H

#include <stdatomic.h>
#include <stdint.h>

#include "xtc_kinds.h"
#include "base/list.h"

struct xtc__park;
struct xtc_loop;
struct xtc_task;
struct xtc_timer;

/*
 * The state word: epoch in the upper 56 bits, then the bits below. While
 * its fiber runs the state is RUNNING, or still CLAIMED from the last wait:
 * to a claimer the two are the same.
 */
#define XTC__PARK_RUNNING	0u
#define XTC__PARK_ARMED		1u
#define XTC__PARK_PARKED	2u
#define XTC__PARK_CLAIMED	3u
#define XTC__PARK_STATE		3u
#define XTC__PARK_CAUSE_SHIFT	2
#define XTC__PARK_CAUSE		(3u << XTC__PARK_CAUSE_SHIFT)
#define XTC__PARK_KILL		(1u << 4)	/* somebody has killed it */
#define XTC__PARK_MASKED	(1u << 5)	/* ... but not this wait */
#define XTC__PARK_EPOCH_SHIFT	8

/* Something held that must be let go when its holder ends. */
struct xtc__held {
	struct xtc__list link;
	/* called by the dying holder, after the node was unlinked */
	void (*owner_died)(struct xtc__held *, struct xtc__park *);
};

/* What is waited for, for a person: its name, and who holds it. */
struct xtc__waited {
	const char *name;
	struct xtc__park *(*holder)(uint64_t object);	/* or NULL */
};

/*
 * One a fiber and one a waiting thread; never unmapped, and the word's
 * epoch goes on when the memory serves the next fiber.
 *
 * (a) atomic, anybody; (o) the owner; (w) written by the owner before the
 * word says ARMED, read by whoever has claimed
 */
struct xtc__park {
	_Atomic uint64_t word;			/* (a) */
	_Atomic(struct xtc_loop *) loop;	/* (a) NULL: a thread */
	uint64_t object;			/* (w) waited for */
	const struct xtc__waited *waited;	/* (w) or NULL */
	uint8_t why;				/* (w) enum xtc_why */
	uint8_t no_wait;			/* (o) inside a callback */
	_Atomic uint32_t go;			/* (a) a thread's futex */
	_Atomic uint64_t waker;			/* (a) waker.c */
	_Atomic uint64_t waker_epoch;		/* (a) waker.c */
	uint32_t critical;			/* (o) kills are deferred */
	uint32_t is_thread;			/* (o) */
	struct xtc__list held;			/* (o) of struct xtc__held */
};

enum xtc__claim {
	XTC__CLAIM_STALE,	/* that wait is over: no effect */
	XTC__CLAIM_EARLY,	/* claimed before it left the CPU: done */
	XTC__CLAIM_OWNED	/* claimed while parked: now wake it */
};

/* Where a woken fiber is queued. */
enum xtc__wake_how {
	XTC__WAKE_NEXT,		/* it runs next, if this loop is its own */
	XTC__WAKE_LAST,		/* at the end of the queue */
	XTC__WAKE_INBOX		/* through the inbox: signal handlers */
};

/*
 * A wait in progress: on the stack of whoever waits. A primitive calls
 * init; then, as often as it must wait, prepare, publishes its ticket,
 * looks at its condition again, and either cancel or commit, and takes back
 * what it published; then fini. A killed one calls xtc__wait_die() when
 * nothing of it is published any more.
 */
struct xtc__wait {
	struct xtc__park *rec;
	struct xtc_timer *timer;	/* NULL: no timeout, or a thread */
	int64_t timeout_ns;		/* as the caller gave it */
	int64_t deadline_ns;		/* INT64_MAX: none */
	uint8_t timer_kind;
	const struct xtc__waited *waited;	/* a primitive may set it */
};

/*
 * XTC_E_INVAL: this context must not wait. XTC_E_NOMEM: no memory for the
 * timer (or for a thread's record). timeout_ns is not 0.
 */
int	xtc__wait_init(struct xtc__wait *, int64_t timeout_ns);
/*
 * Before a second prepare: a fiber that came back on another loop has given
 * its timer away. XTC_E_NOMEM: no memory for another.
 */
int	xtc__wait_again(struct xtc__wait *);
/* The epoch to publish, or 0: killed, and nothing has changed. */
uint64_t xtc__wait_prepare(struct xtc__wait *, unsigned why, uint64_t object);
/* After prepare, instead of commit: 0, or the cause of the claim. */
unsigned xtc__wait_cancel(struct xtc__wait *);
/* Leave the CPU until claimed; the cause. */
unsigned xtc__wait_commit(struct xtc__wait *);
void	xtc__wait_fini(struct xtc__wait *);
/* End the calling fiber as killed (after fini). */
_Noreturn void xtc__wait_die(struct xtc__wait *);
/* Has the calling fiber been killed, and may it be told now? */
int	xtc__park_killed(struct xtc__park *);

/* The caller's record: its fiber's or its thread's; NULL: no memory. */
struct xtc__park *xtc__park_self(void);
/* Who wakes, for the tracer: NULL is the loop, or a thread without one. */
struct xtc__park *xtc__park_waker(void);

enum xtc__claim xtc__park_claim(struct xtc__park *, uint64_t epoch,
	    unsigned cause);
/* After an OWNED claim: make it run. The record is not touched after. */
void	xtc__park_wake(struct xtc__park *, unsigned cause,
	    struct xtc__park *waker, enum xtc__wake_how);
/* claim, and wake if that is due. 1 if the claim had an effect. */
int	xtc__park_unpark(struct xtc__park *, uint64_t epoch, unsigned cause,
	    enum xtc__wake_how);
/*
 * Kill whoever is incarnation `inc` of the word *inc_word (its upper 40
 * bits); inc_word NULL: whoever is there. 0, or -1: that one is gone.
 */
int	xtc__park_kill(struct xtc__park *, const _Atomic uint64_t *inc_word,
	    uint64_t inc);
/* A new incarnation begins; born_killed: it dies before its first step. */
void	xtc__park_reset(struct xtc__park *, int born_killed);

void	xtc__held_push(struct xtc__park *, struct xtc__held *);
void	xtc__held_remove(struct xtc__held *);
/* The record's owner ends: let go of all it holds. */
void	xtc__held_release_all(struct xtc__park *);

#endif
