/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The timer wheel gives nodes out as a sorted array would: in order of their
 * deadlines, equal ones first come first, never early, at once when they have
 * passed; and it knows the next deadline.
 */
#include "testlib.h"

#include "base/bits.h"
#include "core/wheel.h"

static struct xtc__wheel wheel;

/*
 * The oracle: an array sorted by (when, seq). `when` is the deadline, or the
 * wheel's time if that was later.
 */
struct entry {
	int64_t when;
	uint64_t seq;
	int node;
};

#define N_NODES	512
static struct xtc__wheel_node nodes[N_NODES];
static struct entry oracle[N_NODES];
static int n_entries;
static int deleted;		/* since the wheel was empty: bounds may lag */
static uint64_t seq;
static int64_t told;		/* the wheel's time: last deadline or now */

static void
oracle_init(int64_t now)
{
	xtc__wheel_init(&wheel, now);
	memset(nodes, 0, sizeof(nodes));
	n_entries = 0;
	deleted = 0;
	told = now;
	T_TRUE(xtc__wheel_is_empty(&wheel));
	T_TRUE(xtc__wheel_next(&wheel) == INT64_MAX);
}

static void
both_add(int node, int64_t deadline)
{
	struct entry e = { deadline < told ? told : deadline, seq++, node };
	int i;

	xtc__wheel_add(&wheel, &nodes[node], deadline);
	T_TRUE(nodes[node].on);
	for (i = n_entries; i > 0 && oracle[i - 1].when > e.when; i--)
		oracle[i] = oracle[i - 1];
	oracle[i] = e;
	n_entries++;
}

static void
oracle_remove(int i)
{
	n_entries--;
	memmove(&oracle[i], &oracle[i + 1],
	    (size_t)(n_entries - i) * sizeof(oracle[0]));
	if (n_entries == 0)
		deleted = 0;
}

static void
both_del(int node)
{
	int i;

	for (i = 0; oracle[i].node != node; i++)
		T_TRUE(i < n_entries);
	xtc__wheel_del(&wheel, &nodes[node]);
	T_TRUE(!nodes[node].on);
	deleted = 1;
	oracle_remove(i);
}

static void
check_next(void)
{
	int64_t next = xtc__wheel_next(&wheel);
	int64_t want = n_entries > 0 ? oracle[0].when : INT64_MAX;

	T_TRUE(xtc__wheel_is_empty(&wheel) == (n_entries == 0));
	if (deleted)
		T_TRUE(next <= want);
	else
		T_EQ(next, want);
}

/* One call of expire; 1 if it gave a node out. */
static int
both_expire(int64_t now)
{
	struct xtc__wheel_node *n = xtc__wheel_expire(&wheel, now);

	if (now < told)
		now = told;
	if (n_entries == 0 || oracle[0].when > now) {
		T_TRUE(n == NULL);
		told = now;
		check_next();
		return 0;
	}
	T_TRUE(n != NULL);
	T_EQ(n - nodes, oracle[0].node);
	T_TRUE(!n->on);
	told = oracle[0].when;
	oracle_remove(0);
	check_next();
	return 1;
}

/* Each of the given times: one level's boundary, a tick before and after. */
static int
boundaries(int64_t base, int64_t *out)
{
	int level, slot, d, n = 0;

	for (level = 0; level < XTC__WHEEL_LEVELS; level++) {
		for (slot = 1; slot < 64; slot += slot < 3 ? 1 : 20) {
			uint64_t step = (uint64_t)slot << (level * 6);

			if (step > (uint64_t)(INT64_MAX - base) - 1 ||
			    step >> (level * 6) != (uint64_t)slot)
				continue;
			for (d = -1; d <= 1; d++)
				out[n++] = base + (int64_t)step + d;
		}
	}
	return n;
}

static const int64_t bases[] = {
	0, 1, 63, 64, 4095, INT64_C(123456789012345),
	(INT64_C(1) << 60) - 1, INT64_MAX - (INT64_C(1) << 42)
};

