/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Processes that do everything at random, on one loop or two, with threads
 * beside them, and kill each other meanwhile; afterwards every process,
 * message, lock and death is accounted for.
 *
 * Each run lasts XTC_TEST_SECONDS (2). The seed is printed; XTC_TEST_SEED
 * sets it. With more than one thread it does not decide the order of things.
 */
#include "testlib.h"

#define N_SLOTS 48
#define N_LOCKS 6
#define RESERVED UINT64_MAX

enum { KIND_A, KIND_B, N_KINDS };

struct letter {
	uint64_t to, seq;
	uint32_t from;
	uint32_t kind;
	uint32_t sum;		/* of the words after it */
	uint32_t words[];
};

/* One process. Its end_actor(), which comes after its function, frees it. */
struct actor {
	uint64_t rnd, seq;
	uint32_t uid;
	int slot;		/* where its pid is known, or -1 */
	int holds;		/* a lock, or -1 */
	/* The last letter of a sender, for some senders. */
	struct {
		uint32_t uid;
		uint64_t seq;
	} last[N_KINDS][32];
};

/* What a lock protects, written by its holder only. */
struct vault {
	xtc_amutex_t *lock;
	int64_t counter, told;
	atomic_llong entries, deaths;
};

static struct vault vaults[N_LOCKS];
static _Atomic uint64_t slots[N_SLOTS];
static xtc_loop_t *loops[2];
static int n_loops;
static atomic_int quit, next_uid;
static atomic_int threads_left;
static atomic_llong begun, ended, hidden_spawned, hidden_done;
static atomic_llong spawns_begun, spawns_done;
static atomic_llong accepted, received, kills;
static int64_t end_ns;
static uint64_t seed;

static int
is_over(void)
{
	if (!t_get(&quit) && xtc_clock_mono() >= end_ns)
		t_set(&quit, 1);
	return (t_get(&quit));
}

static uint64_t
pick(struct actor *a, uint64_t n)
{
	return (t_rand(&a->rnd) % n);
}

/* 0, mostly 0 to 2 us, at times longer; for ever if somebody may kill it. */
static int64_t
pick_timeout(struct actor *a)
{
	switch (pick(a, 16)) {
	case 0:
		return (0);
	case 1:
		return ((int64_t)pick(a, 200 * T_US));
	case 2:
		if (a->slot >= 0 && a->holds < 0)
			return (-1);
		/* FALLTHROUGH */
	default:
		return ((int64_t)pick(a, 2001));
	}
}

static void
send_letter(struct actor *a)
{
	union {
		struct letter letter;
		unsigned char room[512];
	} u;
	struct letter *l = &u.letter;
	uint32_t n = (uint32_t)pick(a, 100);
	xtc_pid_t to = { t_get(&slots[pick(a, N_SLOTS)]) };
	int rc;

	*l = (struct letter){ to.id, ++a->seq, a->uid,
	    (uint32_t)pick(a, N_KINDS), 0 };
	for (uint32_t i = 0; i < n; i++)
		l->sum += l->words[i] = (uint32_t)t_rand(&a->rnd);
	rc = xtc_send(to, l, sizeof(*l) + n * sizeof(l->words[0]));
	if (rc == XTC_OK)
		t_add(&accepted, 1);
	else
		T_TRUE(rc == XTC_E_INVAL || rc == XTC_E_AGAIN);
}

static void
check_letter(struct actor *a, const struct letter *l, size_t size)
{
	size_t n = (size - sizeof(*l)) / sizeof(l->words[0]), i;
	uint32_t sum = 0;

	T_TRUE(size >= sizeof(*l));
	T_TRUE(l->to == xtc_self().id);
	T_TRUE(l->kind < N_KINDS);
	for (i = 0; i < n; i++)
		sum += l->words[i];
	T_EQ(sum, l->sum);
	i = l->from % 32;
	if (a->last[l->kind][i].uid == l->from)
		T_TRUE(l->seq > a->last[l->kind][i].seq);
	a->last[l->kind][i].uid = l->from;
	a->last[l->kind][i].seq = l->seq;
	t_add(&received, 1);
}

static int
match_kind(const void *data, size_t size, void *user)
{
	const struct letter *l = data;

	(void)size;
	return (l->kind == *(uint32_t *)user);
}

