/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * regs.c: the waiters of a poller; what they are for is in regs_impl.h.
 *
 * Records are in pages of 64 found by fd, so that a process with a few fds of
 * high numbers pays for those only, and a record's address stays. Waiters
 * come from chunks of 64 and go back to a list; memory is given back when the
 * poller goes.
 *
 * Invariants (asserted): a waiter is on its fd's list from commit to the
 * moment its event is written; it is on the ready list exactly if its revents
 * is not 0; n_waiters counts all of them, n_pending those of an fd that are
 * not on the ready list.
 */
#define _POSIX_C_SOURCE 200809L

#include "poll/regs_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/assert.h"
#include "mem/mem.h"

#define REGS_PER_PAGE 64
#define REGS_PER_CHUNK 64

struct xtc__regs_page {
	struct xtc__regs_fd fd[REGS_PER_PAGE];
};

struct xtc__regs_chunk {
	struct xtc__regs_chunk *next;
	struct xtc__regs_waiter waiter[REGS_PER_CHUNK];
};

void
xtc__regs_init(struct xtc__regs *r, struct xtc__poller *p)
{
	memset(r, 0, sizeof(*r));
	r->poller = p;
	xtc__list_init(&r->ready);
	xtc__list_init(&r->free);
}

void
xtc__regs_fini(struct xtc__regs *r)
{
	struct xtc__regs_chunk *chunk;
	size_t i;

	while ((chunk = r->chunks) != NULL) {
		r->chunks = chunk->next;
		xtc__mem_raw_free(chunk);
	}
	for (i = 0; i < r->n_pages; i++)
		xtc__mem_raw_free(r->pages[i]);
	xtc__mem_raw_free(r->pages);
}

struct xtc__regs_fd *
xtc__regs_find(const struct xtc__regs *r, int fd)
{
	size_t page = (size_t)fd / REGS_PER_PAGE;

	if (fd < 0 || page >= r->n_pages || r->pages[page] == NULL)
		return NULL;
	return &r->pages[page]->fd[fd % REGS_PER_PAGE];
}

/* Make room for page number `page` in the directory. */
static int
regs_grow(struct xtc__regs *r, size_t page)
{
	size_t n = r->n_pages == 0 ? 4 : r->n_pages;
	struct xtc__regs_page **pages;

	while (n <= page)
		n *= 2;
	pages = xtc__mem_raw_realloc(r->pages, n * sizeof(*pages),
	    XTC_ALLOC_SLAB);
	if (pages == NULL)
		return XTC_E_NOMEM;
	memset(pages + r->n_pages, 0, (n - r->n_pages) * sizeof(*pages));
	r->pages = pages;
	r->n_pages = n;
	return XTC_OK;
}

static int
regs_make(struct xtc__regs *r, int fd, struct xtc__regs_fd **rec)
{
	size_t number = (size_t)fd / REGS_PER_PAGE;
	struct xtc__regs_page *page;
	int i;

	if (number >= r->n_pages && regs_grow(r, number) != XTC_OK)
		return XTC_E_NOMEM;
	page = xtc__mem_raw_zalloc(sizeof(*page), XTC_ALLOC_SLAB);
	if (page == NULL)
		return XTC_E_NOMEM;
	for (i = 0; i < REGS_PER_PAGE; i++) {
		xtc__list_init(&page->fd[i].waiters);
		xtc__list_init(&page->fd[i].in_dirty);
		page->fd[i].fd = (int)number * REGS_PER_PAGE + i;
	}
	r->pages[number] = page;
	*rec = &page->fd[fd % REGS_PER_PAGE];
	return XTC_OK;
}

