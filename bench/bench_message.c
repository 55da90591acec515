/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench_message: messages of 16 bytes, each copied once: to and fro between
 * two processes, from eight to one, and round a ring; on one loop, and
 * between two loops on two threads.
 */
#include "bench.h"

#include <pthread.h>

#define SENDERS		8
#define WINDOW		256	/* two of each sender's fit in the mailbox */

struct message {
	xtc_pid_t from;
	uint64_t left;		/* hops; fan-in: 1 wants an answer */
};

struct pair {
	struct bench *b;
	xtc_pid_t pid[2];
	int64_t timeout_ns;
};

struct player {
	struct pair *pair;
	int first;
};

static void
message_send(xtc_pid_t to, uint64_t left)
{
	struct message m = { xtc_self(), left };

	bench_must(xtc_send(to, &m, sizeof(m)), "xtc_send");
}

static struct message
message_recv(int64_t timeout_ns)
{
	struct message m;
	void *p;

	bench_must(xtc_recv(&p, NULL, timeout_ns), "xtc_recv");
	m = *(struct message *)p;
	xtc_free(p);
	return m;
}

/* Both do the same, but that the first one begins and holds the watch. */
static void
pair_play(void *arg)
{
	struct player *p = arg;
	struct bench *b = p->pair->b;
	xtc_pid_t other = p->pair->pid[p->first];
	long i, batch, n = bench_batch(b) / 2 + 1;
	int64_t t;

	for (batch = 0; batch < b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++) {
			if (p->first)
				message_send(other, 1);
			(void)message_recv(p->pair->timeout_ns);
			if (!p->first)
				message_send(other, 1);
		}
		if (p->first)
			bench_note(b, t, 2 * n);
	}
}

static void *
message_loop_thread(void *arg)
{
	bench_must(xtc_loop_run(arg), "xtc_loop_run");
	return NULL;
}

/* Runs a on this thread and b on another one. */
static void
message_two_loops(xtc_loop_t *a, xtc_loop_t *b)
{
	pthread_t thread;

	bench_check(pthread_create(&thread, NULL, message_loop_thread, b) == 0,
	    "no thread");
	bench_must(xtc_loop_run(a), "xtc_loop_run");
	bench_check(pthread_join(thread, NULL) == 0, "no join");
	bench_must(xtc_loop_fini(a), "xtc_loop_fini");
	bench_must(xtc_loop_fini(b), "xtc_loop_fini");
}

static void
message_run(xtc_loop_t *a, xtc_loop_t *b)
{
	if (a == b)
		bench_end(a);
	else
		message_two_loops(a, b);
}

static void
pair_run(struct bench *b, xtc_loop_t *here, xtc_loop_t *there,
    int64_t timeout_ns)
{
	struct pair pair = { b, { XTC_PID_NONE, XTC_PID_NONE }, timeout_ns };
	struct player first = { &pair, 1 }, second = { &pair, 0 };

	pair.pid[1] = bench_spawn(there, pair_play, &second);
	pair.pid[0] = bench_spawn(here, pair_play, &first);
	message_run(here, there);
	bench_print_best(b, "ns");
}

static void
run_pingpong(struct bench *b)
{
	xtc_loop_t *loop = bench_loop();

	pair_run(b, loop, loop, -1);
}

/* Each wait has a timeout, which never comes. */
static void
run_pingpong_timeout(struct bench *b)
{
	xtc_loop_t *loop = bench_loop();

	pair_run(b, loop, loop, INT64_C(60000000000));
}

static void
run_pingpong_threads(struct bench *b)
{
	pair_run(b, bench_loop(), bench_loop(), -1);
}

struct fanin {
	struct bench *b;
	xtc_pid_t to;
	long each;		/* messages of a sender */
};

