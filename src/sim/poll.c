/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * poll.c: the pollers of simulated loops: wakes and timeouts, no
 * descriptors. A wait may end for no reason, as poll.h allows. A poller that
 * is destroyed stays known, so that a late wake is found out.
 */
#include "poll/poll.h"

#include "xtc_base.h"
#include "base/plant.h"
#include "sim/sim_impl.h"

#define SIM_POLLERS	64

struct sim_poller {
	struct xtc__poller base;
	uint64_t pending;
	int lives;
};

static struct sim_poller sim_pollers[SIM_POLLERS];

static struct sim_poller *
sim_poller_of(struct xtc__poller *p)
{
	struct sim_poller *s = (struct sim_poller *)(void *)p;

	XTC_SIM_CHECK(s->lives, "a poller is used after its end");
	return s;
}

static void
sim_poll_destroy(struct xtc__poller *p)
{
	struct sim_poller *s = sim_poller_of(p);

	XTC_SIM_CHECK(s->pending == 0, "a poller ends with a wake to come");
	s->lives = 0;
}

static int
sim_poll_wait(struct xtc__poller *p, int64_t timeout_ns,
    struct xtc__poll_event *ev, int max)
{
	struct sim_poller *s = sim_poller_of(p);
	int64_t now = xtc__sim_now(), deadline = INT64_MAX;

	(void)ev;
	(void)max;
	if (timeout_ns >= 0 && timeout_ns < INT64_MAX - now)
		deadline = now + timeout_ns;
	XTC_SIM_POINT();
	if (s->pending == 0 && timeout_ns != 0 && !xtc__sim_chance(32))
		(void)xtc__sim_sleep(p, deadline);
	p->woken += s->pending;
	s->pending = 0;
	return 0;
}

static void
sim_poll_wake(struct xtc__poller *p)
{
	XTC_SIM_POINT();
	sim_poller_of(p)->pending++;
	xtc__sim_wake(p, 1);
	XTC_SIM_POINT();
}

static int
sim_poll_add(struct xtc__poller *p, int fd, uint32_t interest,
    uint64_t token, uint32_t gen)
{
	(void)p;
	(void)fd;
	(void)interest;
	(void)token;
	(void)gen;
	return XTC_E_INVAL;
}

static int
sim_poll_del(struct xtc__poller *p, int fd, uint64_t token)
{
	(void)p;
	(void)fd;
	(void)token;
	return XTC_E_INVAL;
}

static int
sim_poll_forget(struct xtc__poller *p, int fd, uint64_t *tokens, int max)
{
	(void)p;
	(void)fd;
	(void)tokens;
	(void)max;
	return 0;
}

static int	sim_poll_create(struct xtc__poller **out);

static const struct xtc__poll_ops sim_poll_ops = {
	.name = "sim",
	.create = sim_poll_create,
	.destroy = sim_poll_destroy,
	.wait = sim_poll_wait,
	.wake = sim_poll_wake,
	.add = sim_poll_add,
	.del = sim_poll_del,
	.forget = sim_poll_forget
};

static int
sim_poll_create(struct xtc__poller **out)
{
	struct sim_poller *s = sim_pollers;

	while (s < sim_pollers + SIM_POLLERS && s->lives)
		s++;
	if (s == sim_pollers + SIM_POLLERS)
		return XTC_E_RESOURCE;
	s->base.ops = &sim_poll_ops;
	s->base.woken = 0;
	s->base.n_waiters = 0;
	s->pending = 0;
	s->lives = 1;
	*out = &s->base;
	return XTC_OK;
}

/* There is one backend here, whatever the environment says. */
int
xtc__poll_create(const char *name, struct xtc__poller **out)
{
	(void)name;
	return sim_poll_create(out);
}
