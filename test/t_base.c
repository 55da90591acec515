/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The base room does what its headers say: lists, bits, sizes that overflow,
 * error texts, and last words that name what, where and who.
 */
#include "testlib.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/assert.h"
#include "base/bits.h"
#include "base/list.h"

struct item {
	int n;
	struct xtc__list link;
};

static struct xtc__list head, other;
static struct item items[4];

static void
items_init(void)
{
	int i;

	xtc__list_init(&head);
	xtc__list_init(&other);
	for (i = 0; i < 4; i++) {
		items[i].n = i;
		xtc__list_init(&items[i].link);
	}
}

/* The numbers on a list in their order, as decimal digits after a 1. */
static int
order(struct xtc__list *h)
{
	struct xtc__list *l;
	int digits = 1, back = 1, n = 0;

	XTC__LIST_FOREACH(l, h)
		digits = digits * 10 +
		    XTC__LIST_ENTRY(l, struct item, link)->n;
	for (l = h->prev; l != h; l = l->prev) {
		back = back * 10 + XTC__LIST_ENTRY(l, struct item, link)->n;
		n++;
	}
	T_EQ(xtc__list_count(h), n);
	T_EQ(back % 10, n > 0 ? XTC__LIST_ENTRY(xtc__list_first(h),
	    struct item, link)->n : 1);
	return digits;
}

START_TEST(a_list_keeps_its_order)
{
	items_init();
	T_TRUE(xtc__list_is_empty(&head));
	T_TRUE(xtc__list_first(&head) == NULL);
	T_TRUE(xtc__list_last(&head) == NULL);
	T_TRUE(xtc__list_pop_first(&head) == NULL);
	xtc__list_add_last(&head, &items[1].link);
	xtc__list_add_last(&head, &items[2].link);
	xtc__list_add_first(&head, &items[0].link);
	T_EQ(order(&head), 1012);
	xtc__list_insert_before(&items[2].link, &items[3].link);
	T_EQ(order(&head), 10132);
	T_TRUE(xtc__list_is_linked(&items[1].link));
	xtc__list_remove(&items[1].link);
	T_TRUE(!xtc__list_is_linked(&items[1].link));
	T_EQ(order(&head), 1032);
	xtc__list_remove(&items[1].link);
	T_EQ(order(&head), 1032);
	T_TRUE(xtc__list_pop_first(&head) == &items[0].link);
	T_TRUE(xtc__list_last(&head) == &items[2].link);
	T_EQ(order(&head), 132);
}
END_TEST

START_TEST(a_list_moves_as_a_whole)
{
	items_init();
	xtc__list_move_all(&head, &other);
	T_TRUE(xtc__list_is_empty(&head));
	xtc__list_add_last(&other, &items[2].link);
	xtc__list_add_last(&other, &items[3].link);
	xtc__list_add_last(&head, &items[0].link);
	xtc__list_move_all(&head, &other);
	T_EQ(order(&head), 1023);
	T_TRUE(xtc__list_is_empty(&other));
	xtc__list_move_all(&other, &head);
	T_EQ(order(&other), 1023);
	T_TRUE(xtc__list_is_empty(&head));
}
END_TEST

START_TEST(a_walk_may_remove_where_it_is)
{
	struct xtc__list *l, *next;
	int i;

	items_init();
	for (i = 0; i < 4; i++)
		xtc__list_add_last(&head, &items[i].link);
	XTC__LIST_FOREACH_SAFE(l, next, &head) {
		if (XTC__LIST_ENTRY(l, struct item, link)->n % 2 == 1)
			xtc__list_remove(l);
	}
	T_EQ(order(&head), 102);
}
END_TEST

START_TEST(bits_are_found_at_both_ends)
{
	unsigned i;

	for (i = 0; i < 64; i++) {
		uint64_t x = UINT64_C(1) << i;

		T_EQ(xtc__bits_lowest(x), i);
		T_EQ(xtc__bits_highest(x), i);
		T_EQ(xtc__bits_lowest(UINT64_MAX << i), i);
		T_EQ(xtc__bits_highest(UINT64_MAX >> i), 63 - i);
		T_EQ(xtc__bits_count(UINT64_MAX << i), 64 - i);
		T_TRUE(xtc__bits_is_pow2(x));
		T_TRUE(xtc__bits_ceil_pow2(x) == x);
		if (i > 1) {
			T_TRUE(!xtc__bits_is_pow2(x + 1));
			T_TRUE(xtc__bits_ceil_pow2(x - 1) == x);
		}
		if (i < 63)
			T_TRUE(i == 0 || xtc__bits_ceil_pow2(x + 1) == 2 * x);
	}
	T_TRUE(!xtc__bits_is_pow2(0));
	T_EQ(xtc__bits_count(0), 0);
}
END_TEST

START_TEST(sizes_that_do_not_fit_are_told)
{
	size_t out = 7;

	T_EQ(xtc__bits_add(SIZE_MAX, 1, &out), -1);
	T_EQ(xtc__bits_add(SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, &out), -1);
	T_EQ(xtc__bits_mul(SIZE_MAX, 2, &out), -1);
	T_EQ(xtc__bits_mul(SIZE_MAX / 3 + 1, 3, &out), -1);
	T_EQ(out, 7);
	T_EQ(xtc__bits_add(SIZE_MAX, 0, &out), 0);
	T_TRUE(out == SIZE_MAX);
	T_EQ(xtc__bits_mul(SIZE_MAX / 3, 3, &out), 0);
	T_TRUE(out == SIZE_MAX / 3 * 3);
	T_EQ(xtc__bits_mul(SIZE_MAX, 0, &out), 0);
	T_EQ(out, 0);
	T_EQ(xtc__bits_round_up(0, 16), 0);
	T_EQ(xtc__bits_round_up(1, 16), 16);
	T_EQ(xtc__bits_round_up(16, 16), 16);
	T_EQ(xtc__bits_round_up(17, 16), 32);
}
END_TEST

