/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * usdt_target: a program to trace. ping sends to pong while it holds a lock
 * that pong then asks for, so that messages, sleeps, receives with a timeout
 * and lock waits all happen, a hundred times.
 */
#include <stdio.h>

#include <xtc.h>

#define ROUNDS 100
#define US 1000

static xtc_amutex_t *mutex;
static xtc_pid_t pong_pid;

static void
pong(void *arg)
{
	void *message;

	(void)arg;
	while (xtc_recv(&message, NULL, 100000 * US) == XTC_OK) {
		xtc_free(message);
		if (xtc_amutex_lock(mutex, -1) != XTC_OK)
			return;
		xtc_amutex_unlock(mutex);
	}
}

static void
ping(void *arg)
{
	int counter;

	(void)arg;
	for (counter = 0; counter < ROUNDS; counter++) {
		if (xtc_amutex_lock(mutex, -1) != XTC_OK)
			return;
		xtc_send(pong_pid, &counter, sizeof(counter));
		xtc_proc_sleep(100 * US);
		xtc_amutex_unlock(mutex);
		xtc_proc_sleep(100 * US);
	}
}

int
main(void)
{
	xtc_loop_t *loop;

	if (xtc_amutex_create(&mutex) != XTC_OK ||
	    xtc_loop_init(&loop) != XTC_OK)
		return (1);
	if (xtc_proc_spawn(loop, pong, NULL, NULL, &pong_pid) != XTC_OK ||
	    xtc_proc_spawn(loop, ping, NULL, NULL, NULL) != XTC_OK)
		return (1);
	if (xtc_loop_run(loop) != XTC_OK)
		return (1);
	xtc_loop_fini(loop);
	xtc_amutex_destroy(mutex);
	printf("done\n");
	return (0);
}
