/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Messages arrive whole, in order, at the process they were sent to and at
 * no other; the mailbox keeps its bound; nothing is lost or leaked.
 */
#include "testlib.h"

static atomic_int steps, quit;

static void
check_message(const unsigned char *msg, size_t size, size_t want)
{
	T_EQ(size, want);
	T_EQ((uintptr_t)msg % 16, 0);
	for (size_t i = 0; i < size; i++)
		T_EQ(msg[i], (unsigned char)(size + i * 7));
}

static const size_t sizes[] = { 0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63,
    64, 65, 100, 127, 128, 129, 255, 256, 257, 500, 511, 512, 1000, 1024,
    2047, 2048, 4000, 4096, 5000, 8192, 16384, 65536, 1000000, 5000000 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void
recv_all_sizes(void *arg)
{
	void *msg;
	size_t size;

	(void)arg;
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < N_SIZES; i++) {
			T_OK(xtc_recv(&msg, &size, -1));
			check_message(msg, size, sizes[i]);
			memset(msg, 0xa5, size);
			xtc_free(msg);
		}
	t_add(&steps, 1);
}

static void
send_all_sizes(void *arg)
{
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < N_SIZES; i++) {
			unsigned char *p = malloc(sizes[i] + 1);

			T_TRUE(p != NULL);
			for (size_t k = 0; k < sizes[i]; k++)
				p[k] = (unsigned char)(sizes[i] + k * 7);
			T_OK(xtc_send(*(xtc_pid_t *)arg, p, sizes[i]));
			/* The sender may use its memory again at once. */
			memset(p, 0x5a, sizes[i]);
			free(p);
			if (i % 5 == 0)
				xtc_yield();
		}
}

