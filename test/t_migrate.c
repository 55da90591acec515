/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * A fiber that comes back from a wait on another thread finds itself there:
 * its loop, its errno and its thread are those of that thread, its registers
 * and its rounding mode its own. About a million moves, by messages, by
 * awaits, by locks, and by being stolen where it yields.
 *
 * Every fiber leaves in errno what belongs to the thread it is on, so a
 * library that remembers the address of errno, or of any other thread-local,
 * from before the move is found out. check_migrate_builds.py runs this test
 * in builds in which compilers like to do that.
 */
#include "testlib.h"

#include <errno.h>
#include <fenv.h>

#include "base/attr.h"

#ifdef T_TSAN
#define N_TRAVELLERS 100
#else
#define N_TRAVELLERS 1000
#endif
#define MAX_LOOPS 4

/*
 * uint64_t regs_call(void (*fn)(void *), void *arg, const uint64_t *v)
 *
 * Fills every register that a call keeps from v, calls fn(arg), and returns
 * a bit for each that is different then.
 */
#if defined(__APPLE__)
#define ASM_NAME(name)	"_" name
#else
#define ASM_NAME(name)	name
#endif

#if defined(__x86_64__) || defined(__aarch64__)
uint64_t regs_call(void (*fn)(void *), void *arg, const uint64_t *v);
#endif

#if defined(__x86_64__)
#define REGS		6
#define CHECK_R(r, o, bit) \
"	cmpq " #o "(%rdx), %" r "\n" \
"	je 1f\n" \
"	orl $" #bit ", %eax\n" \
"1:\n"
__asm__(
"	.text\n"
"	.globl " ASM_NAME("regs_call") "\n"
ASM_NAME("regs_call") ":\n"
"	pushq %rbp\n"
"	pushq %rbx\n"
"	pushq %r12\n"
"	pushq %r13\n"
"	pushq %r14\n"
"	pushq %r15\n"
"	pushq %rdx\n"
"	movq %rdi, %rax\n"
"	movq %rsi, %rdi\n"
"	movq 0(%rdx), %rbx\n"
"	movq 8(%rdx), %rbp\n"
"	movq 16(%rdx), %r12\n"
"	movq 24(%rdx), %r13\n"
"	movq 32(%rdx), %r14\n"
"	movq 40(%rdx), %r15\n"
"	call *%rax\n"
"	popq %rdx\n"
"	xorl %eax, %eax\n"
CHECK_R("rbx", 0, 1) CHECK_R("rbp", 8, 2) CHECK_R("r12", 16, 4)
CHECK_R("r13", 24, 8) CHECK_R("r14", 32, 16) CHECK_R("r15", 40, 32)
"	popq %r15\n"
"	popq %r14\n"
"	popq %r13\n"
"	popq %r12\n"
"	popq %rbx\n"
"	popq %rbp\n"
"	ret\n");
#elif defined(__aarch64__)
#define REGS		19
#define CHECK_X(r, o, bit) \
"	ldr x9, [x2, #" o "]\n" \
"	cmp x9, " r "\n" \
"	cset x9, ne\n" \
"	orr x0, x0, x9, lsl #" bit "\n"
#define CHECK_D(r, o, bit) \
"	fmov x10, " r "\n" \
CHECK_X("x10", o, bit)
__asm__(
"	.text\n"
"	.globl " ASM_NAME("regs_call") "\n"
ASM_NAME("regs_call") ":\n"
"	stp x29, x30, [sp, #-176]!\n"
"	stp x19, x20, [sp, #16]\n"
"	stp x21, x22, [sp, #32]\n"
"	stp x23, x24, [sp, #48]\n"
"	stp x25, x26, [sp, #64]\n"
"	stp x27, x28, [sp, #80]\n"
"	stp d8, d9, [sp, #96]\n"
"	stp d10, d11, [sp, #112]\n"
"	stp d12, d13, [sp, #128]\n"
"	stp d14, d15, [sp, #144]\n"
"	str x2, [sp, #160]\n"
"	ldp x19, x20, [x2, #0]\n"
"	ldp x21, x22, [x2, #16]\n"
"	ldp x23, x24, [x2, #32]\n"
"	ldp x25, x26, [x2, #48]\n"
"	ldp x27, x28, [x2, #64]\n"
"	ldr x29, [x2, #80]\n"
"	ldp d8, d9, [x2, #88]\n"
"	ldp d10, d11, [x2, #104]\n"
"	ldp d12, d13, [x2, #120]\n"
"	ldp d14, d15, [x2, #136]\n"
"	mov x16, x0\n"
"	mov x0, x1\n"
"	blr x16\n"
"	ldr x2, [sp, #160]\n"
"	mov x0, #0\n"
CHECK_X("x19", "0", "0") CHECK_X("x20", "8", "1") CHECK_X("x21", "16", "2")
CHECK_X("x22", "24", "3") CHECK_X("x23", "32", "4") CHECK_X("x24", "40", "5")
CHECK_X("x25", "48", "6") CHECK_X("x26", "56", "7") CHECK_X("x27", "64", "8")
CHECK_X("x28", "72", "9") CHECK_X("x29", "80", "10")
CHECK_D("d8", "88", "11") CHECK_D("d9", "96", "12") CHECK_D("d10", "104", "13")
CHECK_D("d11", "112", "14") CHECK_D("d12", "120", "15")
CHECK_D("d13", "128", "16") CHECK_D("d14", "136", "17")
CHECK_D("d15", "144", "18")
"	ldp d14, d15, [sp, #144]\n"
"	ldp d12, d13, [sp, #128]\n"
"	ldp d10, d11, [sp, #112]\n"
"	ldp d8, d9, [sp, #96]\n"
"	ldp x27, x28, [sp, #80]\n"
"	ldp x25, x26, [sp, #64]\n"
"	ldp x23, x24, [sp, #48]\n"
"	ldp x21, x22, [sp, #32]\n"
"	ldp x19, x20, [sp, #16]\n"
"	ldp x29, x30, [sp], #176\n"
"	ret\n");
#else
#define REGS		1

