/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Memory as xtc_base.h and mem/ promise it: aligned, apart from each other,
 * given back from anywhere; objects that stay objects of their pool; any
 * allocation may fail and nothing is lost then; a wrong free ends the program.
 */
#include "testlib.h"

#include <signal.h>
#include <sys/wait.h>

#include "mem/env.h"
#include "mem/mem.h"
#include "mem/pool.h"

/* A number that tells blocks apart, in each of their bytes. */
static void
fill(void *p, size_t bytes, unsigned n)
{
	memset(p, (int)(n * 37 % 251 + 1), bytes);
}

static void
check_filled(const void *p, size_t bytes, unsigned n)
{
	const unsigned char *c = p;
	size_t i;

	for (i = 0; i < bytes; i++)
		T_EQ(c[i], n * 37 % 251 + 1);
}

static int
is_aligned(const void *p, size_t align)
{
	return ((uintptr_t)p & (align - 1)) == 0;
}

static int
ends_by_abort(void (*fn)(void), const char *words)
{
	char text[4096];
	size_t length = 0;
	ssize_t n;
	pid_t pid;
	int status, p[2];

	T_EQ(pipe(p), 0);
	pid = fork();
	T_TRUE(pid >= 0);
	if (pid == 0) {
		(void)signal(SIGABRT, SIG_DFL);
		if (dup2(p[1], 2) != 2)
			_exit(3);
		fn();
		_exit(0);
	}
	close(p[1]);
	while ((n = read(p[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	close(p[0]);
	T_EQ(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
	    strstr(text, words) != NULL;
}

START_TEST(blocks_are_aligned_and_apart)
{
	void *p[200];
	unsigned i;

	for (i = 0; i < 200; i++) {
		p[i] = xtc_malloc(i * 13);
		T_TRUE(p[i] != NULL && is_aligned(p[i], 16));
		fill(p[i], i * 13, i);
	}
	T_TRUE(p[0] != p[1]);
	for (i = 0; i < 200; i++) {
		check_filled(p[i], i * 13, i);
		xtc_free(p[i]);
	}
	xtc_free(NULL);
}
END_TEST

START_TEST(calloc_clears_and_sees_overflow)
{
	unsigned char *p;
	int i, round;

	for (round = 0; round < 3; round++) {
		p = xtc_calloc(7, 100);
		T_TRUE(p != NULL && is_aligned(p, 16));
		for (i = 0; i < 700; i++)
			T_EQ(p[i], 0);
		fill(p, 700, 1);
		xtc_free(p);
	}
	T_TRUE(xtc_calloc(SIZE_MAX / 2, 3) == NULL);
	T_TRUE(xtc_calloc(3, SIZE_MAX / 2) == NULL);
	T_TRUE(xtc_calloc(SIZE_MAX, 1) == NULL);
	T_TRUE(xtc_calloc(SIZE_MAX / 16 + 2, 16) == NULL);
	T_TRUE(xtc_calloc(16, SIZE_MAX / 16 + 2) == NULL);
	T_TRUE(xtc_malloc(SIZE_MAX) == NULL);
	T_TRUE(xtc_malloc(SIZE_MAX - 15) == NULL);
	p = xtc_calloc(0, 10);
	T_TRUE(p != NULL);
	xtc_free(p);
}
END_TEST

START_TEST(realloc_keeps_what_fits)
{
	char *p = xtc_realloc(NULL, 100);

	T_TRUE(p != NULL);
	fill(p, 100, 5);
	p = xtc_realloc(p, 100000);
	T_TRUE(p != NULL && is_aligned(p, 16));
	check_filled(p, 100, 5);
	T_TRUE(xtc_realloc(p, SIZE_MAX) == NULL);
	T_TRUE(xtc_realloc(p, SIZE_MAX - 20) == NULL);
	check_filled(p, 100, 5);
	p = xtc_realloc(p, 10);
	check_filled(p, 10, 5);
	p = xtc_realloc(p, 0);
	T_TRUE(p != NULL);
	xtc_free(p);
}
END_TEST

START_TEST(alignments_are_kept)
{
	size_t align;
	void *p[32];
	int i, n = 0;

	for (align = 1; align <= 65536; align *= 2, n++) {
		p[n] = xtc_aligned_alloc(align, 50 + align);
		T_TRUE(p[n] != NULL && is_aligned(p[n], align));
		T_TRUE(is_aligned(p[n], 16));
		fill(p[n], 50 + align, (unsigned)n);
	}
	for (i = 0, align = 1; i < n; i++, align *= 2) {
		check_filled(p[i], 50 + align, (unsigned)i);
		xtc_aligned_free(p[i]);
	}
	T_TRUE(xtc_aligned_alloc(0, 1) == NULL);
	T_TRUE(xtc_aligned_alloc(24, 1) == NULL);
	T_TRUE(xtc_aligned_alloc((size_t)1 << 40, 1) == NULL);
	T_TRUE(xtc_aligned_alloc(64, SIZE_MAX - 10) == NULL);
	xtc_aligned_free(NULL);
}
END_TEST

static int n_malloc, n_realloc, n_free;

static void *
own_malloc(size_t bytes)
{
	n_malloc++;
	return malloc(bytes);
}

static void *
own_realloc(void *p, size_t bytes)
{
	n_realloc++;
	return realloc(p, bytes);
}

static void
own_free(void *p)
{
	n_free++;
	free(p);
}

START_TEST(an_allocator_of_ones_own_serves_everything)
{
	static const xtc_allocator_t a = {
		sizeof(a), own_malloc, own_realloc, own_free
	};
	xtc_allocator_t bad = a;
	char *p;
	int i;

	T_RC(xtc_set_allocator(NULL), XTC_E_INVAL);
	bad.free_fn = NULL;
	T_RC(xtc_set_allocator(&bad), XTC_E_INVAL);
	bad = a;
	bad.size = 4;
	T_RC(xtc_set_allocator(&bad), XTC_E_INVAL);
	T_OK(xtc_set_allocator(&a));
	p = xtc_malloc(100);
	fill(p, 100, 1);
	T_EQ(n_malloc, 1);
	p = xtc_realloc(p, 200);
	T_EQ(n_realloc, 1);
	xtc_free(p);
	T_EQ(n_free, 1);
	p = xtc_calloc(1, 200);
	for (i = 0; i < 200; i++)
		T_EQ(p[i], 0);
	xtc_free(p);
	xtc_aligned_free(xtc_aligned_alloc(64, 1));
	T_EQ(n_malloc, 3);
	T_EQ(n_free, 3);
	p = xtc__pool_get(NULL, XTC__POOL_TIMER);
	T_EQ(n_malloc, 4);
	xtc__pool_put(NULL, XTC__POOL_TIMER, p);
	T_RC(xtc_set_allocator(&a), XTC_E_INVAL);
}
END_TEST

static void *hold;

static void
free_twice(void)
{
	struct xtc__env *e = xtc__env_get(NULL, 10);

	xtc_free(xtc__env_payload(e));
	xtc_free(xtc__env_payload(e));
}

static void
free_foreign(void)
{
	static _Alignas(16) char zeroes[64];

	xtc_free(zeroes + 32);
}

static void
free_aligned_plainly(void)
{
	hold = xtc_aligned_alloc(64, 10);
	xtc_free(hold);
}

static void
free_plain_as_aligned(void)
{
	hold = xtc_malloc(10);
	xtc_aligned_free(hold);
}

static void
realloc_freed(void)
{
	struct xtc__env *e = xtc__env_get(NULL, 10);

	xtc_free(xtc__env_payload(e));
	hold = xtc_realloc(xtc__env_payload(e), 20);
}

static void
underrun(void)
{
	char *volatile p = xtc_malloc(10);

	p[-1] = 'x';
	xtc_free(p);
}

START_TEST(a_wrong_free_is_told)
{
	T_TRUE(ends_by_abort(free_twice, "freed already"));
	T_TRUE(ends_by_abort(realloc_freed, "freed already"));
	T_TRUE(ends_by_abort(free_foreign, "never gave out"));
	T_TRUE(ends_by_abort(free_aligned_plainly, "xtc_aligned_free"));
	T_TRUE(ends_by_abort(free_plain_as_aligned, "xtc_malloc"));
	T_TRUE(ends_by_abort(underrun, "overwritten"));
}
END_TEST

/* Pools. */

static const struct {
	unsigned bytes, batch;
} pools[XTC__POOL_COUNT] = {
#define POOL(name, bytes, batch, where) { bytes, batch },
	XTC__POOL_TABLE(POOL)
#undef POOL
};

#define N_OBJECTS	2000
static void *objects[N_OBJECTS];

static int
cmp_pointer(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)*(void *const *)a;
	uintptr_t y = (uintptr_t)*(void *const *)b;

	return (x > y) - (x < y);
}

static void
check_apart(unsigned pool, int n)
{
	int i;

	qsort(objects, (size_t)n, sizeof(objects[0]), cmp_pointer);
	for (i = 1; i < n; i++)
		T_TRUE((uintptr_t)objects[i] - (uintptr_t)objects[i - 1] >=
		    pools[pool].bytes);
}

static void
check_zero(const void *p, size_t from, size_t bytes)
{
	const char *c = p;

	for (; from < bytes; from++)
		T_EQ(c[from], 0);
}

START_TEST(new_objects_are_clear_aligned_and_apart)
{
	struct xtc__mags m;
	struct xtc__pool_stat st;
	unsigned pool;
	int i, n = 500;

	xtc__mags_init(&m);
	for (pool = 0; pool < XTC__POOL_COUNT; pool++) {
		for (i = 0; i < n; i++) {
			struct xtc__mags *from = i % 3 == 0 ? NULL : &m;
			unsigned align = pools[pool].bytes;

			objects[i] = xtc__pool_get(from, pool);
			T_TRUE(objects[i] != NULL);
			T_TRUE(is_aligned(objects[i],
			    align < 128 ? align : 128));
			check_zero(objects[i], 8, pools[pool].bytes);
		}
		check_apart(pool, n);
		for (i = 0; i < n; i++)
			xtc__pool_put(i % 2 == 0 ? NULL : &m, pool,
			    objects[i]);
		xtc__pool_stat(pool, &st);
		T_EQ(st.in_depot + xtc__mags_count(&m, pool), st.made);
	}
	xtc__mags_flush(&m);
	for (pool = 0; pool < XTC__POOL_COUNT; pool++) {
		xtc__pool_stat(pool, &st);
		T_EQ(st.in_depot, st.made);
		T_EQ(xtc__mags_count(&m, pool), 0);
	}
}
END_TEST

START_TEST(what_an_object_holds_outlives_it)
{
	static void *all[2 * N_OBJECTS];
	struct xtc__pool_stat st;
	struct xtc__mags m;
	uint64_t *p, gets = 0;
	int i, n = N_OBJECTS, round;

	/* a count in every object: none may lose it, wherever it went */
	xtc__mags_init(&m);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < n; i++) {
			p = xtc__pool_get((i + round) % 5 ? &m : NULL,
			    XTC__POOL_RECORD);
			objects[i] = p;
			p[1]++;
			T_TRUE(p[31] == (p[1] == 1 ? 0 : (uintptr_t)p));
			p[31] = (uintptr_t)p;
		}
		for (i = 0; i < n; i++)
			xtc__pool_put((i + round) % 7 ? &m : NULL,
			    XTC__POOL_RECORD, objects[i]);
		if (round % 3 == 2)
			xtc__mags_flush(&m);
	}
	xtc__mags_flush(&m);
	xtc__pool_stat(XTC__POOL_RECORD, &st);
	T_TRUE(st.made >= N_OBJECTS && st.made < N_OBJECTS + 100);
	for (i = 0; i < (int)st.made; i++) {
		p = all[i] = xtc__pool_get(NULL, XTC__POOL_RECORD);
		gets += p[1];
	}
	T_EQ(gets, 20 * n);
	for (i = 0; i < (int)st.made; i++)
		xtc__pool_put(NULL, XTC__POOL_RECORD, all[i]);
	xtc__pool_stat(XTC__POOL_RECORD, &st);
	T_EQ(st.in_depot, st.made);
}
END_TEST

START_TEST(a_one_way_traffic_runs_in_constant_memory)
{
	struct xtc__mags from, to;
	struct xtc__pool_stat st;
	void *o;
	unsigned pool;
	int i;

	xtc__mags_init(&from);
	xtc__mags_init(&to);
	for (pool = 0; pool < XTC__POOL_COUNT; pool++) {
		for (i = 0; i < t_count(100000); i++) {
			o = xtc__pool_get(&from, pool);
			T_TRUE(o != NULL);
			xtc__pool_put(&to, pool, o);
		}
		xtc__pool_stat(pool, &st);
		T_TRUE(st.made <= 6 * pools[pool].batch);
		T_TRUE(xtc__mags_count(&to, pool) <= 2 * pools[pool].batch);
		T_TRUE(xtc__mags_count(&from, pool) <= 2 * pools[pool].batch);
	}
	xtc__mags_flush(&from);
	xtc__mags_flush(&to);
}
END_TEST

START_TEST(the_edge_of_a_batch_is_not_the_depots_edge)
{
	struct xtc__mags m;
	struct xtc__pool_stat before, after;
	int i, batch = (int)pools[XTC__POOL_TIMER].batch;

	/* back and forth over where a magazine runs full and empty */
	xtc__mags_init(&m);
	for (i = 0; i < batch; i++)
		objects[i] = xtc__pool_get(&m, XTC__POOL_TIMER);
	for (i = 0; i < batch; i++)
		xtc__pool_put(&m, XTC__POOL_TIMER, objects[i]);
	for (i = 0; i < batch + 1; i++)
		objects[i] = xtc__pool_get(&m, XTC__POOL_TIMER);
	xtc__pool_stat(XTC__POOL_TIMER, &before);
	for (i = 0; i < 1000; i++) {
		xtc__pool_put(&m, XTC__POOL_TIMER, objects[0]);
		xtc__pool_put(&m, XTC__POOL_TIMER, objects[1]);
		objects[0] = xtc__pool_get(&m, XTC__POOL_TIMER);
		objects[1] = xtc__pool_get(&m, XTC__POOL_TIMER);
		xtc__pool_stat(XTC__POOL_TIMER, &after);
		T_EQ(after.in_depot, before.in_depot);
		T_EQ(after.made, before.made);
	}
	for (i = 0; i < batch + 1; i++)
		xtc__pool_put(&m, XTC__POOL_TIMER, objects[i]);
	xtc__mags_flush(&m);
}
END_TEST

/* Threads that get, swap through shared places, and put. */
#define N_PLACES	256
static _Atomic(uint64_t *) places[N_PLACES];
static _Atomic uint64_t errors;

static void *
swap_objects(void *arg)
{
	struct xtc__mags m, *use = NULL;
	uint64_t r = (uintptr_t)arg * 7919 + 1, *o;
	_Atomic(uint64_t *) *place;
	int i;

	xtc__mags_init(&m);
	/* one of them has no loop */
	if ((uintptr_t)arg != 0) {
		use = &m;
		xtc__mags_enter(&m);
	}
	if (xtc__mags_self() != use)
		t_add(&errors, 1);
	for (i = 0; i < t_count(1000000); i++) {
		place = &places[t_rand(&r) % N_PLACES];
		o = NULL;
		/* for a while it gives more, for a while it takes more */
		if (t_rand(&r) % 4 < (i % 8192 < 4096 ? 3u : 1u)) {
			o = xtc__pool_get(use, XTC__POOL_AMUTEX);
			/* in use by two at once? */
			if (o == NULL || o[2] != 0)
				t_add(&errors, 1);
			o[2] = 1;
		}
		/* both: what others wrote is seen before it is changed */
		o = atomic_exchange_explicit(place, o, memory_order_acq_rel);
		if (o != NULL) {
			if (o[2] != 1)
				t_add(&errors, 1);
			o[2] = 0;
			xtc__pool_put(use, XTC__POOL_AMUTEX, o);
		}
	}
	if (use != NULL) {
		xtc__mags_leave();
		xtc__mags_flush(&m);
	}
	if (xtc__mags_self() != NULL)
		t_add(&errors, 1);
	return NULL;
}

START_TEST(objects_given_back_elsewhere_are_neither_lost_nor_doubled)
{
	struct xtc__pool_stat st;
	pthread_t t[4];
	uint64_t i, out = 0;

	for (i = 0; i < 4; i++)
		t[i] = t_thread(swap_objects, (void *)(uintptr_t)i);
	for (i = 0; i < 4; i++)
		t_join(t[i]);
	T_EQ(t_get(&errors), 0);
	for (i = 0; i < N_PLACES; i++)
		out += t_get(&places[i]) != NULL;
	xtc__pool_stat(XTC__POOL_AMUTEX, &st);
	T_EQ(st.in_depot + out, st.made);
	/* what was out at once, and four loops' magazines, in whole chunks */
	T_TRUE(st.made <= N_PLACES + 4 + 5 * 128);
}
END_TEST

/* Envelopes. */

START_TEST(an_envelope_holds_what_it_was_asked_for)
{
	static const size_t sizes[] = {
		0, 1, 47, 48, 49, 112, 113, 240, 241, 496, 497, 1008, 1009,
		2032, 2033, 4080, 4081, 5000, 1000000
	};
	size_t i, n = sizeof(sizes) / sizeof(sizes[0]);
	struct xtc__env *e[32];
	struct xtc__mags m;
	int round;

	xtc__mags_init(&m);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < n; i++) {
			void *p;

			e[i] = xtc__env_get(&m, sizes[i]);
			T_TRUE(e[i] != NULL);
			p = xtc__env_payload(e[i]);
			T_TRUE(is_aligned(p, 16));
			T_TRUE(xtc__env_of(p) == e[i]);
			T_EQ(e[i]->bytes, sizes[i]);
			T_EQ(e[i]->kind, 0);
			T_EQ(e[i]->pool, sizes[i] > 4080 ? XTC__ENV_ON_HEAP :
			    e[i]->pool);
			if (sizes[i] <= 4080)
				T_TRUE(xtc__env_room(e[i]) >= sizes[i] &&
				    (e[i]->pool == XTC__POOL_ENV0 ||
				    xtc__env_room(e[i]) / 2 <= sizes[i] + 8));
			e[i]->kind = 3;
			fill(p, sizes[i], (unsigned)i);
		}
		for (i = 0; i < n; i++) {
			check_filled(xtc__env_payload(e[i]), sizes[i],
			    (unsigned)i);
			if (i % 2 == 0)
				xtc_free(xtc__env_payload(e[i]));
			else
				xtc__env_put(&m, e[i]);
		}
	}
	T_TRUE(xtc__env_get(&m, SIZE_MAX) == NULL);
	T_TRUE(xtc__env_get(&m, SIZE_MAX - 8) == NULL);
	T_TRUE(SIZE_MAX == UINT32_MAX ||
	    xtc__env_get(&m, (size_t)UINT32_MAX + 1) == NULL);
	xtc__mags_flush(&m);
}
END_TEST

