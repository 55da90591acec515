/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench_spawn: what a fiber and a process cost from spawn to end, one at a
 * time, while others (the size) are parked.
 */
#include "bench.h"

struct spawns {
	struct bench *b;
	xtc_loop_t *loop;
	xtc_pid_t *parked;
	long n_parked;
	long ran;
};

static intptr_t
spawn_fiber_ran(void *arg)
{
	struct spawns *s = arg;

	s->ran++;
	return 0;
}

static void
spawn_process_ran(void *arg)
{
	struct spawns *s = arg;

	s->ran++;
}

static void
spawn_park(void *arg)
{
	struct spawns *s = arg;
	void *msg;

	s->ran++;
	while (xtc_recv(&msg, NULL, -1) == XTC_OK)
		xtc_free(msg);
}

static void
spawn_many_parked(struct spawns *s)
{
	long i;

	s->parked = bench_alloc((size_t)s->n_parked + 1, sizeof(xtc_pid_t));
	s->ran = 0;
	for (i = 0; i < s->n_parked; i++)
		s->parked[i] = bench_spawn(s->loop, spawn_park, s);
	while (s->ran < s->n_parked)
		xtc_yield();
	s->ran = 0;
}

static void
spawn_end_parked(struct spawns *s)
{
	long i;

	for (i = 0; i < s->n_parked; i++)
		bench_must(xtc_exit_pid(s->parked[i], 1), "xtc_exit_pid");
	free(s->parked);
}

static void
spawn_fibers(void *arg)
{
	struct spawns *s = arg;
	long i, batch, n = bench_batch(s->b);
	int64_t t;

	spawn_many_parked(s);
	for (batch = 0; batch < s->b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++) {
			bench_must(xtc_async(s->loop, spawn_fiber_ran, s,
			    NULL), "xtc_async");
			xtc_yield();
		}
		bench_note(s->b, t, n);
	}
	bench_check(s->ran == n * s->b->batches, "each fiber runs once");
	spawn_end_parked(s);
}

static void
spawn_processes(void *arg)
{
	struct spawns *s = arg;
	long i, batch, n = bench_batch(s->b);
	int64_t t;

	spawn_many_parked(s);
	for (batch = 0; batch < s->b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++) {
			(void)bench_spawn(s->loop, spawn_process_ran, s);
			xtc_yield();
		}
		bench_note(s->b, t, n);
	}
	bench_check(s->ran == n * s->b->batches, "each process runs once");
	spawn_end_parked(s);
}

static void
run_spawn_fiber(struct bench *b)
{
	struct spawns s = { b, bench_loop(), NULL, b->size, 0 };

	(void)bench_spawn(s.loop, spawn_fibers, &s);
	bench_end(s.loop);
	bench_print_best(b, "ns");
}

static void
run_spawn_process(struct bench *b)
{
	struct spawns s = { b, bench_loop(), NULL, b->size, 0 };

	(void)bench_spawn(s.loop, spawn_processes, &s);
	bench_end(s.loop);
	bench_print_best(b, "ns");
}

static const struct bench_row rows[] = {
	{ "spawn_fiber", run_spawn_fiber, 2000000, 0 },
	{ "spawn_process", run_spawn_process, 2000000, 0 },
};

int
main(int argc, char **argv)
{
	return bench_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
