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
 * names. Invariant (I): every node is in the slot that this rule names, at
 * any time. It follows that
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
 * The hard problem is a large slot. A million connections with a timeout of
 * a minute are one slot of level 6, and opening it would stop the loop for
 * 0.2 s. So a slot is split early: while time is in the slot before it, each
 * look that finds nothing due moves some nodes of the ring on to where they
 * will belong in the level below. For this each level has a second bank of
 * 64 slots, which serves the next slot of the level above: bank and slot are
 * 7 bits of the deadline, so when time enters that slot the bank becomes the
 * level's own, and nothing moves. Until then nodes in it are seen only
 * through the slot they belong to: its bit stays set and its bound covers
 * them. Its ring is what is not yet moved; new nodes go to the ring's end
 * while there is one, and then directly into the bank, so equal ones stay in
 * order. Only the slot right after the time's is split (2): time cannot pass
 * it, so the bank cannot be anything else's meanwhile. What a loop that was
 * idle all the while finds unsplit it moves when it opens the slot.
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
 * what it shares with no other it skips. Memory: 16 bytes a slot, 22 KiB a
 * wheel, of which a loop touches a few lines; and 32 bytes a node.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/bits.h"
#include "core/wheel.h"

#define WHEEL_NONE		255u	/* in split[]: no slot */
#define WHEEL_SPLIT_LEVEL	3u	/* below, slots are too short to fill */
#define WHEEL_SPLIT_BATCH	64u	/* nodes moved in one look, at most */

void
xtc__wheel_init(struct xtc__wheel *w, int64_t now)
{
	unsigned i;

	XTC_ASSERT(now >= 0);
	w->time = now;
	w->levels = 0;
	for (i = 0; i < XTC__WHEEL_LEVELS; i++) {
		w->used[i][0] = w->used[i][1] = 0;
		w->split[i] = WHEEL_NONE;
	}
}

/* The slot of a level, 0 to 127, that a time belongs to. */
static inline unsigned
wheel_slot(int64_t when, unsigned level)
{
	return (unsigned)((uint64_t)when >> (level * XTC__WHEEL_BITS)) %
	    (XTC__WHEEL_BANKS * XTC__WHEEL_SLOTS);
}

static inline unsigned
wheel_bank(unsigned slot)
{
	return slot / XTC__WHEEL_SLOTS;
}

static inline uint64_t
wheel_bit(unsigned slot)
{
	return UINT64_C(1) << slot % XTC__WHEEL_SLOTS;
}

/* To the end of a slot. 0; or -1: it has no ring, its nodes are early. */
static XTC__ALWAYS_INLINE int
wheel_append(struct xtc__wheel *w, struct xtc__wheel_node *n, unsigned level,
    unsigned slot, int64_t when)
{
	struct xtc__wheel_slot *s = &w->slot[level][slot];
	uint64_t *used = &w->used[level][wheel_bank(slot)];
	struct xtc__wheel_node *first;

	n->level = (uint8_t)level;
	n->slot = (uint8_t)slot;
	if (!(*used & wheel_bit(slot))) {
		*used |= wheel_bit(slot);
		n->next = n;
		n->prev = n;
		s->first = n;
		s->bound = when;
		return 0;
	}
	if (when < s->bound)
		s->bound = when;
	first = s->first;
	if (XTC__UNLIKELY(first == NULL))
		return -1;
	n->next = first;
	n->prev = first->prev;
	first->prev->next = n;
	first->prev = n;
	return 0;
}

