/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The ring from which fibers are stolen: what its owner puts in comes out
 * once, oldest first, whoever takes it, however small the ring is and
 * wherever its counters stand.
 */
#include "testlib.h"

#include "core/deque.h"

#define N_THIEVES 2

/* What is put in: numbers from 1. The ring never looks at what they are. */
static struct xtc_task *
task_of(uint32_t n)
{
	return ((struct xtc_task *)(uintptr_t)n);
}

static uint32_t
number_of(struct xtc_task *t)
{
	return ((uint32_t)(uintptr_t)t);
}

/* Counters that are about to go round go on being counters. */
static void
init_at(struct xtc__deque *d, uint32_t cap, uint32_t at)
{
	xtc__deque_init(d, cap);
	atomic_store_explicit(&d->head, at, memory_order_relaxed);
	atomic_store_explicit(&d->tail, at, memory_order_relaxed);
}

static const uint32_t caps[] = { 2, 4, 8, XTC__DEQUE_CAP };
#define N_CAPS (int)(sizeof(caps) / sizeof(caps[0]))

/* Where the counters start, so many before they go round. */
static const uint32_t starts[] = { 0, 1, 3, 5, 1000 };
#define N_STARTS (int)(sizeof(starts) / sizeof(starts[0]))

static void
fill_and_empty(uint32_t cap, uint32_t at)
{
	static struct xtc__deque d;
	uint32_t in = 0, out = 0;

	init_at(&d, cap, at);
	for (uint32_t round = 0; round < 40; round++) {
		/* to the brim, then down to a length that varies */
		while (xtc__deque_push(&d, task_of(in + 1)))
			in++;
		T_EQ(in - out, cap);
		T_EQ(xtc__deque_len(&d), cap);
		for (uint32_t left = round % (cap + 1); in - out > left;) {
			T_EQ(number_of(xtc__deque_pop(&d)), out + 1);
			out++;
			T_EQ(xtc__deque_len(&d), in - out);
		}
		if (in == out)
			T_TRUE(xtc__deque_pop(&d) == NULL);
	}
}

START_TEST(the_owner_gets_back_what_he_put_in_oldest_first)
{
	for (int c = 0; c < N_CAPS; c++)
		for (int s = 0; s < N_STARTS; s++)
			fill_and_empty(caps[c], 0 - starts[s]);
}
END_TEST

static void
steal_half(uint32_t n, uint32_t at, uint32_t to_cap)
{
	static struct xtc__deque d, mine;
	uint32_t i, half = n - n / 2;

	init_at(&d, 8, at);
	init_at(&mine, to_cap, at / 3);
	for (i = 1; i <= n; i++)
		T_TRUE(xtc__deque_push(&d, task_of(i)));
	if (half > to_cap)
		half = to_cap;
	T_EQ(xtc__deque_steal(&d, &mine), half);
	T_EQ(xtc__deque_len(&mine), half);
	T_EQ(xtc__deque_len(&d), n - half);
	for (i = 1; i <= half; i++)
		T_EQ(number_of(xtc__deque_pop(&mine)), i);
	T_TRUE(xtc__deque_pop(&mine) == NULL);
	for (; i <= n; i++)
		T_EQ(number_of(xtc__deque_pop(&d)), i);
	T_TRUE(xtc__deque_pop(&d) == NULL);
	T_EQ(xtc__deque_steal(&d, &mine), 0);
}

START_TEST(a_thief_gets_the_older_half)
{
	for (uint32_t n = 0; n <= 8; n++)
		for (int s = 0; s < N_STARTS; s++) {
			steal_half(n, 0 - starts[s], 8);
			steal_half(n, 0 - starts[s], 2);
		}
}
END_TEST

/* One owner, and thieves who only take. */
static struct xtc__deque shared;
static atomic_uchar *times_seen;
static atomic_int done;
static atomic_uint n_seen;
static uint32_t n_items;

/* Whoever takes from one owner only sees his items in their order. */
static void
see(uint32_t n, uint32_t *last)
{
	T_TRUE(n >= 1 && n <= n_items);
	if (last != NULL) {
		T_TRUE(n > *last);
		*last = n;
	}
	T_EQ(t_add(&times_seen[n], 1), 0);
	t_add(&n_seen, 1);
}

static void *
be_thief(void *arg)
{
	struct xtc__deque *mine = arg;
	uint32_t got, k, last = 0;

	while (!t_get(&done)) {
		got = xtc__deque_steal(&shared, mine);
		T_TRUE(got <= mine->cap);
		T_TRUE(xtc__deque_len(&shared) <= shared.cap);
		for (k = 0; k < got; k++)
			see(number_of(xtc__deque_pop(mine)), &last);
		T_TRUE(xtc__deque_pop(mine) == NULL);
		if (got == 0)
			sched_yield();
	}
	return (NULL);
}

