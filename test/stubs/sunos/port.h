/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * As much of <port.h> of illumos as the library uses, written from
 * port_create(3C) and the pages beside it. port.c does what this declares.
 */
#ifndef STUB_PORT_H
#define STUB_PORT_H

#include <poll.h>
#include <stdint.h>
#include <time.h>

#define PORT_SOURCE_FD 4

#ifndef POLLRDHUP
#define POLLRDHUP 0x2000
#endif

typedef unsigned int uint_t;

typedef struct {
	int portev_events;
	unsigned short portev_source;
	unsigned short portev_pad;
	uintptr_t portev_object;
	void *portev_user;
} port_event_t;

int port_create(void);
int port_associate(int port, int source, uintptr_t object, int events,
    void *user);
int port_dissociate(int port, int source, uintptr_t object);
int port_getn(int port, port_event_t list[], uint_t max, uint_t *nget,
    const struct timespec *timeout);

#endif
