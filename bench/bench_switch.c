/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * bench_switch: what it costs to go from one fiber to the next: the bare
 * switch of two stacks, and xtc_yield() among two and among many fibers.
 */
#include "bench.h"

#include "arch/ctx.h"
#include "base/attr.h"

#define STACK_BYTES	((size_t)64 << 10)

static void *switch_main_sp;
static void *switch_other_sp;

/* One place that both leave by: see arch/ctx.h. */
static XTC__NOINLINE void
switch_hop(void **save_sp, void *to_sp)
{
	(void)xtc__ctx_switch(save_sp, to_sp, NULL);
}

static void
switch_other(void *carry, void *arg)
{
	(void)carry;
	(void)arg;
	for (;;)
		switch_hop(&switch_other_sp, switch_main_sp);
}

static void
run_switch(struct bench *b)
{
	char *stack = bench_alloc(1, STACK_BYTES);
	long i, batch, n = bench_batch(b) / 2 + 1;
	int64_t t;

	switch_other_sp = xtc__ctx_make(stack + STACK_BYTES, STACK_BYTES,
	    switch_other, NULL);
	for (batch = 0; batch < b->batches; batch++) {
		t = xtc_clock_mono();
		for (i = 0; i < n; i++)
			switch_hop(&switch_main_sp, switch_other_sp);
		bench_note(b, t, 2 * n);
	}
	bench_print_best(b, "ns");
	free(stack);
}

struct yielders {
	struct bench *b;
	xtc_loop_t *loop;
	long n;			/* yields of each in a batch */
	long started;
	long ended;
};

/* All do the same; the first one to run holds the watch for all. */
static intptr_t
yield_same(void *arg)
{
	struct yielders *y = arg;
	int first = y->started++ == 0;
	long i, batch, fibers = y->b->size;
	int64_t t = 0;

	for (batch = 0; batch < y->b->batches; batch++) {
		if (first)
			t = xtc_clock_mono();
		for (i = 0; i < y->n; i++)
			xtc_yield();
		if (first)
			bench_note(y->b, t, y->n * fibers);
	}
	y->ended++;
	return 0;
}

/* The other half of two that yield in different functions. */
static intptr_t
yield_other(void *arg)
{
	struct yielders *y = arg;

	while (y->ended == 0)
		xtc_yield();
	return 0;
}

static void
run_yields(struct bench *b)
{
	struct yielders y = { b, bench_loop(), bench_laps(b), 0, 0 };
	long i;

	for (i = 0; i < b->size; i++)
		bench_must(xtc_async(y.loop, yield_same, &y, NULL),
		    "xtc_async");
	bench_end(y.loop);
	bench_check(y.ended == b->size, "some fibers have not ended");
	bench_print_best(b, "ns");
}

/*
 * The CPU foretells the returns of the one from the calls of the other, and
 * is wrong where these were not from the same place.
 */
static void
run_yield_mixed(struct bench *b)
{
	struct yielders y = { b, bench_loop(), bench_batch(b) / 2 + 1, 0, 0 };

	b->size = 2;
	bench_must(xtc_async(y.loop, yield_same, &y, NULL), "xtc_async");
	bench_must(xtc_async(y.loop, yield_other, &y, NULL), "xtc_async");
	bench_end(y.loop);
	bench_print_best(b, "ns");
}

static const struct bench_row rows[] = {
	{ "switch", run_switch, 20000000, 0 },
	{ "yield", run_yields, 5000000, 2 },
	{ "yield_mixed", run_yield_mixed, 5000000, 0 },
};

int
main(int argc, char **argv)
{
	return bench_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
