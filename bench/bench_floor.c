/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench_floor: what this machine charges for the parts of which the other
 * rows are made, so that a figure can be told from its floor. A chain is
 * operations each of which waits for the one before (same word); apart are
 * such on words of their own, so the CPU may overlap what it can.
 */
#define _GNU_SOURCE

#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "os/os.h"

#define FLOOR_WORDS	4

struct floor_word {
	_Alignas(128) _Atomic uint64_t word;
};

static struct floor_word floor_words[FLOOR_WORDS];

typedef void floor_fn(long n);

/* One operation n times, batch by batch. */
static void
floor_measure(struct bench *b, floor_fn *fn)
{
	long batch, n = bench_batch(b);
	int64_t t;

	for (batch = 0; batch < b->batches; batch++) {
		t = xtc_clock_mono();
		fn(n);
		bench_note(b, t, n);
	}
	bench_print_best(b, "ns");
}

static void
floor_cas(long n)
{
	uint64_t old = atomic_load_explicit(&floor_words[0].word,
	    memory_order_relaxed);

	for (; n > 0; n--)
		if (atomic_compare_exchange_strong_explicit(
		    &floor_words[0].word, &old, old + 1,
		    memory_order_acq_rel, memory_order_relaxed))
			old++;
}

static void
floor_cas_loaded(long n)
{
	uint64_t old;

	for (; n > 0; n--) {
		old = atomic_load_explicit(&floor_words[0].word,
		    memory_order_relaxed);
		(void)atomic_compare_exchange_strong_explicit(
		    &floor_words[0].word, &old, old + 1,
		    memory_order_acq_rel, memory_order_relaxed);
	}
}

static void
floor_cas_apart(long n)
{
	uint64_t old[FLOOR_WORDS] = { 0 };
	unsigned w;

	for (; n > 0; n--) {
		w = (unsigned)n % FLOOR_WORDS;
		old[w] = atomic_load_explicit(&floor_words[w].word,
		    memory_order_relaxed);
		(void)atomic_compare_exchange_strong_explicit(
		    &floor_words[w].word, &old[w], old[w] + 1,
		    memory_order_acq_rel, memory_order_relaxed);
	}
}

static void
floor_add(long n)
{
	for (; n > 0; n--)
		atomic_fetch_add_explicit(&floor_words[1].word, 1,
		    memory_order_acq_rel);
}

static void
floor_exchange(long n)
{
	uint64_t x = 1;

	for (; n > 0; n--)
		x = atomic_exchange_explicit(&floor_words[2].word, x + 1,
		    memory_order_acq_rel);
}

static void
floor_plain(long n)
{
	uint64_t x;

	for (; n > 0; n--) {
		x = atomic_load_explicit(&floor_words[3].word,
		    memory_order_acquire);
		atomic_store_explicit(&floor_words[3].word, x + 1,
		    memory_order_release);
	}
}

static XTC__NOINLINE void
floor_empty(void)
{
	XTC__COMPILER_BARRIER();
}

static void
floor_call(long n)
{
	for (; n > 0; n--)
		floor_empty();
}

static void
floor_self(long n)
{
	for (; n > 0; n--)
		(void)xtc_loop_self();
}

static void
floor_clock(long n)
{
	for (; n > 0; n--)
		(void)xtc_clock_mono();
}

static char floor_from[64], floor_to[64];

static void
floor_copy(long n)
{
	static volatile size_t bytes = 16;

	for (; n > 0; n--)
		memcpy(floor_to, floor_from, bytes);
}

static void
floor_syscall(long n)
{
	for (; n > 0; n--)
		(void)getppid();
}

static void
floor_eventfd(long n)
{
	uint64_t one = 1;
	int fd = eventfd(0, 0);

	bench_check(fd >= 0, "eventfd");
	for (; n > 0; n--)
		bench_check(write(fd, &one, sizeof(one)) == sizeof(one) &&
		    read(fd, &one, sizeof(one)) == sizeof(one), "eventfd");
	(void)close(fd);
}

/*
 * The atomics and the copy of one message to a process that waits, and
 * nothing else: reserve, push, claim; take all, count down; prepare, wait,
 * leave the CPU. Two processes take turns.
 */
static void
floor_message(long n)
{
	static struct floor_box {
		_Alignas(128) _Atomic uint64_t word;
		_Alignas(64) _Atomic uint64_t box;
		_Atomic uint64_t top;
	} boxes[2];
	static volatile size_t bytes = 16;
	struct floor_box *b;
	uint64_t old;

#define FLOOR_SWAP(p, next) do { \
	old = atomic_load_explicit(p, memory_order_relaxed); \
	(void)atomic_compare_exchange_strong_explicit(p, &old, next, \
	    memory_order_acq_rel, memory_order_relaxed); \
} while (0)

	for (; n > 0; n--) {
		b = &boxes[n & 1];
		memcpy(floor_to, floor_from, bytes);
		FLOOR_SWAP(&b->box, old + 1);
		FLOOR_SWAP(&b->top, (uint64_t)n);
		FLOOR_SWAP(&b->word, old + 1);
		old = atomic_exchange_explicit(&b->top, 0,
		    memory_order_acq_rel);
		atomic_fetch_sub_explicit(&b->box, 1, memory_order_release);
		FLOOR_SWAP(&b->word, old + 256);
		FLOOR_SWAP(&b->top, 1);
		FLOOR_SWAP(&b->word, old ^ 3);
	}
}

