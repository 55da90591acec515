/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * trace.c: what a tracer would see of a run, and whether it can be true.
 *
 * Each probe is a call of xtc__sim_probe (xtc_probes_sim.h, made from the
 * catalogue). Of each fiber the trace must be
 *
 *	create (park wake resume)* exit
 *
 * with the wake's cause at the resume, steals only while it is runnable, all
 * that it does itself on the loop that runs it; and no timer fires early.
 * Fibers are numbered in the order of their making, for a struct serves many.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "core/loop.h"
#include "sim/sim_impl.h"
#include "trace/trace.h"

#define TRACE_FIBERS	64u
#define TRACE_EVENTS	64u

enum trace_state {
	TRACE_RUNS,
	TRACE_PARKED,
	TRACE_WOKEN,
	TRACE_ENDED
};

struct trace_fiber {
	uint64_t task;
	enum trace_state state;
	uint64_t cause;
};

struct trace_event {
	int64_t at_ns;
	int thread;
	const char *what;
	uint64_t a, b;
};

static struct trace_fiber trace_fibers[TRACE_FIBERS];
static unsigned trace_n;
static struct trace_event trace_events[TRACE_EVENTS];
static unsigned trace_n_events;

static void
trace_print_one(const struct trace_event *e)
{
	(void)fprintf(stderr, "  %10" PRId64 " thread %d: %s %" PRIu64
	    " %" PRIu64 "\n", e->at_ns, e->thread, e->what, e->a, e->b);
}

void
xtc__sim_note(const char *what, uint64_t a, uint64_t b)
{
	struct trace_event *e = &trace_events[trace_n_events++ % TRACE_EVENTS];

	e->at_ns = xtc__sim_now();
	e->thread = xtc__sim_self();
	e->what = what;
	e->a = a;
	e->b = b;
	xtc__sim_fold((uint64_t)(unsigned char)what[0] << 56 ^ a << 20 ^ b);
	if (xtc__sim_verbose)
		trace_print_one(e);
}

void
xtc__sim_trace_print(void)
{
	unsigned i = 0;

	if (xtc__sim_verbose)
		return;
	if (trace_n_events > TRACE_EVENTS)
		i = trace_n_events - TRACE_EVENTS;
	for (; i < trace_n_events; i++)
		trace_print_one(&trace_events[i % TRACE_EVENTS]);
}

void
xtc__sim_trace_begin(void)
{
	trace_n = 0;
	trace_n_events = 0;
}

void
xtc__sim_trace_end(void)
{
	unsigned i;

	for (i = 0; i < trace_n; i++)
		XTC_SIM_CHECK(trace_fibers[i].state == TRACE_ENDED,
		    "fiber %u has not ended", i);
}

/* The living fiber of a task. */
static struct trace_fiber *
trace_fiber(uint64_t task)
{
	unsigned i = trace_n;

	while (i-- > 0)
		if (trace_fibers[i].task == task)
			return &trace_fibers[i];
	xtc__sim_fail("an event of a fiber that was not made");
}

static struct trace_fiber *
trace_make(uint64_t task)
{
	struct trace_fiber *f = &trace_fibers[trace_n];
	unsigned i;

	XTC_SIM_CHECK(trace_n < TRACE_FIBERS, "too many fibers");
	for (i = 0; i < trace_n; i++)
		XTC_SIM_CHECK(trace_fibers[i].task != task ||
		    trace_fibers[i].state == TRACE_ENDED,
		    "a fiber is made in the place of a living one");
	trace_n++;
	f->task = task;
	f->state = TRACE_RUNS;
	f->cause = 0;
	return f;
}

/* The fiber does it itself: it must be where it says. */
static void
trace_here(uint64_t task, const char *what)
{
	struct xtc_loop *loop = xtc__loop_self();

	XTC_SIM_CHECK(loop != NULL && (uintptr_t)loop->cur == task,
	    "%s of a fiber that does not run here", what);
}

static void
trace_step(struct trace_fiber *f, enum trace_state from, enum trace_state to,
    const char *what)
{
	static const char *const text[] = { "runs", "is parked", "is woken",
	    "has ended" };

	XTC_SIM_CHECK(f->state == from, "%s of fiber %d, which %s", what,
	    (int)(f - trace_fibers), text[f->state]);
	f->state = to;
	xtc__sim_note(what, (uint64_t)(f - trace_fibers), f->cause);
}

/* Events of a fiber. */
static void
trace_of_fiber(unsigned probe, const uint64_t *args)
{
	struct trace_fiber *f;

	if (probe == XTC__SIM_FIBER_CREATE) {
		f = trace_make(args[0]);
		xtc__sim_note("create", (uint64_t)(f - trace_fibers),
		    args[3]);
		return;
	}
	f = trace_fiber(args[0]);
	switch (probe) {
	case XTC__SIM_FIBER_PARK:
		trace_here(args[0], "park");
		f->cause = args[1];
		trace_step(f, TRACE_RUNS, TRACE_PARKED, "park");
		break;
	case XTC__SIM_FIBER_WAKE:
		f->cause = args[2];
		trace_step(f, TRACE_PARKED, TRACE_WOKEN, "wake");
		break;
	case XTC__SIM_FIBER_RESUME:
		trace_here(args[0], "resume");
		XTC_SIM_CHECK(f->state != TRACE_WOKEN || f->cause == args[2],
		    "a resume with another cause than its wake");
		trace_step(f, TRACE_WOKEN, TRACE_RUNS, "resume");
		break;
	case XTC__SIM_FIBER_EXIT:
		trace_here(args[0], "exit");
		trace_step(f, TRACE_RUNS, TRACE_ENDED, "exit");
		break;
	case XTC__SIM_FIBER_STEAL:
		XTC_SIM_CHECK(f->state == TRACE_RUNS ||
		    f->state == TRACE_WOKEN, "a steal of fiber %d, which is "
		    "not runnable", (int)(f - trace_fibers));
		xtc__sim_note("steal", (uint64_t)(f - trace_fibers),
		    args[2]);
		break;
	default:
		break;
	}
}

void
xtc__sim_probe(unsigned probe, const uint64_t *args)
{
	switch (probe) {
	case XTC__SIM_FIBER_CREATE:
	case XTC__SIM_FIBER_PARK:
	case XTC__SIM_FIBER_WAKE:
	case XTC__SIM_FIBER_RESUME:
	case XTC__SIM_FIBER_EXIT:
	case XTC__SIM_FIBER_STEAL:
		trace_of_fiber(probe, args);
		break;
	case XTC__SIM_TIMER_FIRE:
		XTC_SIM_CHECK(args[2] >= args[1], "a timer fired early");
		xtc__sim_note("timer", args[1], args[3]);
		break;
	case XTC__SIM_LOOP_SLEEP:
		xtc__sim_note("sleep", args[0], args[1]);
		break;
	case XTC__SIM_LOOP_AWAKE:
		xtc__sim_note("awake", args[0], args[1]);
		break;
	default:
		xtc__sim_fold(probe);
		break;
	}
}
