/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench_parked (Linux): what a parked process takes of memory, the page
 * tables apart, and of time to make and to end.
 *
 * The time to make one is mostly the kernel's, for the page fault and the
 * guard page. So beside it stand the bare ones: as many stacks of the same
 * size and layout, guards laid many in a call, one page of each touched, and
 * nobody on them; made just before, of memory that the machine has already
 * handed out once. This is written here and not taken from the library,
 * which is to be measured by it. Both are times on the CPU: they are too
 * long for others on the machine to leave a part of them undisturbed.
 */
#define _GNU_SOURCE

#include "bench.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES	((size_t)64 << 10)
#define BARE_STACKS	64	/* mapped, and guarded in one call */

/* Of the kernel's headers, which may be older than the kernel. */
#define BARE_PIDFD_SELF		(-10001)
#define BARE_GUARD_INSTALL	102

struct parked {
	struct bench *b;
	xtc_loop_t *loop;
	xtc_pid_t *pids;
	long n;
	long ran;
};

static void
parked_receive(void *arg)
{
	struct parked *s = arg;
	void *msg;

	s->ran++;
	while (xtc_recv(&msg, NULL, -1) == XTC_OK)
		xtc_free(msg);
}

static int64_t
parked_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* A figure of /proc/self/status in bytes. */
static double
parked_status_bytes(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t length = strlen(name);
	char line[256];
	double kib = -1;

	bench_check(f != NULL, "/proc is needed");
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			kib = strtod(line + length + 1, NULL);
	(void)fclose(f);
	bench_check(kib >= 0, "a line of /proc/self/status");
	return kib * 1024;
}

static char *
parked_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	bench_check(p != MAP_FAILED, "mmap");
	(void)madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void
parked_touch(char *first, size_t stride, size_t n)
{
	for (; n > 0; n--, first += stride)
		*(volatile char *)first = 1;
}

/* The machine may have to find memory for us the first time. */
static void
parked_warm(size_t page, long n)
{
	size_t pages = (size_t)n + (size_t)n / 16 + 1024;
	char *p = parked_map(pages * page);

	parked_touch(p, page, pages);
	munmap(p, pages * page);
}

static void
bare_guard(char *first, size_t page, size_t stride)
{
	struct iovec v[BARE_STACKS];
	size_t i;

	for (i = 0; i < BARE_STACKS; i++) {
		v[i].iov_base = first + i * stride;
		v[i].iov_len = page;
	}
	if (syscall(SYS_process_madvise, BARE_PIDFD_SELF, v, BARE_STACKS,
	    BARE_GUARD_INSTALL, 0) == (long)(BARE_STACKS * page))
		return;
	for (i = 0; i < BARE_STACKS; i++)
		if (madvise(v[i].iov_base, page, BARE_GUARD_INSTALL) != 0)
			bench_check(mprotect(v[i].iov_base, page,
			    PROT_NONE) == 0, "mprotect");
}

static double
bare_ns(size_t page, long n)
{
	size_t stride = STACK_BYTES + page;
	size_t slabs = ((size_t)n + BARE_STACKS - 1) / BARE_STACKS, i;
	char **slab = bench_alloc(slabs, sizeof(*slab));
	int64_t t = parked_cpu_ns();
	double ns;

	for (i = 0; i < slabs; i++) {
		slab[i] = parked_map(stride * BARE_STACKS);
		bare_guard(slab[i], page, stride);
		parked_touch(slab[i] + stride - 64, stride, BARE_STACKS);
	}
	ns = (double)(parked_cpu_ns() - t) / (double)(slabs * BARE_STACKS);
	for (i = 0; i < slabs; i++)
		munmap(slab[i], stride * BARE_STACKS);
	free(slab);
	return ns;
}

static void
parked_create(struct parked *s)
{
	long i;

	for (i = 0; i < s->n; i++)
		s->pids[i] = bench_spawn(s->loop, parked_receive, s);
	while (s->ran < s->n)
		xtc_yield();
}

static void
parked_end(struct parked *s)
{
	long i;

	for (i = 0; i < s->n; i++)
		bench_must(xtc_exit_pid(s->pids[i], 1), "xtc_exit_pid");
	xtc_yield();
}

static void
parked_all(void *arg)
{
	struct parked *s = arg;
	double n = (double)s->n, rss, tables;
	int64_t t;

	rss = parked_status_bytes("VmRSS");
	tables = parked_status_bytes("VmPTE");
	t = parked_cpu_ns();
	parked_create(s);
	bench_print(s->b, "create_ns", (double)(parked_cpu_ns() - t) / n);
	rss = parked_status_bytes("VmRSS") - rss;
	tables = parked_status_bytes("VmPTE") - tables;
	bench_print(s->b, "resident_bytes", rss / n);
	bench_print(s->b, "tables_bytes", tables / n);
	t = parked_cpu_ns();
	parked_end(s);
	bench_print(s->b, "end_ns", (double)(parked_cpu_ns() - t) / n);
}

static void
run_parked(struct bench *b)
{
	struct parked s = { b, bench_loop(), NULL, b->size, 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	s.pids = bench_alloc((size_t)s.n, sizeof(xtc_pid_t));
	memset(s.pids, 1, (size_t)s.n * sizeof(xtc_pid_t));
	parked_warm(page, s.n);
	bench_print(b, "bare_ns", bare_ns(page, s.n));
	(void)bench_spawn(s.loop, parked_all, &s);
	bench_end(s.loop);
	free(s.pids);
}

static const struct bench_row rows[] = {
	{ "parked", run_parked, 1, 1000000 },
};

int
main(int argc, char **argv)
{
	return bench_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