#define FLOOR_ROW(name) \
static void \
run_##name(struct bench *b) \
{ \
	floor_measure(b, floor_##name); \
}
FLOOR_ROW(cas)
FLOOR_ROW(cas_loaded)
FLOOR_ROW(cas_apart)
FLOOR_ROW(add)
FLOOR_ROW(exchange)
FLOOR_ROW(plain)
FLOOR_ROW(call)
FLOOR_ROW(self)
FLOOR_ROW(clock)
FLOOR_ROW(copy)
FLOOR_ROW(message)
FLOOR_ROW(syscall)
FLOOR_ROW(eventfd)

/* What one of two threads sees of the other: by spinning, or asleep. */
struct floor_pair {
	_Alignas(128) _Atomic uint32_t ping;
	_Alignas(128) _Atomic uint32_t pong;
	long n;
	int sleeps;
};

static void
floor_await(_Atomic uint32_t *w, uint32_t value, int sleeps)
{
	uint32_t seen;

	while ((seen = atomic_load_explicit(w, memory_order_acquire)) !=
	    value) {
		if (sleeps)
			(void)xtc__os_futex_wait(w, seen, INT64_MAX);
	}
}

static void
floor_tell(_Atomic uint32_t *w, uint32_t value, int sleeps)
{
	atomic_store_explicit(w, value, memory_order_release);
	if (sleeps)
		xtc__os_futex_wake(w, 1);
}

static void *
floor_pong(void *arg)
{
	struct floor_pair *p = arg;
	long i;

	for (i = 1; i <= p->n; i++) {
		floor_await(&p->ping, (uint32_t)i, p->sleeps);
		floor_tell(&p->pong, (uint32_t)i, p->sleeps);
	}
	return NULL;
}

static void
floor_pair_run(struct bench *b, int sleeps)
{
	static struct floor_pair p;
	long i, batch, n = bench_batch(b) / 2 + 1;
	uint32_t value = 0;
	pthread_t thread;
	int64_t t;

	atomic_store_explicit(&p.ping, 0, memory_order_relaxed);
	atomic_store_explicit(&p.pong, 0, memory_order_relaxed);
	p.n = n * b->batches;
	p.sleeps = sleeps;
	bench_check(pthread_create(&thread, NULL, floor_pong, &p) == 0,
	    "no thread");
	for (batch = 0; batch < b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++) {
			floor_tell(&p.ping, ++value, sleeps);
			floor_await(&p.pong, value, sleeps);
		}
		bench_note(b, t, 2 * n);
	}
	pthread_join(thread, NULL);
	bench_print_best(b, "ns");
}

static void
run_cache_hop(struct bench *b)
{
	floor_pair_run(b, 0);
}

static void
run_futex_pair(struct bench *b)
{
	floor_pair_run(b, 1);
}

static int
floor_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* How late the kernel wakes a thread that sleeps for 50 microseconds. */
static void
run_sleep(struct bench *b)
{
	const struct timespec nap = { 0, 50000 };
	int64_t *late_ns = bench_alloc((size_t)b->count, sizeof(*late_ns));
	int64_t t;
	long i;

	(void)prctl(PR_SET_TIMERSLACK, 1);
	for (i = 0; i < b->count; i++) {
		t = xtc_clock_mono();
		(void)nanosleep(&nap, NULL);
		late_ns[i] = xtc_clock_mono() - t - nap.tv_nsec;
	}
	qsort(late_ns, (size_t)b->count, sizeof(*late_ns), floor_compare);
	bench_print(b, "ns", (double)late_ns[b->count / 2]);
	bench_print(b, "p99_ns", (double)late_ns[b->count - b->count / 100 -
	    1]);
	free(late_ns);
}

static const struct bench_row rows[] = {
	{ "floor_cas", run_cas, 10000000, 0 },
	{ "floor_cas_loaded", run_cas_loaded, 10000000, 0 },
	{ "floor_cas_apart", run_cas_apart, 10000000, 0 },
	{ "floor_add", run_add, 10000000, 0 },
	{ "floor_exchange", run_exchange, 10000000, 0 },
	{ "floor_plain", run_plain, 10000000, 0 },
	{ "floor_call", run_call, 10000000, 0 },
	{ "floor_self", run_self, 10000000, 0 },
	{ "floor_clock", run_clock, 2000000, 0 },
	{ "floor_copy", run_copy, 10000000, 0 },
	{ "floor_message", run_message, 2000000, 0 },
	{ "floor_syscall", run_syscall, 1000000, 0 },
	{ "floor_eventfd", run_eventfd, 500000, 0 },
	{ "floor_cache_hop", run_cache_hop, 1000000, 0 },
	{ "floor_futex_pair", run_futex_pair, 100000, 0 },
	{ "floor_sleep", run_sleep, 5000, 0 },
};

int
main(int argc, char **argv)
{
	return bench_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