START_TEST(a_message_can_be_made_longer_and_shorter)
{
	static const size_t sizes[] = { 1, 40, 48, 49, 100, 4080, 4081, 9000 };
	struct xtc__pool_stat st;
	size_t i, k, keep;
	unsigned pool;
	void *p;

	for (i = 0; i < 8; i++) {
		for (k = 0; k < 8; k++) {
			p = xtc__env_payload(xtc__env_get(NULL, sizes[i]));
			fill(p, sizes[i], 3);
			p = xtc_realloc(p, sizes[k]);
			T_TRUE(p != NULL && is_aligned(p, 16));
			keep = sizes[i] < sizes[k] ? sizes[i] : sizes[k];
			check_filled(p, keep, 3);
			fill(p, sizes[k], 4);
			p = xtc_realloc(p, sizes[i] + 30);
			check_filled(p, keep, 4);
			xtc_free(p);
		}
	}
	for (pool = XTC__POOL_ENV0; pool <= XTC__POOL_ENV6; pool++) {
		xtc__pool_stat(pool, &st);
		T_EQ(st.in_depot, st.made);
	}
}
END_TEST

/* Everything that allocates, once; what there was is given back. */
static int
use_everything(void)
{
	struct xtc__mags m;
	unsigned pool;
	void *p, *q;
	int failed = 0;

	xtc__mags_init(&m);
	p = xtc_malloc(10);
	if (p != NULL)
		fill(p, 10, 9);
	q = xtc_realloc(p, 1000);
	failed += q == NULL;
	if (q == NULL && p != NULL)
		check_filled(p, 10, 9);
	xtc_free(q != NULL ? q : p);
	p = xtc_calloc(3, 5);
	failed += p == NULL;
	xtc_free(p);
	p = xtc_aligned_alloc(256, 5);
	failed += p == NULL;
	xtc_aligned_free(p);
	p = xtc__env_get(&m, 10000);
	failed += p == NULL;
	if (p != NULL)
		xtc__env_put(&m, p);
	for (pool = 0; pool < XTC__POOL_COUNT; pool++) {
		p = xtc__pool_get(pool % 2 ? &m : NULL, pool);
		failed += p == NULL;
		if (p != NULL)
			xtc__pool_put(pool % 2 ? &m : NULL, pool, p);
	}
	xtc__mags_flush(&m);
	return failed;
}

