/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * kqueue.c: kqueue(2) by poll(2), so that the poller of the BSDs can be run
 * here: reads and writes, one-shot and cleared, with the habits that matter
 * (an event keeps its flags when it is added again, and goes with its fd).
 * One queue at a time, one thread at a time.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/event.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "watch.h"

#define MAX_NOTES 16384

struct note {
	struct kevent ev;
	int64_t seen;	/* EV_CLEAR: what has been reported */
};

static int queue = -1;
static struct note notes[MAX_NOTES];
static struct pollfd fds[MAX_NOTES];
static int n_notes;

int
kqueue(void)
{
	queue = open("/dev/null", O_RDONLY);
	n_notes = 0;
	return queue;
}

void
stub_closing(int fd)
{
	for (int i = n_notes - 1; i >= 0; i--)
		if ((int)notes[i].ev.ident == fd)
			notes[i] = notes[--n_notes];
}

static struct note *
find(const struct kevent *ev)
{
	for (int i = 0; i < n_notes; i++)
		if (notes[i].ev.ident == ev->ident &&
		    notes[i].ev.filter == ev->filter)
			return &notes[i];
	return NULL;
}

static int
change(const struct kevent *ev)
{
	struct note *n = find(ev);
	int flags = ev->flags;

	if (fcntl((int)ev->ident, F_GETFD) == -1) {
		errno = EBADF;
		return -1;
	}
	if (flags & EV_DELETE) {
		if (n == NULL) {
			errno = ENOENT;
			return -1;
		}
		*n = notes[--n_notes];
		return 0;
	}
	if (n == NULL) {
		n = &notes[n_notes++];
		n->ev.flags = ev->flags;
	}
	flags = n->ev.flags;
	n->ev = *ev;
	n->ev.flags = (unsigned short)flags;
	n->seen = 0;
	return 0;
}

/* NOTE_LOWAT is for sockets. */
static int
has_lowat(const struct note *n)
{
	struct stat st;

	return (n->ev.fflags & NOTE_LOWAT) != 0 &&
	    fstat((int)n->ev.ident, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* 1 if the note has something to report, which goes to *ev. */
static int
report(struct note *n, int revents, struct kevent *ev)
{
	int eof = revents & (POLLHUP | POLLERR |
	    (n->ev.filter == EVFILT_READ ? POLLRDHUP : 0));
	int bytes = 0;
	int64_t state;

	if (revents == 0)
		return 0;
	if (n->ev.filter == EVFILT_READ && !eof && has_lowat(n))
		return 0;
	if (n->ev.filter == EVFILT_READ)
		(void)ioctl((int)n->ev.ident, FIONREAD, &bytes);
	state = revents | 1 << 15 | (int64_t)bytes << 16;
	if ((n->ev.flags & EV_CLEAR) && n->seen == state)
		return 0;
	n->seen = state;
	*ev = n->ev;
	ev->flags = eof ? EV_EOF : 0;
	ev->fflags = (revents & POLLERR) ? ECONNRESET : 0;
	ev->data = bytes;
	return 1;
}

static int
collect(struct kevent *events, int n_events)
{
	int n = 0;

	/* From the end: a one-shot's place is taken by the last. */
	for (int i = n_notes - 1; i >= 0 && n < n_events; i--) {
		if (!report(&notes[i], fds[i].revents, &events[n]))
			continue;
		n++;
		if (notes[i].ev.flags & EV_ONESHOT) {
			notes[i] = notes[--n_notes];
			fds[i] = fds[n_notes];
		}
	}
	return n;
}

static int64_t
now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Cleared events are ready without being reported: look again and again. */
static int
wait_for(struct kevent *events, int n_events, int64_t end_ns)
{
	for (;;) {
		struct timespec slice = { 0, 1000000 };
		int64_t left_ns = end_ns - now_ns();
		int n;

		for (int i = 0; i < n_notes; i++) {
			fds[i].fd = (int)notes[i].ev.ident;
			fds[i].events = notes[i].ev.filter == EVFILT_READ ?
			    POLLIN | POLLRDHUP : POLLOUT;
			if ((notes[i].ev.flags & EV_CLEAR) && notes[i].seen)
				fds[i].events = 0;
		}
		if (left_ns < slice.tv_nsec)
			slice.tv_nsec = left_ns > 0 ? (long)left_ns : 0;
		if (ppoll(fds, (nfds_t)n_notes, &slice, NULL) == -1)
			return -1;
		for (int i = 0; i < n_notes; i++)
			if (fds[i].events == 0) {
				fds[i].events = POLLIN | POLLRDHUP;
				(void)poll(&fds[i], 1, 0);
			}
		n = collect(events, n_events);
		if (n > 0 || left_ns <= 0)
			return n;
	}
}

int
kevent(int kq, const struct kevent *changes, int n_changes,
    struct kevent *events, int n_events, const struct timespec *timeout)
{
	int64_t end_ns = INT64_MAX;

	if (kq != queue || kq == -1) {
		errno = EBADF;
		return -1;
	}
	for (int i = 0; i < n_changes; i++)
		if (change(&changes[i]) == -1)
			return -1;
	if (n_events == 0)
		return 0;
	if (timeout != NULL)
		end_ns = now_ns() + (int64_t)timeout->tv_sec * 1000000000 +
		    timeout->tv_nsec;
	return wait_for(events, n_events, end_ns);
}