/* Where invariant (I) wants it. when is not before the wheel's time. */
static XTC__ALWAYS_INLINE void
wheel_place(struct xtc__wheel *w, struct xtc__wheel_node *n, int64_t when)
{
	uint64_t differ = (uint64_t)when ^ (uint64_t)w->time;
	unsigned level = xtc__bits_highest(differ | 1) / XTC__WHEEL_BITS;

	XTC_DEBUG_ASSERT(when >= w->time);
	w->levels |= UINT64_C(1) << level;
	if (XTC__UNLIKELY(wheel_append(w, n, level, wheel_slot(when, level),
	    when) != 0)) {
		level--;
		(void)wheel_append(w, n, level, wheel_slot(when, level), when);
	}
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

/* Has this slot nodes in the level below? */
static inline int
wheel_has_early(const struct xtc__wheel *w, unsigned level, unsigned slot)
{
	return w->split[level] == slot && w->used[level - 1][slot % 2] != 0;
}

/* The slot has no nodes any more. */
static void
wheel_clear(struct xtc__wheel *w, unsigned level, unsigned slot)
{
	unsigned bank = wheel_bank(slot), above;

	w->used[level][bank] &= ~wheel_bit(slot);
	if (w->split[level] == slot)
		w->split[level] = WHEEL_NONE;
	if (w->used[level][bank] != 0)
		return;
	/* the time's slot in the level above names the level's own bank */
	if (level + 1 == XTC__WHEEL_LEVELS ||
	    wheel_slot(w->time, level + 1) % 2 == bank) {
		w->levels &= ~(UINT64_C(1) << level);
		return;
	}
	above = w->split[level + 1];
	XTC_DEBUG_ASSERT(above != WHEEL_NONE && above % 2 == bank);
	if (w->slot[level + 1][above].first == NULL)
		wheel_clear(w, level + 1, above);
}

void
xtc__wheel_del(struct xtc__wheel *w, struct xtc__wheel_node *n)
{
	struct xtc__wheel_slot *s = &w->slot[n->level][n->slot];

	XTC_ASSERT(n->on);
	n->on = 0;
	if (n->next != n) {
		n->next->prev = n->prev;
		n->prev->next = n->next;
		if (s->first == n)
			s->first = n->next;
		return;
	}
	XTC_DEBUG_ASSERT(s->first == n);
	s->first = NULL;
	if (n->level == 0 || !wheel_has_early(w, n->level, n->slot))
		wheel_clear(w, n->level, n->slot);
}

/* The earliest slot of a level that has any. */
static unsigned
wheel_first_slot(const struct xtc__wheel *w, unsigned level)
{
	unsigned bank = 0;

	if (level + 1 < XTC__WHEEL_LEVELS)
		bank = wheel_slot(w->time, level + 1) % 2;
	return bank * XTC__WHEEL_SLOTS + xtc__bits_lowest(w->used[level][bank]);
}

/* The earliest slot of all. The wheel is not empty. */
static unsigned
wheel_earliest(const struct xtc__wheel *w, unsigned *level)
{
	*level = xtc__bits_lowest(w->levels);
	return wheel_first_slot(w, *level);
}

/* The first time that belongs to a slot of the level's own bank. */
static int64_t
wheel_start(const struct xtc__wheel *w, unsigned level, unsigned slot)
{
	unsigned shift = level * XTC__WHEEL_BITS;
	uint64_t block = (uint64_t)w->time >> shift;

	block = (block & ~(uint64_t)(XTC__WHEEL_SLOTS - 1)) |
	    slot % XTC__WHEEL_SLOTS;
	return (int64_t)(block << shift);
}

/* Put the nodes of a ring, which is in no slot any more, where they belong. */
static void
wheel_place_ring(struct xtc__wheel *w, struct xtc__wheel_node *first)
{
	struct xtc__wheel_node *n = first, *next;

	do {
		next = n->next;
		wheel_place(w, n, n->deadline);
		n = next;
	} while (n != first);
}

/*
 * Time moves into the earliest slot, to `time`, which none of its nodes is
 * before. What was split early is in its place, but for what is in the slot
 * below that time enters with this one; and it is older than the rest.
 */
static void
wheel_open(struct xtc__wheel *w, unsigned level, unsigned slot, int64_t time)
{
	struct xtc__wheel_node *rest = w->slot[level][slot].first, *ring;
	int early = wheel_has_early(w, level, slot);
	unsigned below = wheel_slot(time, level - 1);

	XTC_DEBUG_ASSERT(time >= wheel_start(w, level, slot));
	wheel_clear(w, level, slot);
	w->time = time;
	if (early) {
		level--;
		w->levels |= UINT64_C(1) << level;
		if (w->used[level][wheel_bank(below)] & wheel_bit(below)) {
			ring = w->slot[level][below].first;
			wheel_clear(w, level, below);
			wheel_place_ring(w, ring);
		}
	}
	if (rest != NULL)
		wheel_place_ring(w, rest);
}

/* Move up to `left` nodes of a slot's ring into the level below; how many. */
static unsigned
wheel_split_slot(struct xtc__wheel *w, unsigned level, unsigned slot,
    unsigned left)
{
	struct xtc__wheel_slot *s = &w->slot[level][slot];
	struct xtc__wheel_node *n = s->first, *next, *last = n->prev;
	unsigned moved = 0;
	int whole;

	w->split[level] = (uint8_t)slot;
	level--;
	do {
		next = n->next;
		whole = n == last;
		(void)wheel_append(w, n, level, wheel_slot(n->deadline, level),
		    n->deadline);
		n = next;
	} while (++moved < left && !whole);
	if (whole)
		s->first = NULL;
	else {
		s->first = n;
		n->prev = last;
		last->next = n;
	}
	return moved;
}

/* Nothing is due: time to split what will be opened next, a bit of it. */
static void
wheel_split(struct xtc__wheel *w)
{
	uint64_t levels = w->levels >> WHEEL_SPLIT_LEVEL << WHEEL_SPLIT_LEVEL;
	unsigned level, slot, left = WHEEL_SPLIT_BATCH;

	for (; levels != 0 && left != 0; levels &= levels - 1) {
		level = xtc__bits_lowest(levels);
		slot = wheel_first_slot(w, level);
		/* (2): the next one after the time's, in the same bank */
		if (slot == wheel_slot(w->time, level) + 1 &&
		    w->slot[level][slot].first != NULL)
			left -= wheel_split_slot(w, level, slot, left);
	}
}

/* Nothing is due at `now`, which is not before the wheel's time. */
static void
wheel_advance(struct xtc__wheel *w, int64_t now)
{
	unsigned level, slot;

	if (w->levels != 0) {
		slot = wheel_earliest(w, &level);
		if (level > 0 && wheel_start(w, level, slot) <= now)
			wheel_open(w, level, slot, now);
	}
	w->time = now;
	if (w->levels >> WHEEL_SPLIT_LEVEL != 0)
		wheel_split(w);
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
		slot = wheel_earliest(w, &level);
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
		if (n != NULL && n->next == n && n->deadline <= now &&
		    !wheel_has_early(w, level, slot)) {
			xtc__wheel_del(w, n);
			w->time = n->deadline;
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
	slot = wheel_earliest(w, &level);
	return w->slot[level][slot].bound;
}
