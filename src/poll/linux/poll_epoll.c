/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * poll_epoll.c: the poller on epoll(7).
 *
 * The hard problem is that epoll knows open files, not fd numbers. It drops a
 * registration when the last descriptor of the file is closed, without a
 * word; and if a copy of the descriptor lives on (dup, fork), it keeps the
 * registration under a number that means another file by now, where nobody
 * can remove it. So nothing here relies on what was registered before:
 *
 * A wait without a gen costs one epoll_ctl: EPOLL_CTL_MOD with EPOLLONESHOT,
 * which the event disarms. ENOENT says that the number was used again: the
 * waiters of the old file get their ERR and the new file is added.
 *
 * With a gen the number can be trusted as long as the gen is the same, and
 * the registration stays armed (level-triggered) after an event. The next
 * add() then needs no system call if the kernel is armed for it still. If
 * instead the event is reported again while nobody waits, that is an
 * unclaimed report, and only then is it taken out. A server that reads what
 * it was woken for and waits again makes no epoll_ctl at all.
 *
 * Each registration carries a serial number with the fd. A report whose
 * serial is not that of the record comes from a registration that cannot be
 * reached any more. EPOLLONESHOT has silenced it; one that was kept armed
 * would be reported for ever, and the only way to get rid of it is a new
 * epoll instance (epoll_rebuild).
 *
 *	serial	armed	the kernel has
 *	0	0	nothing, as far as we know
 *	s	0	it, disarmed by its report
 *	s	bits	it, will report the bits; ERR is always among them
 *
 * Waiters that a report did not concern are armed again at the start of the
 * next wait (the dirty list), so that one call serves them and those who came
 * since.
 *
 * Time: epoll_pwait2, nanoseconds, from Linux 5.11. Where it is missing or
 * forbidden, a timerfd in the set, edge-triggered: setting it is all it
 * takes, and one that fires after the wait it was set for is not looked at.
 *
 * Wakes: an eventfd; its value is the number of wakes.
 *
 * Cost of a turn: one epoll_wait; one epoll_ctl a wait without gen; one read
 * a wake (or more that came together).
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "arch/san.h"
#include "base/assert.h"
#include "mem/mem.h"
#include "os/os.h"
#include "poll/backends_impl.h"
#include "poll/poll.h"
#include "poll/regs_impl.h"
#include "poll/sleep_impl.h"

/* The number is the same on every processor. */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

#define EPOLL_BATCH 128

/* In epoll_data: fd below, above it the serial, on top whether it is kept. */
#define EPOLL_SERIAL_SHIFT 32
#define EPOLL_SERIAL_MASK UINT32_C(0x7fffffff)
#define EPOLL_KEPT (UINT64_C(1) << 63)
/* No serial is 0, so these two are no fd's. */
#define EPOLL_DATA_WAKE UINT64_C(1)
#define EPOLL_DATA_TIMER UINT64_C(2)

struct poll_epoll {
	struct xtc__poller base;
	int epfd;
	int wakefd;
	int timerfd;		/* -1: the kernel has epoll_pwait2 */
	uint32_t serial;	/* the last one given */
	int unreachable;	/* a report came from what cannot be removed */
	struct xtc__list dirty;	/* records to arm before the next wait */
	struct xtc__regs regs;
	struct epoll_event batch[EPOLL_BATCH];
};

/* The kernel's own timespec: not the C library's, on 32 bits. */
struct epoll_time {
	int64_t sec;
	int64_t nsec;
};

static struct poll_epoll *
epoll_of(struct xtc__poller *p)
{
	return (struct poll_epoll *)p;
}

static int
epoll_error(int err)
{
	switch (err) {
	case EMFILE:
	case ENFILE:
	case ENOSPC:
		return XTC_E_RESOURCE;
	case ENOMEM:
		return XTC_E_NOMEM;
	case ENOSYS:
		return XTC_E_NOSYS;
	default:
		return XTC_E_INVAL;
	}
}

/* 0 or an errno, which is left as it was. */
static int
epoll_control(struct poll_epoll *e, int op, int fd, uint32_t events,
    uint64_t data)
{
	struct epoll_event ev = { .events = events, .data.u64 = data };
	int saved = errno;
	int err = xtc__os_fault("poll.epoll_ctl");

	if (err == 0 && epoll_ctl(e->epfd, op, fd, &ev) == -1)
		err = errno;
	errno = saved;
	return err;
}

static uint32_t
epoll_events(uint32_t want)
{
	uint32_t events = 0;

	if (want & XTC__POLL_READABLE)
		events |= EPOLLIN;
	if (want & XTC__POLL_WRITABLE)
		events |= EPOLLOUT;
	if (want & XTC__POLL_HUP)
		events |= EPOLLRDHUP;
	return events;
}

