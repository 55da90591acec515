/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * pingpong: two processes send a message to and fro. The request carries
 * the sender's pid, so that the answer finds its way back. A message is
 * copied once, and the receiver owns what it received.
 */
#include <inttypes.h>
#include <stdio.h>

#include <xtc.h>

#define ROUNDS 100000

struct request {
	xtc_pid_t from;
	uint64_t value;
};

static xtc_pid_t pong_pid;
static uint64_t answered;

/* Answers value with value + 1, until nobody has asked for a second. */
static void
pong(void *arg)
{
	void *message;
	int error;

	(void)arg;
	while (xtc_recv(&message, NULL, 1000000000) == XTC_OK) {
		const struct request *r = message;
		uint64_t answer = r->value + 1;
		int last = (answer == ROUNDS);

		error = xtc_send(r->from, &answer, sizeof(answer));
		xtc_free(message);
		if (error != XTC_OK || last)
			return;
	}
}

static void
ping(void *arg)
{
	struct request r = { .from = xtc_self(), .value = 0 };
	void *message;

	(void)arg;
	while (r.value < ROUNDS) {
		if (xtc_send(pong_pid, &r, sizeof(r)) != XTC_OK)
			return;
		if (xtc_recv(&message, NULL, 1000000000) != XTC_OK)
			return;
		r.value = *(const uint64_t *)message;
		xtc_free(message);
		answered++;
	}
}

int
main(void)
{
	xtc_loop_t *loop;
	int64_t ran;
	int error;

	error = xtc_loop_init(&loop);
	if (error == XTC_OK)
		error = xtc_proc_spawn(loop, pong, NULL, NULL, &pong_pid);
	if (error == XTC_OK)
		error = xtc_proc_spawn(loop, ping, NULL, NULL, NULL);
	ran = xtc_clock_mono();
	if (error == XTC_OK)
		error = xtc_loop_run(loop);
	if (error != XTC_OK) {
		fprintf(stderr, "pingpong: %s\n", xtc_strerror(error));
		return (1);
	}
	ran = xtc_clock_mono() - ran;
	xtc_loop_fini(loop);
	printf("%" PRIu64 " round trips, %" PRId64 " ns a message\n", answered,
	    ran / (2 * ROUNDS));
	return (answered == ROUNDS ? 0 : 1);
}
