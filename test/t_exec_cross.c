/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Much of one thing across the loops of an executor: messages, spawns, sends
 * to those who exit, and wakes of loops that sleep. Nothing here has a
 * timeout, so what is lost hangs the test.
 *
 * XTC_TEST_TIMES=n multiplies the counts, for a soak.
 */
#include "testlib.h"

#include <semaphore.h>

static xtc_exec_t *exec;
static atomic_int steps, quit;

static int
soak_factor(void)
{
	const char *p = getenv("XTC_TEST_TIMES");

	return (p != NULL && atoi(p) > 1 ? atoi(p) : 1);
}

/* A count that a soak makes larger. */
static int
times(int n)
{
	return (t_count(n) * soak_factor());
}

static xtc_pid_t
spawn_with(int i, void (*fn)(void *), void *arg, int migratable, uint32_t cap)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	xtc_pid_t pid;

	o.migratable = migratable;
	o.mailbox_cap = cap;
	T_OK(xtc_proc_spawn(xtc_exec_loop(exec, i), fn, arg, &o, &pid));
	return (pid);
}

static xtc_pid_t
spawn_at(int i, void (*fn)(void *), void *arg, int migratable)
{
	return (spawn_with(i, fn, arg, migratable, 0));
}

static void *
run_exec(void *arg)
{
	(void)arg;
	T_OK(xtc_exec_run(exec));
	return (NULL);
}

/*
 * Ping-pong ends with a negative number: after n_rounds or, where the CPUs
 * are so busy that each message waits for one, after some time.
 */
#define LAST (-1)

static xtc_pid_t pair[2];
static int n_rounds;
static int64_t run_ns;
static long long n_messages;

static void
ping(void *arg)
{
	int64_t end = xtc_clock_mono() + run_ns;

	(void)arg;
	for (int i = 0; i < n_rounds; i++) {
		if (i % 64 == 0 && xtc_clock_mono() > end)
			break;
		T_OK(t_send_int(pair[1], i));
		T_EQ(t_recv_int(-1), i);
		n_messages += 2;
	}
	T_OK(t_send_int(pair[1], LAST));
	t_add(&steps, 1);
}

static void
pong(void *arg)
{
	int v;

	(void)arg;
	for (int i = 0; (v = t_recv_int(-1)) != LAST; i++) {
		T_EQ(v, i);
		T_OK(t_send_int(pair[0], i));
	}
	t_add(&steps, 1);
}

/* A round is two messages; each time it is a new executor. */
static void
ping_pong_often(int rounds, int migratable, int loops)
{
	int n = 20 * soak_factor();

	n_rounds = times(rounds);
	run_ns = soak_factor() > 1 ? INT64_MAX / 2 : T_SEC / 2;
	for (int k = 1; k <= n; k++) {
		T_OK(xtc_exec_init(&exec, loops));
		pair[0] = spawn_at(0, ping, NULL, migratable);
		pair[1] = spawn_at(1, pong, NULL, migratable);
		T_OK(xtc_exec_run(exec));
		T_OK(xtc_exec_fini(exec));
		T_EQ(t_get(&steps), 2 * k);
	}
	printf("%lld messages in %d runs\n", n_messages, n);
}

START_TEST(ping_pong_between_two_loops)
{
	ping_pong_often(50000, 0, 2);
}
END_TEST

START_TEST(ping_pong_between_two_loops_of_four)
{
	ping_pong_often(10000, 0, 4);
}
END_TEST

START_TEST(ping_pong_of_two_that_may_migrate)
{
	ping_pong_often(50000, 1, 2);
}
END_TEST

START_TEST(ping_pong_of_two_that_may_migrate_over_four_loops)
{
	ping_pong_often(10000, 1, 4);
}
END_TEST

/*
 * Spawning. Those spawned are never far ahead of those that have run. A
 * fiber costs ThreadSanitizer milliseconds.
 */
#define AHEAD 2000
#ifdef T_TSAN
#define SPAWN_DIV 30
#else
#define SPAWN_DIV 1
#endif

static atomic_int spawned, ran;
static int n_spawns, n_loops;

static void
run_once(void *arg)
{
	T_TRUE(!xtc_pid_is_none(xtc_self()));
	if (arg != NULL)
		T_TRUE(xtc_loop_self() == arg);
	t_add(&ran, 1);
}

static void
run_and_receive(void *arg)
{
	T_EQ(t_recv_int(-1), 7);
	run_once(arg);
}

