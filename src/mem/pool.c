/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pool.c: how free objects travel between loops.
 *
 * Nouns. An object is in use or free. A free one is in a magazine, which
 * belongs to one loop, or in the depot, which all share. A batch is a list of
 * a pool's fixed number of free objects; a chunk is memory for some batches,
 * cut into them one by one, and never given back.
 *
 * Promise. Getting and putting on a loop's thread touches neither a lock nor
 * an atomic except once a batch, and no object is out of reach: a loop that
 * only gets and one that only puts (messages sent one way) meet in the depot,
 * and memory stays at what was in use at once plus two batches a loop.
 *
 * Design, after Bonwick and Adams, "Magazines and Vmem", USENIX 2001. A loop
 * has two magazines, `loaded` and `spare`; the spare one is empty or holds a
 * whole batch. When loaded is empty and spare is not, or loaded is full and
 * spare is empty, they change places: so a loop that goes back and forth over
 * the edge of a batch does not go to the depot each time. Otherwise a whole
 * batch is fetched from the depot, or handed to it.
 *
 * The depot holds batches as a list of small records that point to the first
 * object. Both ways are O(1) under the lock, whatever the size of a batch:
 * only the objects' own first words link them, and the lock's holder touches
 * none of a batch but through its record. The records are part of the chunks,
 * one for each batch that is cut from them, so that giving back never needs
 * memory. Single objects (of plain threads, and what a loop leaves behind)
 * are a batch in the making, `loose`: at a batch's length it becomes one.
 *
 * Refused: a lock-free depot (a lock taken once in 64 operations costs less
 * than the tags such a list needs), and lists of return in each chunk's owner
 * (every free on another loop would be an atomic, and an owner that ends needs
 * an heir).
 *
 * What can fill: nothing here; a chunk that cannot be had is NULL to the
 * caller, and alloc-fail fires in mem.c. Lock: one a pool, a leaf.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "xtc_kinds.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/bits.h"
#include "mem/mem.h"
#include "mem/pool.h"
#include "os/qlock.h"

/* About as many bytes of objects make a chunk. */
#define POOL_CHUNK_BYTES	65536u
#define POOL_ALIGN		128u

struct pool_batch {
	struct pool_batch *next;
	xtc__pool_list list;
};

struct pool_chunk {
	struct pool_chunk *next;	/* all of them, for good */
	struct pool_chunk *next_fresh;	/* of those not yet cut up */
	char *fresh;			/* the next batch to cut */
	uint32_t n_fresh;		/* batches left to cut */
	struct pool_batch record[];
};

/* All below the lock belongs to its holder. */
struct pool_depot {
	_Alignas(XTC__CACHE_PAIR) struct xtc__qlock lock;
	xtc__pool_list loose;		/* less than a batch */
	struct pool_batch *full;
	struct pool_batch *records;	/* not in use */
	struct pool_chunk *fresh;
	struct pool_chunk *chunks;
	uint64_t n_full;
	uint64_t n_cut;			/* batches cut so far */
	uint64_t n_chunks;
};

struct pool_kind {
	uint32_t bytes;
	uint32_t batch;			/* objects */
	int where;
};

#define POOL_KIND(name, bytes, batch, where) { bytes, batch, where },
static const struct pool_kind pool_kinds[XTC__POOL_COUNT] = {
	XTC__POOL_TABLE(POOL_KIND)
};

#define POOL_FITS(name, bytes, batch, where) \
	_Static_assert((bytes) >= 64 && ((bytes) & ((bytes) - 1)) == 0 && \
	    (batch) <= XTC__POOL_COUNT_MASK, "a count fits below an address");
XTC__POOL_TABLE(POOL_FITS)

/* Free objects stay for the next loop, so this outlives them all. */
static struct pool_depot pool_depots[XTC__POOL_COUNT];

static _Thread_local struct xtc__mags *pool_mags_here;

XTC__NOINLINE void
xtc__mags_enter(struct xtc__mags *m)
{
	pool_mags_here = m;
	XTC__COMPILER_BARRIER();
}

XTC__NOINLINE void
xtc__mags_leave(void)
{
	pool_mags_here = NULL;
	XTC__COMPILER_BARRIER();
}

