/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* boost.fiber: fibers with a scheduler, channels and a mutex. */
#include "../peer.h"

#include <boost/fiber/all.hpp>
#include <thread>
#include <vector>

namespace bf = boost::fibers;

#define SENDERS		8
#define CAPACITY	4096

struct message {
	uint64_t from;
	uint64_t left;
};

typedef bf::buffered_channel<message> channel;

template <typename F> static bf::fiber
start(F fn)
{
	return bf::fiber(bf::launch::post, std::allocator_arg,
	    bf::fixedsize_stack(64 * 1024), fn);
}

static void
run_yield(struct peer *b)
{
	long n = peer_batch(b) / b->size + 1, i, started = 0;
	std::vector<bf::fiber> fibers;

	for (i = 0; i < b->size; i++)
		fibers.push_back(start([=, &started] {
			bool first = started++ == 0;
			for (int batch = 0; batch < PEER_BATCHES; batch++) {
				int64_t t = peer_now_ns();
				for (long k = 0; k < n; k++)
					boost::this_fiber::yield();
				if (first)
					peer_note(b, t, n * b->size);
			}
		}));
	for (auto &f : fibers)
		f.join();
}

static void
run_spawn(struct peer *b)
{
	long n = peer_batch(b), ran = 0;

	start([=, &ran] {
		for (int batch = 0; batch < PEER_BATCHES; batch++) {
			int64_t t = peer_now_ns();
			for (long k = 0; k < n; k++) {
				start([&ran] { ran++; }).detach();
				boost::this_fiber::yield();
			}
			peer_note(b, t, n);
		}
	}).join();
	peer_check(ran == n * PEER_BATCHES, "each fiber runs once");
}

static void
run_parked(struct peer *b)
{
	double n = (double)b->size, rss, tables;
	channel never(2);
	long ran = 0, i;
	int64_t t;

	rss = peer_status_bytes("VmRSS");
	tables = peer_status_bytes("VmPTE");
	t = peer_cpu_ns();
	for (i = 0; i < b->size; i++)
		start([&ran, &never] {
			message m;

			ran++;
			never.pop(m);
		}).detach();
	while (ran < b->size)
		boost::this_fiber::yield();
	peer_print(b, "create_ns", (double)(peer_cpu_ns() - t) / n);
	peer_print(b, "resident_bytes",
	    (peer_status_bytes("VmRSS") - rss) / n);
	peer_print(b, "tables_bytes",
	    (peer_status_bytes("VmPTE") - tables) / n);
	fflush(stdout);
	_Exit(0);
}

static void
ping(struct peer *b, channel &to, channel &from)
{
	long i, batch, n = peer_batch(b) / 2 + 1;
	message m = { 0, 1 };
	int64_t t;

	for (batch = 0; batch < PEER_BATCHES; batch++) {
		t = peer_now_ns();
		for (i = 0; i < n; i++) {
			to.push(m);
			from.pop(m);
		}
		peer_note(b, t, 2 * n);
	}
	to.close();
}

static void
pong(channel &to, channel &from)
{
	message m;

	while (from.pop(m) == bf::channel_op_status::success)
		to.push(m);
}

static void
run_pingpong(struct peer *b)
{
	channel a(CAPACITY), c(CAPACITY);
	bf::fiber f = start([&] { pong(c, a); });

	start([&] { ping(b, a, c); }).join();
	f.join();
}

static void
run_pingpong_threads(struct peer *b)
{
	channel a(CAPACITY), c(CAPACITY);
	std::thread thread([&] { start([&] { pong(c, a); }).join(); });

	start([&] { ping(b, a, c); }).join();
	thread.join();
}

static long
fanin_each(struct peer *b)
{
	return (b->count / SENDERS / PEER_BATCHES + 1) * PEER_BATCHES;
}

static void
fanin_send(struct peer *b, channel &to)
{
	std::vector<bf::fiber> senders;
	long each = fanin_each(b);

	for (int i = 0; i < SENDERS; i++)
		senders.push_back(start([=, &to] {
			message m = { 0, 1 };

			for (long k = 0; k < each; k++)
				to.push(m);
		}));
	for (auto &f : senders)
		f.join();
}

static void
fanin_receive(struct peer *b, channel &from, long batches)
{
	long i, batch, n = fanin_each(b) * SENDERS / batches;
	message m;
	int64_t t;

	for (batch = 0; batch < batches; batch++) {
		t = peer_now_ns();
		for (i = 0; i < n; i++)
			from.pop(m);
		peer_note(b, t, n);
	}
	peer_print(b, "million_per_s", 1e3 / b->best_ns);
	b->best_ns = 0;
}

