/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench.h: what the bench programs share.
 *
 * A program is a table of rows. A row does its work BENCH_BATCHES times over,
 * each time a part of the whole count, and reports the best batch: on a
 * machine that others use too the smallest time is the one that says what
 * the code costs, and a batch is short, so that some are left undisturbed.
 * How it varies from run to run is seen by run.py, which
 * starts the programs many times, each in turn.
 *
 *	PROGRAM				all rows
 *	PROGRAM --rows			their names, counts and sizes
 *	PROGRAM ROW [COUNT [SIZE]]	one row; the size is how many fibers or
 *					timers there are, where that matters
 *
 * With XTC_BENCH_SECOND_THREAD in the environment there is a second thread,
 * which sleeps: some do without atomics in a process that has but one.
 *
 * What is printed is lines of ROW METRIC VALUE; a metric's name ends in its
 * unit.
 */
#ifndef BENCH_H
#define BENCH_H

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xtc.h>

#define BENCH_BATCHES	100

struct bench {
	const char *row;
	long count;		/* operations in all */
	long size;
	long batches;
	double best_ns;		/* an operation, in the best batch */
};

struct bench_row {
	const char *name;
	void (*run)(struct bench *);
	long count;
	long size;		/* 0: it has none */
};

static inline void
bench_must(int error, const char *what)
{
	if (error == XTC_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, xtc_strerror(error));
	exit(1);
}

static inline void
bench_check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	exit(1);
}

static inline void *
bench_alloc(size_t n, size_t bytes)
{
	void *p = calloc(n, bytes);

	bench_check(p != NULL, "out of memory");
	return p;
}

/* Operations of one batch. */
static inline long
bench_batch(const struct bench *b)
{
	return b->count < b->batches ? 1 : b->count / b->batches;
}

/* A batch is whole laps of all that there are: how many laps. */
static inline long
bench_laps(struct bench *b)
{
	if (b->count / b->size < b->batches)
		b->batches = b->count / b->size + 1;
	return bench_batch(b) / b->size + 1;
}

/* A batch of n operations began at since_ns and ends now. */
static inline void
bench_note(struct bench *b, int64_t since_ns, long n)
{
	double ns = (double)(xtc_clock_mono() - since_ns) / (double)n;

	if (b->best_ns == 0 || ns < b->best_ns)
		b->best_ns = ns;
}

static inline void
bench_print(const struct bench *b, const char *metric, double value)
{
	printf("%s %s %.3f\n", b->row, metric, value);
	fflush(stdout);
}

static inline void
bench_print_best(struct bench *b, const char *metric)
{
	bench_print(b, metric, b->best_ns);
	b->best_ns = 0;
}

static inline xtc_loop_t *
bench_loop(void)
{
	xtc_loop_t *loop;

	bench_must(xtc_loop_init(&loop), "xtc_loop_init");
	return loop;
}

static inline xtc_pid_t
bench_spawn(xtc_loop_t *loop, void (*fn)(void *), void *arg)
{
	xtc_pid_t pid;

	bench_must(xtc_proc_spawn(loop, fn, arg, NULL, &pid),
	    "xtc_proc_spawn");
	return pid;
}

static inline void
bench_end(xtc_loop_t *loop)
{
	bench_must(xtc_loop_run(loop), "xtc_loop_run");
	bench_must(xtc_loop_fini(loop), "xtc_loop_fini");
}

/* A number that does not depend on where or when: xorshift. */
static inline uint64_t
bench_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline void *
bench_sleep(void *arg)
{
	pthread_mutex_t *held = arg;

	pthread_mutex_lock(held);
	return NULL;
}

static inline void
bench_second_thread(void)
{
	static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;

	if (getenv("XTC_BENCH_SECOND_THREAD") == NULL)
		return;
	pthread_mutex_lock(&held);
	bench_check(pthread_create(&thread, NULL, bench_sleep, &held) == 0,
	    "no thread");
}

static inline void
bench_run(const struct bench_row *row, long count, long size)
{
	struct bench b = { row->name, count, size, BENCH_BATCHES, 0 };

	row->run(&b);
}

static inline int
bench_main(int argc, char **argv, const struct bench_row *rows, size_t n)
{
	const struct bench_row *row;
	int known = argc < 2;
	size_t i;

	bench_second_thread();
	for (i = 0; i < n; i++) {
		row = &rows[i];
		if (argc < 2) {
			bench_run(row, row->count, row->size);
		} else if (strcmp(argv[1], "--rows") == 0) {
			printf("%s %ld %ld\n", row->name, row->count,
			    row->size);
			known = 1;
		} else if (strcmp(argv[1], row->name) == 0) {
			bench_run(row, argc > 2 ? atol(argv[2]) : row->count,
			    argc > 3 ? atol(argv[3]) : row->size);
			known = 1;
		}
	}
	if (!known)
		fprintf(stderr, "%s: no row %s\n", argv[0], argv[1]);
	return known ? 0 : 2;
}

#endif