XTC__NOINLINE struct xtc__mags *
xtc__mags_self(void)
{
	XTC__COMPILER_BARRIER();
	return pool_mags_here;
}

/* The objects of a new batch. */
static xtc__pool_list
pool_link_fresh(const struct pool_kind *k, char *p)
{
	xtc__pool_list list = 0;
	uint32_t i;

	memset(p, 0, (size_t)k->bytes * k->batch);
	for (i = k->batch; i > 0; i--)
		list = xtc__pool_push(list, p + (size_t)(i - 1) * k->bytes);
	return list;
}

/* Locked. Memory for a batch from a chunk with some left, or NULL. */
static char *
pool_cut(struct pool_depot *d, const struct pool_kind *k)
{
	struct pool_chunk *c = d->fresh;
	char *p;

	if (c == NULL)
		return NULL;
	p = c->fresh;
	c->fresh += (size_t)k->bytes * k->batch;
	if (--c->n_fresh == 0)
		d->fresh = c->next_fresh;
	d->n_cut++;
	return p;
}

/* Unlocked. 0, or -1: no memory. */
static int
pool_grow(struct pool_depot *d, const struct pool_kind *k)
{
	size_t batch_bytes = (size_t)k->bytes * k->batch;
	struct pool_chunk *c;
	size_t head_bytes;
	uint32_t i, n;

	n = (uint32_t)(POOL_CHUNK_BYTES / batch_bytes);
	if (n == 0)
		n = 1;
	head_bytes = sizeof(*c) + n * sizeof(c->record[0]);
	c = xtc__mem_raw_alloc(head_bytes + POOL_ALIGN + n * batch_bytes,
	    k->where);
	if (c == NULL)
		return -1;
	c->fresh = (char *)c + head_bytes;
	c->fresh += POOL_ALIGN - ((uintptr_t)c->fresh & (POOL_ALIGN - 1));
	c->n_fresh = n;

	xtc__qlock_lock(&d->lock);
	for (i = 0; i < n; i++) {
		c->record[i].next = d->records;
		d->records = &c->record[i];
	}
	c->next = d->chunks;
	d->chunks = c;
	c->next_fresh = d->fresh;
	d->fresh = c;
	d->n_chunks++;
	xtc__qlock_unlock(&d->lock);
	return 0;
}

/* Locked. A whole batch of free objects joins the depot's. */
static void
pool_give_batch(struct pool_depot *d, xtc__pool_list list)
{
	struct pool_batch *b = d->records;

	/* a record was made for every batch there ever was */
	XTC_ASSERT(b != NULL);
	d->records = b->next;
	b->list = list;
	b->next = d->full;
	d->full = b;
	d->n_full++;
}

/* Locked. A whole batch, or 0. */
static xtc__pool_list
pool_take_batch(struct pool_depot *d)
{
	struct pool_batch *b = d->full;

	if (b == NULL)
		return 0;
	d->full = b->next;
	d->n_full--;
	b->next = d->records;
	d->records = b;
	return b->list;
}

/* Free objects: a batch, or what was loose. 0: no memory. */
static xtc__pool_list
pool_depot_take(struct pool_depot *d, const struct pool_kind *k)
{
	xtc__pool_list list;
	char *fresh;

	do {
		fresh = NULL;
		xtc__qlock_lock(&d->lock);
		list = pool_take_batch(d);
		if (list == 0) {
			list = d->loose;
			d->loose = 0;
		}
		if (list == 0)
			fresh = pool_cut(d, k);
		xtc__qlock_unlock(&d->lock);
		if (list != 0)
			return list;
		if (fresh != NULL)
			return pool_link_fresh(k, fresh);
	} while (pool_grow(d, k) == 0);
	return 0;
}

/* Locked. */
static void
pool_give_loose(struct pool_depot *d, const struct pool_kind *k, void *object)
{
	d->loose = xtc__pool_push(d->loose, object);
	if (xtc__pool_count(d->loose) == k->batch) {
		pool_give_batch(d, d->loose);
		d->loose = 0;
	}
}

/*
 * One object for a thread without magazines: a loose one. Where there is none
 * a whole batch becomes the loose ones first.
 */
