/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * drive_probes: fires every probe of the catalogue through the generated
 * macros with arguments at the edges of their types, from site functions of
 * its own. "drive_probes [N]" fires each N times (1).
 *
 * The sites of the library are not in this program: it defines the symbols
 * by which they are known, and the anchor of the archive is content.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/trace.h"

/* What a site gets is not known to the compiler, as in the library. */
struct values {
	void *task;
	uint64_t big;
	int64_t least;
	int64_t none;
	int negative;
	short narrow;
	unsigned char octet;
	unsigned char word[3];
	const char *name;
	void (*entry)(const struct values *);
};

XTC_PROBE_SITE_ATTR static void
drive_task_create_done(const struct values *v)
{
	(void)v;
	XTC_FIBER_CREATE(v->task, v->big, v->entry, v->octet, v->name);
}

XTC_PROBE_SITE_ATTR static void
drive_task_exit_point(const struct values *v)
{
	(void)v;
	XTC_FIBER_EXIT(v->task, v->big, v->negative);
}

XTC_PROBE_SITE_ATTR static void
drive_park_commit(const struct values *v)
{
	(void)v;
	XTC_FIBER_PARK(v->task, 3, v->octet, v->none);
	XTC_FIBER_RESUME(v->task, 3, v->negative, v->narrow);
}

XTC_PROBE_SITE_ATTR static void
drive_park_wake(const struct values *v)
{
	(void)v;
	XTC_FIBER_WAKE(v->task, v->narrow, 2, 0);
}

XTC_PROBE_SITE_ATTR static void
drive_exec_move(const struct values *v)
{
	(void)v;
	XTC_FIBER_STEAL(v->task, v->octet, v->narrow, v->negative);
}

XTC_PROBE_SITE_ATTR static void
drive_loop_sleep(const struct values *v)
{
	(void)v;
	XTC_LOOP_SLEEP(v->octet, -1);
	XTC_LOOP_AWAKE(v->octet, v->negative);
}

XTC_PROBE_SITE_ATTR static void
drive_loop_stalled(const struct values *v)
{
	(void)v;
	XTC_LOOP_STALL(v->narrow, v, v->big);
}

XTC_PROBE_SITE_ATTR static void
drive_mbox_wake_receiver(const struct values *v)
{
	(void)v;
	XTC_MSG_SEND(v->task, v, sizeof(*v), v->big);
}

XTC_PROBE_SITE_ATTR static void
drive_mbox_dropped(const struct values *v)
{
	(void)v;
	XTC_MSG_DROP(v->big, v->task, v->word[2], v->negative);
}

XTC_PROBE_SITE_ATTR static void
drive_mbox_new_peak(const struct values *v)
{
	(void)v;
	XTC_MAILBOX_HIGH(v->task, 64u, UINT64_C(0x8000000000000000));
}

XTC_PROBE_SITE_ATTR static void
drive_timer_armed(const struct values *v)
{
	(void)v;
	XTC_TIMER_ARM(v, v->least, v->narrow);
}

XTC_PROBE_SITE_ATTR static void
drive_timer_cancelled(const struct values *v)
{
	(void)v;
	XTC_TIMER_CANCEL(v->task, INT64_MAX, INT_MIN);
}

XTC_PROBE_SITE_ATTR static void
drive_timer_fired(const struct values *v)
{
	(void)v;
	XTC_TIMER_FIRE(v, v->none, v->least, v->word[1]);
}

XTC_PROBE_SITE_ATTR static void
drive_lock_wait_begin(const struct values *v)
{
	(void)v;
	XTC_LOCK_WAIT_START(v->task, v->octet, v, INT_MAX, v->task);
}

XTC_PROBE_SITE_ATTR static void
drive_lock_wait_end(const struct values *v)
{
	(void)v;
	XTC_LOCK_WAIT_DONE(v->task, v->octet, v, v->word[0], -11);
}

XTC_PROBE_SITE_ATTR static void
drive_mem_failed(const struct values *v)
{
	(void)v;
	XTC_ALLOC_FAIL(v->big, v->octet);
}

#if XTC_PROBES_ON
#define XTC_SITE(function) \
	const struct xtc__probe_site xtc__site_##function = { \
		(xtc__site_fn)drive_park_commit, &xtc__trace_anchor_table, \
		xtc__site_index_##function \
	};
#include "trace/sites.def"
#undef XTC_SITE
#endif

static void
drive_round(const struct values *v)
{
	drive_task_create_done(v);
	drive_loop_sleep(v);
	drive_loop_stalled(v);
	drive_timer_armed(v);
	drive_timer_cancelled(v);
	drive_timer_fired(v);
	drive_lock_wait_begin(v);
	drive_park_commit(v);
	drive_park_wake(v);
	drive_exec_move(v);
	drive_lock_wait_end(v);
	drive_mbox_wake_receiver(v);
	drive_mbox_dropped(v);
	drive_mbox_new_peak(v);
	drive_mem_failed(v);
	drive_task_exit_point(v);
}

int
main(int argc, char **argv)
{
	static struct values v = {
		.big = UINT64_C(0xfffffffffffffff1), .least = INT64_MIN,
		.none = -1, .negative = -7, .narrow = -300, .octet = 200,
		.word = { 0, 1, 255 }, .name = "driver", .entry = drive_round
	};
	long i, n = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	v.task = (void *)(uintptr_t)UINT64_C(0xfedcba9876543210);
	/* A tracer cannot read a page that the program never touched. */
	if (*(const volatile char *)v.name == '\0')
		return 1;
	XTC_PROBE_ANCHOR();
	for (i = 0; i < n; i++)
		drive_round(&v);
	/* The keys and addresses that a test compares with what it traced. */
	printf("%ju %ju %zu\n", (uintmax_t)(uintptr_t)&v,
	    (uintmax_t)(uintptr_t)drive_round, sizeof(v));
	return 0;
}
