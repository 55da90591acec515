/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * drive_steal: an executor whose fibers are made to change their loop. A
 * fiber pinned to loop 0 starts migratable ones and keeps its loop until all
 * of them have run, which can only be on loop 1; there they park, and the
 * pinned one wakes them from loop 0. "drive_steal [N]" does it with N (8).
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <xtc.h>

#define WHILE_WAITED_FOR 5000000	/* ns */

static xtc_exec_t *exec;
static atomic_int n_ran;
static int n = 8;
static xtc_pid_t *pids;

static void
must(int error, const char *what)
{
	if (error == XTC_OK)
		return;
	fprintf(stderr, "drive_steal: %s: %s\n", what, xtc_strerror(error));
	exit(1);
}

/* The first wait times out on the loop that stole it, the second is ended
 * from the other loop. */
static void
stolen(void *arg)
{
	void *message;

	(void)arg;
	/* Sequentially consistent, as all of these: the order is the test. */
	atomic_fetch_add_explicit(&n_ran, 1, memory_order_seq_cst);
	if (xtc_recv(&message, NULL, WHILE_WAITED_FOR) == XTC_OK)
		xtc_free(message);
	must(xtc_recv(&message, NULL, -1), "xtc_recv");
	xtc_free(message);
}

static intptr_t
hog(void *arg)
{
	xtc_proc_opts_t opts = XTC_PROC_OPTS_DEFAULT;
	int i;

	(void)arg;
	opts.migratable = 1;
	for (i = 0; i < n; i++)
		must(xtc_proc_spawn(xtc_loop_self(), stolen, NULL, &opts,
		    &pids[i]), "xtc_proc_spawn");
	while (atomic_load_explicit(&n_ran, memory_order_seq_cst) < n)
		;
	must(xtc_proc_sleep(2 * WHILE_WAITED_FOR), "xtc_proc_sleep");
	for (i = 0; i < n; i++)
		must(xtc_send(pids[i], "x", 1), "xtc_send");
	return 0;
}

int
main(int argc, char **argv)
{
	xtc_loop_stats_t stats;
	uint64_t steals = 0;
	int i;

	if (argc > 1)
		n = (int)strtol(argv[1], NULL, 10);
	pids = calloc((size_t)n, sizeof(*pids));
	if (pids == NULL)
		must(XTC_E_NOMEM, "calloc");
	must(xtc_exec_init(&exec, 2), "xtc_exec_init");
	must(xtc_exec_async_on(exec, 0, hog, NULL, NULL), "xtc_exec_async_on");
	must(xtc_exec_run(exec), "xtc_exec_run");
	for (i = 0; i < 2; i++) {
		must(xtc_exec_loop_stats(exec, i, &stats), "stats");
		steals += stats.steals;
	}
	must(xtc_exec_fini(exec), "xtc_exec_fini");
	free(pids);
	printf("steals %llu\n", (unsigned long long)steals);
	printf("done 1\n");
	return 0;
}
