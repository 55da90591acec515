/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * State Threads: one operating system thread, no copies. It has no yield of
 * its own: a thread wakes the other and waits to be woken. A message is a
 * pointer put down before the receiver's condition is signalled.
 */
#include "../peer.h"

#include <st.h>

#define STACK_BYTES	(64 * 1024)

struct box {
	st_cond_t cond;
	void *message;
};

static struct box *
box_new(void)
{
	struct box *b = calloc(1, sizeof(*b));

	peer_check(b != NULL && (b->cond = st_cond_new()) != NULL, "memory");
	return b;
}

static void
box_put(struct box *b, void *message)
{
	b->message = message;
	st_cond_signal(b->cond);
}

static void *
box_take(struct box *b)
{
	void *message;

	while (b->message == NULL)
		st_cond_wait(b->cond);
	message = b->message;
	b->message = NULL;
	return message;
}

static st_thread_t
start(void *(*fn)(void *), void *arg, int joinable)
{
	st_thread_t t = st_thread_create(fn, arg, joinable, STACK_BYTES);

	peer_check(t != NULL, "st_thread_create");
	return t;
}

static void
init(void)
{
	static int done;

	if (!done) {
		st_set_eventsys(ST_EVENTSYS_ALT);
		peer_check(st_init() == 0, "st_init");
	}
	done = 1;
}

struct member {
	struct peer *b;
	struct box *in;
	struct box *out;
	long laps;		/* of a batch */
	long hops;		/* of a lap */
	int first;
};

/* All do the same; the first one starts the token and holds the watch. */
static void *
member_run(void *arg)
{
	struct member *m = arg;
	long batch, i;
	int64_t t;

	for (batch = 0; batch < PEER_BATCHES; batch++) {
		t = peer_now_ns();
		for (i = 0; i < m->laps; i++) {
			if (m->first)
				box_put(m->out, m);
			(void)box_take(m->in);
			if (!m->first)
				box_put(m->out, m);
		}
		if (m->first)
			peer_note(m->b, t, m->laps * m->hops);
	}
	return NULL;
}

static void
run_ring(struct peer *b)
{
	long size = b->size, i;
	struct member *m = calloc((size_t)size, sizeof(*m));
	struct box **box = calloc((size_t)size, sizeof(*box));
	st_thread_t *t = calloc((size_t)size, sizeof(*t));

	init();
	peer_check(m != NULL && box != NULL && t != NULL, "memory");
	for (i = 0; i < size; i++)
		box[i] = box_new();
	for (i = 0; i < size; i++) {
		m[i].b = b;
		m[i].in = box[i];
		m[i].out = box[(i + 1) % size];
		m[i].laps = peer_batch(b) / size + 1;
		m[i].hops = size;
		m[i].first = i == 0;
	}
	for (i = size; i > 0; i--)
		t[i - 1] = start(member_run, &m[i - 1], 1);
	for (i = 0; i < size; i++)
		st_thread_join(t[i], NULL);
}

struct yielder {
	struct peer *b;
	st_cond_t mine;
	st_cond_t other;
	long n;
	int first;
};

static void *
yielder_run(void *arg)
{
	struct yielder *y = arg;
	long batch, i;
	int64_t t;

	if (!y->first)
		st_cond_wait(y->mine);
	for (batch = 0; batch < PEER_BATCHES; batch++) {
		t = peer_now_ns();
		for (i = 0; i < y->n; i++) {
			st_cond_signal(y->other);
			st_cond_wait(y->mine);
		}
		if (y->first)
			peer_note(y->b, t, 2 * y->n);
	}
	st_cond_signal(y->other);
	return NULL;
}

static void
run_yield(struct peer *b)
{
	struct yielder y[2];
	st_thread_t t;
	int i;

	init();
	for (i = 0; i < 2; i++) {
		y[i].b = b;
		y[i].n = peer_batch(b) / 2 + 1;
		y[i].first = i == 0;
		y[i].mine = st_cond_new();
	}
	y[0].other = y[1].mine;
	y[1].other = y[0].mine;
	t = start(yielder_run, &y[1], 1);
	st_usleep(1000);
	(void)yielder_run(&y[0]);
	st_thread_join(t, NULL);
}

static void *
spawn_child(void *arg)
{
	++*(long *)arg;
	return NULL;
}

static void
run_spawn(struct peer *b)
{
	long batch, i, n = peer_batch(b), ran = 0;
	int64_t t;

	init();
	for (batch = 0; batch < PEER_BATCHES; batch++) {
		t = peer_now_ns();
		for (i = 0; i < n; i++)
			st_thread_join(start(spawn_child, &ran, 1), NULL);
		peer_note(b, t, n);
	}
	peer_check(ran == n * PEER_BATCHES, "each thread runs once");
}

static void *
parked_run(void *arg)
{
	++*(long *)arg;
	st_usleep(ST_UTIME_NO_TIMEOUT);
	return NULL;
}

static void
run_parked(struct peer *b)
{
	double n = (double)b->size, rss, tables;
	long i, ran = 0;
	int64_t t;

	init();
	rss = peer_status_bytes("VmRSS");
	tables = peer_status_bytes("VmPTE");
	t = peer_cpu_ns();
	for (i = 0; i < b->size; i++)
		(void)start(parked_run, &ran, 0);
	while (ran < b->size)
		st_usleep(0);
	peer_print(b, "create_ns", (double)(peer_cpu_ns() - t) / n);
	peer_print(b, "resident_bytes",
	    (peer_status_bytes("VmRSS") - rss) / n);
	peer_print(b, "tables_bytes",
	    (peer_status_bytes("VmPTE") - tables) / n);
	_Exit(0);
}

static void
run_mutex(struct peer *b)
{
	long batch, i, n = peer_batch(b);
	st_mutex_t m;
	int64_t t;

	init();
	m = st_mutex_new();
	for (batch = 0; batch < PEER_BATCHES; batch++) {
		t = peer_now_ns();
		for (i = 0; i < n; i++) {
			st_mutex_lock(m);
			st_mutex_unlock(m);
		}
		peer_note(b, t, n);
	}
}

static const struct peer_row rows[] = {
	{ "yield", run_yield, 5000000, 0 },
	{ "spawn_fiber", run_spawn, 1000000, 0 },
	{ "pingpong", run_ring, 2000000, 2 },
	{ "ring", run_ring, 2000000, 1000 },
	{ "mutex", run_mutex, 5000000, 0 },
	{ "parked", run_parked, 1, 30000 },
};

int
main(int argc, char **argv)
{
	return peer_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
