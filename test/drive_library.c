/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * drive_library: an ordinary program that makes every probe of the library
 * fire, for reasons that a test knows. It prints "name value" lines: the
 * process ids and the addresses by which the test tells its fibers apart.
 *
 * Flags, not times, decide what comes first, so that a busy machine changes
 * nothing. They need no more than one loop on one thread gives; what the
 * thread reads is atomic.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <xtc.h>

#define MS 1000000
#define REFUSED_BYTES 7777777	/* no allocation of the library is so long */
#define DEAD_PID UINT64_C(0x8000000000000001)
#define CAP 128
#define REASON (-7)
#define BUDGET_NS (20 * MS)

static xtc_loop_t *loop;
static xtc_amutex_t *lock;
static xtc_pid_t receiver_pid, full_pid, killed_pid;
static int receiver_waits, all_sent, owned, n_waiters, gave_up;
static atomic_int last_receive, n_ended;

static void
must(int error, const char *what)
{
	if (error == XTC_OK)
		return;
	fprintf(stderr, "drive_library: %s: %s\n", what, xtc_strerror(error));
	exit(1);
}

static void
must_be(int error, int expected, const char *what)
{
	if (error == expected)
		return;
	fprintf(stderr, "drive_library: %s: %d, expected %d\n", what, error,
	    expected);
	exit(1);
}

static void *
refusing_malloc(size_t bytes)
{
	return bytes >= REFUSED_BYTES && bytes < REFUSED_BYTES + 4096 ?
	    NULL : malloc(bytes);
}

static void
fail_allocation(void)
{
	xtc_allocator_t a = { .size = sizeof(a), .malloc_fn = refusing_malloc,
	    .realloc_fn = realloc, .free_fn = free };

	must(xtc_set_allocator(&a), "xtc_set_allocator");
	if (xtc_malloc(REFUSED_BYTES) != NULL)
		must(XTC_E_INTERNAL, "an allocation that is refused");
}

/* Waits for ever, then in vain, then for a thread; ends with a reason. */
static void
receiver(void *arg)
{
	void *message;

	(void)arg;
	receiver_waits = 1;
	must(xtc_recv(&message, NULL, -1), "the first message");
	xtc_free(message);
	must_be(xtc_recv(&message, NULL, 2 * MS), XTC_E_AGAIN, "no message");
	atomic_store_explicit(&last_receive, 1, memory_order_release);
	must(xtc_recv(&message, NULL, -1), "the message of the thread");
	xtc_free(message);
	xtc_exit_self(REASON);
}

static void
ended(void)
{
	atomic_fetch_add_explicit(&n_ended, 1, memory_order_release);
}

/* Never looks into its mailbox. */
static void
full(void *arg)
{
	(void)arg;
	while (!all_sent)
		must(xtc_proc_sleep(1 * MS), "sleep");
	ended();
}

/* Holds the loop for longer than the budget allows, once. */
static void
greedy(void *arg)
{
	int64_t end;

	(void)arg;
	must(xtc_yield_set_budget(loop, BUDGET_NS), "a budget");
	end = xtc_clock_mono() + BUDGET_NS + MS;
	while (xtc_clock_mono() < end)
		;
	xtc_yield();
	must(xtc_yield_set_budget(loop, 0), "no budget");
	ended();
}

static void
on_timer(void *arg)
{
	(void)arg;
}

static void
sender(void *arg)
{
	xtc_timer_t *timer;
	char text[24] = "";
	xtc_pid_t dead = { DEAD_PID };
	int i;

	(void)arg;
	must(xtc_proc_sleep(1 * MS), "sleep");
	must(xtc_timer_set(loop, 60000LL * MS, on_timer, NULL, &timer),
	    "a long timer");
	must(xtc_timer_cancel(timer), "xtc_timer_cancel");
	while (!receiver_waits)
		xtc_yield();
	must(xtc_send(receiver_pid, text, sizeof(text)), "send");
	must_be(xtc_send(dead, text, 3), XTC_E_INVAL, "send to nobody");
	for (i = 0; i < CAP; i++)
		must(xtc_send(full_pid, text, 1), "send to the full one");
	must_be(xtc_send(full_pid, text, 5), XTC_E_AGAIN, "one too many");
	all_sent = 1;
	ended();
}

