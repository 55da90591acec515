/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * poll_kqueue.c: the poller on kqueue(2): the BSDs and macOS.
 *
 * A kqueue has one event for each fd and direction, and drops them when the
 * fd is closed, so nothing stale is ever reported. Reads and writes are
 * one-shot events: one kevent(2) a wait, and del() leaves them to fire once
 * more.
 *
 * HUP alone has no event of its own. It is an EVFILT_READ that is not
 * one-shot and asks for more bytes than there can be (NOTE_LOWAT): what is
 * left to fire it is the end of the stream. Where that is not heeded (pipes),
 * EV_CLEAR makes data fire it once and not for ever. Such an event cannot be
 * turned into the one-shot kind by adding it again, because the flags of an
 * event stay as they were; it is deleted first.
 *
 *	armed		the kernel has
 *	READABLE	EVFILT_READ, one-shot
 *	HUP		EVFILT_READ for the end only
 *	WRITABLE	EVFILT_WRITE, one-shot
 *
 * After a close the bits may be wrong; they only decide what is deleted
 * before an addition, and deleting what is not there does no harm.
 *
 * Wakes: a pipe. EVFILT_USER would be cheaper but does not count.
 */
#include <sys/types.h>
#include <sys/event.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "base/assert.h"
#include "mem/mem.h"
#include "os/os.h"
#include "poll/backends_impl.h"
#include "poll/poll.h"
#include "poll/pollbits_impl.h"
#include "poll/regs_impl.h"
#include "poll/sleep_impl.h"
#include "poll/wake_impl.h"

#define KQUEUE_BATCH 128

struct poll_kqueue {
	struct xtc__poller base;
	int kq;
	struct xtc__wake wake;
	struct xtc__list dirty;	/* records to arm before the next wait */
	struct xtc__regs regs;
	struct kevent batch[KQUEUE_BATCH];
};

static struct poll_kqueue *
kqueue_of(struct xtc__poller *p)
{
	return (struct poll_kqueue *)p;
}

/* Change one event; 0 or an errno. */
static int
kqueue_change(struct poll_kqueue *k, int fd, int filter, int flags,
    int for_end)
{
	struct kevent change;
	int saved = errno;
	int err = 0;

	EV_SET(&change, (uintptr_t)fd, filter, flags,
	    for_end ? NOTE_LOWAT : 0, for_end ? INT_MAX : 0, NULL);
	if (kevent(k->kq, &change, 1, NULL, 0, NULL) == -1)
		err = errno;
	errno = saved;
	return err;
}

/* EVFILT_READ for reading, or for the end only. */
static int
kqueue_arm_read(struct poll_kqueue *k, struct xtc__regs_fd *rec, uint32_t bit)
{
	uint32_t both = XTC__POLL_READABLE | XTC__POLL_HUP;
	int flags = bit == XTC__POLL_READABLE ? EV_ADD | EV_ONESHOT :
	    EV_ADD | EV_CLEAR;
	int err;

	if (rec->armed & both & ~bit)
		(void)kqueue_change(k, rec->fd, EVFILT_READ, EV_DELETE, 0);
	rec->armed &= ~both;
	err = kqueue_change(k, rec->fd, EVFILT_READ, flags,
	    bit == XTC__POLL_HUP);
	if (err == 0)
		rec->armed |= bit;
	return err;
}

/* Arm rec for `want`; 0 or an errno. */
static int
kqueue_arm(struct poll_kqueue *k, struct xtc__regs_fd *rec, uint32_t want)
{
	int err = 0;

	if (want & XTC__POLL_READABLE)
		err = kqueue_arm_read(k, rec, XTC__POLL_READABLE);
	else if (want != XTC__POLL_WRITABLE)
		err = kqueue_arm_read(k, rec, XTC__POLL_HUP);
	if (err == 0 && (want & XTC__POLL_WRITABLE)) {
		err = kqueue_change(k, rec->fd, EVFILT_WRITE,
		    EV_ADD | EV_ONESHOT, 0);
		if (err == 0)
			rec->armed |= XTC__POLL_WRITABLE;
	}
	return err;
}

/*
 * What a waiter gets whose event the kernel did not take: the answer that
 * poll(2) would give, or 0 if the errno is an error of the caller's.
 */
static uint32_t
kqueue_answer(int err, uint32_t interest)
{
	uint32_t io = interest & (XTC__POLL_READABLE | XTC__POLL_WRITABLE);

	if (err == EPIPE)
		return io | XTC__POLL_HUP;
	/* A device without a filter for it. */
	if (err == EINVAL || err == ENODEV || err == EOPNOTSUPP)
		return io;
	return 0;
}