static intptr_t
run_as_fiber(void *arg)
{
	T_TRUE(xtc_pid_is_none(xtc_self()));
	T_TRUE(xtc_exec_loop_id() >= 0);
	t_add((atomic_int *)arg, 1);
	return (0);
}

/* Pinned or migratable, with a message or without. */
static void
spawn_one(uint64_t *rnd)
{
	int to = (int)(t_rand(rnd) % (unsigned)n_loops);
	xtc_loop_t *l = xtc_exec_loop(exec, to);

	t_add(&spawned, 1);
	switch (t_rand(rnd) % 5) {
	case 0:
		(void)spawn_at(to, run_once, l, 0);
		break;
	case 1:
		(void)spawn_at(to, run_once, NULL, 1);
		break;
	case 2:
		T_OK(t_send_int(spawn_at(to, run_and_receive, NULL, 1), 7));
		break;
	case 3:
		T_OK(xtc_exec_async(exec, run_as_fiber, &ran, NULL));
		break;
	default:
		T_OK(t_send_int(spawn_at(to, run_and_receive, l, 0), 7));
	}
}

static void
spawn_many(void *arg)
{
	uint64_t rnd = (uint64_t)(uintptr_t)arg | 1;

	for (int i = 0; i < n_spawns; i++) {
		spawn_one(&rnd);
		while (t_get(&spawned) - t_get(&ran) > AHEAD)
			xtc_yield();
	}
}

static void *
spawn_many_in_thread(void *arg)
{
	uint64_t rnd = (uint64_t)(uintptr_t)arg | 1;

	for (int i = 0; i < n_spawns; i++) {
		spawn_one(&rnd);
		if (t_get(&spawned) - t_get(&ran) > AHEAD / 2)
			t_wait_for(&ran, t_get(&spawned) - AHEAD / 4);
	}
	return (NULL);
}

static void
stay(void *arg)
{
	(void)arg;
	T_EQ(t_recv_int(-1), -99);
}

static void
spawn_from_everywhere(int n, int loops, int threads)
{
	xtc_pid_t stayer;
	pthread_t t[2], runner;

	n_loops = loops;
	n_spawns = times(n / SPAWN_DIV) / (loops + threads) + 1;
	T_OK(xtc_exec_init(&exec, loops));
	stayer = spawn_at(0, stay, NULL, 0);
	for (int i = 0; i < loops; i++)
		(void)spawn_at(i, spawn_many, (void *)(uintptr_t)(7 + 2 * i),
		    i % 2);
	for (int i = 0; i < threads; i++)
		t[i] = t_thread(spawn_many_in_thread,
		    (void *)(uintptr_t)(99 + 2 * i));
	runner = t_thread(run_exec, NULL);
	for (int i = 0; i < threads; i++)
		t_join(t[i]);
	T_OK(t_send_int(stayer, -99));
	t_join(runner);
	T_OK(xtc_exec_fini(exec));
	T_EQ(t_get(&ran), t_get(&spawned));
	T_EQ(t_get(&ran), n_spawns * (loops + threads));
}

START_TEST(a_million_spawns_across_two_loops)
{
	spawn_from_everywhere(1000000, 2, 0);
}
END_TEST

START_TEST(spawns_across_four_loops_and_from_threads)
{
	spawn_from_everywhere(300000, 4, 2);
}
END_TEST

/*
 * Those who exit. The pids of N_TARGETS short lives stand in a table, from
 * which senders on other loops and in threads take them; most sends come
 * just before, in or after the exit.
 */
#define N_TARGETS 8

struct letter {
	uint64_t to;
	uint32_t words, sum;
	uint32_t word[60];
};

static _Atomic uint64_t targets[N_TARGETS];
static atomic_llong accepted, refused, received, kills, lives;
static int n_lives;
static int64_t end_ns;

