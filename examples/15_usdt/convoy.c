/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * usdt_convoy: two faults that a server has in production, and the mended
 * form of the first, to be found from outside with the scripts in tools/.
 *
 *	convoy		eight fibers sleep (it stands in for I/O) while they
 *			hold a lock that all of them need: one works, seven
 *			wait
 *	fixed		the same work with the sleep outside the lock
 *	lostwake	a server forgets every tenth request; its client finds
 *			out only because it receives with a timeout
 *
 * The program counts what it can see itself, so that the report of a tracer
 * can be held against it. A lock counts as contended if, when it is asked
 * for, another fiber holds it or waits for it; with one loop nothing can
 * change between that look and the call.
 *
 * A tracer can name the functions in a stack only while the program lives.
 * With --hold it therefore prints its pid, waits for SIGUSR1 before it does
 * anything, and stays for a while after it has printed its counters.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <xtc.h>

#define FIBERS 8
#define ROUNDS 20
#define IO_NS 200000
#define REQUESTS 40
#define FORGET_EVERY 10
#define REPLY_TIMEOUT_NS 20000000
#define STAY_S 5

#define US 1000
#define MS_IN_US 1024		/* a power of two, as tracers count */

static struct {
	int acquisitions;
	int contended;
	int waits_1_2_ms;	/* contended, 1024 to 2047 us */
	int64_t waited_ns;	/* contended ones only */
	int64_t longest_ns;
	int requests;
	int answered;
	int timed_out;
	int error;		/* the first that a fiber met */
} seen;

static xtc_amutex_t *lock;
static int lock_users;		/* fibers that hold it or wait for it */
static int sleep_inside;	/* mode convoy */
static xtc_pid_t server_pid;

static void
fail(int error)
{
	if (seen.error == XTC_OK)
		seen.error = error;
}

static void
count_acquisition(int contended, int64_t waited_ns)
{
	seen.acquisitions++;
	if (!contended)
		return;
	seen.contended++;
	seen.waited_ns += waited_ns;
	if (waited_ns > seen.longest_ns)
		seen.longest_ns = waited_ns;
	if (waited_ns / US >= MS_IN_US && waited_ns / US < 2 * MS_IN_US)
		seen.waits_1_2_ms++;
}

/* This name, under xtc_amutex_lock, is what a contention report shows. */
static void
worker(void *arg)
{
	int64_t asked;
	int contended;
	int error;
	int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		contended = (lock_users++ > 0);
		asked = xtc_clock_mono();
		error = xtc_amutex_lock(lock, -1);
		if (error != XTC_OK) {
			fail(error);
			return;
		}
		count_acquisition(contended, xtc_clock_mono() - asked);
		if (sleep_inside)
			xtc_proc_sleep(IO_NS);
		lock_users--;
		xtc_amutex_unlock(lock);
		if (!sleep_inside)
			xtc_proc_sleep(IO_NS);
	}
}

struct request {
	xtc_pid_t from;
	int number;		/* from 1 */
};

/* Serves all requests and ends; every tenth it forgets to answer. */
static void
server(void *arg)
{
	struct request r;
	void *message;
	int error;
	int i;

	(void)arg;
	for (i = 0; i < REQUESTS; i++) {
		error = xtc_recv(&message, NULL, -1);
		if (error != XTC_OK) {
			fail(error);
			return;
		}
		memcpy(&r, message, sizeof(r));
		xtc_free(message);
		if (r.number % FORGET_EVERY == 0)
			continue;
		error = xtc_send(r.from, &r.number, sizeof(r.number));
		if (error != XTC_OK)
			fail(error);
	}
}

static void
client(void *arg)
{
	struct request r = { .from = xtc_self(), .number = 0 };
	void *message;
	int error;

	(void)arg;
	while (r.number < REQUESTS) {
		r.number++;
		error = xtc_send(server_pid, &r, sizeof(r));
		if (error != XTC_OK) {
			fail(error);
			return;
		}
		seen.requests++;
		error = xtc_recv(&message, NULL, REPLY_TIMEOUT_NS);
		if (error == XTC_OK) {
			seen.answered++;
			xtc_free(message);
		} else if (error == XTC_E_AGAIN) {
			seen.timed_out++;
		} else {
			fail(error);
			return;
		}
	}
}

static int
spawn_named(xtc_loop_t *loop, void (*fn)(void *), const char *name,
    xtc_pid_t *out)
{
	xtc_proc_opts_t opts = XTC_PROC_OPTS_DEFAULT;

	opts.name = name;
	return (xtc_proc_spawn(loop, fn, NULL, &opts, out));
}

static int
spawn_workers(xtc_loop_t *loop)
{
	char name[] = "worker 0";
	int error;
	int i;

	for (i = 0; i < FIBERS; i++) {
		name[sizeof(name) - 2] = (char)('0' + i);
		error = spawn_named(loop, worker, name, NULL);
		if (error != XTC_OK)
			return (error);
	}
	return (XTC_OK);
}