static void
be_owner(uint64_t seed)
{
	uint64_t rnd = seed;
	uint32_t n = 0, last = 0;
	struct xtc_task *t;

	while (t_get(&n_seen) < n_items) {
		/* at times full, at times empty, mostly in between */
		for (uint64_t k = t_rand(&rnd) % 8; k > 0 && n < n_items; k--)
			if (xtc__deque_push(&shared, task_of(n + 1)))
				n++;
		for (uint64_t k = t_rand(&rnd) % 4; k > 0; k--) {
			t = xtc__deque_pop(&shared);
			if (t != NULL)
				see(number_of(t), &last);
		}
		if (t_rand(&rnd) % 256 == 0)
			sched_yield();
	}
	t_set(&done, 1);
}

static void
begin(int n)
{
	n_items = (uint32_t)t_count(n);
	times_seen = calloc(n_items + 1, sizeof(*times_seen));
	T_TRUE(times_seen != NULL);
	t_set(&done, 0);
	t_set(&n_seen, 0);
}

static void
end(void)
{
	T_EQ(t_get(&n_seen), n_items);
	for (uint32_t i = 1; i <= n_items; i++)
		T_EQ(t_get(&times_seen[i]), 1);
	free(times_seen);
}

static void
owner_and_thieves(uint32_t cap, uint32_t thief_cap, int n_thieves)
{
	static struct xtc__deque loot[N_THIEVES];
	pthread_t t[N_THIEVES];

	begin(8000000);
	/* half of the items come after the counters have gone round */
	init_at(&shared, cap, 0 - n_items / 2);
	for (int i = 0; i < n_thieves; i++) {
		init_at(&loot[i], thief_cap, 0 - n_items / 5);
		t[i] = t_thread(be_thief, &loot[i]);
	}
	be_owner(cap + thief_cap);
	for (int i = 0; i < n_thieves; i++)
		t_join(t[i]);
	T_TRUE(xtc__deque_pop(&shared) == NULL);
	end();
}

START_TEST(each_item_once_with_room_for_two)
{
	owner_and_thieves(2, 2, N_THIEVES);
}
END_TEST

START_TEST(each_item_once_with_room_for_four)
{
	owner_and_thieves(4, 4, N_THIEVES);
	owner_and_thieves(4, 2, 1);
}
END_TEST

START_TEST(each_item_once_with_room_for_all)
{
	owner_and_thieves(XTC__DEQUE_CAP, XTC__DEQUE_CAP, N_THIEVES);
}
END_TEST

/*
 * Everybody is an owner and a thief. Each item that is taken begets the
 * next ones, on the ring of whoever took it, so all rings empty and fill.
 */
#define N_WORKERS 3

static struct xtc__deque rings[N_WORKERS];
static atomic_uint next_item;

static void
beget(struct xtc__deque *mine, uint64_t *rnd)
{
	uint32_t n;

	for (uint64_t k = t_rand(rnd) % 4; k > 0; k--) {
		n = t_add(&next_item, 1) + 1;
		if (n > n_items)
			return;
		/* what does not fit is seen to at once */
		if (!xtc__deque_push(mine, task_of(n)))
			see(n, NULL);
	}
}

static void *
be_worker(void *arg)
{
	int me = (int)(intptr_t)arg;
	struct xtc__deque *mine = &rings[me];
	uint64_t rnd = (uint64_t)me + 1;
	struct xtc_task *t;

	while (t_get(&n_seen) < n_items) {
		t = xtc__deque_pop(mine);
		if (t != NULL) {
			see(number_of(t), NULL);
			beget(mine, &rnd);
			continue;
		}
		(void)xtc__deque_steal(&rings[(me + 1 + (int)(t_rand(&rnd) %
		    (N_WORKERS - 1))) % N_WORKERS], mine);
		if (t_rand(&rnd) % 64 == 0)
			beget(mine, &rnd);
		if (t_rand(&rnd) % 64 == 0)
			sched_yield();
	}
	return (NULL);
}

static void
all_steal_from_all(uint32_t cap)
{
	pthread_t t[N_WORKERS];

	begin(8000000);
	t_set(&next_item, 0);
	for (int i = 0; i < N_WORKERS; i++)
		init_at(&rings[i], cap, 0 - n_items / 8);
	for (int i = 0; i < N_WORKERS; i++)
		t[i] = t_thread(be_worker, (void *)(intptr_t)i);
	for (int i = 0; i < N_WORKERS; i++)
		t_join(t[i]);
	end();
}

START_TEST(each_item_once_where_all_steal_from_all)
{
	all_steal_from_all(2);
	all_steal_from_all(4);
	all_steal_from_all(64);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("deque");

	t_case_bare(s, the_owner_gets_back_what_he_put_in_oldest_first, 10);
	t_case_bare(s, a_thief_gets_the_older_half, 10);
	t_case_bare(s, each_item_once_with_room_for_two, 60);
	t_case_bare(s, each_item_once_with_room_for_four, 60);
	t_case_bare(s, each_item_once_with_room_for_all, 60);
	t_case_bare(s, each_item_once_where_all_steal_from_all, 60);
	return (t_main(s));
}