/* An answer is asked for at the end of each window, and awaited one later. */
static void
fanin_sender(void *arg)
{
	struct fanin *f = arg;
	struct message m = { xtc_self(), 0 };
	long i, n = 0;

	for (i = 1; i <= f->each; i++) {
		m.left = i % WINDOW == 0;
		bench_must(xtc_send(f->to, &m, sizeof(m)), "xtc_send");
		if (m.left && n++ > 0)
			(void)message_recv(-1);
	}
	if (n > 0)
		(void)message_recv(-1);
}

static void
fanin_receiver(void *arg)
{
	struct fanin *f = arg;
	long i, batch, n = f->each * SENDERS / f->b->batches;
	struct message m;
	int64_t t;

	for (batch = 0; batch < f->b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++) {
			m = message_recv(-1);
			if (m.left)
				message_send(m.from, 0);
		}
		bench_note(f->b, t, n);
	}
}

static void
fanin_run(struct bench *b, xtc_loop_t *senders, xtc_loop_t *receiver)
{
	struct fanin f = { b, XTC_PID_NONE, 0 };
	int i;

	/* what another thread sent in one batch is received in the next */
	if (senders != receiver)
		b->batches = 1;
	/* so that they are as many as are received */
	f.each = (b->count / SENDERS / b->batches + 1) * b->batches;
	f.to = bench_spawn(receiver, fanin_receiver, &f);
	for (i = 0; i < SENDERS; i++)
		(void)bench_spawn(senders, fanin_sender, &f);
	message_run(senders, receiver);
	bench_print(b, "million_per_s", 1e3 / b->best_ns);
}

static void
run_fanin(struct bench *b)
{
	xtc_loop_t *loop = bench_loop();

	fanin_run(b, loop, loop);
}

static void
run_fanin_threads(struct bench *b)
{
	fanin_run(b, bench_loop(), bench_loop());
}

struct ring {
	struct bench *b;
	xtc_pid_t *pids;
	long size;
};

struct ring_place {
	struct ring *ring;
	long next;
};

static void
ring_member(void *arg)
{
	struct ring_place *p = arg;
	xtc_pid_t next = p->ring->pids[p->next];
	struct message m;

	do {
		m = message_recv(-1);
		message_send(next, m.left - 1);
	} while (m.left >= (uint64_t)p->ring->size);
}

/* The token says how many hops are left; in the last lap each member ends. */
static void
ring_first(void *arg)
{
	struct ring_place *p = arg;
	struct ring *r = p->ring;
	xtc_pid_t next = r->pids[p->next];
	long lap, batch, n = bench_laps(r->b);
	uint64_t left = (uint64_t)n * (uint64_t)r->b->batches *
	    (uint64_t)r->size;
	int64_t t;

	for (batch = 0; batch < r->b->batches; batch++) {
		t = xtc_clock_mono();
		for (lap = 0; lap < n; lap++) {
			message_send(next, left - 1);
			left = message_recv(-1).left;
		}
		bench_note(r->b, t, n * r->size);
	}
	bench_check(left == 0, "the token went round as often as it should");
}

static void
run_ring(struct bench *b)
{
	size_t n = (size_t)b->size, i;
	struct ring r = { b, bench_alloc(n, sizeof(*r.pids)), b->size };
	struct ring_place *places = bench_alloc(n, sizeof(*places));
	xtc_loop_t *loop = bench_loop();

	for (i = 0; i < n; i++) {
		places[i].ring = &r;
		places[i].next = (long)((i + 1) % n);
		r.pids[i] = bench_spawn(loop, i == 0 ? ring_first :
		    ring_member, &places[i]);
	}
	bench_end(loop);
	bench_print_best(b, "ns");
	free(places);
	free(r.pids);
}

static const struct bench_row rows[] = {
	{ "pingpong", run_pingpong, 2000000, 0 },
	{ "pingpong_timeout", run_pingpong_timeout, 1000000, 0 },
	{ "pingpong_threads", run_pingpong_threads, 100000, 0 },
	{ "fanin", run_fanin, 4000000, 0 },
	{ "fanin_threads", run_fanin_threads, 4000000, 0 },
	{ "ring", run_ring, 2000000, 1000 },
};

int
main(int argc, char **argv)
{
	return bench_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
