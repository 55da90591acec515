/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench_timer: arming and cancelling a timer while others (the size) are
 * outstanding: the one just armed, as most timeouts are, and the oldest of
 * all, whose memory is cold; and how late sleepers wake.
 */
#include "bench.h"

#define SECOND_NS	INT64_C(1000000000)

struct timers {
	struct bench *b;
	xtc_loop_t *loop;
	xtc_timer_t **armed;
	uint64_t random;
	long fired;
};

static void
timer_never(void *arg)
{
	struct timers *s = arg;

	s->fired++;
}

/* From a minute to two hours from now. */
static xtc_timer_t *
timer_arm(struct timers *s)
{
	xtc_timer_t *t;
	int64_t delay_ns = 60 * SECOND_NS + (int64_t)(bench_random(&s->random)
	    % (uint64_t)(7140 * SECOND_NS));

	bench_must(xtc_timer_set(s->loop, delay_ns, timer_never, s, &t),
	    "xtc_timer_set");
	return t;
}

static void
timer_arm_all(struct timers *s)
{
	long i;

	s->armed = bench_alloc((size_t)s->b->size, sizeof(*s->armed));
	for (i = 0; i < s->b->size; i++)
		s->armed[i] = timer_arm(s);
}

static void
timer_cancel_all(struct timers *s)
{
	long i;

	for (i = 0; i < s->b->size; i++)
		bench_must(xtc_timer_cancel(s->armed[i]), "xtc_timer_cancel");
	free(s->armed);
}

static void
timer_newest(void *arg)
{
	struct timers *s = arg;
	long i, batch, n = bench_batch(s->b);
	int64_t t;

	timer_arm_all(s);
	for (batch = 0; batch < s->b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++)
			bench_must(xtc_timer_cancel(timer_arm(s)),
			    "xtc_timer_cancel");
		bench_note(s->b, t, n);
		xtc_yield();
	}
	timer_cancel_all(s);
}

static void
timer_oldest(void *arg)
{
	struct timers *s = arg;
	long i, at = 0, batch, n = bench_batch(s->b);
	int64_t t;

	timer_arm_all(s);
	for (batch = 0; batch < s->b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++) {
			bench_must(xtc_timer_cancel(s->armed[at]),
			    "xtc_timer_cancel");
			s->armed[at] = timer_arm(s);
			if (++at == s->b->size)
				at = 0;
		}
		bench_note(s->b, t, n);
		xtc_yield();
	}
	timer_cancel_all(s);
}

static void
timer_run(struct bench *b, void (*fn)(void *))
{
	struct timers s = { b, bench_loop(), NULL, 88172645463325252u, 0 };

	(void)bench_spawn(s.loop, fn, &s);
	bench_end(s.loop);
	bench_check(s.fired == 0, "a cancelled timer has fired");
	bench_print_best(b, "ns");
}

static void
run_timer(struct bench *b)
{
	timer_run(b, timer_newest);
}

static void
run_timer_oldest(struct bench *b)
{
	timer_run(b, timer_oldest);
}

struct sleepers {
	int64_t *late_ns;
	long n_late;
	uint64_t random;
	long n;
};

/* A time of its own within a second, which begins when all are there. */
static intptr_t
sleeper(void *arg)
{
	struct sleepers *s = arg;
	int64_t sleep_ns = SECOND_NS / 2 + (int64_t)(bench_random(&s->random) %
	    (uint64_t)SECOND_NS);
	int64_t at_ns = xtc_clock_mono() + sleep_ns;

	bench_must(xtc_proc_sleep(sleep_ns), "xtc_proc_sleep");
	s->late_ns[s->n_late++] = xtc_clock_mono() - at_ns;
	return 0;
}

static int
sleeper_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void
run_sleepers(struct bench *b)
{
	struct sleepers s = { bench_alloc((size_t)b->size,
	    sizeof(int64_t)), 0, 88172645463325252u, b->size };
	xtc_loop_t *loop = bench_loop();
	long i;

	for (i = 0; i < b->size; i++)
		bench_must(xtc_async(loop, sleeper, &s, NULL), "xtc_async");
	bench_end(loop);
	bench_check(s.n_late == b->size, "all have woken");
	qsort(s.late_ns, (size_t)b->size, sizeof(int64_t), sleeper_compare);
	bench_check(s.late_ns[0] >= 0, "none woke early");
	bench_print(b, "p50_us", (double)s.late_ns[b->size / 2] / 1e3);
	bench_print(b, "p99_us", (double)s.late_ns[b->size -
	    b->size / 100 - 1] / 1e3);
	free(s.late_ns);
}

static const struct bench_row rows[] = {
	{ "timer", run_timer, 2000000, 100000 },
	{ "timer_oldest", run_timer_oldest, 2000000, 100000 },
	{ "sleepers", run_sleepers, 1, 100000 },
};

int
main(int argc, char **argv)
{
	return bench_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