START_TEST(every_level_boundary_is_exact)
{
	int64_t at[N_NODES];
	unsigned b;
	int i, n;

	for (b = 0; b < sizeof(bases) / sizeof(bases[0]); b++) {
		/* one at a time: not at the tick before, but at its own */
		n = boundaries(bases[b], at);
		T_TRUE(n > 30 && n <= N_NODES);
		for (i = 0; i < n; i++) {
			oracle_init(bases[b]);
			both_add(0, at[i]);
			check_next();
			if (at[i] > bases[b])
				T_EQ(both_expire(at[i] - 1), 0);
			T_EQ(both_expire(at[i]), 1);
		}
		/* all at once, tick by tick around each, and in one jump */
		oracle_init(bases[b]);
		for (i = 0; i < n; i++)
			both_add(i, at[(i * 7) % n]);
		for (i = 0; i < n; i++) {
			while (both_expire(at[i] - 1))
				continue;
			while (both_expire(at[i]))
				continue;
		}
		T_EQ(n_entries, 0);
		for (i = 0; i < n; i++)
			both_add(i, at[(i * 11) % n]);
		while (both_expire(INT64_MAX))
			continue;
		T_EQ(n_entries, 0);
	}
}
END_TEST

START_TEST(the_largest_deadline_is_a_deadline)
{
	oracle_init(5);
	both_add(0, INT64_MAX);
	both_add(1, INT64_MAX - 1);
	both_add(2, 100);
	both_add(3, INT64_MAX);
	T_EQ(both_expire(99), 0);
	T_EQ(both_expire(100), 1);
	T_EQ(both_expire(INT64_MAX - 2), 0);
	T_EQ(both_expire(INT64_MAX - 1), 1);
	T_EQ(both_expire(INT64_MAX - 1), 0);
	T_EQ(both_expire(INT64_MAX), 1);
	both_add(4, INT64_MAX);
	T_EQ(both_expire(INT64_MAX), 1);
	T_EQ(both_expire(INT64_MAX), 1);
	T_EQ(n_entries, 0);
}
END_TEST

START_TEST(a_deadline_that_never_comes_does_not_hide_others)
{
	int i;

	oracle_init(0);
	both_add(0, INT64_MAX);
	for (i = 0; i < 1000; i++) {
		both_add(1, i * INT64_C(977));
		T_EQ(both_expire(i * INT64_C(977)), 1);
		T_EQ(both_expire(i * INT64_C(977)), 0);
	}
	both_del(0);
	T_TRUE(xtc__wheel_next(&wheel) == INT64_MAX);
}
END_TEST

START_TEST(a_deadline_in_the_past_is_due_at_once)
{
	oracle_init(1000);
	both_add(0, 1001);
	both_add(1, 1000);
	both_add(2, 0);
	both_add(3, -1);
	both_add(4, INT64_MIN);
	T_TRUE(xtc__wheel_next(&wheel) <= 1000);
	T_EQ(both_expire(1000), 1);
	T_EQ(both_expire(1000), 1);
	both_add(5, 999);
	T_EQ(both_expire(1000), 1);
	T_EQ(both_expire(1000), 1);
	T_EQ(both_expire(1000), 1);
	T_EQ(both_expire(1000), 0);
	T_EQ(both_expire(1001), 1);
	T_TRUE(nodes[4].deadline == INT64_MIN);
}
END_TEST

START_TEST(time_that_goes_back_is_the_time_before)
{
	oracle_init(0);
	T_EQ(both_expire(1000), 0);
	both_add(0, 500);
	T_TRUE(xtc__wheel_expire(&wheel, 400) == &nodes[0]);
}
END_TEST

START_TEST(equal_deadlines_come_in_the_order_they_were_added)
{
	int64_t now;
	int i, k;

	/* added at very different times before, so at different levels */
	oracle_init(0);
	now = 0;
	for (i = 0; i < N_NODES / 2; i++) {
		both_add(i, INT64_C(1) << 40);
		both_add(N_NODES / 2 + i, (INT64_C(1) << 40) + i % 3);
		now += ((INT64_C(1) << 40) - now) / 5;
		T_EQ(both_expire(now), 0);
	}
	for (k = 0; both_expire(INT64_C(1) << 41); k++)
		continue;
	T_EQ(k, N_NODES);
}
END_TEST

START_TEST(nodes_may_come_and_go_between_two_that_are_due)
{
	int i;

	oracle_init(0);
	for (i = 0; i < 100; i++)
		both_add(i, 100000 + i * INT64_C(50));
	/* each that is due takes the next one away and adds one before and
	 * one at the same time */
	for (i = 0; n_entries > 0 && i < 400; i++) {
		T_EQ(both_expire(200000), 1);
		if (i < 98 && i % 2 == 0 && n_entries > 2) {
			both_del(oracle[1].node);
			both_add(100 + i * 2, told + 1);
			both_add(101 + i * 2, told);
		}
	}
	T_EQ(n_entries, 0);
	T_EQ(both_expire(200000), 0);
}
END_TEST