static void
aim(uint64_t *rnd)
{
	xtc_pid_t to = { t_get(&targets[t_rand(rnd) % N_TARGETS]) };
	struct letter l = { .to = to.id };
	xtc_mailbox_stats_t st;
	int rc;

	l.words = (uint32_t)(t_rand(rnd) % 60);
	for (uint32_t i = 0; i < l.words; i++)
		l.sum += l.word[i] = (uint32_t)t_rand(rnd);
	switch (t_rand(rnd) % 16) {
	case 0:
		rc = xtc_exit_pid(to, 3);
		t_add(&kills, rc == XTC_OK);
		break;
	case 1:
		rc = xtc_proc_mailbox_stats(to, &st);
		T_TRUE(rc != XTC_OK || st.depth <= st.cap);
		break;
	default:
		rc = xtc_send(to, &l, offsetof(struct letter, word) +
		    l.words * sizeof(l.word[0]));
		t_add(rc == XTC_OK ? &accepted : &refused, 1);
		if (rc == XTC_E_AGAIN)
			rc = XTC_OK;
	}
	if (rc != XTC_OK)
		T_RC(rc, XTC_E_INVAL);
}

static void
read_letter(void)
{
	struct letter *l;
	uint32_t sum = 0;
	size_t size;
	void *msg;
	int rc = xtc_recv(&msg, &size, -1);

	T_OK(rc);
	l = msg;
	T_TRUE(l->to == xtc_self().id);
	T_EQ(size, offsetof(struct letter, word) + l->words *
	    sizeof(l->word[0]));
	for (uint32_t i = 0; i < l->words; i++)
		sum += l->word[i];
	T_EQ(sum, l->sum);
	xtc_free(msg);
	t_add(&received, 1);
}

static void
live_shortly(void *arg)
{
	uint64_t rnd = xtc_self().id | 1;

	(void)arg;
	t_add(&lives, 1);
	(void)t_rand(&rnd);
	for (uint64_t n = t_rand(&rnd) % 8; n > 0; n--) {
		read_letter();
		if (t_rand(&rnd) % 4 == 0)
			xtc_yield();
	}
}

static int
is_alive(int i)
{
	xtc_pid_t pid = { t_get(&targets[i]) };
	xtc_mailbox_stats_t st;

	return (xtc_proc_mailbox_stats(pid, &st) == XTC_OK);
}

/* Busy CPUs make lives long: then fewer have to do. */
static int
is_aimed_enough(void)
{
	return (t_get(&lives) >= n_lives || xtc_clock_mono() > end_ns);
}

static uint64_t
begin_life(uint64_t *rnd)
{
	return (spawn_with((int)(t_rand(rnd) % (unsigned)n_loops),
	    live_shortly, NULL, (int)(t_rand(rnd) % 2),
	    1 + (uint32_t)(t_rand(rnd) % 40)).id);
}

/* Whoever has ended is followed by another one on any loop. */
static void
keep_alive(void *arg)
{
	uint64_t rnd = (uint64_t)(uintptr_t)arg | 1;
	int alive = 1;

	while (!is_aimed_enough()) {
		for (int i = 0; i < N_TARGETS; i++)
			if (!is_alive(i))
				t_set(&targets[i], begin_life(&rnd));
		xtc_yield();
	}
	while (alive) {
		alive = 0;
		for (int i = 0; i < N_TARGETS; i++) {
			xtc_pid_t pid = { t_get(&targets[i]) };

			alive |= xtc_exit_pid(pid, 1) == XTC_OK;
		}
		xtc_yield();
	}
	t_set(&quit, 1);
}

static void
aim_always(void *arg)
{
	uint64_t rnd = (uint64_t)(uintptr_t)arg | 1;

	while (!t_get(&quit)) {
		aim(&rnd);
		if (t_rand(&rnd) % 2 == 0)
			xtc_yield();
	}
}

static void *
aim_in_thread(void *arg)
{
	uint64_t rnd = (uint64_t)(uintptr_t)arg | 1;

	while (!t_get(&quit)) {
		aim(&rnd);
		if (t_rand(&rnd) % 8 == 0)
			t_spin((int64_t)(t_rand(&rnd) % 5000));
	}
	return (NULL);
}

START_TEST(sends_and_kills_against_exits)
{
	pthread_t t;

	n_loops = 2;
	T_OK(xtc_exec_init(&exec, n_loops));
	n_lives = times(60000);
	end_ns = xtc_clock_mono() + 5 * T_SEC * soak_factor();
	(void)spawn_at(0, keep_alive, (void *)(uintptr_t)55, 1);
	for (int i = 0; i < n_loops; i++)
		(void)spawn_at(i, aim_always, (void *)(uintptr_t)(3 + 2 * i),
		    0);
	t = t_thread(aim_in_thread, (void *)(uintptr_t)77);
	T_OK(xtc_exec_run(exec));
	t_join(t);
	T_OK(xtc_exec_fini(exec));
	printf("%lld lives, %lld kills, %lld of %lld letters read, %lld "
	    "refused\n", t_get(&lives), t_get(&kills), t_get(&received),
	    t_get(&accepted), t_get(&refused));
	T_TRUE(t_get(&received) <= t_get(&accepted));
	T_TRUE(t_get(&received) > 0);
	T_TRUE(t_get(&kills) > 0);
	T_TRUE(t_get(&refused) > 0);
}
END_TEST

