/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * drive_trace: a program that is at work when xtc-trace comes.
 *
 * Four fibers, "older 0" to "older 3", one "mayfly" and a plain thread take
 * turns with one lock; "stuck" receives what nobody sends. It prints its pid
 * when all of them exist. SIGUSR1: the mayfly ends, and "young" goes on in its
 * place, in the same memory; then it prints "young". SIGUSR2: all end, the
 * stuck one because it is killed.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <xtc.h>

#define US 1000
#define OLDER 4

static xtc_loop_t *loop;
static xtc_amutex_t *lock;
static volatile sig_atomic_t mayfly_ends, all_end;
static int n_there, mayfly_gone;
static xtc_pid_t stuck_pid;

static void
must(int error, const char *what)
{
	if (error == XTC_OK)
		return;
	fprintf(stderr, "drive_trace: %s: %s\n", what, xtc_strerror(error));
	exit(1);
}

static void
on_signal(int number)
{
	if (number == SIGUSR1)
		mayfly_ends = 1;
	else
		all_end = 1;
}

static void
take_turn(void)
{
	must(xtc_amutex_lock(lock, -1), "xtc_amutex_lock");
	must(xtc_proc_sleep(200 * US), "xtc_proc_sleep");
	must(xtc_amutex_unlock(lock), "xtc_amutex_unlock");
	must(xtc_proc_sleep(100 * US), "xtc_proc_sleep");
}

static void
older(void *arg)
{
	(void)arg;
	n_there++;
	while (!all_end)
		take_turn();
}

static void
mayfly(void *arg)
{
	(void)arg;
	n_there++;
	while (!all_end && !mayfly_ends)
		take_turn();
	mayfly_gone = 1;
}

static void
young(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; !all_end; i++) {
		take_turn();
		if (i == 10) {
			printf("young\n");
			fflush(stdout);
		}
	}
}

static void
stuck(void *arg)
{
	void *message;

	(void)arg;
	n_there++;
	stuck_pid = xtc_self();
	(void)xtc_recv(&message, NULL, -1);
}

static void
spawn(void (*fn)(void *), const char *name)
{
	xtc_proc_opts_t opts = XTC_PROC_OPTS_DEFAULT;

	opts.name = name;
	must(xtc_proc_spawn(loop, fn, NULL, &opts, NULL), "xtc_proc_spawn");
}

static void *
thread_main(void *arg)
{
	const struct timespec turn = { .tv_nsec = 200 * US };

	(void)arg;
	while (!all_end) {
		must(xtc_amutex_lock(lock, -1), "xtc_amutex_lock");
		nanosleep(&turn, NULL);
		must(xtc_amutex_unlock(lock), "xtc_amutex_unlock");
		nanosleep(&turn, NULL);
	}
	return NULL;
}

/* Without a name: a fiber is called by its function then. */
static void
keeper(void *arg)
{
	(void)arg;
	while (n_there < OLDER + 2)
		must(xtc_proc_sleep(100 * US), "xtc_proc_sleep");
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	while (!mayfly_gone && !all_end)
		must(xtc_proc_sleep(100 * US), "xtc_proc_sleep");
	spawn(young, "young");
	while (!all_end)
		must(xtc_proc_sleep(1000 * US), "xtc_proc_sleep");
	must(xtc_exit_pid(stuck_pid, 0), "xtc_exit_pid");
}

int
main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	char name[] = "older 0";
	pthread_t thread;
	int i;

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	must(xtc_loop_init(&loop), "xtc_loop_init");
	must(xtc_amutex_create(&lock), "xtc_amutex_create");
	for (i = 0; i < OLDER; i++) {
		name[sizeof(name) - 2] = (char)('0' + i);
		spawn(older, name);
	}
	spawn(mayfly, "mayfly");
	spawn(stuck, "stuck");
	must(xtc_proc_spawn(loop, keeper, NULL, NULL, NULL), "spawn");
	if (pthread_create(&thread, NULL, thread_main, NULL) != 0)
		must(XTC_E_RESOURCE, "pthread_create");
	must(xtc_loop_run(loop), "xtc_loop_run");
	(void)pthread_join(thread, NULL);
	must(xtc_loop_fini(loop), "xtc_loop_fini");
	must(xtc_amutex_destroy(lock), "xtc_amutex_destroy");
	printf("done\n");
	return 0;
}
