/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * wheel.c: keeps deadlines so that adding, deleting and finding the next one
 * cost the same with ten of them as with a million.
 *
 * Nouns. The wheel has a time, in ticks of one nanosecond. A number of 64
 * bits is eleven blocks of 6 bits, block 0 the lowest. Level L has 64 slots,
 * one for each value of block L; a slot holds nodes in a ring. This is the
 * hierarchical wheel of Varghese and Lauck, "Hashed and Hierarchical Timing
 * Wheels", 1987, with the level chosen by the digits of the deadline, not by
 * its distance.
 *
 * Promise. Nodes come out in the order of their deadlines, equal ones in the
 * order they were added, never early, and the exact next deadline is known
 * without a search. A deadline that has passed counts as one of the wheel's
 * time: it is due at once, after those that were so before.
 *
 * Design. A deadline D is kept at the level of the highest block in which D
 * and the wheel's time differ (0 if none), in the slot that D's block there
 * names. Invariant (I): every node is where this rule puts it, at any time.
 * It follows that
 *  - the nodes of a level share all higher blocks with the time, and their
 *    block there is greater than the time's; so every node of a lower level
 *    is before every node of a higher one, and the earliest nodes are in the
 *    lowest used slot of the lowest used level: two bit scans;
 *  - equal deadlines are in one slot always, in the order they came;
 *  - a slot of level 0 is one deadline, so its ring is in order.
 * Time moves only to the earliest deadline or to a time before it. That
 * leaves the rule's answer unchanged for all nodes but those of the earliest
 * slot, if time enters it. Then wheel_open() takes them out and puts them
 * back by the rule, in their order, into levels below, which are empty.
 *
 * Bounds. A slot keeps the earliest deadline that was ever put into it since
 * it was empty. A deletion leaves it: then it is too early, the loop wakes
 * for nothing once, opens the slot, and the bounds below are exact again.
 * (Exact bounds would need an order inside of slots, which is the search that
 * a wheel is there to avoid.) Time moves to the bound of the slot it opens,
 * not to the slot's start, so a group of close deadlines skips the levels
 * between; and a slot with one node is not opened, the node is the next.
 *
 * Refused: a heap (add and delete grow with the number, and touch log n cold
 * nodes); coarse ticks (a 100 us sleep must take 100 us); levels by distance
 * (a slot then means two times, and order across levels is lost).
 *
 * Cost. Add: one bit scan, the slot, its last node. Delete: two neighbours.
 * A node moves down at most once a level, in practice two or three times:
 * what it shares with no other it skips. Opening a slot touches all its
 * nodes, at one time; each had been paid for by its add. Memory: 16 bytes a
 * slot, 11 KiB a wheel, and one node costs 32 bytes in its owner.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/bits.h"
#include "core/wheel.h"

void
xtc__wheel_init(struct xtc__wheel *w, int64_t now)
{
	unsigned i;

	XTC_ASSERT(now >= 0);
	w->time = now;
	w->levels = 0;
	for (i = 0; i < XTC__WHEEL_LEVELS; i++)
		w->used[i] = 0;
}

/* To the end of the slot that invariant (I) names; when is not before time. */
static XTC__ALWAYS_INLINE void
wheel_place(struct xtc__wheel *w, struct xtc__wheel_node *n, int64_t when)
{
	uint64_t differ = (uint64_t)when ^ (uint64_t)w->time;
	unsigned level = xtc__bits_highest(differ | 1) / XTC__WHEEL_BITS;
	unsigned slot = (unsigned)((uint64_t)when >>
	    (level * XTC__WHEEL_BITS)) % XTC__WHEEL_SLOTS;
	struct xtc__wheel_slot *s = &w->slot[level][slot];
	struct xtc__wheel_node *first;

	XTC_DEBUG_ASSERT(when >= w->time);
	n->level = (uint8_t)level;
	n->slot = (uint8_t)slot;
	if (!(w->used[level] & UINT64_C(1) << slot)) {
		w->used[level] |= UINT64_C(1) << slot;
		w->levels |= UINT64_C(1) << level;
		n->next = n;
		n->prev = n;
		s->first = n;
		s->bound = when;
		return;
	}
	first = s->first;
	n->next = first;
	n->prev = first->prev;
	first->prev->next = n;
	first->prev = n;
	if (when < s->bound)
		s->bound = when;
}

