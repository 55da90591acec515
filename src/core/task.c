/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * task.c: where fibers come from and how they end.
 *
 * A fiber's struct lives in the top page of its stack, and both are for
 * good: they go from one fiber to the next, never back to the kernel, so a
 * late waker or killer always finds a record whose epoch (or generation)
 * tells it that it is late. Each struct has a slot in a process-wide table,
 * given at its first use; a pid is {generation, slot}.
 *
 * Free ones are kept by stack class in a cache of each loop, and beyond that
 * in a process-wide depot, with the slabs of stacks that were never used.
 *
 * The end of a fiber, on its own stack: kills are masked for good, at-exit
 * functions run, what it holds is let go, its mailbox closes, those who
 * await it are woken, it is announced, its word begins a new epoch; then it
 * switches away, and what runs next drops the reference of its stack. The
 * other reference, if there is one, is the handle's.
 *
 * Probes: fiber-create in task_created, fiber-exit in
 * task_exit_point.
 */
#include "core/task.h"

#include <stddef.h>
#include <string.h>

#include "xtc_base.h"
#include "arch/ctx.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/bits.h"
#include "base/plant.h"
#include "core/atexit.h"
#include "core/exec.h"
#include "core/loop.h"
#include "core/loop_impl.h"
#include "core/peek.h"
#include "mem/mem.h"
#include "mem/stack.h"
#include "trace/trace.h"

#define STACK_MIN	((size_t)16 << 10)
#define STACK_MAX	(STACK_MIN << (XTC__STACK_CLASSES - 1))
#define SLAB_BYTES	((size_t)8 << 20)
#define SLAB_STACKS	128u
#define WARM_STACKS	16u
#define CACHE_MAX	64u
#define CACHE_BATCH	32u

#define TABLE_BITS	12
#define TABLE_CHUNKS	4096u
#define TABLE_SLOTS	((uint64_t)TABLE_CHUNKS << TABLE_BITS)

_Static_assert(sizeof(struct xtc_task) <= 1024, "shares its page");
_Static_assert(offsetof(struct xtc_task, park) == 0, "a task is its record");

typedef _Atomic(struct xtc_task *) task_slot;

/* Slots, by chunks made when they are needed. */
static _Atomic(task_slot *) task_table[TABLE_CHUNKS];
static _Atomic uint64_t task_slots;
static struct xtc__qlock task_table_lock;

/*
 * For readers from outside. volatile: it is read once, so that no compiler
 * and no linker takes it for unused.
 */
static const volatile struct xtc__peek task_peek = {
	.magic = XTC__PEEK_MAGIC,
	.bytes = sizeof(struct xtc__peek),
	.chunk_bits = TABLE_BITS,
	.task_bytes = sizeof(struct xtc_task),
	.name_bytes = XTC__NAME_BYTES,
	.word = offsetof(struct xtc_task, park.word),
	.object = offsetof(struct xtc_task, park.object),
	.why = offsetof(struct xtc_task, park.why),
	.pid = offsetof(struct xtc_task, pid),
	.name = offsetof(struct xtc_task, name),
	.alive = offsetof(struct xtc_task, alive),
	.proc_fn = offsetof(struct xtc_task, proc_fn),
	.async_fn = offsetof(struct xtc_task, async_fn),
	.state_mask = XTC__PARK_STATE,
	.state_parked = XTC__PARK_PARKED,
	.epoch_shift = XTC__PARK_EPOCH_SHIFT,
	.self = (const void *)&task_peek,
	.table = task_table,
	.slots = &task_slots,
};

/* Free tasks that no loop has, and stacks never used, by class. */
static struct task_depot {
	struct xtc__qlock lock;
	struct xtc_task *head;
	unsigned n;
	struct xtc__stack_slab *slab;	/* its stacks from next on are new */
	unsigned next;
} task_depots[XTC__STACK_CLASSES];

static _Atomic size_t task_stack_bytes = (size_t)64 << 10;

size_t
xtc__task_stack_size(void)
{
	/* Relaxed: a number on its own. */
	return atomic_load_explicit(&task_stack_bytes, memory_order_relaxed);
}

int
xtc__task_set_stack_size(size_t bytes)
{
	if (bytes < STACK_MIN || bytes > STACK_MAX)
		return XTC_E_RANGE;
	atomic_store_explicit(&task_stack_bytes, bytes, memory_order_relaxed);
	return XTC_OK;
}

struct xtc_task *
xtc__task_at(uint32_t slot)
{
	task_slot *chunk;

	if (slot >= TABLE_SLOTS)
		return NULL;
	chunk = atomic_load_explicit(&task_table[slot >> TABLE_BITS],
	    memory_order_acquire);
	if (chunk == NULL)
		return NULL;
	return atomic_load_explicit(&chunk[slot & ((1u << TABLE_BITS) - 1)],
	    memory_order_acquire);
}