/* Where no register is known by name the other checks remain. */
static uint64_t
regs_call(void (*fn)(void *), void *arg, const uint64_t *v)
{
	(void)v;
	fn(arg);
	return (0);
}
#endif

/* One who moves; its fields are its own but where it says otherwise. */
struct traveller {
	xtc_pid_t pid;
	void (*wait)(void *);
	int id;			/* of the loop it was last seen on */
	int mode;		/* its rounding */
	double third;
	uint64_t rnd;
	int value;		/* what it has received */
	long long moves;
	atomic_int seen_on;	/* id, for all to read */
};

static xtc_exec_t *exec;
static struct traveller travellers[N_TRAVELLERS];
static xtc_pid_t drivers[MAX_LOOPS];
static int n_travellers, n_turns;
static long long goal;
static atomic_llong all_moves;
static atomic_int arrived, signed_in, turn;

/* What belongs to each loop's thread, written by a fiber pinned there. */
static struct {
	pthread_t thread;
	int *errno_at;
} home[MAX_LOOPS];

/*
 * Compilers may believe that a thread does not change in a function; only
 * what is asked anew, behind a call that they cannot look into, is true.
 */
static XTC__NOINLINE int *
here_errno(void)
{
	XTC__COMPILER_BARRIER();
	return (&errno);
}

static XTC__NOINLINE pthread_t
here_thread(void)
{
	XTC__COMPILER_BARRIER();
	return (pthread_self());
}

static XTC__NOINLINE double
here_third(void)
{
	volatile double one = 1, three = 3;

	return (one / three);
}

static XTC__NOINLINE int
here_rounding(void)
{
	XTC__COMPILER_BARRIER();
	return (fegetround());
}

/* What errno is on the thread of loop number id, between two fibers. */
static int
errno_of(int id)
{
	return (1000 + id);
}

static int
sign_in(void)
{
	int id = xtc_exec_loop_id();

	T_TRUE(id >= 0 && id < MAX_LOOPS);
	home[id].thread = here_thread();
	home[id].errno_at = here_errno();
	*here_errno() = errno_of(id);
	t_add(&signed_in, 1);
	return (id);
}

static void
check_here(int id)
{
	T_TRUE(id >= 0 && id < xtc_exec_n_loops(exec));
	T_TRUE(xtc_loop_self() == xtc_exec_loop(exec, id));
	T_EQ(xtc_shard_id(), id);
	T_EQ(xtc_shard_count(), xtc_exec_n_loops(exec));
	T_TRUE(pthread_equal(here_thread(), home[id].thread));
	T_TRUE(here_errno() == home[id].errno_at);
	T_EQ(*here_errno(), errno_of(id));
}

/* Calls that do not wait leave errno alone. */
static void
check_calls(struct traveller *t, int id)
{
	xtc_mailbox_stats_t st;
	void *p;

	*here_errno() = 77;
	T_TRUE(xtc_pid_eq(xtc_self(), t->pid));
	T_OK(xtc_proc_mailbox_stats(t->pid, &st));
	T_EQ(st.depth, 0);
	p = xtc_malloc(100);
	T_TRUE(p != NULL);
	xtc_free(p);
	T_EQ(xtc_yield_check(), 0);
	T_TRUE(xtc_clock_mono() > 0);
	T_EQ(*here_errno(), 77);
	*here_errno() = errno_of(id);
}

