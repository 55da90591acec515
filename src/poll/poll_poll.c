/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * poll_poll.c: the poller on poll(2), which every system has.
 *
 * An array of struct pollfd is kept up to date: place 0 is the pipe of the
 * wakes, each fd with waiters has one of the others, whose number is the
 * record's serial (0: none). The last place fills the gap of one that goes.
 *
 * poll(2) takes no notice of what was registered, so a closed fd is found out
 * (POLLNVAL) and its waiters get their ERR, if a wait comes before the number
 * is used again; see poll.h for when it does not.
 *
 * Cost of a turn: linear in the number of fds waited for.
 */
/* For POLLRDHUP, where it exists. */
#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "base/assert.h"
#include "mem/mem.h"
#include "os/os.h"
#include "poll/backends_impl.h"
#include "poll/poll.h"
#include "poll/pollbits_impl.h"
#include "poll/ppoll_impl.h"
#include "poll/regs_impl.h"
#include "poll/sleep_impl.h"
#include "poll/wake_impl.h"

#define POLLP_FIRST_PLACES 64

struct poll_poll {
	struct xtc__poller base;
	struct xtc__wake wake;
	struct xtc__regs regs;
	struct pollfd *fds;
	size_t n;		/* places in use, 0 included */
	size_t room;
};

static struct poll_poll *
pollp_of(struct xtc__poller *p)
{
	return (struct poll_poll *)p;
}

/* A place for rec. */
static int
pollp_place(struct poll_poll *pp, struct xtc__regs_fd *rec)
{
	if (pp->n == pp->room) {
		struct pollfd *fds = xtc__mem_raw_realloc(pp->fds,
		    2 * pp->room * sizeof(*fds), XTC_ALLOC_SLAB);

		if (fds == NULL)
			return XTC_E_NOMEM;
		pp->fds = fds;
		pp->room *= 2;
	}
	rec->serial = (uint32_t)pp->n++;
	pp->fds[rec->serial].fd = rec->fd;
	pp->fds[rec->serial].events = 0;
	pp->fds[rec->serial].revents = 0;
	return XTC_OK;
}

/* Bring rec's place up to date after its waiters have changed. */
static void
pollp_update(struct poll_poll *pp, struct xtc__regs_fd *rec)
{
	uint32_t place = rec->serial;

	XTC_DEBUG_ASSERT(place != 0 && pp->fds[place].fd == rec->fd);
	pp->fds[place].events = (short)xtc__pollbits_events(rec->want);
	if (rec->n_pending != 0)
		return;
	rec->serial = 0;
	pp->n--;
	if (place != pp->n) {
		pp->fds[place] = pp->fds[pp->n];
		xtc__regs_find(&pp->regs, pp->fds[place].fd)->serial = place;
	}
}

static int
poll_poll_add(struct xtc__poller *p, int fd, uint32_t interest,
    uint64_t token, uint32_t gen)
{
	struct poll_poll *pp = pollp_of(p);
	struct xtc__regs_fd *rec;
	struct xtc__regs_waiter *w;
	int rc = xtc__regs_prepare(&pp->regs, fd, interest, &rec, &w);

	if (rc != XTC_OK)
		return rc;
	if (!xtc__regs_is_open(fd))
		rc = XTC_E_INVAL;
	else if (rec->serial == 0)
		rc = pollp_place(pp, rec);
	if (rc != XTC_OK) {
		xtc__regs_release(&pp->regs, w);
		return rc;
	}
	if (gen != 0 && rec->gen != 0 && rec->gen != gen)
		xtc__regs_orphan(&pp->regs, rec);
	rec->gen = gen;
	xtc__regs_commit(&pp->regs, w, token, 0);
	pollp_update(pp, rec);
	return XTC_OK;
}

static int
poll_poll_del(struct xtc__poller *p, int fd, uint64_t token)
{
	struct poll_poll *pp = pollp_of(p);
	int rc = xtc__regs_del(&pp->regs, fd, token);
	struct xtc__regs_fd *rec = xtc__regs_find(&pp->regs, fd);

	if (rc == XTC_OK && rec->serial != 0)
		pollp_update(pp, rec);
	return rc;
}

