/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * drive_parked: a program full of parked fibers, for the tests of the
 * scripts.
 *
 *	stuck		ends while one fiber receives what nobody sends, and
 *			another has been handed a lock but has not run since
 *	many N [--hold]	N fibers receive for ever; when all are parked a thread
 *			sends to each, and they end. With --hold it prints its
 *			pid first and waits for SIGUSR1.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xtc.h>

#define MS 1000000

static xtc_loop_t *loop;
static xtc_amutex_t *lock;
static xtc_pid_t *pids;
static int n_pids, n_parking, hold;

static void
must(int error, const char *what)
{
	if (error == XTC_OK)
		return;
	fprintf(stderr, "drive_parked: %s: %s\n", what, xtc_strerror(error));
	exit(1);
}

static void
receive_once(void *arg)
{
	void *message;

	(void)arg;
	n_parking++;
	must(xtc_recv(&message, NULL, -1), "xtc_recv");
	xtc_free(message);
}

static void
heir(void *arg)
{
	(void)arg;
	(void)xtc_amutex_lock(lock, -1);
}

/* Hands the lock over and ends the program before the heir can run. */
static void
last_owner(void *arg)
{
	(void)arg;
	must(xtc_amutex_lock(lock, -1), "xtc_amutex_lock");
	must(xtc_proc_sleep(5 * MS), "xtc_proc_sleep");
	must(xtc_amutex_unlock(lock), "xtc_amutex_unlock");
	_exit(0);
}

static int
be_stuck(void)
{
	must(xtc_amutex_create(&lock), "xtc_amutex_create");
	printf("lock %" PRIuPTR "\n", (uintptr_t)lock);
	fflush(stdout);
	must(xtc_proc_spawn(loop, last_owner, NULL, NULL, NULL), "spawn");
	must(xtc_proc_spawn(loop, heir, NULL, NULL, NULL), "spawn");
	must(xtc_proc_spawn(loop, receive_once, NULL, NULL, NULL), "spawn");
	must(xtc_loop_run(loop), "xtc_loop_run");
	return 1;
}

static void *
send_to_all(void *arg)
{
	sigset_t set;
	int i, number;

	(void)arg;
	if (hold) {
		printf("%ld\n", (long)getpid());
		fflush(stdout);
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigwait(&set, &number);
	}
	for (i = 0; i < n_pids; i++)
		must(xtc_send(pids[i], "x", 1), "xtc_send");
	return NULL;
}

/* Runs after all that were spawned before it have parked. */
static void
start_sending(void *arg)
{
	pthread_t *thread = arg;

	while (n_parking < n_pids)
		xtc_yield();
	if (pthread_create(thread, NULL, send_to_all, NULL) != 0)
		must(XTC_E_RESOURCE, "pthread_create");
}

static int
be_many(void)
{
	pthread_t thread;
	sigset_t set;
	int i;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pids = calloc((size_t)n_pids, sizeof(*pids));
	if (pids == NULL)
		must(XTC_E_NOMEM, "calloc");
	for (i = 0; i < n_pids; i++)
		must(xtc_proc_spawn(loop, receive_once, NULL, NULL, &pids[i]),
		    "spawn");
	must(xtc_proc_spawn(loop, start_sending, &thread, NULL, NULL),
	    "spawn");
	must(xtc_loop_run(loop), "xtc_loop_run");
	(void)pthread_join(thread, NULL);
	must(xtc_loop_fini(loop), "xtc_loop_fini");
	free(pids);
	printf("done\n");
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr,
		    "usage: drive_parked stuck | many N [--hold]\n");
		return 2;
	}
	must(xtc_loop_init(&loop), "xtc_loop_init");
	if (strcmp(argv[1], "stuck") == 0)
		return be_stuck();
	n_pids = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
	hold = argc > 3 && strcmp(argv[3], "--hold") == 0;
	return be_many();
}