static int
read_letter(struct actor *a, int64_t timeout_ns)
{
	uint32_t kind = (uint32_t)pick(a, N_KINDS);
	size_t size;
	void *msg;
	int rc;

	if (pick(a, 3) == 0)
		rc = xtc_recv_match(match_kind, &kind, &msg, &size,
		    timeout_ns);
	else
		rc = xtc_recv(&msg, &size, timeout_ns);
	if (rc != XTC_OK) {
		T_RC(rc, XTC_E_AGAIN);
		return (rc);
	}
	check_letter(a, msg, size);
	xtc_free(msg);
	return (rc);
}

static void
leave_vault(struct actor *a)
{
	struct vault *v = &vaults[a->holds];

	/* No wait from here to the unlock, so no death in between. */
	v->counter++;
	t_add(&v->entries, 1);
	a->holds = -1;
	T_OK(xtc_amutex_unlock(v->lock));
}

static void
enter_vault(struct actor *a)
{
	int k = (int)pick(a, N_LOCKS), rc;
	struct vault *v = &vaults[k];

	if (a->holds >= 0) {
		/* Only upwards: no deadlocks but by long timeouts. */
		leave_vault(a);
		return;
	}
	rc = pick(a, 8) == 0 ? xtc_amutex_try_lock(v->lock) :
	    xtc_amutex_lock(v->lock, pick_timeout(a));
	if (rc == XTC_E_AGAIN)
		return;
	if (rc == XTC_E_OWNERDEAD)
		v->told++;
	else
		T_OK(rc);
	a->holds = k;
	/* Mostly short; at times held over whatever comes next. */
	if (pick(a, 4) != 0)
		leave_vault(a);
}

static void
nap(struct actor *a)
{
	int64_t ns = (int64_t)pick(a, pick(a, 8) ? 3000 : 100000);
	int64_t t0 = xtc_clock_mono();

	T_OK(xtc_proc_sleep(ns));
	T_TRUE(xtc_clock_mono() - t0 >= ns);
}

static void
kill_somebody(struct actor *a)
{
	xtc_pid_t pid = { t_get(&slots[pick(a, N_SLOTS)]) };
	int rc = xtc_exit_pid(pid, 1);

	if (rc == XTC_OK)
		t_add(&kills, 1);
	else
		T_RC(rc, XTC_E_INVAL);
}

static intptr_t
wake_it(void *arg)
{
	xtc_waker_t w = *(xtc_waker_t *)arg;

	xtc_free(arg);
	if (w.ticket % 2)
		xtc_yield();
	return (xtc_waker_wake(&w));
}

/* Whoever is killed in the wait leaves the fiber its own memory. */
static void
be_woken(struct actor *a)
{
	xtc_loop_t *l = loops[pick(a, (uint64_t)n_loops)];
	xtc_waker_t *w = xtc_malloc(sizeof(*w));
	xtc_task_t *t;
	intptr_t woke;
	int rc;

	T_TRUE(w != NULL);
	T_OK(xtc_waker_self(w));
	T_OK(xtc_async(l, wake_it, w, &t));
	rc = xtc_waker_wait((int64_t)pick(a, 100) * T_US);
	if (rc != XTC_OK)
		T_RC(rc, XTC_E_AGAIN);
	T_OK(xtc_await(t, &woke));
	/* The promise of XTC_OK, either way round. */
	T_RC((int)woke, rc == XTC_OK ? XTC_OK : XTC_E_INVAL);
}

static void
be_critical(struct actor *a)
{
	T_OK(xtc_proc_critical_enter());
	nap(a);
	xtc_yield();
	T_OK(xtc_proc_critical_leave());
}

static void published(void *arg);
static void hidden(void *arg);

/* 1 if the slot was free and is now ours to fill. */
static int
reserve_slot(int slot)
{
	uint64_t old = t_get(&slots[slot]);
	xtc_mailbox_stats_t st;
	xtc_pid_t pid = { old };

	return (old != RESERVED &&
	    xtc_proc_mailbox_stats(pid, &st) == XTC_E_INVAL &&
	    atomic_compare_exchange_strong_explicit(&slots[slot], &old,
	    RESERVED, memory_order_acq_rel, memory_order_acquire));
}