START_TEST(any_allocation_may_fail_and_the_next_succeeds)
{
	uint64_t n, failed;
	int unserved;

	/* the pools keep their chunks: each fails at most once per process */
	(void)xtc__mem_fail_nth(1, 1);
	unserved = use_everything();
	failed = xtc__mem_fail_nth(0, 0);
	T_EQ(unserved, 4 + XTC__POOL_COUNT);
	T_EQ(failed, 5 + XTC__POOL_COUNT);
	for (n = 1;; n++) {
		(void)xtc__mem_fail_nth(n, 0);
		unserved = use_everything();
		failed = xtc__mem_fail_nth(0, 0);
		T_TRUE(failed <= 1 && unserved <= (int)failed);
		T_EQ(use_everything(), 0);
		if (failed == 0)
			break;
		T_TRUE(n < 100);
	}
	T_TRUE(n > 5);
	(void)xtc__mem_fail_nth(3, 1);
	for (n = 1; n <= 9; n++) {
		void *p = xtc__mem_raw_zalloc(16, XTC_ALLOC_RING);

		T_TRUE((p == NULL) == (n % 3 == 0));
		xtc__mem_raw_free(p);
	}
	T_EQ(xtc__mem_fail_nth(0, 0), 3);
}
END_TEST

START_TEST(a_large_message_without_memory_is_no_message)
{
	struct xtc__mags m;

	xtc__mags_init(&m);
	(void)xtc__mem_fail_nth(1, 1);
	T_TRUE(xtc__env_get(&m, 100) == NULL);
	T_TRUE(xtc__env_get(NULL, 100) == NULL);
	T_TRUE(xtc__env_get(&m, 100000) == NULL);
	T_EQ(xtc__mem_fail_nth(0, 0), 3);
	xtc__mags_flush(&m);
}
END_TEST

