/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * assert.c: the last words of a program.
 *
 * The text is put together by hand and goes out in one piece: the caller may
 * be a fiber with little stack left, and printf on an unbuffered stream takes
 * 8 KiB of it.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"

_Atomic(xtc__assert_context_fn *) xtc__assert_context;

#define ASSERT_TEXT_BYTES	768
#define ASSERT_CONTEXT_BYTES	256

/* A text that stops growing when it is full. */
struct assert_text {
	size_t length;
	char text[ASSERT_TEXT_BYTES];
};

static void
assert_append(struct assert_text *t, const char *s)
{
	while (*s != '\0' && t->length < sizeof(t->text) - 1)
		t->text[t->length++] = *s++;
	t->text[t->length] = '\0';
}

static void
assert_append_line(struct assert_text *t, int line)
{
	char digits[16];
	size_t i = sizeof(digits) - 1;
	unsigned n = line > 0 ? (unsigned)line : 0;

	digits[i] = '\0';
	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n != 0);
	assert_append(t, &digits[i]);
}

_Noreturn void
xtc__assert_fail(const char *what, const char *file, int line,
    const char *function)
{
	struct assert_text t = { 0 };
	char context[ASSERT_CONTEXT_BYTES] = "";
	xtc__assert_context_fn *fn;

	/* Taken, so that a failure inside of it does not come back here.
	 * relaxed: a function pointer; what it reads is its own affair. */
	fn = atomic_exchange_explicit(&xtc__assert_context, NULL,
	    memory_order_relaxed);
	if (fn != NULL)
		fn(context, sizeof(context));
	assert_append(&t, "libxtc: ");
	assert_append(&t, what);
	assert_append(&t, "\n    at ");
	assert_append(&t, file);
	assert_append(&t, ":");
	assert_append_line(&t, line);
	assert_append(&t, ", in ");
	assert_append(&t, function);
	assert_append(&t, "\n    ");
	assert_append(&t, context[0] != '\0' ? context : "outside of any loop");
	assert_append(&t, "\n");
	(void)fputs(t.text, stderr);
	(void)fflush(stderr);
	abort();
}