static void
run_fanin(struct peer *b)
{
	channel c(CAPACITY);
	bf::fiber f = start([&] { fanin_receive(b, c, PEER_BATCHES); });

	fanin_send(b, c);
	f.join();
}

/* In one batch: what is sent in one may be received in the next. */
static void
run_fanin_threads(struct peer *b)
{
	channel c(CAPACITY);
	std::thread thread([&] { fanin_send(b, c); });

	start([&] { fanin_receive(b, c, 1); }).join();
	thread.join();
}

static void
run_ring(struct peer *b)
{
	long size = b->size, n = peer_batch(b) / size + 1;
	std::vector<std::unique_ptr<channel>> c;
	std::vector<bf::fiber> members;

	for (long i = 0; i < size; i++)
		c.emplace_back(new channel(2));
	for (long i = 1; i < size; i++)
		members.push_back(start([&c, i, size] {
			message m;

			while (c[i]->pop(m) == bf::channel_op_status::success)
				c[(i + 1) % size]->push(m);
		}));
	start([&] {
		message m = { 0, 1 };

		for (int batch = 0; batch < PEER_BATCHES; batch++) {
			int64_t t = peer_now_ns();
			for (long k = 0; k < n; k++) {
				c[1 % size]->push(m);
				c[0]->pop(m);
			}
			peer_note(b, t, n * size);
		}
	}).join();
	for (auto &x : c)
		x->close();
	for (auto &f : members)
		f.join();
}

static void
run_mutex(struct peer *b)
{
	long n = peer_batch(b), had = 0;
	bf::mutex m;

	start([=, &m, &had] {
		for (int batch = 0; batch < PEER_BATCHES; batch++) {
			int64_t t = peer_now_ns();
			for (long k = 0; k < n; k++) {
				m.lock();
				had++;
				m.unlock();
			}
			peer_note(b, t, n);
		}
	}).join();
	peer_check(had == n * PEER_BATCHES, "each lock was had");
}

/*
 * A lock may be had by one of them several times in a row, so what counts is
 * how often it was had in all.
 */
static void
run_mutex_handoff(struct peer *b)
{
	long n = peer_batch(b) / b->size + 1, started = 0, had = 0;
	std::vector<bf::fiber> fibers;
	bf::mutex m;

	for (long i = 0; i < b->size; i++)
		fibers.push_back(start([=, &m, &started, &had] {
			bool first = started++ == 0;
			for (int batch = 0; batch < PEER_BATCHES; batch++) {
				int64_t t = peer_now_ns();
				long before = had;
				for (long k = 0; k < n; k++) {
					m.lock();
					had++;
					boost::this_fiber::yield();
					m.unlock();
				}
				if (first)
					peer_note(b, t, had - before);
			}
		}));
	for (auto &f : fibers)
		f.join();
}

static void
run_sleepers(struct peer *b)
{
	std::vector<int64_t> late_ns(b->size);
	std::vector<bf::fiber> fibers;
	uint64_t random = 88172645463325252u;
	long done = 0;

	for (long i = 0; i < b->size; i++)
		fibers.push_back(start([&] {
			int64_t ns = PEER_SECOND_NS / 2 + (int64_t)(
			    peer_random(&random) % PEER_SECOND_NS);
			int64_t at_ns = peer_now_ns() + ns;

			boost::this_fiber::sleep_for(
			    std::chrono::nanoseconds(ns));
			late_ns[done++] = peer_now_ns() - at_ns;
		}));
	for (auto &f : fibers)
		f.join();
	peer_print_lateness(b, late_ns.data());
}

static const struct peer_row rows[] = {
	{ "yield", run_yield, 5000000, 2 },
	{ "spawn_fiber", run_spawn, 1000000, 0 },
	{ "pingpong", run_pingpong, 1000000, 0 },
	{ "pingpong_threads", run_pingpong_threads, 100000, 0 },
	{ "fanin", run_fanin, 4000000, 0 },
	{ "fanin_threads", run_fanin_threads, 4000000, 0 },
	{ "ring", run_ring, 1000000, 1000 },
	{ "mutex", run_mutex, 5000000, 0 },
	{ "mutex_handoff", run_mutex_handoff, 1000000, 8 },
	{ "sleepers", run_sleepers, 1, 100000 },
	{ "parked", run_parked, 1, 30000 },
};

int
main(int argc, char **argv)
{
	return peer_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
