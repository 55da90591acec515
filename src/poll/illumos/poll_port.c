/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * poll_port.c: the poller on event ports, port_create(3C): illumos, Solaris.
 *
 * An association is what poll.h wants: for one event, with the bits of
 * poll(2), and gone when the fd is closed. Associating again replaces the
 * events, so there is nothing to compare and nothing stale; `armed` only
 * says whether there is an association.
 *
 * Wakes: a pipe, associated again after each. port_send(3C) would count too,
 * but fails when the port's queue is full.
 */
#define __EXTENSIONS__ 1

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <port.h>
#include <time.h>
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

#define PORT_BATCH 128

struct poll_port {
	struct xtc__poller base;
	int port;
	struct xtc__wake wake;
	struct xtc__list dirty;	/* records to arm before the next wait */
	struct xtc__regs regs;
	port_event_t batch[PORT_BATCH];
};

static struct poll_port *
port_of(struct xtc__poller *p)
{
	return (struct poll_port *)p;
}

static int
port_error(int err)
{
	switch (err) {
	case EAGAIN:	/* the limit on ports, or on associations */
	case EMFILE:
	case ENFILE:
		return XTC_E_RESOURCE;
	case ENOMEM:
		return XTC_E_NOMEM;
	default:
		return XTC_E_INVAL;
	}
}

/* 0 or an errno. */
static int
port_watch(struct poll_port *pt, int fd, uint32_t want)
{
	int saved = errno;
	int err = 0;

	if (port_associate(pt->port, PORT_SOURCE_FD, (uintptr_t)fd,
	    xtc__pollbits_events(want), NULL) == -1)
		err = errno;
	errno = saved;
	return err;
}

static int
poll_port_add(struct xtc__poller *p, int fd, uint32_t interest,
    uint64_t token, uint32_t gen)
{
	struct poll_port *pt = port_of(p);
	struct xtc__regs_fd *rec;
	struct xtc__regs_waiter *w;
	int err;
	int rc = xtc__regs_prepare(&pt->regs, fd, interest, &rec, &w);

	if (rc != XTC_OK)
		return rc;
	if (gen != 0 && rec->gen != 0 && rec->gen != gen)
		xtc__regs_orphan(&pt->regs, rec);
	rec->gen = gen;
	err = port_watch(pt, fd, rec->want | interest);
	if (err != 0) {
		xtc__regs_release(&pt->regs, w);
		return port_error(err);
	}
	rec->armed = 1;
	xtc__regs_commit(&pt->regs, w, token, 0);
	return XTC_OK;
}

static int
poll_port_del(struct xtc__poller *p, int fd, uint64_t token)
{
	return xtc__regs_del(&port_of(p)->regs, fd, token);
}

static int
poll_port_forget(struct xtc__poller *p, int fd, uint64_t *tokens, int max)
{
	struct poll_port *pt = port_of(p);
	struct xtc__regs_fd *rec = xtc__regs_find(&pt->regs, fd);
	int saved = errno;

	if (rec != NULL && rec->armed) {
		/* It may be closed already; then there is none. */
		(void)port_dissociate(pt->port, PORT_SOURCE_FD,
		    (uintptr_t)fd);
		rec->armed = 0;
	}
	errno = saved;
	return xtc__regs_forget(&pt->regs, fd, tokens, max);
}

static void
port_report(struct poll_port *pt, const port_event_t *pe,
    struct xtc__regs_out *out)
{
	struct xtc__regs_fd *rec = xtc__regs_find(&pt->regs,
	    (int)pe->portev_object);

	if (rec == NULL)
		return;
	rec->armed = 0;
	(void)xtc__regs_report(&pt->regs, rec,
	    xtc__pollbits_reported(pe->portev_events), out);
	if (rec->n_pending != 0 && !xtc__list_is_linked(&rec->in_dirty))
		xtc__list_add_last(&pt->dirty, &rec->in_dirty);
}

