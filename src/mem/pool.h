/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pool.h: type-stable objects of fixed sizes, from per-loop magazines.
 *
 * The memory of an object stays an object of its pool for the life of the
 * process. While it is free its first 8 bytes are the pool's link; what comes
 * after them keeps its content, so a generation counted there goes on. An
 * object given out for the first time is all zero but for that link.
 */
#ifndef XTC_MEM_POOL_H
#define XTC_MEM_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/*
 * The pools: X(name, object bytes, objects a batch, alloc-fail's where). The
 * sizes are powers of two from 64 up, and the alignment is the size, at most
 * 128. A batch, at most 63 objects, is what travels between a magazine and
 * the depot; a magazine holds up to two.
 */
#define XTC__POOL_TABLE(X) \
	X(XTC__POOL_TIMER, 128, 63, XTC_ALLOC_SLAB) \
	X(XTC__POOL_AMUTEX, 128, 63, XTC_ALLOC_SLAB) \
	X(XTC__POOL_RECORD, 256, 16, XTC_ALLOC_SLAB) \
	X(XTC__POOL_ATEXIT, 64, 63, XTC_ALLOC_SLAB) \
	X(XTC__POOL_ENV0, 64, 63, XTC_ALLOC_ENVELOPE) \
	X(XTC__POOL_ENV1, 128, 63, XTC_ALLOC_ENVELOPE) \
	X(XTC__POOL_ENV2, 256, 63, XTC_ALLOC_ENVELOPE) \
	X(XTC__POOL_ENV3, 512, 32, XTC_ALLOC_ENVELOPE) \
	X(XTC__POOL_ENV4, 1024, 16, XTC_ALLOC_ENVELOPE) \
	X(XTC__POOL_ENV5, 2048, 16, XTC_ALLOC_ENVELOPE) \
	X(XTC__POOL_ENV6, 4096, 8, XTC_ALLOC_ENVELOPE)

#define XTC__POOL_ENUM(name, bytes, batch, where) name,
enum xtc__pool_id {
	XTC__POOL_TABLE(XTC__POOL_ENUM)
	XTC__POOL_COUNT
};
#undef XTC__POOL_ENUM

/*
 * A list of free objects is one word: the address of its first object, which
 * leaves six bits free, and in these how many there are. So what links a free
 * object to the next also says how long the rest is, and no counter has to be
 * kept (one took longer than all else: each get waited for the last put's).
 */
typedef uintptr_t xtc__pool_list;

#define XTC__POOL_COUNT_MASK	((xtc__pool_list)63)

struct xtc__pool_object {
	xtc__pool_list rest;
};

/* Belongs to the thread that runs the loop. */
struct xtc__mag {
	xtc__pool_list loaded;	/* taken from, given to */
	xtc__pool_list spare;	/* a whole batch, or empty (0) */
	xtc__pool_list batch;	/* objects, the most that loaded takes */
};

/* One in each loop. */
struct xtc__mags {
	struct xtc__mag mag[XTC__POOL_COUNT];
};

void	xtc__mags_init(struct xtc__mags *m);
/* All it holds goes to the depot; it is as after init. */
void	xtc__mags_flush(struct xtc__mags *m);

/* This thread now runs the loop that m belongs to; or no loop any more. */
void	xtc__mags_enter(struct xtc__mags *m);
void	xtc__mags_leave(void);
/* The magazines of the loop this thread runs, or NULL. Not inline: a fiber
 * may have moved to another thread since it asked last. */
struct xtc__mags *xtc__mags_self(void);

/* Of a list that is not empty. */
static inline struct xtc__pool_object *
xtc__pool_first(xtc__pool_list list)
{
	return (struct xtc__pool_object *)(list & ~XTC__POOL_COUNT_MASK);
}

static inline unsigned
xtc__pool_count(xtc__pool_list list)
{
	return (unsigned)(list & XTC__POOL_COUNT_MASK);
}

/* The list with one more in front; it has less than 63. */
static inline xtc__pool_list
xtc__pool_push(xtc__pool_list list, void *object)
{
	struct xtc__pool_object *o = object;

	o->rest = list;
	return (xtc__pool_list)o + xtc__pool_count(list) + 1;
}

void	*xtc__pool_get_slow(struct xtc__mags *m, unsigned pool);
void	xtc__pool_put_slow(struct xtc__mags *m, unsigned pool, void *object);

/*
 * An object of the pool; NULL: no memory. m: the magazines of the loop this
 * thread runs, NULL if it runs none.
 */
static inline void *
xtc__pool_get(struct xtc__mags *m, unsigned pool)
{
	struct xtc__pool_object *o;
	struct xtc__mag *g;

	if (XTC__UNLIKELY(m == NULL))
		return xtc__pool_get_slow(m, pool);
	g = &m->mag[pool];
	if (XTC__UNLIKELY(g->loaded == 0))
		return xtc__pool_get_slow(m, pool);
	o = xtc__pool_first(g->loaded);
	g->loaded = o->rest;
	return o;
}

/* From any thread, m as above; it need not be where the object came from. */
static inline void
xtc__pool_put(struct xtc__mags *m, unsigned pool, void *object)
{
	struct xtc__mag *g;

	if (XTC__UNLIKELY(m == NULL)) {
		xtc__pool_put_slow(m, pool, object);
		return;
	}
	g = &m->mag[pool];
	if (XTC__UNLIKELY(xtc__pool_count(g->loaded) >= g->batch)) {
		xtc__pool_put_slow(m, pool, object);
		return;
	}
	g->loaded = xtc__pool_push(g->loaded, object);
}

/* For tests and dumps: where a pool's objects are. Takes the depot's lock. */
struct xtc__pool_stat {
	uint64_t made;		/* given out for the first time so far */
	uint64_t in_depot;	/* free, in no magazine */
	uint64_t chunks;
};
void	xtc__pool_stat(unsigned pool, struct xtc__pool_stat *out);
/* Objects in m's magazine of the pool. */
uint64_t xtc__mags_count(const struct xtc__mags *m, unsigned pool);

#endif
