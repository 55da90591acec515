/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * POSIX threads: what the system itself gives: threads for fibers, and two
 * of them that wake each other through a futex and sleep in between. (The
 * three kinds of mutex are in bench_mutex, in one process with ours.)
 */
#define _GNU_SOURCE

#include "../peer.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

struct futex {
	_Alignas(128) _Atomic uint32_t word;
};

static struct futex futexes[2];

static void
futex_tell(struct futex *f, uint32_t value)
{
	atomic_store_explicit(&f->word, value, memory_order_release);
	syscall(SYS_futex, &f->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void
futex_await(struct futex *f, uint32_t value)
{
	uint32_t seen;

	while ((seen = atomic_load_explicit(&f->word,
	    memory_order_acquire)) != value)
		syscall(SYS_futex, &f->word, FUTEX_WAIT_PRIVATE, seen, NULL,
		    NULL, 0);
}

static void *
pong(void *arg)
{
	uint32_t i, n = (uint32_t)(uintptr_t)arg;

	for (i = 1; i <= n; i++) {
		futex_await(&futexes[0], i);
		futex_tell(&futexes[1], i);
	}
	return NULL;
}

static void
run_pingpong_threads(struct peer *b)
{
	long batch, i, n = peer_batch(b) / 2 + 1;
	uint32_t value = 0;
	pthread_t thread;
	int64_t t;

	peer_check(pthread_create(&thread, NULL, pong, (void *)(uintptr_t)
	    (n * PEER_BATCHES)) == 0, "no thread");
	for (batch = 0; batch < PEER_BATCHES; batch++) {
		t = peer_now_ns();
		for (i = 0; i < n; i++) {
			futex_tell(&futexes[0], ++value);
			futex_await(&futexes[1], value);
		}
		peer_note(b, t, 2 * n);
	}
	pthread_join(thread, NULL);
}

static void *
child(void *arg)
{
	++*(long *)arg;
	return NULL;
}

static void
run_spawn(struct peer *b)
{
	long batch, i, n = peer_batch(b), ran = 0;
	pthread_attr_t a;
	pthread_t thread;
	int64_t t;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 * 1024);
	for (batch = 0; batch < PEER_BATCHES; batch++) {
		t = peer_now_ns();
		for (i = 0; i < n; i++) {
			peer_check(pthread_create(&thread, &a, child,
			    &ran) == 0, "no thread");
			pthread_join(thread, NULL);
		}
		peer_note(b, t, n);
	}
	peer_check(ran == n * PEER_BATCHES, "each thread runs once");
}

static const struct peer_row rows[] = {
	{ "spawn_fiber", run_spawn, 20000, 0 },
	{ "pingpong_threads", run_pingpong_threads, 100000, 0 },
};

int
main(int argc, char **argv)
{
	return peer_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
