/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench_mutex: a lock and an unlock that nobody disputes, beside the three
 * kinds of pthread mutex in the same process, batch for batch; and the
 * hand-off among eight fibers that yield while they hold it.
 *
 * To be run with a second thread too: glibc's mutexes and ours do without
 * atomics where there is none.
 */
#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include <pthread.h>

enum { MUTEX_NORMAL, MUTEX_ERRORCHECK, MUTEX_ROBUST, MUTEX_KINDS };

static const char *const mutex_metric[MUTEX_KINDS] = {
	"pthread_normal_ns", "pthread_errorcheck_ns", "pthread_robust_ns"
};

struct mutexes {
	struct bench *b;
	xtc_amutex_t *m;
	struct bench pthread[MUTEX_KINDS];
	pthread_mutex_t kind[MUTEX_KINDS];
	long shared;		/* by the lock */
};

static void
mutex_make_kinds(struct mutexes *s)
{
	pthread_mutexattr_t a;
	int i;

	for (i = 0; i < MUTEX_KINDS; i++) {
		s->pthread[i] = *s->b;
		pthread_mutexattr_init(&a);
		if (i == MUTEX_ERRORCHECK)
			pthread_mutexattr_settype(&a,
			    PTHREAD_MUTEX_ERRORCHECK);
		if (i == MUTEX_ROBUST)
			pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
		bench_check(pthread_mutex_init(&s->kind[i], &a) == 0,
		    "pthread_mutex_init");
		pthread_mutexattr_destroy(&a);
	}
}

static void
mutex_pthread_batch(struct mutexes *s, int kind, long n)
{
	pthread_mutex_t *m = &s->kind[kind];
	int64_t t = xtc_clock_mono();
	long i;

	for (i = 0; i < n; i++) {
		pthread_mutex_lock(m);
		s->shared++;
		pthread_mutex_unlock(m);
	}
	bench_note(&s->pthread[kind], t, n);
}

static void
mutex_uncontended(void *arg)
{
	struct mutexes *s = arg;
	long i, batch, n = bench_batch(s->b);
	int kind;
	int64_t t;

	for (batch = 0; batch < s->b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++) {
			(void)xtc_amutex_lock(s->m, -1);
			s->shared++;
			(void)xtc_amutex_unlock(s->m);
		}
		bench_note(s->b, t, n);
		for (kind = 0; kind < MUTEX_KINDS; kind++)
			mutex_pthread_batch(s, kind, n);
		xtc_yield();
	}
}

static void
run_mutex(struct bench *b)
{
	struct mutexes s = { .b = b };
	xtc_loop_t *loop = bench_loop();
	int kind;

	mutex_make_kinds(&s);
	bench_must(xtc_amutex_create(&s.m), "xtc_amutex_create");
	(void)bench_spawn(loop, mutex_uncontended, &s);
	bench_end(loop);
	bench_check(s.shared == (1 + MUTEX_KINDS) * b->batches *
	    bench_batch(b), "each lock was had");
	bench_print_best(b, "ns");
	for (kind = 0; kind < MUTEX_KINDS; kind++)
		bench_print_best(&s.pthread[kind], mutex_metric[kind]);
	bench_must(xtc_amutex_destroy(s.m), "xtc_amutex_destroy");
}

/*
 * The rounds of one are as many hand-offs as there are fibers; the batches
 * of the first are counted as those of all.
 */
static void
mutex_holder(struct mutexes *s, int first)
{
	long i, batch, n = bench_batch(s->b) / s->b->size + 1;
	int64_t t;

	for (batch = 0; batch < s->b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++) {
			bench_must(xtc_amutex_lock(s->m, -1),
			    "xtc_amutex_lock");
			s->shared++;
			xtc_yield();
			bench_must(xtc_amutex_unlock(s->m),
			    "xtc_amutex_unlock");
		}
		if (first)
			bench_note(s->b, t, n * s->b->size);
	}
}

static void
mutex_first_holder(void *arg)
{
	mutex_holder(arg, 1);
}

static void
mutex_other_holder(void *arg)
{
	mutex_holder(arg, 0);
}

static void
run_mutex_handoff(struct bench *b)
{
	struct mutexes s = { .b = b };
	xtc_loop_t *loop = bench_loop();
	long i;

	bench_must(xtc_amutex_create(&s.m), "xtc_amutex_create");
	for (i = 0; i < b->size; i++)
		(void)bench_spawn(loop, i == 0 ? mutex_first_holder :
		    mutex_other_holder, &s);
	bench_end(loop);
	bench_check(s.shared == b->size * b->batches *
	    (bench_batch(b) / b->size + 1), "each lock was had");
	bench_print_best(b, "ns");
	bench_must(xtc_amutex_destroy(s.m), "xtc_amutex_destroy");
}

static const struct bench_row rows[] = {
	{ "mutex", run_mutex, 10000000, 0 },
	{ "mutex_handoff", run_mutex_handoff, 2000000, 8 },
};

int
main(int argc, char **argv)
{
	return bench_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