static int
kqueue_error(int err)
{
	switch (err) {
	case EMFILE:
	case ENFILE:
		return XTC_E_RESOURCE;
	case ENOMEM:
		return XTC_E_NOMEM;
	case ENOSYS:
		return XTC_E_NOSYS;
	default:
		return XTC_E_INVAL;
	}
}

static int
poll_kqueue_add(struct xtc__poller *p, int fd, uint32_t interest,
    uint64_t token, uint32_t gen)
{
	struct poll_kqueue *k = kqueue_of(p);
	struct xtc__regs_fd *rec;
	struct xtc__regs_waiter *w;
	struct stat st;
	uint32_t revents = 0;
	int saved = errno;
	int err = 0;
	int rc = xtc__regs_prepare(&k->regs, fd, interest, &rec, &w);

	if (rc != XTC_OK)
		return rc;
	if (gen != 0 && rec->gen != 0 && rec->gen != gen) {
		rec->armed = 0;
		xtc__regs_orphan(&k->regs, rec);
	}
	rec->gen = gen;
	/* At the end of a file EVFILT_READ would wait, and poll(2) not. */
	if (fstat(fd, &st) == -1)
		err = errno;
	else if (S_ISREG(st.st_mode))
		revents = kqueue_answer(EINVAL, interest);
	else
		err = kqueue_arm(k, rec, rec->want | interest);
	errno = saved;
	if (err != 0)
		revents = kqueue_answer(err, interest);
	if (err != 0 && revents == 0) {
		xtc__regs_release(&k->regs, w);
		return kqueue_error(err);
	}
	xtc__regs_commit(&k->regs, w, token, revents);
	return XTC_OK;
}

static int
poll_kqueue_del(struct xtc__poller *p, int fd, uint64_t token)
{
	return xtc__regs_del(&kqueue_of(p)->regs, fd, token);
}

static void
kqueue_disarm(struct poll_kqueue *k, struct xtc__regs_fd *rec)
{
	if (rec->armed & (XTC__POLL_READABLE | XTC__POLL_HUP))
		(void)kqueue_change(k, rec->fd, EVFILT_READ, EV_DELETE, 0);
	if (rec->armed & XTC__POLL_WRITABLE)
		(void)kqueue_change(k, rec->fd, EVFILT_WRITE, EV_DELETE, 0);
	rec->armed = 0;
}

static int
poll_kqueue_forget(struct xtc__poller *p, int fd, uint64_t *tokens, int max)
{
	struct poll_kqueue *k = kqueue_of(p);
	struct xtc__regs_fd *rec = xtc__regs_find(&k->regs, fd);

	if (rec != NULL)
		kqueue_disarm(k, rec);
	return xtc__regs_forget(&k->regs, fd, tokens, max);
}

/*
 * EV_EOF does not say whether one direction is over or both; poll(2) does.
 * This happens once in the life of a connection.
 */
static uint32_t
kqueue_end(const struct kevent *kev)
{
	struct pollfd pfd = { .fd = (int)kev->ident };
	uint32_t reported = 0;

	if (kev->filter == EVFILT_READ)
		reported |= XTC__REGS_PEER_SHUT;
	if (kev->fflags != 0)
		reported |= XTC__POLL_ERR;
	if (poll(&pfd, 1, 0) == 1)
		reported |= xtc__pollbits_reported(pfd.revents);
	return reported;
}

static uint32_t
kqueue_reported(const struct kevent *kev)
{
	uint32_t reported = kev->filter == EVFILT_WRITE ?
	    XTC__POLL_WRITABLE : XTC__POLL_READABLE;

	if (kev->flags & EV_EOF)
		reported |= kqueue_end(kev);
	return reported;
}

static void
kqueue_report(struct poll_kqueue *k, const struct kevent *kev,
    struct xtc__regs_out *out)
{
	struct xtc__regs_fd *rec = xtc__regs_find(&k->regs, (int)kev->ident);

	if (rec == NULL)
		return;
	(void)xtc__regs_report(&k->regs, rec, kqueue_reported(kev), out);
	rec->armed &= kev->filter == EVFILT_WRITE ? ~XTC__POLL_WRITABLE :
	    ~XTC__POLL_READABLE;
	if (rec->n_pending == 0)
		kqueue_disarm(k, rec);
	else if (!xtc__list_is_linked(&rec->in_dirty))
		xtc__list_add_last(&k->dirty, &rec->in_dirty);
}

