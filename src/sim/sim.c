/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * sim.c: all threads of a run on one thread of the system: who runs next,
 * what time it is, and when it is over.
 *
 * THE NOUNS. A run is one story played with one seed. A simulated thread is a
 * context with a stack of its own; it may run a loop, and then a fiber may be
 * what is left in the middle. A point is a place in the library where another
 * thread may go on (XTC_SIM_POINT, base/plant.h): the points stand between
 * the steps that the models take as one. A choice is a number drawn from the
 * seed.
 *
 * THE PROMISE. The same seed makes the same run, with any compiler and
 * whatever ran before in this process; the hash of all choices and all that
 * happened says so. A run that fails tells its seed.
 *
 * THE SAME LIBRARY. Everything above os, poll and the record of a thread is
 * compiled from its own sources; what is replaced is the world: os.c, poll.c,
 * thread.c beside this file. What is per thread there (which loop it runs,
 * its magazines, its record) is put aside and back with each switch.
 *
 * HOW A THREAD IS CHOSEN. Each run draws one of three policies. Walk: at each
 * point, with the run's probability, any of the threads that can run. Ranks:
 * the one of highest rank runs, and at a few points of the run it becomes the
 * lowest (Burckhardt et al., "A randomized scheduler with probabilistic
 * guarantees of finding bugs", ASPLOS 2010): finds what needs few switches in
 * the right places. Stall: a walk in which now and then one thread stands
 * still for hundreds of points, as one that the system has preempted. With
 * ranks, a thread that has run for many points becomes the lowest too, so that
 * nobody waits for ever for one that never gets its turn.
 *
 * TIME is a number. Each point adds a little; where nobody can run it jumps
 * to the next deadline, and now and then it does so while others can run, so
 * that a deadline races with what it is the deadline of. Where nobody can run
 * and nobody has a deadline the run is stuck, which is a failure: stories end.
 *
 * WHAT MUST NOT GET INTO A RUN: addresses, and what an earlier run has left.
 * Choices are numbers, fibers and threads are counted in the order of their
 * making. Pools and depots differ from run to run, so there is no point
 * inside their locks: what they hold changes no step of the run. Hence no
 * point in os/qlock.h but where a lock was contended, which needs a point in
 * its holder.
 *
 * LIMITS. One interleaving at a time, every load sees the last store: what
 * needs a weaker memory is not found here.
 */
#include "sim/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch/ctx.h"
#include "arch/san.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/plant.h"
#include "core/loop.h"
#include "mem/pool.h"
#include "sim/sim_impl.h"

#define SIM_THREADS		12
#define SIM_STACK_BYTES		((size_t)128 << 10)
#define SIM_POINTS_MAX		1000000u
#define SIM_PATIENCE		1500u
#define SIM_START_NS		1000000000
#define SIM_CHANGES		4

enum sim_state {
	SIM_READY,
	SIM_ASLEEP,
	SIM_ENDED
};

enum sim_policy {
	SIM_WALK,
	SIM_RANKS,
	SIM_STALL,
	SIM_POLICIES
};

struct sim_thread {
	const char *name;
	void (*fn)(void *);
	void *(*os_fn)(void *);
	void *arg;
	void *sp;			/* while it does not run */
	enum sim_state state;
	int woken;
	const void *on;
	int64_t deadline_ns;
	int rank;
	unsigned ran;			/* points since it became lowest */
	/* of its own while another one runs */
	struct xtc_loop *loop;
	struct xtc__mags *mags;
	struct xtc__park *rec;
	struct xtc__san san;		/* of the stack it was left on */
	struct xtc__san own;		/* of its own */
};

static struct sim_world {
	const char *story;
	uint64_t seed;
	uint64_t random;
	uint64_t hash;
	int64_t now_ns;
	unsigned points;
	struct sim_thread *cur;		/* NULL: no run */
	struct sim_thread thread[SIM_THREADS];
	int n;
	int n_live;
	/* how it goes about it */
	enum sim_policy policy;
	uint64_t switch_mask;
	uint64_t jump_mask;
	uint64_t tick_mask;
	unsigned change_at[SIM_CHANGES];
	unsigned n_changed;
	int lowest;
	struct sim_thread *stalled;
	unsigned stall_at;
	unsigned stall_until;
	/* the thread that began it */
	void *sp;
	struct xtc__san san;
} sim;

static _Alignas(64) char sim_stacks[SIM_THREADS][SIM_STACK_BYTES];

int xtc__sim_planted;
int xtc__sim_verbose;
char *xtc__sim_text;
size_t xtc__sim_text_bytes;

/* splitmix64: Steele, Lea, Flood, "Fast splittable random numbers", 2014. */
static uint64_t
sim_draw(void)
{
	uint64_t x = sim.random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void
xtc__sim_fold(uint64_t x)
{
	sim.hash = (sim.hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
	sim.hash ^= sim.hash >> 29;
}

unsigned
xtc__sim_choose(unsigned n)
{
	unsigned i = (unsigned)((sim_draw() >> 32) * n >> 32);

	xtc__sim_fold(i);
	return i;
}

int
xtc__sim_chance(unsigned n)
{
	return xtc__sim_choose(n) == 0;
}

int64_t
xtc__sim_now(void)
{
	return sim.now_ns;
}

int
xtc__sim_self(void)
{
	return sim.cur == NULL ? -1 : (int)(sim.cur - sim.thread);
}

struct xtc__park **
xtc__sim_record(void)
{
	return sim.cur == NULL ? NULL : &sim.cur->rec;
}

/* The run ends here, and the process: nothing of it can be taken apart. */
_Noreturn void
xtc__sim_fail(const char *format, ...)
{
	char text[512];
	va_list ap;
	int n;

	n = snprintf(text, sizeof(text), "story %s, seed %llu, point %u, "
	    "%lld ns, thread %s: ", sim.story, (unsigned long long)sim.seed,
	    sim.points, (long long)(sim.now_ns - SIM_START_NS),
	    sim.cur == NULL ? "none" : sim.cur->name);
	va_start(ap, format);
	(void)vsnprintf(text + n, sizeof(text) - (size_t)n, format, ap);
	va_end(ap);
	if (xtc__sim_text != NULL)
		(void)snprintf(xtc__sim_text, xtc__sim_text_bytes, "%s", text);
	(void)fprintf(stderr, "%s\n", text);
	xtc__sim_trace_print();
	(void)fflush(NULL);
	_exit(XTC__SIM_FAILED);
}

static int
sim_is_ready(const struct sim_thread *t)
{
	if (t->state == SIM_ASLEEP)
		return t->woken || t->deadline_ns <= sim.now_ns;
	return t->state == SIM_READY;
}

/* Of those that can run, as the policy has it; NULL: none can. */
static struct sim_thread *
sim_pick(uint64_t draw)
{
	struct sim_thread *t, *can[SIM_THREADS], *stalled = NULL;
	unsigned n = 0;

	for (t = sim.thread; t < sim.thread + sim.n; t++) {
		if (!sim_is_ready(t))
			continue;
		if (t == sim.stalled)
			stalled = t;
		else
			can[n++] = t;
	}
	if (n == 0)
		return stalled;
	if (sim.policy != SIM_RANKS)
		return can[(draw & 0xffff) * n >> 16];
	t = can[0];
	while (n-- > 1)
		if (can[n]->rank > t->rank)
			t = can[n];
	return t;
}

/* To the next deadline; 0: there is none. */
static int
sim_jump(void)
{
	int64_t next = INT64_MAX;
	int i;

	for (i = 0; i < sim.n; i++)
		if (sim.thread[i].state == SIM_ASLEEP &&
		    sim.thread[i].deadline_ns < next)
			next = sim.thread[i].deadline_ns;
	if (next == INT64_MAX)
		return 0;
	if (next > sim.now_ns)
		sim.now_ns = next;
	return 1;
}

/* A fiber that two loops have at once is on two stacks, or on one twice. */
static void
sim_check_loops(void)
{
	struct xtc_loop *mine = xtc__loop_self(), *l;
	int i;

	if (mine == NULL)
		return;
	for (i = 0; i < sim.n; i++) {
		l = sim.thread[i].loop;
		if (l == NULL || &sim.thread[i] == sim.cur)
			continue;
		XTC_SIM_CHECK(l != mine, "two threads run a loop");
		XTC_SIM_CHECK((mine->cur == NULL || (mine->cur != l->cur &&
		    mine->cur != l->left)) && (mine->left == NULL ||
		    (mine->left != l->cur && mine->left != l->left)),
		    "a fiber runs on two loops");
	}
}

/* The running thread is left where it is; goes on when it is picked. */
static void
sim_switch(struct sim_thread *to)
{
	struct sim_thread *me = sim.cur;

	xtc__sim_fold((uint64_t)(to - sim.thread) << 32 | sim.points);
	to->state = SIM_READY;
	if (to == me)
		return;
	me->loop = xtc__loop_self();
	me->mags = xtc__mags_self();
	xtc__loop_self_set(to->loop);
	xtc__mags_enter(to->mags);
	sim.cur = to;
	xtc__san_thread(&me->san);
	xtc__san_leave(&me->san, &to->san, 0);
	(void)xtc__ctx_switch(&me->sp, to->sp, NULL);
	xtc__san_enter(&me->san);
}

/* Stand still for a while, and then another one will. */
static void
sim_stall(void)
{
	if (sim.points >= sim.stall_until)
		sim.stalled = NULL;
	if (sim.points < sim.stall_at)
		return;
	sim.stalled = sim.cur;
	sim.stall_until = sim.points + 20 + xtc__sim_choose(600);
	sim.stall_at = sim.stall_until + xtc__sim_choose(400);
}

static int
sim_wants_switch(uint64_t draw)
{
	unsigned i;

	if (++sim.cur->ran > SIM_PATIENCE) {
		sim.cur->ran = 0;
		sim.cur->rank = --sim.lowest;
	}
	if (sim.policy == SIM_RANKS) {
		for (i = 0; i < SIM_CHANGES; i++)
			if (sim.change_at[i] == sim.points)
				sim.cur->rank = --sim.lowest;
		return 1;
	}
	if (sim.policy == SIM_STALL)
		sim_stall();
	return sim.stalled == sim.cur || (draw >> 16 & sim.switch_mask) == 0;
}

void
xtc__sim_point(void)
{
	struct sim_thread *to;
	uint64_t draw;

	if (sim.cur == NULL)
		return;
	if (++sim.points > SIM_POINTS_MAX)
		xtc__sim_fail("it comes to no end");
	draw = sim_draw();
	sim.now_ns += (int64_t)(draw >> 56 & sim.tick_mask);
	if ((draw >> 40 & sim.jump_mask) == 0)
		(void)sim_jump();
	sim_check_loops();
	if (!sim_wants_switch(draw))
		return;
	to = sim_pick(draw);
	if (to != sim.cur)
		sim_switch(to);
}

void
xtc__sim_spend(int64_t ns)
{
	sim.now_ns += ns;
	xtc__sim_point();
}

/* Nobody can run and no time is waited for. */
static _Noreturn void
sim_stuck(void)
{
	char text[256] = "";
	size_t len = 0;
	int i;

	for (i = 0; i < sim.n && len < sizeof(text) - 32; i++)
		if (sim.thread[i].state == SIM_ASLEEP)
			len += (size_t)snprintf(text + len, sizeof(text) -
			    len, " %s", sim.thread[i].name);
	xtc__sim_fail("stuck: asleep for ever:%s", text);
}

/* Somebody who can run, at whatever time that is. */
static struct sim_thread *
sim_next(void)
{
	struct sim_thread *to;

	while ((to = sim_pick(sim_draw())) == NULL)
		if (!sim_jump())
			sim_stuck();
	return to;
}

int
xtc__sim_sleep(const void *on, int64_t deadline_ns)
{
	struct sim_thread *me = sim.cur;
	int woken;

	XTC_ASSERT(me != NULL);
	me->on = on;
	me->deadline_ns = deadline_ns;
	me->woken = 0;
	me->state = SIM_ASLEEP;
	sim_switch(sim_next());
	woken = me->woken;
	me->on = NULL;
	return woken;
}

void
xtc__sim_wake(const void *on, int n)
{
	struct sim_thread *t, *can[SIM_THREADS];
	unsigned m, i;

	for (; n > 0; n--) {
		m = 0;
		for (t = sim.thread; t < sim.thread + sim.n; t++)
			if (t->state == SIM_ASLEEP && t->on == on &&
			    !t->woken)
				can[m++] = t;
		if (m == 0)
			return;
		i = m > 1 ? xtc__sim_choose(m) : 0;
		can[i]->woken = 1;
	}
}

void
xtc__sim_await(int thread)
{
	while (sim.thread[thread].state != SIM_ENDED)
		(void)xtc__sim_sleep(&sim.thread[thread], INT64_MAX);
}

/* The last act of a thread: it is never switched to again. */
static _Noreturn void
sim_leave(struct sim_thread *me)
{
	struct sim_thread *to;

	me->state = SIM_ENDED;
	me->loop = NULL;
	sim.n_live--;
	xtc__sim_wake(me, SIM_THREADS);
	if (sim.n_live == 0) {
		sim.cur = NULL;
		xtc__san_leave(&me->own, &sim.san, 1);
		(void)xtc__ctx_switch(&me->sp, sim.sp, NULL);
	}
	to = sim_next();
	to->state = SIM_READY;
	xtc__loop_self_set(to->loop);
	xtc__mags_enter(to->mags);
	sim.cur = to;
	xtc__san_leave(&me->own, &to->san, 1);
	(void)xtc__ctx_switch(&me->sp, to->sp, NULL);
	XTC_FATAL("a simulated thread ran on after its end");
}

static void
sim_entry(void *carry, void *arg)
{
	struct sim_thread *me = arg;

	(void)carry;
	xtc__san_enter(&me->own);
	if (me->os_fn != NULL)
		(void)me->os_fn(me->arg);
	else
		me->fn(me->arg);
	XTC_SIM_CHECK(xtc__loop_self() == NULL, "a thread ends in its loop");
	if (me->rec != NULL)
		xtc__sim_record_gone(me->rec);
	me->rec = NULL;
	sim_leave(me);
}

static struct sim_thread *
sim_make(const char *name, void *arg)
{
	char *stack = sim_stacks[sim.n];
	struct sim_thread *t = &sim.thread[sim.n];

	XTC_SIM_CHECK(sim.n < SIM_THREADS, "too many threads");
	memset(t, 0, sizeof(*t));
	t->name = name;
	t->arg = arg;
	t->rank = (int)xtc__sim_choose(1000);
	xtc__san_reuse(stack, SIM_STACK_BYTES);
	xtc__san_init(&t->own, stack, SIM_STACK_BYTES);
	t->san = t->own;
	t->sp = xtc__ctx_make(stack + SIM_STACK_BYTES, SIM_STACK_BYTES,
	    sim_entry, t);
	sim.n++;
	sim.n_live++;
	return t;
}

int
xtc__sim_spawn(const char *name, void (*fn)(void *), void *arg)
{
	struct sim_thread *t = sim_make(name, arg);

	t->fn = fn;
	return (int)(t - sim.thread);
}

int
xtc__sim_spawn_thread(const char *name, void *(*fn)(void *), void *arg)
{
	struct sim_thread *t = sim_make(name, arg);

	t->os_fn = fn;
	return (int)(t - sim.thread);
}

static int64_t
sim_seam_now(struct xtc__seams *s)
{
	(void)s;
	return sim.now_ns;
}

static unsigned
sim_seam_choose(struct xtc__seams *s, unsigned n)
{
	(void)s;
	return n == 1 ? 0 : xtc__sim_choose(n);
}

struct xtc__seams *
xtc__sim_seams(void)
{
	static struct xtc__seams seams = { sim_seam_now, sim_seam_choose };

	return &seams;
}

void
xtc__sim_begin(const char *story, uint64_t seed)
{
	unsigned i;

	memset(&sim, 0, sizeof(sim));
	sim.story = story;
	sim.seed = seed;
	sim.random = seed * UINT64_C(0xd1342543de82ef95);
	sim.now_ns = SIM_START_NS;
	sim.policy = (enum sim_policy)xtc__sim_choose(SIM_POLICIES);
	sim.switch_mask = ((uint64_t)1 << xtc__sim_choose(6)) - 1;
	sim.jump_mask = ((uint64_t)1 << (4 + 2 * xtc__sim_choose(5))) - 1;
	sim.tick_mask = ((uint64_t)1 << xtc__sim_choose(8)) - 1;
	for (i = 0; i < SIM_CHANGES; i++)
		sim.change_at[i] = xtc__sim_choose(1u <<
		    (4 + xtc__sim_choose(7)));
	sim.stall_at = xtc__sim_choose(800);
	xtc__sim_heap_begin();
	xtc__sim_trace_begin();
}

void
xtc__sim_run(void)
{
	struct sim_thread *to = sim_next();

	sim.cur = to;
	xtc__san_thread(&sim.san);
	xtc__san_leave(&sim.san, &to->san, 0);
	(void)xtc__ctx_switch(&sim.sp, to->sp, NULL);
	xtc__san_enter(&sim.san);
	xtc__mags_leave();
}

uint64_t
xtc__sim_end(void)
{
	int i;

	xtc__sim_trace_end();
	xtc__sim_heap_end();
	for (i = 0; i < sim.n; i++)
		xtc__san_fini(&sim.thread[i].own);
	sim.n = 0;
	xtc__sim_fold(sim.points);
	xtc__sim_fold((uint64_t)sim.now_ns);
	return sim.hash;
}