uint32_t
xtc__task_slots(void)
{
	return (uint32_t)atomic_load_explicit(&task_slots,
	    memory_order_acquire);
}

/* Give a struct its slot, once and for good. */
static XTC__COLD int
task_take_slot(struct xtc_task *t)
{
	task_slot *chunk;
	uint64_t slot;
	int r = XTC_E_NOMEM;

	XTC_ASSERT(task_peek.bytes == sizeof(task_peek));
	xtc__qlock_lock(&task_table_lock);
	/* Relaxed: changed under the lock only. */
	slot = atomic_load_explicit(&task_slots, memory_order_relaxed);
	if (slot == TABLE_SLOTS) {
		r = XTC_E_RESOURCE;
		goto out;
	}
	chunk = atomic_load_explicit(&task_table[slot >> TABLE_BITS],
	    memory_order_relaxed);
	if (chunk == NULL) {
		chunk = xtc__mem_raw_zalloc(sizeof(*chunk) << TABLE_BITS,
		    XTC_ALLOC_SLAB);
		if (chunk == NULL)
			goto out;
		atomic_store_explicit(&task_table[slot >> TABLE_BITS], chunk,
		    memory_order_release);
	}
	t->slot = (uint32_t)slot;
	t->has_slot = 1;
	/* generation 1, closed: no pid of this slot exists yet */
	atomic_store_explicit(&t->mbox.box, XTC__BOX_GEN | XTC__BOX_CLOSED,
	    memory_order_relaxed);
	atomic_store_explicit(&chunk[slot & ((1u << TABLE_BITS) - 1)], t,
	    memory_order_release);
	atomic_store_explicit(&task_slots, slot + 1, memory_order_release);
	r = XTC_OK;
out:
	xtc__qlock_unlock(&task_table_lock);
	return r;
}

static unsigned
task_class(size_t bytes)
{
	if (bytes <= STACK_MIN)
		return 0;
	return xtc__bits_highest(xtc__bits_ceil_pow2(bytes)) -
	    xtc__bits_highest(STACK_MIN);
}

static void
task_list_push(struct xtc_task **head, struct xtc_task *t)
{
	t->run.next = *head == NULL ? NULL : &(*head)->run;
	*head = t;
}

static struct xtc_task *
task_list_pop(struct xtc_task **head)
{
	struct xtc_task *t = *head;

	*head = t->run.next == NULL ? NULL :
	    XTC__CONTAINER_OF(t->run.next, struct xtc_task, run);
	return t;
}

/* A stack never used before; the depot's lock is held. */
static int
task_fresh(struct task_depot *d, unsigned class, struct xtc_task **out)
{
	size_t bytes = STACK_MIN << class;
	unsigned n = SLAB_STACKS;
	struct xtc_task *t;
	void *low, *top;
	int r;

	if (n > SLAB_BYTES / bytes)
		n = bytes >= SLAB_BYTES ? 1 : (unsigned)(SLAB_BYTES / bytes);
	if (d->slab == NULL || d->next == xtc__stack_slab_count(d->slab)) {
		r = xtc__stack_slab_create(bytes, n, &d->slab);
		if (r != XTC_OK) {
			d->slab = NULL;
			xtc__mem_failed(bytes * n, XTC_ALLOC_STACK);
			return r;
		}
		d->next = 0;
	}
	if (d->next % WARM_STACKS == 0) {
		n = xtc__stack_slab_count(d->slab) - d->next;
		xtc__stack_warm(d->slab, d->next, n < WARM_STACKS ? n :
		    WARM_STACKS);
	}
	t = xtc__stack_struct_at(d->slab, d->next, sizeof(*t), &low, &top);
	d->next++;
	t->stack_low = low;
	t->stack_top = top;
	t->stack_class = (uint8_t)class;
	*out = t;
	return XTC_OK;
}

/* From the depot; some more for the cache, if there are. */
static XTC__COLD int
task_get_slow(struct xtc__task_cache *cache, unsigned class,
    struct xtc_task **out)
{
	struct task_depot *d = &task_depots[class];
	int r = XTC_OK;

	xtc__qlock_lock(&d->lock);
	if (d->head != NULL) {
		*out = task_list_pop(&d->head);
		d->n--;
		while (cache != NULL && d->head != NULL &&
		    cache->n[class] < CACHE_BATCH) {
			task_list_push(&cache->head[class],
			    task_list_pop(&d->head));
			d->n--;
			cache->n[class]++;
		}
	} else {
		r = task_fresh(d, class, out);
	}
	xtc__qlock_unlock(&d->lock);
	return r;
}