/* Does the kernel have all that is wanted? */
static int
kqueue_is_armed(const struct xtc__regs_fd *rec)
{
	uint32_t io = rec->want & (XTC__POLL_READABLE | XTC__POLL_WRITABLE);

	if (rec->want != XTC__POLL_WRITABLE && !(io & XTC__POLL_READABLE))
		io |= XTC__POLL_HUP;
	return (rec->armed & io) == io;
}

static void
kqueue_arm_dirty(struct poll_kqueue *k)
{
	struct xtc__list *l;

	while ((l = xtc__list_pop_first(&k->dirty)) != NULL) {
		struct xtc__regs_fd *rec = XTC__LIST_ENTRY(l,
		    struct xtc__regs_fd, in_dirty);

		if (rec->n_pending != 0 && !kqueue_is_armed(rec) &&
		    kqueue_arm(k, rec, rec->want) != 0)
			xtc__regs_orphan(&k->regs, rec);
	}
}

/* An xtc__sleep_fn. */
static int
kqueue_sleep(void *arg, int64_t timeout_ns)
{
	struct poll_kqueue *k = arg;
	struct timespec ts;

	ts.tv_sec = (time_t)(timeout_ns / 1000000000);
	ts.tv_nsec = (long)(timeout_ns % 1000000000);
	return kevent(k->kq, NULL, 0, k->batch, KQUEUE_BATCH,
	    timeout_ns < 0 ? NULL : &ts);
}

static int
poll_kqueue_wait(struct xtc__poller *p, int64_t timeout_ns,
    struct xtc__poll_event *ev, int max)
{
	struct poll_kqueue *k = kqueue_of(p);
	struct xtc__regs_out out = { ev, 0, max };
	int saved = errno;
	int i, n;

	XTC_DEBUG_ASSERT(max >= 1);
	kqueue_arm_dirty(k);
	xtc__regs_take_ready(&k->regs, &out);
	n = xtc__sleep(kqueue_sleep, k, out.n != 0 ? 0 : timeout_ns);
	XTC_ASSERT(n >= 0 || errno == EINTR);
	for (i = 0; i < n; i++) {
		if ((int)k->batch[i].ident == k->wake.rfd)
			p->woken += xtc__wake_take(&k->wake);
		else
			kqueue_report(k, &k->batch[i], &out);
	}
	errno = saved;
	return out.n;
}

static void
poll_kqueue_wake(struct xtc__poller *p)
{
	xtc__wake_send(&kqueue_of(p)->wake);
}

static void
poll_kqueue_destroy(struct xtc__poller *p)
{
	struct poll_kqueue *k = kqueue_of(p);
	int saved = errno;

	xtc__wake_fini(&k->wake);
	(void)close(k->kq);
	xtc__regs_fini(&k->regs);
	xtc__mem_raw_free(k);
	errno = saved;
}

/* 0 or an errno; nothing is open then. */
static int
kqueue_open(struct poll_kqueue *k)
{
	int err = xtc__os_fault("poll.kqueue");

	if (err == 0 && (k->kq = kqueue()) == -1)
		err = errno;
	if (err != 0)
		return err;
	(void)fcntl(k->kq, F_SETFD, FD_CLOEXEC);
	err = xtc__wake_init(&k->wake);
	if (err == 0) {
		err = kqueue_change(k, k->wake.rfd, EVFILT_READ, EV_ADD, 0);
		if (err != 0)
			xtc__wake_fini(&k->wake);
	}
	if (err != 0)
		(void)close(k->kq);
	return err;
}

static int
poll_kqueue_create(struct xtc__poller **out)
{
	struct poll_kqueue *k = xtc__mem_raw_zalloc(sizeof(*k),
	    XTC_ALLOC_SLAB);
	int saved = errno;
	int err;

	if (k == NULL)
		return XTC_E_NOMEM;
	k->base.ops = &xtc__poll_kqueue_ops;
	xtc__list_init(&k->dirty);
	xtc__regs_init(&k->regs, &k->base);
	err = kqueue_open(k);
	if (err != 0)
		xtc__mem_raw_free(k);
	else
		*out = &k->base;
	errno = saved;
	return err == 0 ? XTC_OK : kqueue_error(err);
}

const struct xtc__poll_ops xtc__poll_kqueue_ops = {
	.name = "kqueue",
	.create = poll_kqueue_create,
	.destroy = poll_kqueue_destroy,
	.wait = poll_kqueue_wait,
	.wake = poll_kqueue_wake,
	.add = poll_kqueue_add,
	.del = poll_kqueue_del,
	.forget = poll_kqueue_forget
};
