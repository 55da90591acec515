/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * list.h: doubly linked lists whose links are inside the elements.
 *
 * Head and link are of one type. A head that is empty, and a link that is on
 * no list after xtc__list_init() or xtc__list_remove(), points to itself.
 */
#ifndef XTC_BASE_LIST_H
#define XTC_BASE_LIST_H

#include <stddef.h>

#include "base/assert.h"
#include "base/attr.h"

struct xtc__list {
	struct xtc__list *next;
	struct xtc__list *prev;
};

/* The element of the given type whose member l is. */
#define XTC__LIST_ENTRY(l, type, member) \
	XTC__CONTAINER_OF(l, type, member)

/* For each link of the list; it must not be removed meanwhile. */
#define XTC__LIST_FOREACH(l, head) \
	for ((l) = (head)->next; (l) != (head); (l) = (l)->next)

/* The same, and the body may remove l (and no other). */
#define XTC__LIST_FOREACH_SAFE(l, following, head) \
	for ((l) = (head)->next, (following) = (l)->next; (l) != (head); \
	    (l) = (following), (following) = (l)->next)

static inline void
xtc__list_init(struct xtc__list *l)
{
	l->next = l;
	l->prev = l;
}

static inline int
xtc__list_is_empty(const struct xtc__list *head)
{
	return head->next == head;
}

/* Of a link that was initialised: is it on a list? */
static inline int
xtc__list_is_linked(const struct xtc__list *l)
{
	return l->next != l;
}

static inline void
xtc__list_insert_after(struct xtc__list *where, struct xtc__list *l)
{
	XTC_DEBUG_ASSERT(where->next->prev == where);
	l->next = where->next;
	l->prev = where;
	where->next->prev = l;
	where->next = l;
}

static inline void
xtc__list_insert_before(struct xtc__list *where, struct xtc__list *l)
{
	xtc__list_insert_after(where->prev, l);
}

static inline void
xtc__list_add_first(struct xtc__list *head, struct xtc__list *l)
{
	xtc__list_insert_after(head, l);
}

static inline void
xtc__list_add_last(struct xtc__list *head, struct xtc__list *l)
{
	xtc__list_insert_after(head->prev, l);
}

/* Nothing happens to a link that is on no list. */
static inline void
xtc__list_remove(struct xtc__list *l)
{
	XTC_DEBUG_ASSERT(l->next->prev == l && l->prev->next == l);
	l->next->prev = l->prev;
	l->prev->next = l->next;
	xtc__list_init(l);
}

/* NULL: empty. */
static inline struct xtc__list *
xtc__list_first(const struct xtc__list *head)
{
	return head->next == head ? NULL : head->next;
}

static inline struct xtc__list *
xtc__list_last(const struct xtc__list *head)
{
	return head->prev == head ? NULL : head->prev;
}

/* Takes the first one out. NULL: empty. */
static inline struct xtc__list *
xtc__list_pop_first(struct xtc__list *head)
{
	struct xtc__list *l = xtc__list_first(head);

	if (l != NULL)
		xtc__list_remove(l);
	return l;
}

/* All of `from` goes behind what is on `to`; `from` is empty after. */
static inline void
xtc__list_move_all(struct xtc__list *to, struct xtc__list *from)
{
	if (xtc__list_is_empty(from))
		return;
	from->next->prev = to->prev;
	from->prev->next = to;
	to->prev->next = from->next;
	to->prev = from->prev;
	xtc__list_init(from);
}

/* Walks the list. */
static inline size_t
xtc__list_count(const struct xtc__list *head)
{
	const struct xtc__list *l;
	size_t n = 0;

	XTC__LIST_FOREACH(l, head)
		n++;
	return n;
}

#endif
