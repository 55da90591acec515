/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * drive_storm: an executor of four loops, many migratable processes that
 * lock, send, receive, sleep, spawn and kill each other by chance with
 * timeouts of a few microseconds, stopped in the middle and finished with
 * most of them alive. "drive_storm [OPERATIONS [SEED]]".
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <xtc.h>

#define LOOPS 4
#define SLOTS 256
#define LOCKS 4
#define US 1000

static xtc_exec_t *exec;
static xtc_amutex_t *locks[LOCKS];
/* Who is in a slot; a killed one stays until another takes its place. */
static _Atomic uint64_t slots[SLOTS];
static _Atomic long operations;
static _Atomic uint64_t seed;

static void storm(void *arg);

static void
must(int error, const char *what)
{
	if (error == XTC_OK)
		return;
	fprintf(stderr, "drive_storm: %s: %s\n", what, xtc_strerror(error));
	exit(1);
}

static unsigned
chance(uint64_t *state, unsigned below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned)(*state >> 33) % below;
}

static void
spawn_into(unsigned slot, xtc_loop_t *loop)
{
	xtc_proc_opts_t opts = XTC_PROC_OPTS_DEFAULT;
	xtc_pid_t pid;

	opts.migratable = 1;
	opts.mailbox_cap = 128;
	opts.name = "storm";
	if (xtc_proc_spawn(loop, storm, NULL, &opts, &pid) == XTC_OK)
		/* Relaxed: a number on its own, as all of these. */
		atomic_store_explicit(&slots[slot], pid.id,
		    memory_order_relaxed);
}

static xtc_pid_t
somebody(uint64_t *state)
{
	xtc_pid_t pid;

	pid.id = atomic_load_explicit(&slots[chance(state, SLOTS)],
	    memory_order_relaxed);
	return pid;
}

static void
one_operation(uint64_t *state)
{
	xtc_amutex_t *m = locks[chance(state, LOCKS)];
	int64_t timeout_ns = (int64_t)chance(state, 40) * US - 1;
	void *message;

	switch (chance(state, 12)) {
	case 0: case 1: case 2:
		if (xtc_amutex_lock(m, timeout_ns < 0 ? 0 : timeout_ns) < 0)
			break;
		if (chance(state, 2) == 0)
			xtc_proc_sleep(timeout_ns);
		/* At times it dies holding it, or forgets. */
		if (chance(state, 50) != 0)
			xtc_amutex_unlock(m);
		break;
	case 3: case 4: case 5: case 6:
		(void)xtc_send(somebody(state), state, sizeof(*state));
		break;
	case 7: case 8:
		if (xtc_recv(&message, NULL, timeout_ns) == XTC_OK)
			xtc_free(message);
		break;
	case 9:
		xtc_yield();
		break;
	case 10:
		xtc_proc_sleep(timeout_ns);
		break;
	default:
		if (chance(state, 8) == 0)
			(void)xtc_exit_pid(somebody(state), 1);
		else
			spawn_into(chance(state, SLOTS), xtc_loop_self());
	}
}

static void
storm(void *arg)
{
	uint64_t state = atomic_fetch_add_explicit(&seed,
	    UINT64_C(0x9e3779b97f4a7c15), memory_order_relaxed) | 1;
	unsigned i, n = 20 + chance(&state, 100);

	(void)arg;
	for (i = 0; i < n; i++) {
		if (atomic_fetch_sub_explicit(&operations, 1,
		    memory_order_relaxed) == 0)
			(void)xtc_exec_stop(exec);
		one_operation(&state);
	}
	if (chance(&state, 3) == 0)
		xtc_exit_self(-1);
	spawn_into(chance(&state, SLOTS), xtc_loop_self());
}

int
main(int argc, char **argv)
{
	unsigned i;

	/* Relaxed: nothing runs yet. */
	atomic_store_explicit(&operations, argc > 1 ?
	    strtol(argv[1], NULL, 10) : 20000, memory_order_relaxed);
	atomic_store_explicit(&seed, argc > 2 ?
	    strtoull(argv[2], NULL, 10) : 1, memory_order_relaxed);
	must(xtc_exec_init(&exec, LOOPS), "xtc_exec_init");
	for (i = 0; i < LOCKS; i++)
		must(xtc_amutex_create(&locks[i]), "xtc_amutex_create");
	for (i = 0; i < SLOTS; i++)
		spawn_into(i, xtc_exec_loop(exec, (int)i % LOOPS));
	must(xtc_exec_run(exec), "xtc_exec_run");
	must(xtc_exec_fini(exec), "xtc_exec_fini");
	for (i = 0; i < LOCKS; i++)
		must(xtc_amutex_destroy(locks[i]), "xtc_amutex_destroy");
	printf("done\n");
	return 0;
}