START_TEST(messages_of_all_sizes_arrive_whole_and_aligned)
{
	xtc_pid_t pid = t_spawn(recv_all_sizes, NULL);

	t_spawn(send_all_sizes, &pid);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
empty_messages(void *arg)
{
	void *msg = NULL;
	size_t size = 1;

	(void)arg;
	T_OK(xtc_send(xtc_self(), NULL, 0));
	T_RC(xtc_send(xtc_self(), NULL, 1), XTC_E_INVAL);
	T_OK(xtc_recv(&msg, &size, 0));
	T_EQ(size, 0);
	T_TRUE(msg != NULL);
	xtc_free(msg);
	T_RC(xtc_recv(&msg, NULL, 0), XTC_E_AGAIN);
	t_add(&steps, 1);
}

START_TEST(an_empty_message_is_a_message)
{
	t_run(empty_messages, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
recv_with_timeouts(void *arg)
{
	static const int64_t timeouts[] = { 0, 1, 1000, T_US * 300,
	    T_MS * 3 };
	int64_t t0;

	(void)arg;
	for (int i = 0; i < 5; i++) {
		t0 = xtc_clock_mono();
		T_RC(t_recv_int(timeouts[i]), XTC_E_AGAIN);
		T_TRUE(xtc_clock_mono() - t0 >= timeouts[i]);
	}
	/* What is there is taken whatever the timeout. */
	for (int i = 0; i < 5; i++)
		T_OK(t_send_int(xtc_self(), i));
	for (int i = 0; i < 5; i++)
		T_EQ(t_recv_int(timeouts[i]), i);
	T_OK(t_send_int(xtc_self(), 6));
	T_EQ(t_recv_int(INT64_MAX), 6);
	T_OK(t_send_int(xtc_self(), 7));
	T_EQ(t_recv_int(INT64_MIN), 7);
	t_add(&steps, 1);
}

START_TEST(a_receive_times_out_and_not_early)
{
	t_run(recv_with_timeouts, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
send_after_1_ms(void *arg)
{
	T_OK(xtc_proc_sleep(T_MS));
	T_OK(t_send_int(*(xtc_pid_t *)arg, 1));
}

static void
recv_long_before_timeout(void *arg)
{
	static xtc_pid_t me;
	int64_t t0 = xtc_clock_mono();

	(void)arg;
	me = xtc_self();
	t_spawn(send_after_1_ms, &me);
	T_EQ(t_recv_int(3600 * T_SEC), 1);
	T_TRUE(xtc_clock_mono() - t0 < 60 * T_SEC);
	t_add(&steps, 1);
}

/* And the hour's timer does not keep the loop running. */
START_TEST(a_message_ends_a_receive_before_its_timeout)
{
	t_run(recv_long_before_timeout, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

struct note {
	int sender, seq;
};

struct senders {
	xtc_pid_t to;
	int n, each;
};

static struct senders many;
static atomic_int next_sender;

static void
send_numbered(void *arg)
{
	struct note note = { t_add(&next_sender, 1), 0 };
	int rc;

	(void)arg;
	while (note.seq < many.each) {
		rc = xtc_send(many.to, &note, sizeof(note));
		if (rc == XTC_OK)
			note.seq++;
		else
			T_RC(rc, XTC_E_AGAIN);
		if (xtc_loop_self() == NULL)
			sched_yield();
		else if (rc != XTC_OK || note.seq % 16 == 0)
			xtc_yield();
	}
}

static void *
send_numbered_in_thread(void *arg)
{
	send_numbered(arg);
	return (NULL);
}

static void
recv_numbered(void *arg)
{
	int next[16] = { 0 }, total = many.n * many.each;
	struct note *note;
	size_t size;
	void *msg;

	(void)arg;
	for (int i = 0; i < total; i++) {
		T_OK(xtc_recv(&msg, &size, -1));
		T_EQ(size, sizeof(*note));
		note = msg;
		T_TRUE(note->sender >= 0 && note->sender < many.n);
		T_EQ(note->seq, next[note->sender]);
		next[note->sender]++;
		xtc_free(msg);
	}
	T_RC(xtc_recv(&msg, NULL, 0), XTC_E_AGAIN);
	t_add(&steps, 1);
}

START_TEST(messages_of_each_fiber_stay_in_order)
{
	many = (struct senders){ t_spawn(recv_numbered, NULL), 8,
	    t_count(20000) };
	for (int i = 0; i < many.n; i++)
		t_spawn(send_numbered, NULL);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

/* Fibers here, fibers of another loop and plain threads at once. */
START_TEST(messages_of_each_of_all_kinds_of_senders_stay_in_order)
{
	xtc_loop_t *l;
	pthread_t t[3];

	T_OK(xtc_loop_init(&l));
	many = (struct senders){ t_spawn(recv_numbered, NULL), 6,
	    t_count(20000) };
	for (int i = 0; i < 2; i++) {
		t_spawn(send_numbered, NULL);
		t_spawn_on(l, send_numbered, NULL);
	}
	t[0] = t_thread(t_run_loop, l);
	t[1] = t_thread(send_numbered_in_thread, NULL);
	t[2] = t_thread(send_numbered_in_thread, NULL);
	T_OK(xtc_loop_run(t_loop));
	for (int i = 0; i < 3; i++)
		t_join(t[i]);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
fill_and_empty(void *arg)
{
	xtc_pid_t me = xtc_self();
	xtc_mailbox_stats_t st;
	int cap = (int)(intptr_t)arg;

	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < cap; i++)
			T_OK(t_send_int(me, i));
		T_RC(t_send_int(me, -1), XTC_E_AGAIN);
		T_RC(t_send_int(me, -1), XTC_E_AGAIN);
		T_OK(xtc_proc_mailbox_stats(me, &st));
		T_EQ(st.depth, cap);
		T_EQ(st.peak, cap);
		T_EQ(st.cap, cap);
		T_EQ(st.saved, 0);
		T_EQ(st.drop_total, 4 * round - 2);
		T_EQ(st.recv_total, (round - 1) * (cap + 1));
		T_EQ(t_recv_int(0), 0);
		T_OK(t_send_int(me, cap));
		T_RC(t_send_int(me, -1), XTC_E_AGAIN);
		T_RC(t_send_int(me, -1), XTC_E_AGAIN);
		for (int i = 1; i <= cap; i++)
			T_EQ(t_recv_int(0), i);
		T_RC(t_recv_int(0), XTC_E_AGAIN);
	}
	T_OK(xtc_proc_mailbox_stats(me, &st));
	T_EQ(st.depth, 0);
	T_EQ(st.peak, cap);
	t_add(&steps, 1);
}

START_TEST(a_full_mailbox_refuses_and_counts)
{
	static const uint32_t caps[] = { 1, 2, 7, 1000, 0 };
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;

	for (int i = 0; i < 5; i++) {
		o.mailbox_cap = caps[i];
		T_OK(xtc_proc_spawn(t_loop, fill_and_empty,
		    (void *)(uintptr_t)(caps[i] ? caps[i] : 4096), &o, NULL));
		T_OK(xtc_loop_run(t_loop));
	}
	T_EQ(t_get(&steps), 5);
}
END_TEST

static void
large_box(void *arg)
{
	xtc_mailbox_stats_t st;

	(void)arg;
	T_OK(xtc_proc_mailbox_stats(xtc_self(), &st));
	T_EQ(st.cap, 4194303);
	for (int i = 0; i < 10000; i++)
		T_OK(t_send_int(xtc_self(), i));
	for (int i = 0; i < 10000; i++)
		T_EQ(t_recv_int(0), i);
	t_add(&steps, 1);
}

START_TEST(the_largest_mailbox)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;

	o.mailbox_cap = 4194303;
	T_OK(xtc_proc_spawn(t_loop, large_box, NULL, &o, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static int
match_int(const void *data, size_t size, void *user)
{
	int value;

	T_EQ(size, sizeof(value));
	memcpy(&value, data, sizeof(value));
	return (value == *(int *)user);
}

static int
match_multiple(const void *data, size_t size, void *user)
{
	int value;

	T_EQ(size, sizeof(value));
	memcpy(&value, data, sizeof(value));
	return (value % *(int *)user == 0);
}

static int
recv_match_int(int (*match)(const void *, size_t, void *), int user,
    int64_t timeout_ns)
{
	void *msg;
	size_t size;
	int rc, value;

	rc = xtc_recv_match(match, &user, &msg, &size, timeout_ns);
	if (rc != XTC_OK)
		return (rc);
	T_EQ(size, sizeof(value));
	memcpy(&value, msg, sizeof(value));
	xtc_free(msg);
	return (value);
}

static void
match_in_order(void *arg)
{
	xtc_pid_t me = xtc_self();
	xtc_mailbox_stats_t st;

	(void)arg;
	for (int i = 1; i <= 20; i++)
		T_OK(t_send_int(me, i));
	T_EQ(recv_match_int(match_int, 7, 0), 7);
	T_RC(recv_match_int(match_int, 7, 0), XTC_E_AGAIN);
	T_RC(recv_match_int(match_int, 99, T_US), XTC_E_AGAIN);
	T_OK(xtc_proc_mailbox_stats(me, &st));
	T_EQ(st.depth, 19);
	T_EQ(st.saved, 19);
	T_EQ(st.recv_total, 1);
	/* Saved ones first, then new ones, always the oldest that matches. */
	T_OK(t_send_int(me, 21));
	T_OK(t_send_int(me, 22));
	T_EQ(recv_match_int(match_multiple, 11, 0), 11);
	T_EQ(recv_match_int(match_multiple, 11, 0), 22);
	T_RC(recv_match_int(match_multiple, 11, 0), XTC_E_AGAIN);
	T_EQ(recv_match_int(match_multiple, 3, 0), 3);
	T_EQ(recv_match_int(match_multiple, 3, 0), 6);
	T_EQ(t_recv_int(0), 1);
	T_EQ(t_recv_int(0), 2);
	T_EQ(t_recv_int(0), 4);
	T_EQ(recv_match_int(match_multiple, 21, 0), 21);
	for (int i = 5; i <= 20; i++)
		if (i != 6 && i != 7 && i != 11)
			T_EQ(t_recv_int(0), i);
	T_RC(t_recv_int(0), XTC_E_AGAIN);
	T_OK(xtc_proc_mailbox_stats(me, &st));
	T_EQ(st.depth, 0);
	T_EQ(st.saved, 0);
	T_EQ(st.recv_total, 22);
	t_add(&steps, 1);
}

START_TEST(recv_match_keeps_the_order_of_the_others)
{
	t_run(match_in_order, NULL);
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
match_counts(void *arg)
{
	xtc_pid_t me = xtc_self();

	(void)arg;
	for (int i = 0; i < 10; i++)
		T_OK(t_send_int(me, i));
	T_RC(recv_match_int(match_int, 99, 0), XTC_E_AGAIN);
	/* All ten are saved, and the mailbox is as full as before. */
	T_RC(t_send_int(me, 10), XTC_E_AGAIN);
	T_EQ(recv_match_int(match_int, 5, 0), 5);
	T_OK(t_send_int(me, 10));
	T_RC(t_send_int(me, 11), XTC_E_AGAIN);
	for (int i = 0; i <= 10; i++)
		if (i != 5)
			T_EQ(t_recv_int(0), i);
	t_add(&steps, 1);
}

START_TEST(saved_messages_count_toward_the_bound)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;

	o.mailbox_cap = 10;
	T_OK(xtc_proc_spawn(t_loop, match_counts, NULL, &o, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
match_waits(void *arg)
{
	int64_t t0 = xtc_clock_mono();

	(void)arg;
	T_EQ(recv_match_int(match_int, 50, -1), 50);
	T_EQ(recv_match_int(match_int, 60, 3600 * T_SEC), 60);
	for (int i = 0; i < 100; i++)
		if (i != 50 && i != 60)
			T_EQ(t_recv_int(-1), i);
	t0 = xtc_clock_mono();
	T_RC(recv_match_int(match_int, 7, 2 * T_MS), XTC_E_AGAIN);
	T_TRUE(xtc_clock_mono() - t0 >= 2 * T_MS);
	t_add(&steps, 1);
}

static void
send_to_match(void *arg)
{
	for (int i = 0; i < 100; i++) {
		T_OK(t_send_int(*(xtc_pid_t *)arg, i));
		xtc_yield();
	}
}

START_TEST(recv_match_waits_among_messages_it_does_not_want)
{
	xtc_pid_t pid = t_spawn(match_waits, NULL);

	t_spawn(send_to_match, &pid);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

/* What a mailbox must do, as an array. */
static int box[64], box_len;

static int
box_take(int multiple)
{
	for (int i = 0; i < box_len; i++)
		if (box[i] % multiple == 0) {
			int v = box[i];

			memmove(&box[i], &box[i + 1],
			    (size_t)(box_len - i - 1) * sizeof(box[0]));
			box_len--;
			return (v);
		}
	return (XTC_E_AGAIN);
}

static void
match_at_random(void *arg)
{
	uint64_t rnd = 123456789;
	xtc_mailbox_stats_t st;
	int next = 1, multiple;

	for (int i = 0; i < *(int *)arg; i++) {
		switch (t_rand(&rnd) % 4) {
		case 0:
		case 1:
			if (box_len == 64) {
				T_RC(t_send_int(xtc_self(), next),
				    XTC_E_AGAIN);
				break;
			}
			T_OK(t_send_int(xtc_self(), next));
			box[box_len++] = next++;
			break;
		case 2:
			T_EQ(t_recv_int(0), box_take(1));
			break;
		default:
			multiple = (int)(t_rand(&rnd) % 20) + 1;
			T_EQ(recv_match_int(match_multiple, multiple,
			    (int64_t)(t_rand(&rnd) % 2)),
			    box_take(multiple));
		}
		T_OK(xtc_proc_mailbox_stats(xtc_self(), &st));
		T_EQ(st.depth, box_len);
		T_TRUE(st.saved <= st.depth);
	}
	t_add(&steps, 1);
}

START_TEST(random_matches_agree_with_an_array)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	int n = t_count(100000);

	o.mailbox_cap = 64;
	T_OK(xtc_proc_spawn(t_loop, match_at_random, &n, &o, NULL));
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void *kept[1000];

static void
keep_messages(void *arg)
{
	size_t bytes = (size_t)(uintptr_t)arg;
	char *p = calloc(1, bytes);

	for (int i = 0; i < 1000; i++) {
		p[0] = (char)i;
		T_OK(xtc_send(xtc_self(), p, bytes));
		T_OK(xtc_recv(&kept[i], NULL, 0));
	}
	free(p);
}

static void *
free_kept(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++) {
		T_EQ(*(char *)kept[i], (char)i);
		xtc_free(kept[i]);
	}
	return (NULL);
}

/* By a thread, beside the living loop and after its end. */
START_TEST(messages_are_freed_by_threads_and_after_their_loop)
{
	xtc_loop_t *l;

	for (uintptr_t bytes = 1; bytes < 20000; bytes *= 10) {
		t_run(keep_messages, (void *)bytes);
		t_join(t_thread(free_kept, NULL));

		T_OK(xtc_loop_init(&l));
		t_spawn_on(l, keep_messages, (void *)bytes);
		T_OK(xtc_loop_run(l));
		T_OK(xtc_loop_fini(l));
		free_kept(NULL);

		T_OK(xtc_loop_init(&l));
		t_spawn_on(l, keep_messages, (void *)bytes);
		T_OK(xtc_loop_run(l));
		T_OK(xtc_loop_fini(l));
		t_join(t_thread(free_kept, NULL));
	}
}
END_TEST

static void
fill_up(void *arg)
{
	(void)arg;
	T_RC(recv_match_int(match_int, -1, 0), XTC_E_AGAIN);
	t_add(&steps, 1);
	xtc_proc_sleep(INT64_MAX);
	t_fail("a killed fiber returned from its sleep");
}

static void
kill_with_mail(void *arg)
{
	static char large[3000];
	xtc_pid_t pid;

	(void)arg;
	pid = t_spawn(fill_up, NULL);
	for (int i = 0; i < 500; i++)
		T_OK(t_send_int(pid, i));
	while (t_get(&steps) == 0)
		xtc_yield();
	for (int i = 0; i < 500; i++)
		T_OK(xtc_send(pid, large, i % 2 ? sizeof(large) : 40));
	T_OK(xtc_exit_pid(pid, 1));
	while (t_send_int(pid, 1) == XTC_OK)
		xtc_yield();
	T_RC(t_send_int(pid, 1), XTC_E_INVAL);
	t_set(&steps, 0);
}

/* Half of them saved. The memory is back: else it would grow, or LSan see. */
START_TEST(a_kill_with_a_thousand_messages_queued_leaks_nothing)
{
	int n = t_count(300) + 3;
	long rss = 0;

	for (int i = 0; i < n; i++) {
		t_run(kill_with_mail, NULL);
		if (i == n / 3)
			rss = t_maxrss_kib();
	}
	/* 200 times 500 messages of 3,000 bytes would be 290 MiB. */
	if (t_slow() == 1)
		T_TRUE(t_maxrss_kib() - rss < 2000);
}
END_TEST

static void
end_with_mail(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		T_OK(t_send_int(xtc_self(), i));
}

START_TEST(fini_and_return_with_mail_leak_nothing)
{
	xtc_loop_t *l;
	xtc_pid_t pid;

	for (int i = 0; i < 100; i++) {
		T_OK(xtc_loop_init(&l));
		t_spawn_on(l, end_with_mail, NULL);
		T_OK(xtc_loop_run(l));
		pid = t_spawn_on(l, fill_up, NULL);
		for (int k = 0; k < 100; k++)
			T_OK(t_send_int(pid, k));
		T_OK(xtc_loop_fini(l));
	}
}
END_TEST

/*
 * A slot that is used again must not show the mail of the one before, not
 * even mail of a sender that a signal held up in the middle of its send.
 */
static _Atomic uint64_t target;
static pthread_t held_up;

static void
want_own_mail(void *arg)
{
	int n = (int)(intptr_t)arg;
	void *msg;

	t_set(&target, xtc_self().id);
	for (int i = 0; i < n; i++) {
		if (xtc_recv(&msg, NULL, 2 * T_US) == XTC_OK) {
			uint64_t to;

			memcpy(&to, msg, sizeof(to));
			xtc_free(msg);
			T_TRUE(to == xtc_self().id);
			t_add(&steps, 1);
		}
	}
}

static void
reincarnate(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++) {
		t_spawn(want_own_mail, (void *)(intptr_t)(i % 4));
		for (int k = 0; k < 4; k++)
			xtc_yield();
		if (i % 4 == 0)
			t_dawdle(held_up);
	}
}

static void *
send_to_target(void *arg)
{
	(void)arg;
	while (!t_get(&quit)) {
		xtc_pid_t to = { t_get(&target) };

		for (int i = 0; i < 3; i++)
			(void)xtc_send(to, &to.id, sizeof(to.id));
	}
	return (NULL);
}

START_TEST(old_mail_never_reaches_a_new_process)
{
	int n = t_count(300000);

	t_dawdle_setup();
	held_up = t_thread(send_to_target, NULL);
	t_run(reincarnate, &n);
	t_set(&quit, 1);
	t_join(held_up);
	/* Few may come and go while the sender waits for its turn. */
	T_TRUE(t_get(&steps) > 0 || n < 10000);
}
END_TEST

/* Timeouts of 0 to 2 us against messages that come at any moment. */
struct impatient {
	xtc_pid_t to;
	int n;
	xtc_loop_t *loop;
};

static void
recv_impatiently(void *arg)
{
	struct impatient *im = arg;
	uint64_t rnd = 31;
	int got = 0, rc;

	while (got < im->n) {
		if (t_rand(&rnd) % 4 == 0)
			rc = recv_match_int(match_multiple, 1,
			    (int64_t)(t_rand(&rnd) % 2001));
		else
			rc = t_recv_int((int64_t)(t_rand(&rnd) % 2001));
		if (rc == XTC_E_AGAIN)
			continue;
		T_EQ(rc, got);
		got++;
	}
	T_RC(t_recv_int(0), XTC_E_AGAIN);
	t_add(&steps, 1);
}

static void
send_at_any_moment(void *arg)
{
	struct impatient *im = arg;
	uint64_t rnd = 17;
	int rc;

	for (int i = 0; i < im->n; ) {
		rc = t_send_int(im->to, i);
		if (rc == XTC_OK)
			i++;
		else
			T_RC(rc, XTC_E_AGAIN);
		if (rc != XTC_OK || t_rand(&rnd) % 8 == 0) {
			if (xtc_loop_self() != NULL)
				T_OK(xtc_proc_sleep((int64_t)
				    (t_rand(&rnd) % 3000)));
			else
				t_spin((int64_t)(t_rand(&rnd) % 3000));
		}
	}
}

static void *
send_at_any_moment_in_thread(void *arg)
{
	send_at_any_moment(arg);
	return (NULL);
}

START_TEST(timeouts_of_0_to_2_us_lose_no_message_on_one_loop)
{
	struct impatient im = { XTC_PID_NONE, t_count(1000000), NULL };

	im.to = t_spawn(recv_impatiently, &im);
	t_spawn(send_at_any_moment, &im);
	T_OK(xtc_loop_run(t_loop));
	T_EQ(t_get(&steps), 1);
}
END_TEST

START_TEST(timeouts_of_0_to_2_us_lose_no_message_of_a_thread)
{
	struct impatient im = { XTC_PID_NONE, t_count(1000000), NULL };
	pthread_t t;

	im.to = t_spawn(recv_impatiently, &im);
	t = t_thread(send_at_any_moment_in_thread, &im);
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_EQ(t_get(&steps), 1);
}
END_TEST

START_TEST(timeouts_of_0_to_2_us_lose_no_message_across_loops)
{
	struct impatient im = { XTC_PID_NONE, t_count(1000000), NULL };
	xtc_loop_t *l;
	pthread_t t;

	T_OK(xtc_loop_init(&l));
	im.to = t_spawn(recv_impatiently, &im);
	t_spawn_on(l, send_at_any_moment, &im);
	t = t_thread(t_run_loop, l);
	T_OK(xtc_loop_run(t_loop));
	t_join(t);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 1);
}
END_TEST

static void
time_out_often(void *arg)
{
	int n = *(int *)arg;

	for (int i = 0; i < n; i++)
		T_RC(t_recv_int(1 + i % 1000), XTC_E_AGAIN);
	t_add(&steps, 1);
}

START_TEST(timed_out_receives_leave_constant_memory)
{
	int warm = t_count(20000), n = t_count(150000);
	xtc_loop_t *l;
	pthread_t t;
	long rss;

	T_OK(xtc_loop_init(&l));
	t_spawn_on(l, time_out_often, &warm);
	T_OK(xtc_loop_run(l));
	t_run(time_out_often, &warm);
	rss = t_maxrss_kib();
	t_spawn_on(l, time_out_often, &n);
	t = t_thread(t_run_loop, l);
	t_run(time_out_often, &n);
	t_join(t);
	T_OK(xtc_loop_fini(l));
	T_EQ(t_get(&steps), 4);
	/* A timer of 64 bytes kept for each would be 18,750 KiB. */
	if (t_slow() == 1)
		T_TRUE(t_maxrss_kib() - rss < 2000);
}
END_TEST

struct mark {
	xtc_pid_t pid;
	atomic_int calls;
};

static void
watermark(xtc_pid_t self, size_t depth, size_t cap, void *user)
{
	struct mark *m = user;
	void *msg;

	T_TRUE(xtc_pid_eq(self, m->pid));
	T_EQ(cap, 100);
	T_TRUE(depth <= 100);
	T_TRUE(xtc_loop_self() == t_loop);
	T_TRUE(xtc_pid_is_none(xtc_self()));
	T_RC(xtc_recv(&msg, NULL, -1), XTC_E_INVAL);
	T_RC(xtc_proc_sleep(1), XTC_E_INVAL);
	t_add(&m->calls, 1);
}

static void *
send_79(void *arg)
{
	for (int i = 0; i < 79; i++)
		T_OK(t_send_int(*(xtc_pid_t *)arg, i));
	return (NULL);
}

static void
fill_to_the_mark(void *arg)
{
	struct mark *m = arg;

	/* Below 80 per cent: silence. */
	t_join(t_thread(send_79, &m->pid));
	T_OK(xtc_proc_sleep(T_MS));
	T_EQ(t_get(&m->calls), 0);
	T_OK(t_send_int(m->pid, 79));
	while (t_get(&m->calls) == 0)
		xtc_yield();
	T_OK(xtc_exit_pid(m->pid, 0));
	t_add(&steps, 1);
}

static void
sleep_for_ever(void *arg)
{
	(void)arg;
	xtc_proc_sleep(INT64_MAX);
}

START_TEST(the_watermark_is_told_on_the_loops_own_stack)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	struct mark m = { XTC_PID_NONE, 0 };

	o.mailbox_cap = 100;
	o.mailbox_watermark_pct = 80;
	o.mailbox_watermark_fn = watermark;
	o.mailbox_watermark_user = &m;
	T_OK(xtc_proc_spawn(t_loop, sleep_for_ever, NULL, &o, &m.pid));
	t_run(fill_to_the_mark, &m);
	T_EQ(t_get(&steps), 1);
	T_TRUE(t_get(&m.calls) > 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mailbox");

	t_case(s, messages_of_all_sizes_arrive_whole_and_aligned, 10);
	t_case(s, an_empty_message_is_a_message, 5);
	t_case(s, a_receive_times_out_and_not_early, 5);
	t_case(s, a_message_ends_a_receive_before_its_timeout, 5);
	t_case(s, messages_of_each_fiber_stay_in_order, 10);
	t_case(s, messages_of_each_of_all_kinds_of_senders_stay_in_order, 30);
	t_case(s, a_full_mailbox_refuses_and_counts, 5);
	t_case(s, the_largest_mailbox, 5);
	t_case(s, recv_match_keeps_the_order_of_the_others, 5);
	t_case(s, saved_messages_count_toward_the_bound, 5);
	t_case(s, recv_match_waits_among_messages_it_does_not_want, 5);
	t_case(s, random_matches_agree_with_an_array, 10);
	t_case(s, messages_are_freed_by_threads_and_after_their_loop, 10);
	t_case(s, a_kill_with_a_thousand_messages_queued_leaks_nothing, 10);
	t_case_bare(s, fini_and_return_with_mail_leak_nothing, 10);
	t_case(s, old_mail_never_reaches_a_new_process, 30);
	t_case(s, timeouts_of_0_to_2_us_lose_no_message_on_one_loop, 30);
	t_case(s, timeouts_of_0_to_2_us_lose_no_message_of_a_thread, 60);
	t_case(s, timeouts_of_0_to_2_us_lose_no_message_across_loops, 60);
	t_case(s, timed_out_receives_leave_constant_memory, 30);
	t_case(s, the_watermark_is_told_on_the_loops_own_stack, 5);
	return (t_main(s));
}