static void
fill_slot(struct actor *a, int slot)
{
	xtc_loop_t *l = loops[pick(a, (uint64_t)n_loops)];
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	xtc_pid_t pid;

	o.mailbox_cap = 1 + (uint32_t)pick(a, 50);
	T_OK(xtc_proc_spawn(l, published, (void *)(intptr_t)slot, &o, &pid));
	t_set(&slots[slot], pid.id);
	if (pick(a, 4) == 0) {
		t_add(&hidden_spawned, 1);
		T_OK(xtc_proc_spawn(l, hidden, NULL, NULL, NULL));
	}
}

static void
spawn_into_a_slot(struct actor *a, int slot)
{
	t_add(&spawns_begun, 1);
	if (!t_get(&quit) && reserve_slot(slot))
		fill_slot(a, slot);
	t_add(&spawns_done, 1);
}

static void
act(struct actor *a)
{
	switch (pick(a, 20)) {
	case 0:
	case 1:
		spawn_into_a_slot(a, (int)pick(a, N_SLOTS));
		break;
	case 2:
		kill_somebody(a);
		break;
	case 3:
	case 4:
		nap(a);
		break;
	case 5:
	case 6:
		xtc_yield();
		break;
	case 7:
		be_woken(a);
		break;
	case 8:
		be_critical(a);
		break;
	case 9:
	case 10:
	case 11:
		enter_vault(a);
		break;
	case 12:
	case 13:
	case 14:
		(void)read_letter(a, pick_timeout(a));
		break;
	default:
		send_letter(a);
	}
}

/* The last act of each: as holder it leaves its lock to an heir. */
static void
end_actor(void *arg)
{
	struct actor *a = arg;

	if (a->holds >= 0)
		t_add(&vaults[a->holds].deaths, 1);
	if (pick(a, 2) == 0)
		while (read_letter(a, (int64_t)pick(a, 1000)) == XTC_OK)
			continue;
	if (pick(a, 4) == 0)
		nap(a);
	free(a);
	t_add(&ended, 1);
}

static struct actor *
begin_actor(int slot)
{
	struct actor *a = calloc(1, sizeof(*a));

	T_TRUE(a != NULL);
	a->uid = (uint32_t)t_add(&next_uid, 1) + 1;
	a->rnd = (seed ^ a->uid) * UINT64_C(0x9e3779b97f4a7c15) | 1;
	a->slot = slot;
	a->holds = -1;
	T_OK(xtc_proc_at_exit(end_actor, a));
	t_add(&begun, 1);
	return (a);
}

static void
published(void *arg)
{
	struct actor *a = begin_actor((int)(intptr_t)arg);

	for (uint64_t n = pick(a, 2000); n > 0 && !is_over(); n--)
		act(a);
	/* Sometimes it forgets to unlock. */
	if (a->holds >= 0 && pick(a, 2) == 0)
		leave_vault(a);
	if (pick(a, 2) == 0)
		xtc_exit_self(0);
}

/* Nobody knows its pid: nobody may ever kill it. */
static void
hidden(void *arg)
{
	struct actor *a = begin_actor(-1);

	(void)arg;
	for (uint64_t n = pick(a, 200); n > 0 && !is_over(); n--)
		act(a);
	if (a->holds >= 0)
		leave_vault(a);
	t_add(&hidden_done, 1);
}

/*
 * Kill all; 1 if nobody was left who could begin anything: no spawn was
 * under way, none began, and every slot was seen dead in between.
 */
static int
kill_all(void)
{
	long long spawns = t_get(&spawns_done);
	int alive = t_get(&threads_left) != 0 ||
	    t_get(&spawns_begun) != spawns;

	for (int i = 0; i < N_SLOTS; i++) {
		xtc_pid_t pid = { t_get(&slots[i]) };

		alive |= pid.id == RESERVED ||
		    xtc_exit_pid(pid, 0) == XTC_OK;
	}
	return (!alive && t_get(&hidden_done) == t_get(&hidden_spawned) &&
	    t_get(&spawns_begun) == spawns);
}

/* Keeps the slots full; at the end sees to it that all come to theirs. */
static void
keep_going(void *arg)
{
	struct actor a;

	memset(&a, 0, sizeof(a));
	a.rnd = seed | 1;
	while (!is_over()) {
		for (int i = 0; i < N_SLOTS; i++)
			spawn_into_a_slot(&a, i);
		T_OK(xtc_proc_sleep(T_MS));
	}
	while (!kill_all())
		T_OK(xtc_proc_sleep(T_MS));
	(void)arg;
}