static void
wheel_clear(struct xtc__wheel *w, unsigned level, unsigned slot)
{
	w->used[level] &= ~(UINT64_C(1) << slot);
	if (w->used[level] == 0)
		w->levels &= ~(UINT64_C(1) << level);
}

void
xtc__wheel_add(struct xtc__wheel *w, struct xtc__wheel_node *n,
    int64_t deadline)
{
	XTC_ASSERT(!n->on);
	n->on = 1;
	n->deadline = deadline;
	wheel_place(w, n, deadline < w->time ? w->time : deadline);
}

void
xtc__wheel_del(struct xtc__wheel *w, struct xtc__wheel_node *n)
{
	struct xtc__wheel_slot *s = &w->slot[n->level][n->slot];

	XTC_ASSERT(n->on);
	n->on = 0;
	if (n->next == n) {
		XTC_DEBUG_ASSERT(s->first == n);
		wheel_clear(w, n->level, n->slot);
		return;
	}
	n->next->prev = n->prev;
	n->prev->next = n->next;
	if (s->first == n)
		s->first = n->next;
}

/* The earliest slot. The wheel is not empty. */
static void
wheel_earliest(const struct xtc__wheel *w, unsigned *level, unsigned *slot)
{
	*level = xtc__bits_lowest(w->levels);
	*slot = xtc__bits_lowest(w->used[*level]);
}

/* The first time that belongs to a slot. */
static int64_t
wheel_start(const struct xtc__wheel *w, unsigned level, unsigned slot)
{
	unsigned shift = level * XTC__WHEEL_BITS;
	uint64_t block = (uint64_t)w->time >> shift;

	block = (block & ~(uint64_t)(XTC__WHEEL_SLOTS - 1)) | slot;
	return (int64_t)(block << shift);
}

/*
 * Time moves into the earliest slot, to `time`, which none of its nodes is
 * before: put them where they belong now.
 */
static void
wheel_open(struct xtc__wheel *w, unsigned level, unsigned slot, int64_t time)
{
	struct xtc__wheel_node *n, *next, *first = w->slot[level][slot].first;

	XTC_DEBUG_ASSERT(level > 0);
	XTC_DEBUG_ASSERT(time >= wheel_start(w, level, slot));
	wheel_clear(w, level, slot);
	w->time = time;
	n = first;
	do {
		next = n->next;
		XTC__PREFETCH(next->next);
		wheel_place(w, n, n->deadline);
		XTC_DEBUG_ASSERT(n->level < level);
		n = next;
	} while (n != first);
}

/* Nothing is due at `now`, which is not before the wheel's time. */
static void
wheel_advance(struct xtc__wheel *w, int64_t now)
{
	unsigned level, slot;

	if (w->levels != 0) {
		wheel_earliest(w, &level, &slot);
		if (level > 0 && wheel_start(w, level, slot) <= now) {
			wheel_open(w, level, slot, now);
			return;
		}
	}
	w->time = now;
}

struct xtc__wheel_node *
xtc__wheel_expire(struct xtc__wheel *w, int64_t now)
{
	struct xtc__wheel_node *n;
	struct xtc__wheel_slot *s;
	unsigned level, slot;

	if (now < w->time)
		now = w->time;
	while (w->levels != 0) {
		wheel_earliest(w, &level, &slot);
		s = &w->slot[level][slot];
		if (s->bound > now)
			break;
		n = s->first;
		if (level == 0) {
			/* one deadline: the bound is it */
			w->time = s->bound;
			xtc__wheel_del(w, n);
			return n;
		}
		if (n->next == n && n->deadline <= now) {
			w->time = n->deadline;
			xtc__wheel_del(w, n);
			return n;
		}
		wheel_open(w, level, slot, s->bound);
	}
	wheel_advance(w, now);
	return NULL;
}

int64_t
xtc__wheel_next(const struct xtc__wheel *w)
{
	unsigned level, slot;

	if (w->levels == 0)
		return INT64_MAX;
	wheel_earliest(w, &level, &slot);
	return w->slot[level][slot].bound;
}