static void *
pool_get_single(struct pool_depot *d, const struct pool_kind *k)
{
	struct xtc__pool_object *o;
	xtc__pool_list batch = 0;
	char *fresh;

	for (;;) {
		o = NULL;
		fresh = NULL;
		xtc__qlock_lock(&d->lock);
		if (batch != 0)
			pool_give_batch(d, batch);
		if (d->loose == 0)
			d->loose = pool_take_batch(d);
		if (d->loose != 0) {
			o = xtc__pool_first(d->loose);
			d->loose = o->rest;
		} else
			fresh = pool_cut(d, k);
		xtc__qlock_unlock(&d->lock);
		if (o != NULL)
			return o;
		batch = 0;
		if (fresh != NULL)
			batch = pool_link_fresh(k, fresh);
		else if (pool_grow(d, k) != 0)
			return NULL;
	}
}

XTC__COLD void *
xtc__pool_get_slow(struct xtc__mags *m, unsigned pool)
{
	struct xtc__pool_object *o;
	struct xtc__mag *g;

	XTC_DEBUG_ASSERT(pool < XTC__POOL_COUNT);
	if (m == NULL)
		return pool_get_single(&pool_depots[pool], &pool_kinds[pool]);
	g = &m->mag[pool];
	XTC_ASSERT(g->batch == pool_kinds[pool].batch && g->loaded == 0);
	g->loaded = g->spare;
	g->spare = 0;
	if (g->loaded == 0)
		g->loaded = pool_depot_take(&pool_depots[pool],
		    &pool_kinds[pool]);
	if (g->loaded == 0)
		return NULL;
	o = xtc__pool_first(g->loaded);
	g->loaded = o->rest;
	return o;
}

XTC__COLD void
xtc__pool_put_slow(struct xtc__mags *m, unsigned pool, void *object)
{
	struct pool_depot *d = &pool_depots[pool];
	struct xtc__mag *g;

	XTC_DEBUG_ASSERT(pool < XTC__POOL_COUNT);
	if (m == NULL) {
		xtc__qlock_lock(&d->lock);
		pool_give_loose(d, &pool_kinds[pool], object);
		xtc__qlock_unlock(&d->lock);
		return;
	}
	g = &m->mag[pool];
	XTC_ASSERT(g->batch == pool_kinds[pool].batch);
	if (g->spare != 0) {
		xtc__qlock_lock(&d->lock);
		pool_give_batch(d, g->spare);
		xtc__qlock_unlock(&d->lock);
	}
	g->spare = g->loaded;
	g->loaded = xtc__pool_push(0, object);
}

void
xtc__mags_init(struct xtc__mags *m)
{
	unsigned i;

	for (i = 0; i < XTC__POOL_COUNT; i++) {
		m->mag[i].loaded = 0;
		m->mag[i].spare = 0;
		m->mag[i].batch = pool_kinds[i].batch;
	}
}

void
xtc__mags_flush(struct xtc__mags *m)
{
	struct xtc__pool_object *o;
	xtc__pool_list list;
	struct pool_depot *d;
	unsigned i;

	for (i = 0; i < XTC__POOL_COUNT; i++) {
		d = &pool_depots[i];
		xtc__qlock_lock(&d->lock);
		if (m->mag[i].spare != 0)
			pool_give_batch(d, m->mag[i].spare);
		for (list = m->mag[i].loaded; list != 0;) {
			o = xtc__pool_first(list);
			list = o->rest;
			pool_give_loose(d, &pool_kinds[i], o);
		}
		xtc__qlock_unlock(&d->lock);
	}
	xtc__mags_init(m);
}

void
xtc__pool_stat(unsigned pool, struct xtc__pool_stat *out)
{
	uint32_t batch = pool_kinds[pool].batch;
	struct pool_depot *d = &pool_depots[pool];

	xtc__qlock_lock(&d->lock);
	out->made = d->n_cut * batch;
	out->in_depot = d->n_full * batch + xtc__pool_count(d->loose);
	out->chunks = d->n_chunks;
	xtc__qlock_unlock(&d->lock);
}

uint64_t
xtc__mags_count(const struct xtc__mags *m, unsigned pool)
{
	const struct xtc__mag *g = &m->mag[pool];

	return xtc__pool_count(g->loaded) + xtc__pool_count(g->spare);
}