#define CODE(name, value, text) { name, text },
static const struct {
	int code;
	const char *text;
} codes[] = {
	XTC_ERROR_TABLE(CODE)
};

START_TEST(every_error_has_its_text)
{
	size_t i, n = sizeof(codes) / sizeof(codes[0]);

	T_EQ(n, 13);
	for (i = 0; i < n; i++)
		T_EQ(strcmp(xtc_strerror(codes[i].code), codes[i].text), 0);
	T_TRUE(xtc_strerror(1) != NULL);
	T_TRUE(xtc_strerror(INT32_MIN) == xtc_strerror(1));
	T_TRUE(xtc_strerror(XTC_E_IO - 1) == xtc_strerror(1));
}
END_TEST

START_TEST(the_version_is_told_in_both_forms)
{
	char text[64];
	int major = -1, minor = -1, patch = -1;

	T_OK(xtc_version_components(&major, &minor, &patch));
	T_EQ(major, XTC_VERSION_MAJOR);
	T_EQ(minor, XTC_VERSION_MINOR);
	T_EQ(patch, XTC_VERSION_PATCH);
	(void)snprintf(text, sizeof(text), "%d.%d.%d", major, minor, patch);
	T_EQ(strcmp(text, xtc_version_string()), 0);
	T_OK(xtc_version_components(NULL, NULL, NULL));
}
END_TEST

/* What fn writes to stderr before it aborts. */
static const char *
last_words(void (*fn)(void))
{
	static char text[4096];
	size_t length = 0;
	ssize_t n;
	pid_t pid;
	int status, p[2];

	T_EQ(pipe(p), 0);
	pid = fork();
	T_TRUE(pid >= 0);
	if (pid == 0) {
		(void)signal(SIGABRT, SIG_DFL);
		if (dup2(p[1], 2) != 2)
			_exit(3);
		fn();
		_exit(0);
	}
	close(p[1]);
	while ((n = read(p[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	close(p[0]);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	return text;
}

enum { BROKEN_LINE = __LINE__ + 7 };

static void
broken_invariant(void)
{
	volatile int two = 2;

	XTC_ASSERT(two + two == 5);
}

static void
tell_fiber(char *buf, size_t bytes)
{
	(void)snprintf(buf, bytes, "fiber 7 \"judy\" on loop 3");
}

static void
fail_again(char *buf, size_t bytes)
{
	(void)buf;
	(void)bytes;
	broken_invariant();
}

static void
broken_in_fiber(void)
{
	atomic_store_explicit(&xtc__assert_context, tell_fiber,
	    memory_order_relaxed);
	broken_invariant();
}

static void
broken_twice(void)
{
	atomic_store_explicit(&xtc__assert_context, fail_again,
	    memory_order_relaxed);
	XTC_FATAL("the first of two");
}

START_TEST(an_assertion_tells_what_where_and_who)
{
	const char *text = last_words(broken_invariant);
	char where[64];

	T_TRUE(strstr(text, "two + two == 5") != NULL);
	(void)snprintf(where, sizeof(where),
	    "t_base.c:%d, in broken_invariant\n", BROKEN_LINE);
	T_TRUE(strstr(text, where) != NULL);
	T_TRUE(strstr(text, "outside of any loop") != NULL);
	text = last_words(broken_in_fiber);
	T_TRUE(strstr(text, "fiber 7 \"judy\" on loop 3") != NULL);
}
END_TEST

START_TEST(an_assertion_inside_of_an_assertion_ends_too)
{
	T_TRUE(strstr(last_words(broken_twice), "two + two == 5") != NULL);
}
END_TEST

static int evaluated;

static int
evaluate(void)
{
	return ++evaluated;
}

START_TEST(an_assertion_compiled_out_is_not_evaluated)
{
	XTC_ASSERT(evaluate() == 1);
	T_EQ(evaluated, 1);
	XTC_DEBUG_ASSERT(evaluate() > 1);
	XTC_COSTLY_ASSERT(evaluate() > 1);
#ifndef XTC_DEBUG
	T_EQ(evaluated, 1);
#endif
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("base");

	t_case_bare(s, a_list_keeps_its_order, 5);
	t_case_bare(s, a_list_moves_as_a_whole, 5);
	t_case_bare(s, a_walk_may_remove_where_it_is, 5);
	t_case_bare(s, bits_are_found_at_both_ends, 5);
	t_case_bare(s, sizes_that_do_not_fit_are_told, 5);
	t_case_bare(s, every_error_has_its_text, 5);
	t_case_bare(s, the_version_is_told_in_both_forms, 5);
	t_case_bare(s, an_assertion_tells_what_where_and_who, 5);
	t_case_bare(s, an_assertion_inside_of_an_assertion_ends_too, 5);
	t_case_bare(s, an_assertion_compiled_out_is_not_evaluated, 5);
	return t_main(s);
}
