/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench_paths: the paths of the library one by one, for counting their
 * instructions (valgrind --tool=callgrind). Each row does its path COUNT
 * times, so the difference of two runs, divided by the difference of the
 * counts, is what one takes; all else is in both.
 *
 * The clock is of this program's own making and moves by one nanosecond each
 * time it is read. How often the loop looks outside depends on the time, and
 * so would the counts. What sleeps is not measured here: a sleep of the
 * kernel's would not move this clock.
 */
#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include <time.h>

struct paths {
	struct bench *b;
	xtc_loop_t *loop;
	xtc_amutex_t *m;
	xtc_pid_t other;
	long count;
	int done;
};

typedef void path_fn(void *);

static int64_t path_now_ns;

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	path_now_ns++;
	t->tv_sec = 1000 + path_now_ns / 1000000000;
	t->tv_nsec = path_now_ns % 1000000000;
	return 0;
}

static void
path_run(struct bench *b, path_fn *one, path_fn *other)
{
	struct paths p = { b, bench_loop(), NULL, XTC_PID_NONE, b->count, 0 };

	bench_must(xtc_amutex_create(&p.m), "xtc_amutex_create");
	if (other != NULL)
		p.other = bench_spawn(p.loop, other, &p);
	(void)bench_spawn(p.loop, one, &p);
	bench_end(p.loop);
	bench_must(xtc_amutex_destroy(p.m), "xtc_amutex_destroy");
}

/* Two of them are each other's turns. */
static void
path_yield(void *arg)
{
	struct paths *p = arg;
	long i;

	for (i = 0; i < p->count; i++)
		xtc_yield();
}

static void
path_mutex(void *arg)
{
	struct paths *p = arg;
	long i;

	for (i = 0; i < p->count; i++) {
		bench_must(xtc_amutex_lock(p->m, -1), "lock");
		bench_must(xtc_amutex_unlock(p->m), "unlock");
	}
}

/* Two of them, and the lock is always handed to the other one. */
static void
path_mutex_wait(void *arg)
{
	struct paths *p = arg;
	long i;

	for (i = 0; i < p->count; i++) {
		bench_must(xtc_amutex_lock(p->m, -1), "lock");
		xtc_yield();
		bench_must(xtc_amutex_unlock(p->m), "unlock");
	}
}

/* To itself: the receiver runs, and finds its message without waiting. */
static void
path_send(void *arg)
{
	struct paths *p = arg;
	char data[16] = { 0 };
	void *msg;
	long i;

	for (i = 0; i < p->count; i++) {
		bench_must(xtc_send(xtc_self(), data, sizeof(data)), "send");
		bench_must(xtc_recv(&msg, NULL, -1), "recv");
		xtc_free(msg);
	}
}

/* Memory of the kind that messages are, taken and given back. */
static void
path_slab(void *arg)
{
	struct paths *p = arg;
	xtc_amutex_t *m;
	long i;

	for (i = 0; i < p->count; i++) {
		bench_must(xtc_amutex_create(&m), "create");
		bench_must(xtc_amutex_destroy(m), "destroy");
	}
}

static void
path_receive(void *arg)
{
	struct paths *p = arg;
	void *msg;

	while (!p->done) {
		bench_must(xtc_recv(&msg, NULL, -1), "recv");
		xtc_free(msg);
	}
}

/* The receiver is parked each time. */
static void
path_wake(void *arg)
{
	struct paths *p = arg;
	char data[16] = { 0 };
	long i;

	xtc_yield();
	for (i = 0; i < p->count; i++) {
		p->done = i == p->count - 1;
		bench_must(xtc_send(p->other, data, sizeof(data)), "send");
		xtc_yield();
	}
}

static void
path_drop(void *arg)
{
	struct paths *p = arg;
	long i;

	for (i = 0; i < p->count; i++)
		bench_check(xtc_send(XTC_PID_NONE, NULL, 0) == XTC_E_INVAL,
		    "nobody is there");
}

static void
path_child(void *arg)
{
	struct paths *p = arg;

	p->done++;
}

static intptr_t
path_child_fiber(void *arg)
{
	path_child(arg);
	return 0;
}

static void
path_spawn_fiber(void *arg)
{
	struct paths *p = arg;
	long i;

	for (i = 0; i < p->count; i++) {
		bench_must(xtc_async(p->loop, path_child_fiber, p, NULL),
		    "async");
		xtc_yield();
	}
}

static void
path_spawn_process(void *arg)
{
	struct paths *p = arg;
	long i;

	for (i = 0; i < p->count; i++) {
		(void)bench_spawn(p->loop, path_child, p);
		xtc_yield();
	}
}

static void
path_timer_cancel(void *arg)
{
	struct paths *p = arg;
	xtc_timer_t *t;
	long i;

	for (i = 0; i < p->count; i++) {
		bench_must(xtc_timer_set(p->loop, INT64_C(60000000000),
		    path_child, p, &t), "set");
		bench_must(xtc_timer_cancel(t), "cancel");
	}
}

/* Due at once: the loop's next turn calls it, while this one yields. */
static void
path_timer_fire(void *arg)
{
	struct paths *p = arg;
	long i, left = p->count;
	int n;

	while (left > 0) {
		n = left < 64 ? (int)left : 64;
		p->done = 0;
		for (i = 0; i < n; i++)
			bench_must(xtc_timer_set(p->loop, 0, path_child, p,
			    NULL), "set");
		while (p->done < n)
			xtc_yield();
		left -= n;
	}
}

#define PATH_ROW(name, one, other) \
static void \
run_##name(struct bench *b) \
{ \
	path_run(b, one, other); \
}
PATH_ROW(yield, path_yield, path_yield)
PATH_ROW(mutex, path_mutex, NULL)
PATH_ROW(mutex_wait, path_mutex_wait, path_mutex_wait)
PATH_ROW(send, path_send, NULL)
PATH_ROW(slab, path_slab, NULL)
PATH_ROW(wake, path_wake, path_receive)
PATH_ROW(drop, path_drop, NULL)
PATH_ROW(spawn_fiber, path_spawn_fiber, NULL)
PATH_ROW(spawn_process, path_spawn_process, NULL)
PATH_ROW(timer_cancel, path_timer_cancel, NULL)
PATH_ROW(timer_fire, path_timer_fire, NULL)

static const struct bench_row rows[] = {
	{ "yield", run_yield, 6400, 0 },
	{ "mutex", run_mutex, 6400, 0 },
	{ "send", run_send, 6400, 0 },
	{ "slab", run_slab, 6400, 0 },
	{ "wake", run_wake, 6400, 0 },
	{ "mutex_wait", run_mutex_wait, 6400, 0 },
	{ "drop", run_drop, 6400, 0 },
	{ "spawn_fiber", run_spawn_fiber, 6400, 0 },
	{ "spawn_process", run_spawn_process, 6400, 0 },
	{ "timer_cancel", run_timer_cancel, 6400, 0 },
	{ "timer_fire", run_timer_fire, 6400, 0 },
};

int
main(int argc, char **argv)
{
	return bench_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
