/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * drive_paths: goes one path through the library N times, for a tool that
 * counts instructions: drive_paths PATH N, see the table at the end.
 *
 * Built with probes that count (check_probe_cost.py makes such a header) it
 * also prints how many sites were passed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xtc.h>

#ifdef XTC_COUNT_HITS
unsigned long xtc__probe_hits;
#endif

static xtc_loop_t *loop;
static xtc_amutex_t *lock;
static xtc_pid_t peer;
static long rounds;

static void
must(int error, const char *what)
{
	if (error == XTC_OK)
		return;
	fprintf(stderr, "drive_paths: %s: %s\n", what, xtc_strerror(error));
	exit(1);
}

static void
lock_free(void *arg)
{
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		must(xtc_amutex_lock(lock, -1), "lock");
		must(xtc_amutex_unlock(lock), "unlock");
	}
}

static void
yield(void *arg)
{
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++)
		xtc_yield();
}

/* A send to a running fiber, and a receive that need not wait. */
static void
send_self(void *arg)
{
	void *message;
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		must(xtc_send(xtc_self(), &i, sizeof(i)), "send");
		must(xtc_recv(&message, NULL, -1), "recv");
		xtc_free(message);
	}
}

static void
allocate(void *arg)
{
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++)
		xtc_free(xtc_malloc(64));
}

static void
echo(void *arg)
{
	xtc_pid_t from;
	void *message;
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		must(xtc_recv(&message, NULL, -1), "recv");
		memcpy(&from, message, sizeof(from));
		xtc_free(message);
		must(xtc_send(from, &from, sizeof(from)), "send");
	}
}

/* Each message finds its receiver parked. */
static void
ask(void *arg)
{
	xtc_pid_t self = xtc_self();
	void *message;
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		must(xtc_send(peer, &self, sizeof(self)), "send");
		must(xtc_recv(&message, NULL, -1), "recv");
		xtc_free(message);
	}
}

/* Two of these hand the lock to each other: each holds it over a yield. */
static void
contend(void *arg)
{
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		must(xtc_amutex_lock(lock, -1), "lock");
		xtc_yield();
		must(xtc_amutex_unlock(lock), "unlock");
	}
}

static void
nothing(void *arg)
{
	(void)arg;
}

static void
spawn_all(void *arg)
{
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		must(xtc_proc_spawn(loop, nothing, NULL, NULL, NULL), "spawn");
		xtc_yield();
	}
}

/* Receives that time out at once, with a timer each. */
static void
arm_and_cancel(void *arg)
{
	xtc_timer_t *timer;
	long i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		must(xtc_timer_set(loop, INT64_MAX, nothing, NULL, &timer),
		    "timer");
		must(xtc_timer_cancel(timer), "cancel");
	}
}

static const struct path {
	const char *name;
	void (*first)(void *);
	void (*second)(void *);
} paths[] = {
	{ "lock", lock_free, NULL },
	{ "yield", yield, NULL },
	{ "send", send_self, NULL },
	{ "malloc", allocate, NULL },
	{ "message", echo, ask },
	{ "contended", contend, contend },
	{ "spawn", spawn_all, NULL },
	{ "timer", arm_and_cancel, NULL },
};

int
main(int argc, char **argv)
{
	const struct path *p = NULL;
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (strcmp(argv[1], paths[i].name) == 0)
			p = &paths[i];
	if (p == NULL) {
		fprintf(stderr, "usage: drive_paths PATH N\n");
		return 2;
	}
	rounds = strtol(argv[2], NULL, 10);
	must(xtc_loop_init(&loop), "xtc_loop_init");
	must(xtc_amutex_create(&lock), "xtc_amutex_create");
	must(xtc_proc_spawn(loop, p->first, NULL, NULL, &peer), "spawn");
	if (p->second != NULL)
		must(xtc_proc_spawn(loop, p->second, NULL, NULL, NULL),
		    "spawn");
	must(xtc_loop_run(loop), "xtc_loop_run");
	must(xtc_loop_fini(loop), "xtc_loop_fini");
#ifdef XTC_COUNT_HITS
	printf("hits %lu\n", xtc__probe_hits);
#endif
	return 0;
}
