/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * hello: one process on one loop. It says who it is, sleeps without holding
 * the thread, and ends; the loop returns when nothing is alive any more.
 */
#include <inttypes.h>
#include <stdio.h>

#include <xtc.h>

static void
greet(void *arg)
{
	const char *whom = arg;
	int64_t start = xtc_clock_mono();
	int64_t asleep;

	printf("hello, %s, from process %" PRIu64 "\n", whom, xtc_self().id);
	if (xtc_proc_sleep(1000000) != XTC_OK)
		return;
	asleep = xtc_clock_mono() - start;
	printf("slept %s 1 ms\n", asleep >= 1000000 ? "at least" : "less than");
}

int
main(void)
{
	xtc_loop_t *loop;
	int error;

	error = xtc_loop_init(&loop);
	if (error == XTC_OK)
		error = xtc_proc_spawn(loop, greet, "world", NULL, NULL);
	if (error == XTC_OK)
		error = xtc_loop_run(loop);
	if (error != XTC_OK) {
		fprintf(stderr, "hello: %s\n", xtc_strerror(error));
		return (1);
	}
	xtc_loop_fini(loop);
	printf("libxtc %s\n", xtc_version_string());
	return (0);
}