/* A plain thread: sends, kills, spawns and locks as the processes do. */
static void *
act_in_thread(void *arg)
{
	struct actor a;

	memset(&a, 0, sizeof(a));
	a.uid = (uint32_t)t_add(&next_uid, 1) + 1;
	a.rnd = (seed ^ a.uid) | 1;
	a.slot = a.holds = -1;
	while (!is_over()) {
		switch (pick(&a, 8)) {
		case 0:
			kill_somebody(&a);
			break;
		case 1:
			spawn_into_a_slot(&a, (int)pick(&a, N_SLOTS));
			break;
		case 2:
		case 3:
			enter_vault(&a);
			break;
		case 4:
			t_spin((int64_t)pick(&a, 20000));
			break;
		default:
			send_letter(&a);
		}
	}
	if (a.holds >= 0 && pick(&a, 2) == 0)
		leave_vault(&a);
	else if (a.holds >= 0)
		t_add(&vaults[a.holds].deaths, 1);
	t_add(&threads_left, -1);
	(void)arg;
	return (NULL);
}

static void
check_vaults(void)
{
	for (int i = 0; i < N_LOCKS; i++) {
		struct vault *v = &vaults[i];
		int rc = xtc_amutex_lock(v->lock, 0);

		if (rc == XTC_E_OWNERDEAD)
			v->told++;
		else
			T_OK(rc);
		T_EQ(v->counter, t_get(&v->entries));
		T_EQ(v->told, t_get(&v->deaths));
		T_OK(xtc_amutex_unlock(v->lock));
		T_OK(xtc_amutex_destroy(v->lock));
	}
}

static void
check_accounts(void)
{
	printf("seed %" PRIu64 ": %lld processes, %lld of %lld messages "
	    "read, %lld kills\n", seed, t_get(&begun), t_get(&received),
	    t_get(&accepted), t_get(&kills));
	T_EQ(t_get(&begun), t_get(&ended));
	T_EQ(t_get(&hidden_spawned), t_get(&hidden_done));
	T_TRUE(t_get(&received) <= t_get(&accepted));
	T_TRUE(t_get(&begun) > N_SLOTS);
	check_vaults();
}

static void
stress(int loops_wanted, int threads)
{
	const char *secs = getenv("XTC_TEST_SECONDS");
	const char *seeded = getenv("XTC_TEST_SEED");
	pthread_t t[4];
	int n = 0;

	seed = seeded ? strtoull(seeded, NULL, 0) :
	    (uint64_t)xtc_clock_real() / 1000;
	end_ns = xtc_clock_mono() + (secs ? atoi(secs) : 2) * T_SEC;
	n_loops = loops_wanted;
	t_set(&threads_left, threads);
	for (int i = 0; i < N_LOCKS; i++)
		T_OK(xtc_amutex_create(&vaults[i].lock));
	for (int i = 0; i < n_loops; i++)
		T_OK(xtc_loop_init(&loops[i]));
	for (int i = 0; i < n_loops; i++)
		t_spawn_on(loops[i], keep_going, NULL);
	if (n_loops > 1)
		t[n++] = t_thread(t_run_loop, loops[1]);
	while (threads-- > 0)
		t[n++] = t_thread(act_in_thread, NULL);
	T_OK(xtc_loop_run(loops[0]));
	while (n > 0)
		t_join(t[--n]);
	for (int i = 0; i < n_loops; i++)
		T_OK(xtc_loop_fini(loops[i]));
	check_accounts();
}

START_TEST(everything_at_random_on_one_loop)
{
	stress(1, 0);
}
END_TEST

START_TEST(everything_at_random_on_one_loop_with_threads)
{
	stress(1, 2);
}
END_TEST

START_TEST(everything_at_random_on_two_loops)
{
	stress(2, 0);
}
END_TEST

START_TEST(everything_at_random_on_two_loops_with_threads)
{
	stress(2, 2);
}
END_TEST

int
main(void)
{
	const char *secs = getenv("XTC_TEST_SECONDS");
	Suite *s = suite_create("stress");
	int limit = (secs ? atoi(secs) : 2) + 60;

	t_case_bare(s, everything_at_random_on_one_loop, limit);
	t_case_bare(s, everything_at_random_on_one_loop_with_threads, limit);
	t_case_bare(s, everything_at_random_on_two_loops, limit);
	t_case_bare(s, everything_at_random_on_two_loops_with_threads, limit);
	return (t_main(s));
}