static uint32_t
epoll_reported(uint32_t events)
{
	uint32_t reported = 0;

	if (events & EPOLLIN)
		reported |= XTC__POLL_READABLE;
	if (events & EPOLLOUT)
		reported |= XTC__POLL_WRITABLE;
	if (events & EPOLLHUP)
		reported |= XTC__POLL_HUP;
	if (events & EPOLLERR)
		reported |= XTC__POLL_ERR;
	if (events & EPOLLRDHUP)
		reported |= XTC__REGS_PEER_SHUT;
	return reported;
}

/* Tell the kernel what rec wants; 0 or an errno. */
static int
epoll_tell(struct poll_epoll *e, int op, struct xtc__regs_fd *rec,
    uint32_t want)
{
	uint32_t events = epoll_events(want);
	uint64_t data = (uint32_t)rec->fd;
	int err;

	if (op == EPOLL_CTL_ADD) {
		e->serial = (e->serial + 1) & EPOLL_SERIAL_MASK;
		if (e->serial == 0)
			e->serial = 1;
		rec->serial = e->serial;
	}
	data |= (uint64_t)rec->serial << EPOLL_SERIAL_SHIFT;
	if (rec->gen != 0)
		data |= EPOLL_KEPT;
	else
		events |= EPOLLONESHOT;
	err = epoll_control(e, op, rec->fd, events, data);
	rec->armed = err == 0 ? want | XTC__POLL_ERR : 0;
	return err;
}

/* As the kernel has nothing under this number that is ours. */
static void
epoll_lost(struct poll_epoll *e, struct xtc__regs_fd *rec)
{
	rec->serial = 0;
	rec->armed = 0;
	xtc__regs_orphan(&e->regs, rec);
}

/*
 * Arm rec for what it wants and `interest` on top. 0 or an errno; EPERM: the
 * file cannot be waited for.
 */
static int
epoll_arm(struct poll_epoll *e, struct xtc__regs_fd *rec, uint32_t interest)
{
	int err;

	if (rec->serial != 0) {
		err = epoll_tell(e, EPOLL_CTL_MOD, rec,
		    rec->want | interest);
		/* EPERM: the number is another file's, of the other kind. */
		if (err != ENOENT && err != EPERM && err != EBADF)
			return err;
		epoll_lost(e, rec);
		if (err == EBADF)
			return err;
	}
	err = epoll_tell(e, EPOLL_CTL_ADD, rec, rec->want | interest);
	/* A file that was here before, under a number it has got back. */
	if (err == EEXIST)
		err = epoll_tell(e, EPOLL_CTL_MOD, rec, rec->want | interest);
	if (err != 0)
		rec->serial = 0;
	return err;
}

static int
poll_epoll_add(struct xtc__poller *p, int fd, uint32_t interest,
    uint64_t token, uint32_t gen)
{
	struct poll_epoll *e = epoll_of(p);
	struct xtc__regs_fd *rec;
	struct xtc__regs_waiter *w;
	uint32_t need = interest | XTC__POLL_ERR;
	uint32_t revents = 0;
	int err = 0;
	int rc = xtc__regs_prepare(&e->regs, fd, interest, &rec, &w);

	if (rc != XTC_OK)
		return rc;
	if (gen == 0 || rec->gen != gen || (rec->armed & need) != need) {
		if (gen != 0 && rec->gen != 0 && rec->gen != gen)
			epoll_lost(e, rec);
		rec->gen = gen;
		err = epoll_arm(e, rec, interest);
	}
	if (err == EPERM) {
		revents = interest &
		    (XTC__POLL_READABLE | XTC__POLL_WRITABLE);
	} else if (err != 0) {
		xtc__regs_release(&e->regs, w);
		return epoll_error(err);
	}
	xtc__regs_commit(&e->regs, w, token, revents);
	return XTC_OK;
}

static int
poll_epoll_del(struct xtc__poller *p, int fd, uint64_t token)
{
	return xtc__regs_del(&epoll_of(p)->regs, fd, token);
}

static int
poll_epoll_forget(struct xtc__poller *p, int fd, uint64_t *tokens, int max)
{
	struct poll_epoll *e = epoll_of(p);
	struct xtc__regs_fd *rec = xtc__regs_find(&e->regs, fd);

	if (rec != NULL && rec->serial != 0) {
		/* It may be closed already; then there is nothing to remove. */
		(void)epoll_control(e, EPOLL_CTL_DEL, fd, 0, 0);
		rec->serial = 0;
		rec->armed = 0;
	}
	return xtc__regs_forget(&e->regs, fd, tokens, max);
}

