/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * regs_impl.h: who waits for what: the half of a backend that is the same in
 * all of them.
 *
 * A kernel interface knows one registration for an fd, or one for each
 * direction; poll.h promises any number of waiters. So each fd has a list of
 * waiters, oldest first, and the backend keeps the kernel informed of the
 * union of their interests (`want`). When the kernel reports an fd,
 * xtc__regs_report() finds the waiters it concerns and takes them off. Those
 * for whom the caller's array has no room go to the ready list and are
 * returned first at the next wait; that list is also where a registration
 * goes whose answer is known at once.
 *
 * want may hold bits that nobody waits for any more, after a del(): working
 * it out again would mean walking the list at every timeout. The next report
 * corrects it.
 */
#ifndef XTC_POLL_REGS_IMPL_H
#define XTC_POLL_REGS_IMPL_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "poll/poll.h"

/* What the kernel reports, beyond poll.h: the peer's sending side is shut. */
#define XTC__REGS_PEER_SHUT	16u

#define XTC__REGS_INTERESTS \
	((uint32_t)(XTC__POLL_READABLE | XTC__POLL_WRITABLE | XTC__POLL_HUP))

struct xtc__regs_fd;

struct xtc__regs_waiter {
	struct xtc__list in_fd;
	struct xtc__list in_ready;	/* linked if revents is not 0 */
	uint64_t token;
	struct xtc__regs_fd *rec;
	uint32_t interest;
	uint32_t revents;
};

/* All that is known of one fd number. Never moves, lives as the poller. */
struct xtc__regs_fd {
	struct xtc__list waiters;
	struct xtc__list in_dirty;	/* the backend's: kernel to be told */
	uint32_t n_pending;		/* waiters without revents */
	uint32_t want;			/* at least the union of interests */
	uint32_t gen;			/* of the last add */
	uint32_t armed;			/* the backend's: what the kernel has */
	uint32_t serial;		/* the backend's; 0: not registered */
	int fd;
};

struct xtc__regs_page;
struct xtc__regs_chunk;

struct xtc__regs {
	struct xtc__poller *poller;	/* its n_waiters is kept here */
	struct xtc__regs_page **pages;	/* by fd; NULL where none was used */
	size_t n_pages;
	struct xtc__list ready;
	struct xtc__list free;		/* waiters, by in_fd */
	struct xtc__regs_chunk *chunks;
};

void xtc__regs_init(struct xtc__regs *r, struct xtc__poller *p);
void xtc__regs_fini(struct xtc__regs *r);

/* The record of fd, or NULL if it never had one. */
struct xtc__regs_fd *xtc__regs_find(const struct xtc__regs *r, int fd);

/*
 * The first half of add(): checks the arguments, finds or makes the record
 * and a waiter, which is on no list yet. XTC_OK, or a code of add().
 */
int xtc__regs_prepare(struct xtc__regs *r, int fd, uint32_t interest,
    struct xtc__regs_fd **rec, struct xtc__regs_waiter **w);
/* The second half: the waiter waits; revents not 0: its answer is known. */
void xtc__regs_commit(struct xtc__regs *r, struct xtc__regs_waiter *w,
    uint64_t token, uint32_t revents);
/* Or back out: the waiter is on no list. */
void xtc__regs_release(struct xtc__regs *r, struct xtc__regs_waiter *w);

/* Is fd a descriptor at this moment? */
int xtc__regs_is_open(int fd);

/* del() and forget() of poll.h, without the kernel's part. */
int xtc__regs_del(struct xtc__regs *r, int fd, uint64_t token);
int xtc__regs_forget(struct xtc__regs *r, int fd, uint64_t *tokens, int max);

/* What one call of wait() has written so far. */
struct xtc__regs_out {
	struct xtc__poll_event *ev;
	int n;
	int max;
};

/* Return what is ready already, as far as there is room. */
void xtc__regs_take_ready(struct xtc__regs *r, struct xtc__regs_out *out);

/*
 * The kernel has reported fd. Returns how many waiters it concerned; want is
 * exact after it.
 */
int xtc__regs_report(struct xtc__regs *r, struct xtc__regs_fd *rec,
    uint32_t reported, struct xtc__regs_out *out);

/* The file behind rec is gone: every waiter gets an ERR event. */
void xtc__regs_orphan(struct xtc__regs *r, struct xtc__regs_fd *rec);

/* The record after rec in fd order, or the first one; NULL: no more. */
struct xtc__regs_fd *xtc__regs_next(const struct xtc__regs *r,
    const struct xtc__regs_fd *rec);

#endif
