/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * port.c: event ports by poll(2), so that the poller of illumos can be run
 * here. One port at a time, one thread at a time.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <port.h>
#include <stddef.h>

#include "watch.h"

#define MAX_FDS 16384

static int the_port = -1;
static struct pollfd fds[MAX_FDS];
static void *users[MAX_FDS];
static int n_fds;

int
port_create(void)
{
	the_port = open("/dev/null", O_RDONLY);
	n_fds = 0;
	return the_port;
}

static void
drop(int i)
{
	n_fds--;
	fds[i] = fds[n_fds];
	users[i] = users[n_fds];
}

static int
find(int fd)
{
	for (int i = 0; i < n_fds; i++)
		if (fds[i].fd == fd)
			return i;
	return -1;
}

void
stub_closing(int fd)
{
	int i = find(fd);

	if (i != -1)
		drop(i);
}

int
port_associate(int port, int source, uintptr_t object, int events, void *user)
{
	int i = find((int)object);

	if (port != the_port || port == -1 || source != PORT_SOURCE_FD ||
	    fcntl((int)object, F_GETFD) == -1) {
		errno = EBADFD;
		return -1;
	}
	if (i == -1)
		i = n_fds++;
	fds[i].fd = (int)object;
	fds[i].events = (short)events;
	users[i] = user;
	return 0;
}

int
port_dissociate(int port, int source, uintptr_t object)
{
	int i = find((int)object);

	if (port != the_port || source != PORT_SOURCE_FD || i == -1) {
		errno = ENOENT;
		return -1;
	}
	drop(i);
	return 0;
}

int
port_getn(int port, port_event_t list[], uint_t max, uint_t *nget,
    const struct timespec *timeout)
{
	uint_t n = 0;
	int rc;

	if (port != the_port || port == -1 || *nget != 1) {
		errno = EBADF;
		return -1;
	}
	*nget = 0;
	rc = ppoll(fds, (nfds_t)n_fds, timeout, NULL);
	for (int i = n_fds - 1; rc > 0 && i >= 0 && n < max; i--) {
		if (fds[i].revents == 0)
			continue;
		list[n].portev_events = fds[i].revents;
		list[n].portev_source = PORT_SOURCE_FD;
		list[n].portev_object = (uintptr_t)fds[i].fd;
		list[n++].portev_user = users[i];
		drop(i);
	}
	*nget = n;
	if (rc == 0)
		errno = ETIME;
	return rc > 0 ? 0 : -1;
}