static void
task_to_depot(struct xtc__task_cache *cache, unsigned class, unsigned n)
{
	struct task_depot *d = &task_depots[class];

	xtc__qlock_lock(&d->lock);
	for (; n > 0; n--) {
		task_list_push(&d->head, task_list_pop(&cache->head[class]));
		cache->n[class]--;
		d->n++;
	}
	xtc__qlock_unlock(&d->lock);
}

void
xtc__task_cache_flush(struct xtc__task_cache *cache)
{
	unsigned class;

	for (class = 0; class < XTC__STACK_CLASSES; class++)
		task_to_depot(cache, class, cache->n[class]);
}

/* It may serve the next fiber. */
static void
task_keep(struct xtc_task *t)
{
	struct xtc_loop *self = xtc__loop_self();
	struct xtc__task_cache one = { { 0 }, { 0 } }, *cache = &one;
	unsigned class = t->stack_class;

	if (self != NULL)
		cache = &self->tasks;
	task_list_push(&cache->head[class], t);
	cache->n[class]++;
	if (cache == &one)
		task_to_depot(cache, class, 1);
	else if (cache->n[class] > CACHE_MAX)
		task_to_depot(cache, class, CACHE_BATCH);
}

void
xtc__task_put(struct xtc_task *t)
{
	XTC_SIM_POINT();
	/* acq_rel: what either holder did is done before it is used again */
	if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
		return;
	xtc__san_fini(&t->san);
	task_keep(t);
}

static _Noreturn void
task_entry_fail(void)
{
	XTC_FATAL("a fiber ran on after its end");
}

/* The first frame of every fiber. */
static void
xtc__fiber_entry(void *carry, void *arg)
{
	struct xtc_task *me = arg;

	xtc__san_enter(&me->san);
	if (!XTC_PLANT(NO_FIRST_RUN_POST))
		xtc__loop_post_switch(carry);
	if (xtc__park_killed(&me->park))
		xtc__task_die(me);
	if (me->proc_fn != NULL)
		me->proc_fn(me->arg);
	else
		me->result = me->async_fn(me->arg);
	xtc__task_exit(me, 0, 0);
}

static void
task_set_name(struct xtc_task *t, const char *name)
{
	size_t n = 0;

	if (name != NULL) {
		n = strlen(name);
		if (n >= sizeof(t->name))
			n = sizeof(t->name) - 1;
		memcpy(t->name, name, n);
	}
	t->name[n] = '\0';
}

/* Everything that a new fiber starts with. */
static void
task_prepare(struct xtc_task *t, struct xtc_loop *loop,
    const struct xtc__task_args *args)
{
	struct xtc_loop *self = xtc__loop_self();

	/* Relaxed: the queue that it goes through publishes it all. */
	atomic_store_explicit(&t->park.loop, loop, memory_order_relaxed);
	t->park.is_thread = 0;
	t->park.no_wait = 0;
	t->park.critical = 0;
	xtc__list_init(&t->park.held);
	t->run.run = NULL;
	t->pid = 0;
	t->proc_fn = args->proc_fn;
	t->async_fn = args->async_fn;
	t->arg = args->arg;
	t->at_exit = NULL;
	t->on_exit = NULL;
	t->reason = 0;
	t->exiting = 0;
	t->migratable = args->migratable && loop->exec != NULL;
	t->aborted = 0;
	t->collected = 0;
	t->join = args->joinable ? XTC__JOIN_LIVE : XTC__JOIN_NONE;
	t->n_joiners = 0;
	t->result = 0;
	xtc__list_init(&t->joiners);
	atomic_store_explicit(&t->refs, args->joinable ? 2 : 1,
	    memory_order_relaxed);
	task_set_name(t, args->name);
	atomic_store_explicit(&t->mbox.kill_reason, 0, memory_order_relaxed);
	xtc__park_reset(&t->park, self == loop && loop->finishing);
	xtc__san_reuse(t->stack_low, (size_t)((char *)t->stack_top -
	    (char *)t->stack_low));
	xtc__san_init(&t->san, t->stack_low, (size_t)((char *)t->stack_top -
	    (char *)t->stack_low));
	t->sp = xtc__ctx_make(t->stack_top, (size_t)((char *)t->stack_top -
	    (char *)t->stack_low), xtc__fiber_entry, t);
}

int
xtc__task_new(struct xtc_loop *loop, const struct xtc__task_args *args,
    struct xtc_task **out)
{
	struct xtc_loop *self = xtc__loop_self();
	struct xtc__task_cache *cache = self == NULL ? NULL : &self->tasks;
	size_t bytes = args->stack_bytes;
	struct xtc_task *t;
	unsigned class;
	int r;

