/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * posix/futex.c: the word to sleep on of os.h, by mutexes and condition
 * variables, for systems that have no such call.
 *
 * Addresses are hashed to a fixed number of rooms. A sleeper looks at the
 * word and goes to sleep with the room's mutex held; a waker takes the mutex
 * once after its store, so the sleeper either sees the store or is asleep
 * before the wake. Words that share a room wake each other's sleepers, which
 * the contract allows: everybody looks again.
 *
 * wake() must not be called from a signal handler: the handler may have
 * interrupted the holder of the room's mutex.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <time.h>

#include "os/os.h"
#include "xtc_base.h"

#define FUTEX_ROOMS 64

struct futex_room {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

static struct futex_room futex_rooms[FUTEX_ROOMS];
static pthread_once_t futex_once = PTHREAD_ONCE_INIT;

/* None of these calls can fail for want of anything on the systems known. */
static void
futex_init(void)
{
	pthread_condattr_t attr;
	size_t i;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	for (i = 0; i < FUTEX_ROOMS; i++) {
		(void)pthread_mutex_init(&futex_rooms[i].mutex, NULL);
		(void)pthread_cond_init(&futex_rooms[i].cond, &attr);
	}
	(void)pthread_condattr_destroy(&attr);
}

static struct futex_room *
futex_room_of(const void *w)
{
	/* Fibonacci hashing: the top bits of a product with 2^32/phi. */
	uint32_t h = (uint32_t)((uintptr_t)w >> 2) * 2654435769u;

	(void)pthread_once(&futex_once, futex_init);
	return &futex_rooms[h >> 26];
}

/* Mutex held. 0 or an errno. */
static int
futex_room_sleep(struct futex_room *room, int64_t deadline_ns)
{
	struct timespec ts;

	if (deadline_ns == INT64_MAX)
		return pthread_cond_wait(&room->cond, &room->mutex);
	if (deadline_ns < 0)
		deadline_ns = 0;
	ts.tv_sec = (time_t)(deadline_ns / 1000000000);
	ts.tv_nsec = (long)(deadline_ns % 1000000000);
	return pthread_cond_timedwait(&room->cond, &room->mutex, &ts);
}

int
xtc__os_futex_wait(_Atomic uint32_t *w, uint32_t expect, int64_t deadline_ns)
{
	struct futex_room *room = futex_room_of(w);
	int saved = errno;
	int err = 0;

	(void)pthread_mutex_lock(&room->mutex);
	/* relaxed: a store that was told of is ordered by the mutex. */
	if (atomic_load_explicit(w, memory_order_relaxed) == expect)
		err = futex_room_sleep(room, deadline_ns);
	(void)pthread_mutex_unlock(&room->mutex);
	errno = saved;
	/* A system that rounds its timers down would be early; look. */
	if (err == ETIMEDOUT && xtc__os_mono() >= deadline_ns)
		return XTC_E_AGAIN;
	return XTC_OK;
}

void
xtc__os_futex_wake(_Atomic uint32_t *w, int n)
{
	struct futex_room *room = futex_room_of(w);
	int saved = errno;

	(void)n;
	(void)pthread_mutex_lock(&room->mutex);
	(void)pthread_cond_broadcast(&room->cond);
	(void)pthread_mutex_unlock(&room->mutex);
	errno = saved;
}