static struct xtc__regs_waiter *
regs_waiter(struct xtc__regs *r)
{
	struct xtc__regs_chunk *chunk;
	struct xtc__list *l;
	int i;

	l = xtc__list_pop_first(&r->free);
	if (l != NULL)
		return XTC__LIST_ENTRY(l, struct xtc__regs_waiter, in_fd);
	chunk = xtc__mem_raw_alloc(sizeof(*chunk), XTC_ALLOC_SLAB);
	if (chunk == NULL)
		return NULL;
	chunk->next = r->chunks;
	r->chunks = chunk;
	for (i = 0; i < REGS_PER_CHUNK; i++) {
		xtc__list_init(&chunk->waiter[i].in_fd);
		xtc__list_init(&chunk->waiter[i].in_ready);
		if (i != 0)
			xtc__list_add_last(&r->free, &chunk->waiter[i].in_fd);
	}
	return &chunk->waiter[0];
}

int
xtc__regs_is_open(int fd)
{
	int saved = errno;
	int flags = fcntl(fd, F_GETFD);

	errno = saved;
	return flags != -1;
}

int
xtc__regs_prepare(struct xtc__regs *r, int fd, uint32_t interest,
    struct xtc__regs_fd **rec, struct xtc__regs_waiter **w)
{
	if (fd < 0 || (interest & ~XTC__REGS_INTERESTS) != 0)
		return XTC_E_INVAL;
	*rec = xtc__regs_find(r, fd);
	/* No directory up to a number that is no descriptor. */
	if (*rec == NULL && !xtc__regs_is_open(fd))
		return XTC_E_INVAL;
	if (*rec == NULL && regs_make(r, fd, rec) != XTC_OK)
		return XTC_E_NOMEM;
	*w = regs_waiter(r);
	if (*w == NULL)
		return XTC_E_NOMEM;
	(*w)->rec = *rec;
	(*w)->interest = interest;
	(*w)->revents = 0;
	return XTC_OK;
}

void
xtc__regs_release(struct xtc__regs *r, struct xtc__regs_waiter *w)
{
	XTC_DEBUG_ASSERT(!xtc__list_is_linked(&w->in_fd));
	XTC_DEBUG_ASSERT(!xtc__list_is_linked(&w->in_ready));
	xtc__list_add_first(&r->free, &w->in_fd);
}

static void
regs_set_ready(struct xtc__regs *r, struct xtc__regs_waiter *w,
    uint32_t revents)
{
	XTC_DEBUG_ASSERT(w->revents == 0 && revents != 0);
	w->revents = revents;
	w->rec->n_pending--;
	xtc__list_add_last(&r->ready, &w->in_ready);
}

void
xtc__regs_commit(struct xtc__regs *r, struct xtc__regs_waiter *w,
    uint64_t token, uint32_t revents)
{
	struct xtc__regs_fd *rec = w->rec;

	w->token = token;
	xtc__list_add_last(&rec->waiters, &w->in_fd);
	rec->n_pending++;
	r->poller->n_waiters++;
	if (revents != 0)
		regs_set_ready(r, w, revents);
	else
		rec->want |= w->interest;
}

/* The waiter's time is over, whichever way. */
static void
regs_remove(struct xtc__regs *r, struct xtc__regs_waiter *w)
{
	struct xtc__regs_fd *rec = w->rec;

	XTC_DEBUG_ASSERT(r->poller->n_waiters > 0);
	XTC_DEBUG_ASSERT((w->revents != 0) ==
	    xtc__list_is_linked(&w->in_ready));
	xtc__list_remove(&w->in_fd);
	xtc__list_remove(&w->in_ready);
	if (w->revents == 0)
		rec->n_pending--;
	if (rec->n_pending == 0)
		rec->want = 0;
	r->poller->n_waiters--;
	xtc__regs_release(r, w);
}

int
xtc__regs_del(struct xtc__regs *r, int fd, uint64_t token)
{
	struct xtc__regs_fd *rec = xtc__regs_find(r, fd);
	struct xtc__list *l;

	if (rec == NULL)
		return XTC_E_INVAL;
	XTC__LIST_FOREACH(l, &rec->waiters) {
		struct xtc__regs_waiter *w = XTC__LIST_ENTRY(l,
		    struct xtc__regs_waiter, in_fd);

		if (w->token == token) {
			regs_remove(r, w);
			return XTC_OK;
		}
	}
	return XTC_E_INVAL;
}

