/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * poll/poll.h: a poller is what a loop sleeps in: until a descriptor is
 * ready, a time is over, or another thread wakes it.
 *
 * A backend supplies a struct xtc__poll_ops, and objects that begin with a
 * struct xtc__poller. This comment is what every backend promises; the tests
 * in t_poll.c hold each of them to it, and the simulator's own as well.
 *
 * Threads. Everything but wake() is called by one thread at a time, the one
 * that runs the loop. wake() is called by anybody, signal handlers included.
 *
 * wait(p, timeout_ns, ev, max) sleeps until there is an event, a wake, or the
 * time is over; timeout_ns < 0 is for ever, 0 a look. It returns the number
 * of events written to ev, at most max (at least 1). 0 is also the answer to
 * a wake, to a signal, and now and then to nothing at all: the caller looks
 * at its clock. A timeout never ends early, and is not rounded to
 * milliseconds where the system can do better. No fd is starved: whatever
 * does not fit is kept for the next call, first come, first served.
 *
 * wake(p) ends the wait that is going on, or else the next one. It is safe in
 * signal handlers and leaves errno alone. Each call is counted exactly once,
 * in p->woken, by the wait that consumed it, however many came together. A
 * caller that is owed wakes can so wait until all have come: after its wake
 * was counted, a call of wake() does not touch p, and destroy() may follow.
 *
 * add(p, fd, interest, token, gen) registers one waiter for one event: an
 * event takes the registration away. Any number of waiters may be registered
 * on one fd, for the same thing or for different ones; an event goes to all
 * that it concerns, oldest first. Readiness is a level: if fd is ready
 * already, the event comes with the next wait. token is the caller's and only
 * comes back; it names the wait (slot and epoch), never an address, because
 * the waiter may be gone when it comes. It is unique among the waiters of the
 * fd.
 *
 * interest is a set of READABLE, WRITABLE and HUP, and may be empty; an event
 * says which of them came true (with kqueue, which tells of each direction by
 * itself, perhaps only one that did). ERR, and HUP when both directions are
 * closed, come unasked, as with poll(2). HUP that was asked for also tells
 * that the peer has shut down its sending side, where the system can say so.
 * A descriptor that the system cannot wait for (a regular file) is always
 * ready.
 *	XTC_OK
 *	XTC_E_INVAL	no such open fd, or a bit that is none
 *	XTC_E_NOMEM	no memory
 *	XTC_E_RESOURCE	the system's limit on registrations is reached
 * and nothing is registered unless it is XTC_OK.
 *
 * del(p, fd, token) ends a registration. After it, no event with that token
 * comes. XTC_OK, or XTC_E_INVAL if there is none, because its event has been
 * returned. Time grows with the number of older waiters on the fd. It makes
 * no system call, so that a wait which ended otherwise costs nothing here;
 * the price is one wait that returns 0, if the fd gets ready later.
 *
 * forget(p, fd, tokens, max) ends all registrations of fd, as before a
 * close: it writes up to max tokens and returns how many; if it is max, there
 * may be more, and the caller calls again. It must be called while the fd is
 * still open.
 *
 * Descriptors that are closed without forget(). As long as nobody waits on
 * the fd, nothing is wrong: the next add() on the number starts afresh. If
 * somebody waits, the kernel may never say so, and the waiter stays until
 * del(). When the number is used again, events of the new file are not
 * mistaken for the old: a backend that finds out (all do with add() of
 * another gen; epoll also with any add(); poll also if it waited in between)
 * ends the old registrations with an ERR event. What it cannot find out, it
 * cannot help: waiters of old and new both get the new one's events.
 *
 * gen, if not 0, is a number that whoever opened the fd chose for it and that
 * no other use of the same fd number has. By it a backend can tell that the
 * registration in the kernel is still that of the same open file, keep it
 * from one wait to the next, and save the system call: a server's read, wait,
 * read, wait then makes none. Those who give a gen should forget() before
 * they close; if they do not, it is found out, at a price.
 *
 * n_waiters is the number of registrations, for a loop that is busy and wants
 * to skip the look.
 *
 * create(out): XTC_OK; XTC_E_NOSYS: the system does not have this backend or
 * forbids it; XTC_E_RESOURCE: out of descriptors; XTC_E_NOMEM. Nothing is
 * left behind when it fails. Descriptors are closed on exec. destroy() drops
 * all registrations.
 */
#ifndef XTC_POLL_POLL_H
#define XTC_POLL_POLL_H

#include <stddef.h>
#include <stdint.h>

/* The values are those of the public XTC_IO_*. */
enum {
	XTC__POLL_READABLE = 1,
	XTC__POLL_WRITABLE = 2,
	XTC__POLL_HUP = 4,
	XTC__POLL_ERR = 8
};

struct xtc__poll_event {
	uint64_t token;
	uint32_t revents;
	int fd;
};

struct xtc__poller;

struct xtc__poll_ops {
	const char *name;
	int (*create)(struct xtc__poller **out);
	void (*destroy)(struct xtc__poller *p);
	int (*wait)(struct xtc__poller *p, int64_t timeout_ns,
	    struct xtc__poll_event *ev, int max);
	void (*wake)(struct xtc__poller *p);
	int (*add)(struct xtc__poller *p, int fd, uint32_t interest,
	    uint64_t token, uint32_t gen);
	int (*del)(struct xtc__poller *p, int fd, uint64_t token);
	int (*forget)(struct xtc__poller *p, int fd, uint64_t *tokens,
	    int max);
};

/* First in every backend's object. Both counts are the backend's to write. */
struct xtc__poller {
	const struct xtc__poll_ops *ops;
	uint64_t woken;
	size_t n_waiters;
};

/*
 * The backends of this system, best first, ended by NULL; a file of its own
 * for each system.
 */
extern const struct xtc__poll_ops *const xtc__poll_backends[];

/*
 * Make a poller of the backend of that name. NULL: the one that the
 * environment's XTC_IO_BACKEND names, or else the first that works. A name
 * that is unknown or whose backend cannot be had is XTC_E_NOSYS, and is told
 * on stderr, once a process.
 */
int xtc__poll_create(const char *name, struct xtc__poller **out);

/* NULL is nothing to do. */
static inline void
xtc__poll_destroy(struct xtc__poller *p)
{
	if (p != NULL)
		p->ops->destroy(p);
}

static inline int
xtc__poll_wait(struct xtc__poller *p, int64_t timeout_ns,
    struct xtc__poll_event *ev, int max)
{
	return p->ops->wait(p, timeout_ns, ev, max);
}

static inline void
xtc__poll_wake(struct xtc__poller *p)
{
	p->ops->wake(p);
}

static inline int
xtc__poll_add(struct xtc__poller *p, int fd, uint32_t interest,
    uint64_t token)
{
	return p->ops->add(p, fd, interest, token, 0);
}

static inline int
xtc__poll_add_kept(struct xtc__poller *p, int fd, uint32_t interest,
    uint64_t token, uint32_t gen)
{
	return p->ops->add(p, fd, interest, token, gen);
}

static inline int
xtc__poll_del(struct xtc__poller *p, int fd, uint64_t token)
{
	return p->ops->del(p, fd, token);
}

static inline int
xtc__poll_forget(struct xtc__poller *p, int fd, uint64_t *tokens, int max)
{
	return p->ops->forget(p, fd, tokens, max);
}

static inline int
xtc__poll_has_fds(const struct xtc__poller *p)
{
	return p->n_waiters != 0;
}

#endif
