/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * peer.h: ../bench.h for programs that know nothing of libxtc, in C and C++:
 * the same command line, the same batches, the same lines.
 */
#ifndef PEER_H
#define PEER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PEER_BATCHES	100
#define PEER_SECOND_NS	1000000000L

struct peer {
	const char *row;
	long count;
	long size;
	double best_ns;
};

struct peer_row {
	const char *name;
	void (*run)(struct peer *);
	long count;
	long size;
};

static inline void
peer_check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	exit(1);
}

static inline int64_t
peer_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * PEER_SECOND_NS + t.tv_nsec;
}

static inline int64_t
peer_now_ns(void)
{
	return peer_clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t
peer_cpu_ns(void)
{
	return peer_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline long
peer_batch(const struct peer *b)
{
	return b->count < PEER_BATCHES ? 1 : b->count / PEER_BATCHES;
}

static inline void
peer_note(struct peer *b, int64_t since_ns, long n)
{
	double ns = (double)(peer_now_ns() - since_ns) / (double)n;

	if (b->best_ns == 0 || ns < b->best_ns)
		b->best_ns = ns;
}

static inline void
peer_print(const struct peer *b, const char *metric, double value)
{
	printf("%s %s %.3f\n", b->row, metric, value);
	fflush(stdout);
}

static inline uint64_t
peer_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A figure of /proc/self/status in bytes. */
static inline double
peer_status_bytes(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t length = strlen(name);
	char line[256];
	double kib = 0;

	peer_check(f != NULL, "/proc is needed");
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			kib = strtod(line + length + 1, NULL);
	fclose(f);
	return kib * 1024;
}

static inline int
peer_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts what it is given. */
static inline void
peer_print_lateness(struct peer *b, int64_t *late_ns)
{
	qsort(late_ns, (size_t)b->size, sizeof(*late_ns), peer_compare);
	peer_print(b, "p50_us", (double)late_ns[b->size / 2] / 1e3);
	peer_print(b, "p99_us", (double)late_ns[b->size - b->size / 100 - 1] /
	    1e3);
}

static inline int
peer_main(int argc, char **argv, const struct peer_row *rows, size_t n)
{
	struct peer b;
	int known = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (argc > 1 && strcmp(argv[1], "--rows") == 0) {
			printf("%s %ld %ld\n", rows[i].name, rows[i].count,
			    rows[i].size);
			known = 1;
			continue;
		}
		if (argc > 1 && strcmp(argv[1], rows[i].name) != 0)
			continue;
		known = 1;
		b.row = rows[i].name;
		b.count = argc > 2 ? atol(argv[2]) : rows[i].count;
		b.size = argc > 3 ? atol(argv[3]) : rows[i].size;
		b.best_ns = 0;
		rows[i].run(&b);
		if (b.best_ns != 0)
			peer_print(&b, "ns", b.best_ns);
	}
	return known ? 0 : 2;
}

#endif