#ifdef T_ASAN
static struct xtc__mags asan_mags;

static void
write_freed(void)
{
	char *volatile p;

	p = xtc__env_payload(xtc__env_get(&asan_mags, 20));
	xtc__env_put(&asan_mags, xtc__env_of(p));
	p[3] = 1;
}

static void
write_past(void)
{
	char *volatile p;

	p = xtc__env_payload(xtc__env_get(&asan_mags, 20));
	p[20] = 1;
}

static int
ends_in_asan(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	T_TRUE(pid >= 0);
	if (pid == 0) {
		close(2);
		fn();
		_exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
#endif

START_TEST(asan_sees_a_message_touched_out_of_bounds_or_after_free)
{
#ifdef T_ASAN
	xtc__mags_init(&asan_mags);
	T_TRUE(ends_in_asan(write_freed));
	T_TRUE(ends_in_asan(write_past));
#endif
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mem");

	t_case_bare(s, blocks_are_aligned_and_apart, 5);
	t_case_bare(s, calloc_clears_and_sees_overflow, 5);
	t_case_bare(s, realloc_keeps_what_fits, 5);
	t_case_bare(s, alignments_are_kept, 5);
	t_case_bare(s, an_allocator_of_ones_own_serves_everything, 5);
	t_case_bare(s, a_wrong_free_is_told, 10);
	t_case_bare(s, new_objects_are_clear_aligned_and_apart, 10);
	t_case_bare(s, what_an_object_holds_outlives_it, 10);
	t_case_bare(s, a_one_way_traffic_runs_in_constant_memory, 10);
	t_case_bare(s, the_edge_of_a_batch_is_not_the_depots_edge, 5);
	t_case_bare(s,
	    objects_given_back_elsewhere_are_neither_lost_nor_doubled, 30);
	t_case_bare(s, an_envelope_holds_what_it_was_asked_for, 5);
	t_case_bare(s, a_message_can_be_made_longer_and_shorter, 10);
	t_case_bare(s, any_allocation_may_fail_and_the_next_succeeds, 10);
	t_case_bare(s, a_large_message_without_memory_is_no_message, 5);
	t_case_bare(s,
	    asan_sees_a_message_touched_out_of_bounds_or_after_free, 10);
	return t_main(s);
}