int
xtc__regs_forget(struct xtc__regs *r, int fd, uint64_t *tokens, int max)
{
	struct xtc__regs_fd *rec = xtc__regs_find(r, fd);
	struct xtc__list *l;
	int n = 0;

	if (rec == NULL)
		return 0;
	while (n < max && (l = xtc__list_first(&rec->waiters)) != NULL) {
		struct xtc__regs_waiter *w = XTC__LIST_ENTRY(l,
		    struct xtc__regs_waiter, in_fd);

		tokens[n++] = w->token;
		regs_remove(r, w);
	}
	return n;
}

static void
regs_write(struct xtc__regs_out *out, const struct xtc__regs_waiter *w,
    uint32_t revents)
{
	struct xtc__poll_event *ev = &out->ev[out->n++];

	ev->token = w->token;
	ev->revents = revents;
	ev->fd = w->rec->fd;
}

void
xtc__regs_take_ready(struct xtc__regs *r, struct xtc__regs_out *out)
{
	struct xtc__list *l;

	while (out->n < out->max && (l = xtc__list_first(&r->ready)) != NULL) {
		struct xtc__regs_waiter *w = XTC__LIST_ENTRY(l,
		    struct xtc__regs_waiter, in_ready);

		regs_write(out, w, w->revents);
		regs_remove(r, w);
	}
}

/* What a waiter is told when the kernel reports this; 0: not its concern. */
static uint32_t
regs_match(uint32_t interest, uint32_t reported)
{
	uint32_t revents = reported &
	    (interest | XTC__POLL_HUP | XTC__POLL_ERR);

	if ((reported & XTC__REGS_PEER_SHUT) && (interest & XTC__POLL_HUP))
		revents |= XTC__POLL_HUP;
	return revents;
}

int
xtc__regs_report(struct xtc__regs *r, struct xtc__regs_fd *rec,
    uint32_t reported, struct xtc__regs_out *out)
{
	struct xtc__list *l, *following;
	uint32_t want = 0;
	int matched = 0;

	XTC__LIST_FOREACH_SAFE(l, following, &rec->waiters) {
		struct xtc__regs_waiter *w = XTC__LIST_ENTRY(l,
		    struct xtc__regs_waiter, in_fd);
		uint32_t revents;

		if (w->revents != 0)
			continue;
		revents = regs_match(w->interest, reported);
		if (revents == 0) {
			want |= w->interest;
			continue;
		}
		matched++;
		if (out->n < out->max) {
			regs_write(out, w, revents);
			regs_remove(r, w);
		} else {
			regs_set_ready(r, w, revents);
		}
	}
	rec->want = want;
	return matched;
}

void
xtc__regs_orphan(struct xtc__regs *r, struct xtc__regs_fd *rec)
{
	struct xtc__list *l;

	XTC__LIST_FOREACH(l, &rec->waiters) {
		struct xtc__regs_waiter *w = XTC__LIST_ENTRY(l,
		    struct xtc__regs_waiter, in_fd);

		if (w->revents == 0)
			regs_set_ready(r, w, XTC__POLL_ERR);
	}
	rec->want = 0;
}

struct xtc__regs_fd *
xtc__regs_next(const struct xtc__regs *r, const struct xtc__regs_fd *rec)
{
	size_t i = rec == NULL ? 0 : (size_t)rec->fd + 1;

	for (; i < r->n_pages * REGS_PER_PAGE; i++) {
		struct xtc__regs_page *page = r->pages[i / REGS_PER_PAGE];

		if (page != NULL)
			return &page->fd[i % REGS_PER_PAGE];
		i |= REGS_PER_PAGE - 1;
	}
	return NULL;
}