	if (bytes == 0)
		bytes = xtc__task_stack_size();
	if (bytes < STACK_MIN || bytes > STACK_MAX)
		return XTC_E_RANGE;
	class = task_class(bytes);
	if (cache != NULL && XTC__LIKELY(cache->head[class] != NULL)) {
		t = task_list_pop(&cache->head[class]);
		cache->n[class]--;
	} else {
		r = task_get_slow(cache, class, &t);
		if (r != XTC_OK)
			return r;
	}
	if (XTC__UNLIKELY(!t->has_slot)) {
		r = task_take_slot(t);
		if (r != XTC_OK) {
			task_keep(t);
			return r;
		}
	}
	task_prepare(t, loop, args);
	*out = t;
	return XTC_OK;
}

/* A fiber exists. Fires on its creator's stack, before it is queued. */
static XTC_PROBE_SITE_ATTR void
task_created(struct xtc_task *t, struct xtc_loop *loop)
{
	if (xtc__loop_self() == loop)
		xtc__loop_count(&loop->alive, 1);
	else
		atomic_fetch_add_explicit(&loop->alive_in, 1,
		    memory_order_acq_rel);
	/* release: whoever sees it alive sees whose it is */
	atomic_store_explicit(&t->alive, 1, memory_order_release);
	XTC_FIBER_CREATE(t, t->pid, t->proc_fn != NULL ?
	    (uintptr_t)t->proc_fn : (uintptr_t)t->async_fn, loop->index,
	    t->name);
}
XTC_PROBE_SITE(task_created)

void
xtc__task_start(struct xtc_task *t)
{
	/* Relaxed: the caller set it. */
	task_created(t, atomic_load_explicit(&t->park.loop,
	    memory_order_relaxed));
	XTC_SIM_POINT();
	xtc__loop_ready(t, XTC__WAKE_LAST);
}

/* The last act of a fiber that anybody can see. */
static XTC_PROBE_SITE_ATTR void
task_exit_point(struct xtc_task *me)
{
	XTC_FIBER_EXIT(me, me->pid, me->reason);
	xtc__waker_retire(&me->park);
	XTC_SIM_POINT();
	atomic_store_explicit(&me->alive, 0, memory_order_release);
	xtc__park_reset(&me->park, 0);
}
XTC_PROBE_SITE(task_exit_point)

_Noreturn void
xtc__task_exit(struct xtc_task *me, int reason, int aborted)
{
	me->exiting = 1;
	me->park.critical = 1;	/* for good: nobody leaves it again */
	me->reason = reason;
	me->aborted = (uint8_t)aborted;
	xtc__atexit_run(me);
	XTC_SIM_POINT();
	xtc__held_release_all(&me->park);
	XTC_SIM_POINT();
	if (me->on_exit != NULL)
		me->on_exit(me);
	xtc__async_finish(me);
	task_exit_point(me);
	(void)xtc__loop_switch(xtc__loop_self(), me, XTC__POST_EXIT);
	task_entry_fail();
}

_Noreturn void
xtc__task_die(struct xtc_task *me)
{
	uint64_t r = atomic_load_explicit(&me->mbox.kill_reason,
	    memory_order_acquire);

	xtc__task_exit(me, (r & XTC__REASON_SET) != 0 ?
	    (int)(uint32_t)r : XTC_E_ABORTED, 1);
}

struct xtc_task *
xtc__task_self(void)
{
	struct xtc_loop *loop = xtc__loop_self();

	return loop == NULL ? NULL : loop->cur;
}

/* Is it a fiber of this loop, or of its executor, alive? */
static int
task_lives_on(struct xtc_task *t, const struct xtc_loop *loop)
{
	const struct xtc_loop *its;

	if (t == NULL || atomic_load_explicit(&t->alive,
	    memory_order_acquire) == 0)
		return 0;
	its = atomic_load_explicit(&t->park.loop, memory_order_relaxed);
	if (its == loop)
		return 1;
	/* a fiber may come from another loop at any time: all are killed */
	return loop->exec != NULL && xtc__exec_has_loop(loop->exec, its);
}

unsigned
xtc__task_kill_all(struct xtc_loop *loop)
{
	uint32_t slot, slots = xtc__task_slots();
	struct xtc_task *t;
	unsigned n = 0;

	for (slot = 0; slot < slots; slot++) {
		t = xtc__task_at(slot);
		/* Relaxed: a mark that is missed is set once more. */
		if (!task_lives_on(t, loop) || (atomic_load_explicit(
		    &t->park.word, memory_order_relaxed) &
		    XTC__PARK_KILL) != 0)
			continue;
		(void)xtc__park_kill(&t->park, NULL, 0);
		n++;
	}
	return n;
}