static void
check_moved(struct traveller *t)
{
	int id = xtc_exec_loop_id();

	check_here(id);
	check_calls(t, id);
	T_EQ(here_rounding(), t->mode);
	T_TRUE(here_third() == t->third);
	if (id != t->id)
		t->moves++;
	t->id = id;
	t_set(&t->seen_on, id);
}

static void
wait_and_check(struct traveller *t)
{
	uint64_t v[REGS];

	for (int i = 0; i < REGS; i++)
		v[i] = t_rand(&t->rnd);
	T_EQ(regs_call(t->wait, t, v), 0);
	check_moved(t);
}

static const int rounding[] = {
	FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO
};

/* The first thing a traveller does. */
static void
set_out(struct traveller *t, void (*wait)(void *))
{
	int k = (int)(t - travellers);

	/* errno is nobody's before all loops have signed in */
	while (t_get(&signed_in) < xtc_exec_n_loops(exec))
		xtc_yield();
	t->pid = xtc_self();
	t->wait = wait;
	t->id = xtc_exec_loop_id();
	t->rnd = (uint64_t)k + 1;
	t->mode = rounding[k % 4];
	T_EQ(fesetround(t->mode), 0);
	t->third = here_third();
	check_here(t->id);
	t_add(&arrived, 1);
}

static xtc_pid_t
spawn_at(int i, void (*fn)(void *), void *arg, int migratable)
{
	xtc_proc_opts_t o = XTC_PROC_OPTS_DEFAULT;
	xtc_pid_t pid;

	o.migratable = migratable;
	T_OK(xtc_proc_spawn(xtc_exec_loop(exec, i), fn, arg, &o, &pid));
	return (pid);
}

/* Each loop gets a pinned driver, loop 0 the travellers. */
static void
run_with(int loops, void (*driver)(void *), void (*fn)(void *))
{
	T_TRUE(loops <= MAX_LOOPS);
	T_OK(xtc_exec_init(&exec, loops));
	for (int i = 0; i < loops; i++)
		drivers[i] = spawn_at(i, driver, NULL, 0);
	for (int i = 0; i < n_travellers; i++)
		travellers[i].pid = spawn_at(0, fn, &travellers[i], 1);
	T_OK(xtc_exec_run(exec));
	T_OK(xtc_exec_fini(exec));
	for (int i = 0; i < n_travellers; i++)
		T_TRUE(travellers[i].moves > 0);
	printf("%lld moves\n", t_get(&all_moves));
}

/*
 * By messages. The drivers send by turns, each to all, while the other one
 * keeps his loop busy, so that nobody can be stolen back.
 */
#define LAST (-1)

static void
wait_message(void *arg)
{
	struct traveller *t = arg;

	t->value = t_recv_int(-1);
}

static void
travel_by_message(void *arg)
{
	struct traveller *t = arg;

	set_out(t, wait_message);
	for (;;) {
		wait_and_check(t);
		if (t->value == LAST)
			break;
		/* in the first turn not everybody was waiting yet */
		if (t->value > 0)
			T_EQ(t->id, t->value % 2);
		t_add(&arrived, 1);
	}
	t_add(&all_moves, t->moves);
}

/* Those who run here have parked when this sees that they have arrived. */
static void
await_arrivals(void)
{
	while (t_get(&arrived) < n_travellers)
		xtc_yield();
	t_set(&arrived, 0);
}

static void
drive_by_message(void *arg)
{
	int id = sign_in();

	(void)arg;
	if (id == 0)
		await_arrivals();
	for (int k = 0; k <= n_turns; k++) {
		if (k % 2 != id)
			continue;
		while (t_get(&turn) != k)
			if (k <= 1)
				xtc_yield();
			else
				sched_yield();
		for (int i = 0; i < n_travellers; i++)
			T_OK(t_send_int(travellers[i].pid, k < n_turns ? k :
			    LAST));
		if (k < n_turns)
			await_arrivals();
		t_set(&turn, k + 1);
	}
}

START_TEST(messages_carry_fibers_between_two_loops)
{
	n_travellers = N_TRAVELLERS;
	n_turns = t_count(800000) / n_travellers + 2;
	run_with(2, drive_by_message, travel_by_message);
	/* all, in each turn but the first and the last */
	T_TRUE(t_get(&all_moves) >= (long long)n_travellers * (n_turns - 1));
}
END_TEST

/* By awaits: of fibers that are pinned to another loop. */
static void
drive_nothing(void *arg)
{
	(void)arg;
	(void)sign_in();
}

static intptr_t
be_awaited(void *arg)
{
	check_here((int)(intptr_t)arg);
	return ((intptr_t)arg);
}