/* Keeps the lock until three have waited and one of them has given up. */
static void
owner(void *arg)
{
	(void)arg;
	must(xtc_amutex_lock(lock, -1), "a free lock");
	owned = 1;
	while (n_waiters < 3 || !gave_up)
		must(xtc_proc_sleep(1 * MS), "sleep");
	must(xtc_exit_pid(killed_pid, 1), "kill");
	xtc_yield();
	must(xtc_amutex_unlock(lock), "unlock");
	ended();
}

static int
wait_for_lock(int64_t timeout_ns)
{
	while (!owned)
		xtc_yield();
	n_waiters++;
	return xtc_amutex_lock(lock, timeout_ns);
}

static void
waiter(void *arg)
{
	(void)arg;
	must(wait_for_lock(-1), "a lock that is taken");
	must(xtc_amutex_unlock(lock), "unlock");
	ended();
}

static void
impatient(void *arg)
{
	(void)arg;
	must_be(wait_for_lock(1 * MS), XTC_E_AGAIN, "a short wait");
	gave_up = 1;
	ended();
}

static void
killed(void *arg)
{
	(void)arg;
	(void)wait_for_lock(-1);
	must(XTC_E_INTERNAL, "a killed fiber went on");
}

static intptr_t
plain_fiber(void *arg)
{
	return (intptr_t)arg;
}

/*
 * Sends when the loop has nothing left but a receive without a timeout, and
 * has had the time to go to sleep over it.
 */
static void *
sending_thread(void *arg)
{
	struct timespec ts = { 0, 200 * MS };

	(void)arg;
	while (atomic_load_explicit(&last_receive, memory_order_acquire) == 0 ||
	    atomic_load_explicit(&n_ended, memory_order_acquire) < 6)
		nanosleep(&ts, NULL);
	nanosleep(&ts, NULL);
	must(xtc_send(receiver_pid, "x", 1), "send from a thread");
	return NULL;
}

static xtc_pid_t
spawn(const char *name, void (*fn)(void *))
{
	xtc_proc_opts_t opts = XTC_PROC_OPTS_DEFAULT;
	xtc_pid_t pid;

	opts.name = name;
	opts.mailbox_cap = CAP;
	must(xtc_proc_spawn(loop, fn, NULL, &opts, &pid), name);
	printf("%s %" PRIu64 "\n", name, pid.id);
	return pid;
}

int
main(void)
{
	pthread_t thread;

	fail_allocation();
	must(xtc_loop_init(&loop), "xtc_loop_init");
	must(xtc_amutex_create(&lock), "xtc_amutex_create");
	receiver_pid = spawn("receiver", receiver);
	full_pid = spawn("full", full);
	(void)spawn("greedy", greedy);
	(void)spawn("sender", sender);
	(void)spawn("owner", owner);
	(void)spawn("waiter", waiter);
	(void)spawn("impatient", impatient);
	killed_pid = spawn("killed", killed);
	must(xtc_async(loop, plain_fiber, NULL, NULL), "xtc_async");
	must(xtc_timer_set(loop, 3 * MS, on_timer, NULL, NULL), "a timer");
	printf("lock %" PRIuPTR "\n", (uintptr_t)lock);
	printf("entry_receiver %" PRIuPTR "\n", (uintptr_t)receiver);
	printf("entry_fiber %" PRIuPTR "\n", (uintptr_t)plain_fiber);
	fflush(stdout);
	if (pthread_create(&thread, NULL, sending_thread, NULL) != 0)
		must(XTC_E_RESOURCE, "pthread_create");
	must(xtc_loop_run(loop), "xtc_loop_run");
	(void)pthread_join(thread, NULL);
	must(xtc_loop_fini(loop), "xtc_loop_fini");
	must(xtc_amutex_destroy(lock), "xtc_amutex_destroy");
	printf("done 1\n");
	return 0;
}