START_TEST(a_cancelled_bound_costs_one_early_look)
{
	int64_t next;
	int looks = 0;

	oracle_init(0);
	both_add(0, 5000000);
	both_add(1, 5100000);
	both_add(2, 5200000);
	both_del(0);
	both_del(1);
	while ((next = xtc__wheel_next(&wheel)) < 5200000) {
		T_EQ(both_expire(next), 0);
		looks++;
	}
	T_TRUE(looks <= 1);
	T_EQ(next, 5200000);
	T_EQ(both_expire(next), 1);
}
END_TEST

static int64_t
random_distance(uint64_t *r)
{
	unsigned bits = (unsigned)(t_rand(r) % 64);
	int64_t d = (int64_t)(t_rand(r) >> 1 >> bits);

	/* half of them near a power of two, so near a boundary */
	if (t_rand(r) % 2 == 0)
		d = (INT64_C(1) << (t_rand(r) % 62)) +
		    (int64_t)(t_rand(r) % 5) - 2;
	return d;
}

static int64_t
far_from(int64_t now, int64_t d)
{
	return d > INT64_MAX - now ? INT64_MAX : now + d;
}

/* Up to n operations, drawn from r, or until time is over. */
static void
random_run(uint64_t *r, int ops, int fill)
{
	int64_t now = told;
	int i, node, kind;

	for (i = 0; i < ops; i++) {
		kind = (int)(t_rand(r) % 8);
		node = (int)(t_rand(r) % (unsigned)fill);
		if (kind < 4) {
			if (nodes[node].on)
				both_del(node);
			else if (t_rand(r) % 16 == 0 && n_entries > 0)
				both_add(node, oracle[t_rand(r) %
				    (unsigned)n_entries].when);
			else
				both_add(node, far_from(now,
				    random_distance(r)));
		} else if (kind == 4) {
			now = far_from(now, random_distance(r) >> 20);
		} else if (kind == 5 && n_entries > 0) {
			/* just to a deadline, or just not */
			int64_t t = oracle[t_rand(r) %
			    (unsigned)n_entries].when -
			    (int64_t)(t_rand(r) % 2);

			if (t > now && t - now < INT64_C(1) << 50)
				now = t;
		} else
			(void)both_expire(now);
		check_next();
		if (now > INT64_MAX / 2)
			break;
	}
	while (both_expire(now))
		continue;
}

START_TEST(a_million_random_operations_agree_with_a_sorted_array)
{
	uint64_t r = 88172645463325252u;
	int round, rounds = t_count(500);

	for (round = 0; round < rounds; round++) {
		oracle_init((int64_t)(t_rand(&r) >> (1 + t_rand(&r) % 62)) / 2);
		random_run(&r, 2000, round % 5 == 0 ? N_NODES : 2 + round % 60);
		while (both_expire(INT64_MAX))
			continue;
		T_EQ(n_entries, 0);
	}
}
END_TEST

/*
 * A slot with many nodes is taken apart before its time comes, a bit at each
 * look that finds nothing due. Whatever happens meanwhile, and however far it
 * has come, order is kept.
 */