static void
wait_for_another_loop(void *arg)
{
	struct traveller *t = arg;
	int n = xtc_exec_n_loops(exec);
	intptr_t there = (t->id + 1 + (int)(t_rand(&t->rnd) %
	    (unsigned)(n - 1))) % n, got;
	xtc_task_t *task;

	T_OK(xtc_exec_async_on(exec, (int)there, be_awaited, (void *)there,
	    &task));
	/* a spawn asks the kernel for memory, and that may change errno */
	*here_errno() = errno_of(t->id);
	T_OK(xtc_await(task, &got));
	T_EQ(got, there);
}

/* Until all have moved often enough, and each at least once. */
static void
travel_until(struct traveller *t, void (*wait)(void *))
{
	long long before;

	set_out(t, wait);
	while (t_get(&all_moves) < goal || t->moves == 0) {
		before = t->moves;
		wait_and_check(t);
		t_add(&all_moves, t->moves - before);
	}
}

static void
travel_by_await(void *arg)
{
	travel_until(arg, wait_for_another_loop);
}

START_TEST(awaits_carry_fibers_between_three_loops)
{
	n_travellers = 40;
	goal = t_count(100000);
	run_with(3, drive_nothing, travel_by_await);
}
END_TEST

/* By locks: who unlocks wakes the next one, on his own loop. */
static xtc_amutex_t *locks[3];
static long long counters[3];
static atomic_llong entries;

static void
wait_for_lock(void *arg)
{
	struct traveller *t = arg;
	uint64_t k = t_rand(&t->rnd) % 3;

	T_OK(xtc_amutex_lock(locks[k], -1));
	counters[k]++;
	if (t_rand(&t->rnd) % 2 == 0)
		xtc_yield();
	T_OK(xtc_amutex_unlock(locks[k]));
	t_add(&entries, 1);
}

static void
travel_by_lock(void *arg)
{
	travel_until(arg, wait_for_lock);
}

START_TEST(locks_carry_fibers_between_three_loops)
{
	n_travellers = 40;
	goal = t_count(60000);
	for (int i = 0; i < 3; i++)
		T_OK(xtc_amutex_create(&locks[i]));
	run_with(3, drive_nothing, travel_by_lock);
	T_EQ(counters[0] + counters[1] + counters[2], t_get(&entries));
	for (int i = 0; i < 3; i++)
		T_OK(xtc_amutex_destroy(locks[i]));
}
END_TEST

/*
 * By being stolen. A driver wakes the travellers, who yield until they are
 * on another loop, and once all have begun to he does not let go of his loop
 * until they are. They wait there: a loop that has something to do steals
 * nothing.
 */
static void
wait_yield(void *arg)
{
	(void)arg;
	xtc_yield();
}

static void
travel_by_yield(void *arg)
{
	struct traveller *t = arg;
	int from;

	set_out(t, wait_message);
	for (;;) {
		t->wait = wait_message;
		wait_and_check(t);
		if ((from = t->value) == LAST)
			break;
		t_add(&arrived, 1);
		t->wait = wait_yield;
		while (t->id == from)
			wait_and_check(t);
	}
	t_add(&all_moves, t->moves);
}

static void
drive_away(void *arg)
{
	int id = sign_in();

	(void)arg;
	if (id == 0)
		await_arrivals();
	for (int k = 0; k <= n_turns; k++) {
		if (k % 2 != id)
			continue;
		if (k > 0)
			T_EQ(t_recv_int(-1), k);
		for (int i = 0; i < n_travellers; i++) {
			t_set(&travellers[i].seen_on, id);
			T_OK(t_send_int(travellers[i].pid, k < n_turns ? id :
			    LAST));
		}
		if (k == n_turns)
			break;
		await_arrivals();
		for (int i = 0; i < n_travellers; i++)
			while (t_get(&travellers[i].seen_on) == id)
				sched_yield();
		T_OK(t_send_int(drivers[!id], k + 1));
	}
}

START_TEST(fibers_that_yield_are_stolen_back_and_forth)
{
	n_travellers = 16;
	n_turns = t_count(40000) / n_travellers + 2;
	run_with(2, drive_away, travel_by_yield);
	T_TRUE(t_get(&all_moves) >= (long long)n_travellers * (n_turns - 1));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("migrate");

	t_case_bare(s, messages_carry_fibers_between_two_loops, 90);
	t_case_bare(s, awaits_carry_fibers_between_three_loops, 90);
	t_case_bare(s, locks_carry_fibers_between_three_loops, 90);
	t_case_bare(s, fibers_that_yield_are_stolen_back_and_forth, 90);
	return (t_main(s));
}