static int
poll_poll_forget(struct xtc__poller *p, int fd, uint64_t *tokens, int max)
{
	struct poll_poll *pp = pollp_of(p);
	int n = xtc__regs_forget(&pp->regs, fd, tokens, max);
	struct xtc__regs_fd *rec = xtc__regs_find(&pp->regs, fd);

	if (rec != NULL && rec->serial != 0)
		pollp_update(pp, rec);
	return n;
}

/* An xtc__sleep_fn. */
static int
pollp_sleep(void *arg, int64_t timeout_ns)
{
	struct poll_poll *pp = arg;

	return xtc__ppoll(pp->fds, (nfds_t)pp->n, timeout_ns);
}

static int
poll_poll_wait(struct xtc__poller *p, int64_t timeout_ns,
    struct xtc__poll_event *ev, int max)
{
	struct poll_poll *pp = pollp_of(p);
	struct xtc__regs_out out = { ev, 0, max };
	int saved = errno;
	size_t i;
	int n;

	XTC_DEBUG_ASSERT(max >= 1);
	xtc__regs_take_ready(&pp->regs, &out);
	n = xtc__sleep(pollp_sleep, pp, out.n != 0 ? 0 : timeout_ns);
	/* EAGAIN: some kernels, out of memory for the moment. */
	XTC_ASSERT(n >= 0 || errno == EINTR || errno == EAGAIN);
	/* From the end: an update may move the last place into a gap. */
	for (i = pp->n - 1; n > 0 && i > 0; i--) {
		short revents = pp->fds[i].revents;
		struct xtc__regs_fd *rec;

		if (revents == 0)
			continue;
		n--;
		rec = xtc__regs_find(&pp->regs, pp->fds[i].fd);
		if (revents & POLLNVAL)
			xtc__regs_orphan(&pp->regs, rec);
		else
			(void)xtc__regs_report(&pp->regs, rec,
			    xtc__pollbits_reported(revents), &out);
		pollp_update(pp, rec);
	}
	if (n > 0)
		p->woken += xtc__wake_take(&pp->wake);
	errno = saved;
	return out.n;
}

static void
poll_poll_wake(struct xtc__poller *p)
{
	xtc__wake_send(&pollp_of(p)->wake);
}

static void
poll_poll_destroy(struct xtc__poller *p)
{
	struct poll_poll *pp = pollp_of(p);
	int saved = errno;

	xtc__wake_fini(&pp->wake);
	xtc__regs_fini(&pp->regs);
	xtc__mem_raw_free(pp->fds);
	xtc__mem_raw_free(pp);
	errno = saved;
}

/* 0 or an errno; nothing is open or allocated then. */
static int
pollp_open(struct poll_poll *pp)
{
	int err;

	pp->fds = xtc__mem_raw_zalloc(POLLP_FIRST_PLACES * sizeof(*pp->fds),
	    XTC_ALLOC_SLAB);
	if (pp->fds == NULL)
		return ENOMEM;
	err = xtc__wake_init(&pp->wake);
	if (err != 0) {
		xtc__mem_raw_free(pp->fds);
		return err;
	}
	pp->room = POLLP_FIRST_PLACES;
	pp->n = 1;
	pp->fds[0].fd = pp->wake.rfd;
	pp->fds[0].events = POLLIN;
	return 0;
}

static int
poll_poll_create(struct xtc__poller **out)
{
	struct poll_poll *pp = xtc__mem_raw_zalloc(sizeof(*pp),
	    XTC_ALLOC_SLAB);
	int saved = errno;
	int err;

	if (pp == NULL)
		return XTC_E_NOMEM;
	pp->base.ops = &xtc__poll_poll_ops;
	xtc__regs_init(&pp->regs, &pp->base);
	err = pollp_open(pp);
	if (err != 0)
		xtc__mem_raw_free(pp);
	else
		*out = &pp->base;
	errno = saved;
	return err == 0 ? XTC_OK :
	    err == ENOMEM ? XTC_E_NOMEM : XTC_E_RESOURCE;
}

const struct xtc__poll_ops xtc__poll_poll_ops = {
	.name = "poll",
	.create = poll_poll_create,
	.destroy = poll_poll_destroy,
	.wait = poll_poll_wait,
	.wake = poll_poll_wake,
	.add = poll_poll_add,
	.del = poll_poll_del,
	.forget = poll_poll_forget
};