START_TEST(a_full_slot_is_split_in_any_state)
{
	uint64_t r = 99;
	int round, i, node, looks;
	unsigned shift;

	for (round = 0; round < t_count(3000); round++) {
		shift = 18 + 6 * (unsigned)(t_rand(&r) % 7);
		oracle_init((INT64_C(5) << shift) + round);
		/* most of the nodes in the slot after the one time is in */
		for (i = 0; i < 200 + round % 300; i++)
			both_add(i, ((int64_t)(6 + (t_rand(&r) % 16 == 0)) <<
			    shift) + (int64_t)((t_rand(&r) % 64) <<
			    (t_rand(&r) % (shift - 6))));
		looks = (int)(t_rand(&r) % 12);
		for (i = 0; i < looks * 20; i++) {
			node = (int)(t_rand(&r) % N_NODES);
			if (i % 20 == 0)
				(void)both_expire(told + 1);
			else if (nodes[node].on && round % 3 != 0)
				both_del(node);
			else if (!nodes[node].on && round % 5 != 0)
				both_add(node, (INT64_C(6) << shift) +
				    (int64_t)(t_rand(&r) % 64));
			check_next();
		}
		if (round % 7 == 0) {
			for (i = 0; i < N_NODES; i++) {
				if (nodes[i].on && i % 50 != round % 50)
					both_del(i);
				check_next();
			}
		}
		/* time jumps, to the very deadline or past several */
		while (n_entries > 0) {
			int64_t t = oracle[t_rand(&r) % 3 == 0 ? n_entries / 2 :
			    0].when - (int64_t)(t_rand(&r) % 2);

			while (both_expire(t))
				continue;
			if (t_rand(&r) % 4 == 0 && n_entries > 0)
				both_del(oracle[n_entries - 1].node);
		}
		T_TRUE(xtc__wheel_next(&wheel) == INT64_MAX);
	}
}
END_TEST

START_TEST(each_look_splits_a_little_of_a_full_slot)
{
	int i, looks, moved = 0, before;

	oracle_init(INT64_C(1) << 36);
	for (i = 0; i < N_NODES; i++)
		both_add(i, (INT64_C(65) << 30) + i * 1000);
	T_EQ(nodes[0].level, 5);
	for (looks = 0; moved < N_NODES; looks++) {
		T_TRUE(looks < 100);
		T_EQ(both_expire(told + 1), 0);
		before = moved;
		for (i = moved = 0; i < N_NODES; i++)
			moved += nodes[i].level < 5;
		T_TRUE(moved > before && moved - before <= 100);
	}
	while (both_expire(INT64_C(66) << 30))
		continue;
	T_EQ(n_entries, 0);
}
END_TEST

/* Many nodes: order, count and never early, without an oracle. */
#define N_MANY	100000
static struct xtc__wheel_node many[N_MANY];

START_TEST(a_hundred_thousand_come_out_in_order)
{
	struct xtc__wheel_node *n;
	uint64_t r = 4711;
	int64_t now = INT64_C(1700000000123456789), last = 0;
	int i, out = 0, gone = 0, count = t_count(N_MANY);

	xtc__wheel_init(&wheel, now);
	for (i = 0; i < count; i++)
		xtc__wheel_add(&wheel, &many[i],
		    now + (int64_t)(t_rand(&r) % 3000000000u));
	for (i = 0; i < count; i += 3) {
		xtc__wheel_del(&wheel, &many[i]);
		gone++;
	}
	while (!xtc__wheel_is_empty(&wheel)) {
		now = xtc__wheel_next(&wheel) + (int64_t)(t_rand(&r) % 100000);
		while ((n = xtc__wheel_expire(&wheel, now)) != NULL) {
			T_TRUE(n->deadline >= last && n->deadline <= now);
			T_TRUE((n - many) % 3 != 0);
			last = n->deadline;
			out++;
		}
	}
	T_EQ(out + gone, count);
}
END_TEST

START_TEST(a_wheel_stays_small)
{
	T_TRUE(sizeof(struct xtc__wheel) < 23 * 1024);
	T_TRUE(sizeof(struct xtc__wheel_node) <= 32);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("wheel");

	t_case_bare(s, every_level_boundary_is_exact, 20);
	t_case_bare(s, the_largest_deadline_is_a_deadline, 5);
	t_case_bare(s, a_deadline_that_never_comes_does_not_hide_others, 5);
	t_case_bare(s, a_deadline_in_the_past_is_due_at_once, 5);
	t_case_bare(s, time_that_goes_back_is_the_time_before, 5);
	t_case_bare(s, equal_deadlines_come_in_the_order_they_were_added, 5);
	t_case_bare(s, nodes_may_come_and_go_between_two_that_are_due, 5);
	t_case_bare(s, a_cancelled_bound_costs_one_early_look, 5);
	t_case_bare(s, a_million_random_operations_agree_with_a_sorted_array,
	    60);
	t_case_bare(s, a_full_slot_is_split_in_any_state, 60);
	t_case_bare(s, each_look_splits_a_little_of_a_full_slot, 5);
	t_case_bare(s, a_hundred_thousand_come_out_in_order, 20);
	t_case_bare(s, a_wheel_stays_small, 5);
	return t_main(s);
}