/* A kept registration has reported what nobody waits for. */
static void
epoll_unclaimed(struct poll_epoll *e, struct xtc__regs_fd *rec)
{
	int err;

	if (rec->n_pending != 0) {
		err = epoll_tell(e, EPOLL_CTL_MOD, rec, rec->want);
	} else {
		err = epoll_control(e, EPOLL_CTL_DEL, rec->fd, 0, 0);
		rec->serial = 0;
		rec->armed = 0;
	}
	/* Closed, but a copy lives: the next report of it has no serial. */
	if (err != 0)
		epoll_lost(e, rec);
}

static void
epoll_report(struct poll_epoll *e, const struct epoll_event *ev,
    struct xtc__regs_out *out)
{
	uint64_t data = ev->data.u64;
	int kept = (data & EPOLL_KEPT) != 0;
	struct xtc__regs_fd *rec = xtc__regs_find(&e->regs,
	    (int)(uint32_t)data);
	int matched;

	if (rec == NULL || rec->serial !=
	    ((data >> EPOLL_SERIAL_SHIFT) & EPOLL_SERIAL_MASK)) {
		e->unreachable |= kept;
		return;
	}
	matched = xtc__regs_report(&e->regs, rec, epoll_reported(ev->events),
	    out);
	if (kept) {
		if (matched == 0)
			epoll_unclaimed(e, rec);
		return;
	}
	rec->armed = 0;
	if (rec->n_pending != 0 && !xtc__list_is_linked(&rec->in_dirty))
		xtc__list_add_last(&e->dirty, &rec->in_dirty);
}

/* Arm what the last wait has disarmed and somebody waits for still. */
static void
epoll_arm_dirty(struct poll_epoll *e)
{
	struct xtc__list *l;

	while ((l = xtc__list_pop_first(&e->dirty)) != NULL) {
		struct xtc__regs_fd *rec = XTC__LIST_ENTRY(l,
		    struct xtc__regs_fd, in_dirty);

		if (rec->n_pending != 0 && rec->armed == 0 &&
		    epoll_tell(e, EPOLL_CTL_MOD, rec, rec->want) != 0)
			epoll_lost(e, rec);
	}
}

/* The two descriptors of our own. 0 or an errno. */
static int
epoll_add_own(struct poll_epoll *e)
{
	int err = epoll_control(e, EPOLL_CTL_ADD, e->wakefd, EPOLLIN,
	    EPOLL_DATA_WAKE);

	if (err == 0 && e->timerfd != -1)
		err = epoll_control(e, EPOLL_CTL_ADD, e->timerfd,
		    EPOLLIN | EPOLLET, EPOLL_DATA_TIMER);
	return err;
}

/*
 * Something kept is registered that nobody can remove. Start again with an
 * empty instance; if there is no descriptor for it, at the next report.
 */
static void
epoll_rebuild(struct poll_epoll *e)
{
	struct xtc__regs_fd *rec = NULL;
	int saved = errno;
	int old = e->epfd;

	e->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (e->epfd != -1 && epoll_add_own(e) == 0) {
		(void)close(old);
		while ((rec = xtc__regs_next(&e->regs, rec)) != NULL) {
			rec->serial = 0;
			rec->armed = 0;
			if (rec->n_pending != 0 && epoll_arm(e, rec, 0) != 0)
				epoll_lost(e, rec);
		}
	} else {
		if (e->epfd != -1)
			(void)close(e->epfd);
		e->epfd = old;
	}
	e->unreachable = 0;
	errno = saved;
}

static int
epoll_pwait2_call(struct poll_epoll *e, int max, int64_t timeout_ns)
{
	struct epoll_time ts = {
		timeout_ns / 1000000000, timeout_ns % 1000000000
	};

	return (int)syscall(SYS_epoll_pwait2, e->epfd, e->batch, max, &ts,
	    NULL, (size_t)0);
}

/* An xtc__sleep_fn by epoll_pwait2. */
static int
epoll_sleep(void *arg, int64_t timeout_ns)
{
	struct poll_epoll *e = arg;

	if (timeout_ns <= 0)
		return epoll_wait(e->epfd, e->batch, EPOLL_BATCH,
		    timeout_ns < 0 ? -1 : 0);
	return epoll_pwait2_call(e, EPOLL_BATCH, timeout_ns);
}

/* An xtc__sleep_fn by timerfd. */
static int
epoll_sleep_timerfd(void *arg, int64_t timeout_ns)
{
	struct poll_epoll *e = arg;
	struct itimerspec its = { 0 };
	int n;

	if (timeout_ns > 0) {
		its.it_value.tv_sec = (time_t)(timeout_ns / 1000000000);
		its.it_value.tv_nsec = (long)(timeout_ns % 1000000000);
		if (timerfd_settime(e->timerfd, 0, &its, NULL) == -1)
			return -1;
	}
	n = epoll_wait(e->epfd, e->batch, EPOLL_BATCH,
	    timeout_ns == 0 ? 0 : -1);
	return n == 1 && e->batch[0].data.u64 == EPOLL_DATA_TIMER ? 0 : n;
}

