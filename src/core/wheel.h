/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * wheel.h: deadlines in order, O(1) to add and to delete. The theory is on
 * top of wheel.c. A wheel belongs to one thread.
 */
#ifndef XTC_CORE_WHEEL_H
#define XTC_CORE_WHEEL_H

#include <stdint.h>

#define XTC__WHEEL_BITS		6
#define XTC__WHEEL_SLOTS	64
#define XTC__WHEEL_LEVELS	11	/* 11 * 6 bits hold an int64_t */
#define XTC__WHEEL_BANKS	2	/* a level's own slots and the next */

/* Part of whatever has a deadline. All zero: on no wheel. */
struct xtc__wheel_node {
	struct xtc__wheel_node *next;	/* of a ring */
	struct xtc__wheel_node *prev;
	int64_t deadline;		/* as it was given to add */
	uint8_t level;
	uint8_t slot;			/* of both banks: 0 to 127 */
	uint8_t on;			/* 1: it is on a wheel */
};

/* Valid where the bitmap says so. */
struct xtc__wheel_slot {
	struct xtc__wheel_node *first;	/* NULL: all are in the level below */
	int64_t bound;			/* no deadline in here is earlier */
};

struct xtc__wheel {
	int64_t time;			/* everything due before is out */
	uint64_t levels;		/* bit: the level has a used slot */
	/* bit: the slot has nodes */
	uint64_t used[XTC__WHEEL_LEVELS][XTC__WHEEL_BANKS];
	uint8_t split[XTC__WHEEL_LEVELS];	/* the slot split early */
	struct xtc__wheel_slot slot[XTC__WHEEL_LEVELS]
	    [XTC__WHEEL_BANKS * XTC__WHEEL_SLOTS];
};

/* An empty wheel whose time is now (not negative). */
void	xtc__wheel_init(struct xtc__wheel *w, int64_t now);

/* Any deadline; one that is not after the wheel's time is due at once. */
void	xtc__wheel_add(struct xtc__wheel *w, struct xtc__wheel_node *n,
	    int64_t deadline);
/* n is on this wheel. */
void	xtc__wheel_del(struct xtc__wheel *w, struct xtc__wheel_node *n);

/*
 * Takes out and returns the node with the earliest deadline that is not after
 * now, of equal ones the one added first; NULL: none is due. Between two
 * calls nodes may be added and deleted at will. A now before that of an
 * earlier call counts as that one.
 */
struct xtc__wheel_node *xtc__wheel_expire(struct xtc__wheel *w, int64_t now);

static inline int
xtc__wheel_is_empty(const struct xtc__wheel *w)
{
	return w->levels == 0;
}

/*
 * When to call expire again: not after the earliest deadline, and exactly
 * then if nothing was deleted; INT64_MAX: there is nothing. O(1).
 */
int64_t	xtc__wheel_next(const struct xtc__wheel *w);

#endif