/* The server first, so that it waits already when a request comes. */
static int
spawn_server_and_client(xtc_loop_t *loop)
{
	int error;

	error = spawn_named(loop, server, "server", &server_pid);
	if (error == XTC_OK)
		error = spawn_named(loop, client, "client", NULL);
	return (error);
}

static const struct mode {
	const char *name;
	int (*spawn)(xtc_loop_t *loop);
	int sleep_inside;
} modes[] = {
	{ "convoy", spawn_workers, 1 },
	{ "fixed", spawn_workers, 0 },
	{ "lostwake", spawn_server_and_client, 0 },
};

static const struct mode *
find_mode(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, name) == 0)
			return (&modes[i]);
	}
	return (NULL);
}

static int
run(const struct mode *mode, int64_t *run_ns)
{
	xtc_loop_t *loop;
	int error;

	error = xtc_loop_init(&loop);
	if (error != XTC_OK)
		return (error);
	sleep_inside = mode->sleep_inside;
	error = xtc_amutex_create(&lock);
	if (error == XTC_OK)
		error = mode->spawn(loop);
	*run_ns = xtc_clock_mono();
	if (error == XTC_OK)
		error = xtc_loop_run(loop);
	*run_ns = xtc_clock_mono() - *run_ns;
	xtc_loop_fini(loop);
	xtc_amutex_destroy(lock);
	return (error != XTC_OK ? error : seen.error);
}

static void
print_ms(const char *name, int64_t ns)
{
	int64_t us = ns / US;

	printf("%-16s%" PRId64 ".%03" PRId64 "\n", name, us / 1000, us % 1000);
}

static void
print_counters(const struct mode *mode, int64_t run_ns)
{
	printf("%-16s%s\n", "mode", mode->name);
	if (mode->spawn == spawn_workers) {
		printf("%-16s%d\n", "acquisitions", seen.acquisitions);
		printf("%-16s%d\n", "contended", seen.contended);
		print_ms("waited_ms", seen.waited_ns);
		print_ms("longest_ms", seen.longest_ns);
		printf("%-16s%d\n", "waits_1_to_2_ms", seen.waits_1_2_ms);
	} else {
		printf("%-16s%d\n", "requests", seen.requests);
		printf("%-16s%d\n", "answered", seen.answered);
		printf("%-16s%d\n", "timed_out", seen.timed_out);
	}
	print_ms("run_ms", run_ns);
	fflush(stdout);
}

/*
 * From here on SIGUSR1 is blocked, in threads started later too, and taken
 * only in hold_wait(): one that comes early is not lost.
 */
static int
hold_prepare(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGALRM);
	if (sigprocmask(SIG_BLOCK, set, NULL) != 0)
		return (-1);
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	return (0);
}

/* Until SIGUSR1 comes or the time is up (0: for ever). */
static void
hold_wait(const sigset_t *set, unsigned seconds)
{
	int number;

	alarm(seconds);
	sigwait(set, &number);
}

static int
usage(FILE *to)
{
	fprintf(to,
	    "usage: usdt_convoy convoy | fixed | lostwake [--hold]\n"
	    "  convoy    eight fibers sleep while they hold one lock\n"
	    "  fixed     the same with the sleep outside the lock\n"
	    "  lostwake  a server forgets every tenth request\n"
	    "  --hold    print the pid, wait for SIGUSR1 before the start,\n"
	    "            and stay at the end until SIGUSR1 or for %d seconds\n",
	    STAY_S);
	return (2);
}

static int
usage_error(const char *what, const char *argument)
{
	fprintf(stderr, "usdt_convoy: %s%s\n", what, argument);
	return (usage(stderr));
}

int
main(int argc, char **argv)
{
	const struct mode *mode = NULL;
	int64_t run_ns = 0;
	sigset_t set;
	int hold = 0;
	int error;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			usage(stdout);
			return (0);
		}
		if (strcmp(argv[i], "--hold") == 0) {
			hold = 1;
			continue;
		}
		if (mode != NULL)
			return (usage_error("one mode at a time, not also ",
			    argv[i]));
		mode = find_mode(argv[i]);
		if (mode == NULL)
			return (usage_error("no such mode: ", argv[i]));
	}
	if (mode == NULL)
		return (usage_error("no mode given", ""));

	if (hold) {
		if (hold_prepare(&set) != 0) {
			perror("usdt_convoy: --hold");
			return (1);
		}
		hold_wait(&set, 0);
	}
	error = run(mode, &run_ns);
	if (error != XTC_OK) {
		fprintf(stderr, "usdt_convoy: %s\n", xtc_strerror(error));
		return (1);
	}
	print_counters(mode, run_ns);
	if (hold)
		hold_wait(&set, STAY_S);
	return (0);
}