static void
epoll_take_wakes(struct poll_epoll *e)
{
	uint64_t wakes = 0;

	if (read(e->wakefd, &wakes, sizeof(wakes)) == sizeof(wakes))
		e->base.woken += wakes;
}

static int
poll_epoll_wait(struct xtc__poller *p, int64_t timeout_ns,
    struct xtc__poll_event *ev, int max)
{
	struct poll_epoll *e = epoll_of(p);
	struct xtc__regs_out out = { ev, 0, max };
	int saved = errno;
	int i, n;

	XTC_DEBUG_ASSERT(max >= 1);
	epoll_arm_dirty(e);
	xtc__regs_take_ready(&e->regs, &out);
	if (out.n != 0)
		timeout_ns = 0;
	n = xtc__sleep(e->timerfd == -1 ? epoll_sleep : epoll_sleep_timerfd,
	    e, timeout_ns);
	XTC_ASSERT(n >= 0 || errno == EINTR);
	for (i = 0; i < n; i++) {
		if (e->batch[i].data.u64 == EPOLL_DATA_WAKE)
			epoll_take_wakes(e);
		else if (e->batch[i].data.u64 != EPOLL_DATA_TIMER)
			epoll_report(e, &e->batch[i], &out);
	}
	if (XTC__UNLIKELY(e->unreachable))
		epoll_rebuild(e);
	errno = saved;
	return out.n;
}

static void
poll_epoll_wake(struct xtc__poller *p)
{
	uint64_t one = 1;
	int saved = errno;

	/* It cannot fail before 2^64 wakes have come together. */
	(void)!write(epoll_of(p)->wakefd, &one, sizeof(one));
	/* Nothing of p from here on. */
	errno = saved;
}

static void
epoll_close(struct poll_epoll *e)
{
	if (e->timerfd != -1)
		(void)close(e->timerfd);
	if (e->wakefd != -1)
		(void)close(e->wakefd);
	if (e->epfd != -1)
		(void)close(e->epfd);
	xtc__regs_fini(&e->regs);
	xtc__mem_raw_free(e);
}

static void
poll_epoll_destroy(struct xtc__poller *p)
{
	int saved = errno;

	epoll_close(epoll_of(p));
	errno = saved;
}

/* Has this kernel epoll_pwait2, and are we allowed to call it? */
static int
epoll_has_pwait2(struct poll_epoll *e)
{
	int err = xtc__os_fault("poll.epoll_pwait2");

	return err == 0 && !XTC__SAN_VALGRIND() &&
	    epoll_pwait2_call(e, 1, 0) >= 0;
}

/* 0 or an errno. */
static int
epoll_open(struct poll_epoll *e)
{
	int err = xtc__os_fault("poll.epoll_create");

	if (err == 0 && (e->epfd = epoll_create1(EPOLL_CLOEXEC)) == -1)
		err = errno;
	if (err == 0)
		err = xtc__os_fault("poll.eventfd");
	if (err == 0 &&
	    (e->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) == -1)
		err = errno;
	if (err == 0 && !epoll_has_pwait2(e)) {
		err = xtc__os_fault("poll.timerfd");
		if (err == 0 && (e->timerfd = timerfd_create(CLOCK_MONOTONIC,
		    TFD_CLOEXEC | TFD_NONBLOCK)) == -1)
			err = errno;
	}
	if (err == 0)
		err = epoll_add_own(e);
	return err;
}

static int
poll_epoll_create(struct xtc__poller **out)
{
	struct poll_epoll *e = xtc__mem_raw_zalloc(sizeof(*e),
	    XTC_ALLOC_SLAB);
	int saved = errno;
	int err;

	if (e == NULL)
		return XTC_E_NOMEM;
	e->base.ops = &xtc__poll_epoll_ops;
	e->epfd = e->wakefd = e->timerfd = -1;
	xtc__list_init(&e->dirty);
	xtc__regs_init(&e->regs, &e->base);
	err = epoll_open(e);
	if (err != 0)
		epoll_close(e);
	else
		*out = &e->base;
	errno = saved;
	return err == 0 ? XTC_OK : epoll_error(err);
}

const struct xtc__poll_ops xtc__poll_epoll_ops = {
	.name = "epoll",
	.create = poll_epoll_create,
	.destroy = poll_epoll_destroy,
	.wait = poll_epoll_wait,
	.wake = poll_epoll_wake,
	.add = poll_epoll_add,
	.del = poll_epoll_del,
	.forget = poll_epoll_forget
};
