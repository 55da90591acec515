/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * posix/wake.c: the wakes of a poller by a pipe.
 *
 * A wake is a byte of value 1, and reading it counts it. The hard part is a
 * full pipe (the reader is some ten thousand wakes behind): the wake has to
 * be counted elsewhere, the reader has to learn of it, and the caller, which
 * may be a signal handler on the reader's own thread, must not wait.
 *
 * So it adds one to `overflow` and tries again, with a byte of value 0, that
 * counts nothing and says: look there. If that does not fit either, the pipe
 * was full after the addition; so some byte is read after it, and take()
 * reads first and looks at overflow then. The other way round, with the
 * addition after the last try, the reader could empty the pipe between the
 * two and go to sleep.
 *
 *	wake				take
 *	overflow + 1 [W]		read bytes
 *	write 0, or find it full	take overflow [T]
 *
 * In this path the count may be taken before the caller is through with its
 * second write, and whoever counts may close the poller then. That is what
 * `inside` is for: it is raised before the count and lowered at the end, and
 * fini waits until it is 0. On the usual path nothing of the object is
 * touched after the write.
 *
 * Cost: one write, one read.
 */
#define _POSIX_C_SOURCE 200809L

#include "poll/wake_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

#include "os/os.h"

#define WAKE_READ_BYTES 256

static int
wake_set_flags(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
		return errno;
	return 0;
}

int
xtc__wake_init(struct xtc__wake *w)
{
	int fds[2];
	int err = xtc__os_fault("poll.pipe");

	if (err != 0)
		return err;
	if (pipe(fds) == -1)
		return errno;
	w->rfd = fds[0];
	w->wfd = fds[1];
	atomic_init(&w->overflow, 0);
	atomic_init(&w->inside, 0);
	err = wake_set_flags(w->rfd);
	if (err == 0)
		err = wake_set_flags(w->wfd);
	if (err != 0)
		xtc__wake_fini(w);
	return err;
}

void
xtc__wake_fini(struct xtc__wake *w)
{
	/* acquire: pairs with the release of the last one inside. */
	while (atomic_load_explicit(&w->inside, memory_order_acquire) != 0)
		(void)sched_yield();
	(void)close(w->rfd);
	(void)close(w->wfd);
}

/* 1, or 0: the pipe is full. */
static int
wake_write(const struct xtc__wake *w, unsigned char byte)
{
	ssize_t n;

	do
		n = write(w->wfd, &byte, 1);
	while (n == -1 && errno == EINTR);
	return n == 1;
}

static void
wake_send_full(struct xtc__wake *w)
{
	/* A test may empty the pipe here. */
	(void)xtc__os_fault("poll.wake_full");
	/* relaxed: the next line's release orders it. */
	(void)atomic_fetch_add_explicit(&w->inside, 1, memory_order_relaxed);
	/*
	 * [W] seq_cst: the addition comes before the look at the pipe; the
	 * kernel's lock of the pipe then orders it before [T]. It releases
	 * too: who takes the count sees that somebody is inside.
	 */
	(void)atomic_fetch_add_explicit(&w->overflow, 1,
	    memory_order_seq_cst);
	(void)wake_write(w, 0);
	/* release: all use of w comes before. */
	(void)atomic_fetch_sub_explicit(&w->inside, 1, memory_order_release);
}

void
xtc__wake_send(struct xtc__wake *w)
{
	int saved = errno;

	if (!wake_write(w, 1))
		wake_send_full(w);
	errno = saved;
}

uint64_t
xtc__wake_take(struct xtc__wake *w)
{
	unsigned char bytes[WAKE_READ_BYTES];
	uint64_t wakes = 0;
	ssize_t i, n;

	do {
		n = read(w->rfd, bytes, sizeof(bytes));
		for (i = 0; i < n; i++)
			wakes += bytes[i];
	} while (n == (ssize_t)sizeof(bytes));
	/* [T] seq_cst: not before the bytes are read. */
	return wakes + atomic_exchange_explicit(&w->overflow, 0,
	    memory_order_seq_cst);
}