/*
 * An executor that has nothing else to do is woken by a thread: each message
 * finds its loops on the way to sleep, asleep or on the way up.
 */
static sem_t replied;

static void
post_for_each(void *arg)
{
	int n = *(int *)arg;

	for (int i = 0; i < n; i++) {
		T_EQ(t_recv_int(-1), i);
		T_EQ(sem_post(&replied), 0);
	}
}

static void
wait_replied(void)
{
	while (sem_wait(&replied) != 0)
		continue;
}

static void
wake_often(int n, int loops, int n_pids, int migratable)
{
	uint64_t rnd = 9;
	pthread_t t;
	xtc_pid_t pid[4];

	T_EQ(sem_init(&replied, 0, 0), 0);
	T_OK(xtc_exec_init(&exec, loops));
	for (int i = 0; i < n_pids; i++)
		pid[i] = spawn_at(i % loops, post_for_each, &n, migratable);
	t = t_thread(run_exec, NULL);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n_pids; k++)
			T_OK(t_send_int(pid[k], i));
		for (int k = 0; k < n_pids; k++)
			wait_replied();
		if (i % 4 != 0)
			t_spin((int64_t)(t_rand(&rnd) % 2000));
		if (i % 1024 == 0)
			t_spin((int64_t)(t_rand(&rnd) % 200000));
	}
	t_join(t);
	T_OK(xtc_exec_fini(exec));
}

START_TEST(a_thread_wakes_a_pinned_process_of_an_idle_executor)
{
	wake_often(times(50000), 2, 1, 0);
}
END_TEST

START_TEST(a_thread_wakes_a_migratable_process_of_an_idle_executor)
{
	wake_often(times(50000), 2, 1, 1);
}
END_TEST

START_TEST(a_thread_wakes_four_processes_of_an_idle_executor)
{
	wake_often(times(20000), 4, 4, 1);
}
END_TEST

/* A signal handler does it, or rather another thread by the same way. */
static xtc_waker_t wakers[2];
static atomic_int turn;

static void
be_woken(void *arg)
{
	int me = arg != NULL;
	int n = times(50000);

	for (int i = 0; i < n; i++) {
		T_OK(xtc_waker_self(&wakers[me]));
		/* whoever is second has a waker to aim at */
		if (t_add(&turn, 1) % 2 != 0)
			T_OK(xtc_waker_wake(&wakers[!me]));
		else
			T_OK(xtc_waker_wait(-1));
	}
}

START_TEST(wakers_meet_waits_of_another_loop)
{
	T_OK(xtc_exec_init(&exec, 2));
	(void)spawn_at(0, be_woken, NULL, 0);
	(void)spawn_at(1, be_woken, &steps, 0);
	T_OK(xtc_exec_run(exec));
	T_OK(xtc_exec_fini(exec));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("exec_cross");
	int k = soak_factor();

	k *= k;
	t_case_bare(s, ping_pong_between_two_loops, 100 * k);
	t_case_bare(s, ping_pong_between_two_loops_of_four, 60 * k);
	t_case_bare(s, ping_pong_of_two_that_may_migrate, 60 * k);
	t_case_bare(s, ping_pong_of_two_that_may_migrate_over_four_loops,
	    60 * k);
	t_case_bare(s, a_million_spawns_across_two_loops, 60 * k);
	t_case_bare(s, spawns_across_four_loops_and_from_threads, 60 * k);
	t_case_bare(s, sends_and_kills_against_exits, 60 * k);
	t_case_bare(s, a_thread_wakes_a_pinned_process_of_an_idle_executor,
	    60 * k);
	t_case_bare(s, a_thread_wakes_a_migratable_process_of_an_idle_executor,
	    60 * k);
	t_case_bare(s, a_thread_wakes_four_processes_of_an_idle_executor,
	    60 * k);
	t_case_bare(s, wakers_meet_waits_of_another_loop, 60 * k);
	return (t_main(s));
}
