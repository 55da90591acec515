/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * libuv: timers of a callback loop. (Its clock has whole milliseconds, so
 * there is no lateness of sleepers to compare.)
 */
#include "../peer.h"

#include <uv.h>

static void
never(uv_timer_t *t)
{
	(void)t;
	peer_check(0, "a stopped timer has fired");
}

static uv_timer_t *
timers_new(uv_loop_t *loop, long n)
{
	uv_timer_t *t = calloc((size_t)n, sizeof(*t));
	long i;

	peer_check(t != NULL, "memory");
	for (i = 0; i < n; i++)
		uv_timer_init(loop, &t[i]);
	return t;
}

/* The loop knows them for good, so their memory stays. */
static void
timers_stop(uv_timer_t *t, long n)
{
	long i;

	for (i = 0; i < n; i++)
		uv_timer_stop(&t[i]);
}

static void
run_timer(struct peer *b)
{
	uv_loop_t *loop = uv_default_loop();
	uv_timer_t *t = timers_new(loop, b->size + 1);
	uint64_t random = 88172645463325252u;
	long batch, i, n = peer_batch(b);
	int64_t since;

	for (i = 0; i < b->size; i++)
		uv_timer_start(&t[i], never, 60000 + peer_random(&random) %
		    7140000, 0);
	for (batch = 0; batch < PEER_BATCHES; batch++) {
		since = peer_now_ns();
		for (i = 0; i < n; i++) {
			uv_timer_start(&t[b->size], never, 60000 +
			    peer_random(&random) % 7140000, 0);
			uv_timer_stop(&t[b->size]);
		}
		peer_note(b, since, n);
	}
	timers_stop(t, b->size);
}

static void
run_timer_oldest(struct peer *b)
{
	uv_loop_t *loop = uv_default_loop();
	uv_timer_t *t = timers_new(loop, b->size);
	uint64_t random = 88172645463325252u;
	long batch, i, at = 0, n = peer_batch(b);
	int64_t since;

	for (i = 0; i < b->size; i++)
		uv_timer_start(&t[i], never, 60000 + peer_random(&random) %
		    7140000, 0);
	for (batch = 0; batch < PEER_BATCHES; batch++) {
		since = peer_now_ns();
		for (i = 0; i < n; i++) {
			uv_timer_stop(&t[at]);
			uv_timer_start(&t[at], never, 60000 +
			    peer_random(&random) % 7140000, 0);
			if (++at == b->size)
				at = 0;
		}
		peer_note(b, since, n);
	}
	timers_stop(t, b->size);
}

static const struct peer_row rows[] = {
	{ "timer", run_timer, 1000000, 100000 },
	{ "timer_oldest", run_timer_oldest, 1000000, 100000 },
};

int
main(int argc, char **argv)
{
	return peer_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