static void
port_arm_dirty(struct poll_port *pt)
{
	struct xtc__list *l;

	while ((l = xtc__list_pop_first(&pt->dirty)) != NULL) {
		struct xtc__regs_fd *rec = XTC__LIST_ENTRY(l,
		    struct xtc__regs_fd, in_dirty);

		if (rec->n_pending == 0 || rec->armed)
			continue;
		if (port_watch(pt, rec->fd, rec->want) == 0)
			rec->armed = 1;
		else
			xtc__regs_orphan(&pt->regs, rec);
	}
}

/* An xtc__sleep_fn. */
static int
port_sleep(void *arg, int64_t timeout_ns)
{
	struct poll_port *pt = arg;
	struct timespec ts;
	uint_t n = 1;

	ts.tv_sec = (time_t)(timeout_ns / 1000000000);
	ts.tv_nsec = (long)(timeout_ns % 1000000000);
	/* It may fail and have got some events all the same. */
	if (port_getn(pt->port, pt->batch, PORT_BATCH, &n,
	    timeout_ns < 0 ? NULL : &ts) == -1) {
		if (errno != ETIME && errno != EINTR)
			return -1;
		if (n == 0 && errno == EINTR)
			return -1;
	}
	return (int)n;
}

static int
poll_port_wait(struct xtc__poller *p, int64_t timeout_ns,
    struct xtc__poll_event *ev, int max)
{
	struct poll_port *pt = port_of(p);
	struct xtc__regs_out out = { ev, 0, max };
	int saved = errno;
	int err, i, n;

	XTC_DEBUG_ASSERT(max >= 1);
	port_arm_dirty(pt);
	xtc__regs_take_ready(&pt->regs, &out);
	n = xtc__sleep(port_sleep, pt, out.n != 0 ? 0 : timeout_ns);
	XTC_ASSERT(n >= 0 || errno == EINTR);
	for (i = 0; i < n; i++) {
		if ((int)pt->batch[i].portev_object != pt->wake.rfd) {
			port_report(pt, &pt->batch[i], &out);
			continue;
		}
		p->woken += xtc__wake_take(&pt->wake);
		err = port_watch(pt, pt->wake.rfd, XTC__POLL_READABLE);
		XTC_ASSERT(err == 0);
	}
	errno = saved;
	return out.n;
}

static void
poll_port_wake(struct xtc__poller *p)
{
	xtc__wake_send(&port_of(p)->wake);
}

static void
poll_port_destroy(struct xtc__poller *p)
{
	struct poll_port *pt = port_of(p);
	int saved = errno;

	xtc__wake_fini(&pt->wake);
	(void)close(pt->port);
	xtc__regs_fini(&pt->regs);
	xtc__mem_raw_free(pt);
	errno = saved;
}

/* 0 or an errno; nothing is open then. */
static int
port_open(struct poll_port *pt)
{
	int err = xtc__os_fault("poll.port_create");

	if (err == 0 && (pt->port = port_create()) == -1)
		err = errno;
	if (err != 0)
		return err;
	(void)fcntl(pt->port, F_SETFD, FD_CLOEXEC);
	err = xtc__wake_init(&pt->wake);
	if (err == 0) {
		err = port_watch(pt, pt->wake.rfd, XTC__POLL_READABLE);
		if (err != 0)
			xtc__wake_fini(&pt->wake);
	}
	if (err != 0)
		(void)close(pt->port);
	return err;
}

static int
poll_port_create(struct xtc__poller **out)
{
	struct poll_port *pt = xtc__mem_raw_zalloc(sizeof(*pt),
	    XTC_ALLOC_SLAB);
	int saved = errno;
	int err;

	if (pt == NULL)
		return XTC_E_NOMEM;
	pt->base.ops = &xtc__poll_port_ops;
	xtc__list_init(&pt->dirty);
	xtc__regs_init(&pt->regs, &pt->base);
	err = port_open(pt);
	if (err != 0)
		xtc__mem_raw_free(pt);
	else
		*out = &pt->base;
	errno = saved;
	return err == 0 ? XTC_OK : port_error(err);
}

const struct xtc__poll_ops xtc__poll_port_ops = {
	.name = "port",
	.create = poll_port_create,
	.destroy = poll_port_destroy,
	.wait = poll_port_wait,
	.wake = poll_port_wake,
	.add = poll_port_add,
	.del = poll_port_del,
	.forget = poll_port_forget
};
