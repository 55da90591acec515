/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * check.h: a stand-in for libcheck, for platforms for which it is not
 * packaged: a cross compiler's, or another C library on the same system.
 *
 *	../dist/configure CHECK_CFLAGS="-I $top/test/standin" CHECK_LIBS=-lm
 *
 * It has what the tests use and does with it what libcheck does in fork
 * mode: each test in a process and a process group of its own, between the
 * setup and the teardown of its case; it fails by an exit code, by a signal,
 * or by running out of time, and what it leaves running is killed.
 * CK_RUN_CASE picks a case. Only what fails is shown, and a closing line.
 */
#ifndef STANDIN_CHECK_H
#define STANDIN_CHECK_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum fork_status { CK_FORK, CK_NOFORK };
enum print_output { CK_NORMAL, CK_ENV };

typedef struct TTest {
	const char *name;
	void (*fn)(int);
	const char *file;
	int line;
} TTest;

struct standin_test {
	struct standin_test *next;
	const TTest *test;
	int first, end;		/* it is run for each from the one on */
};

typedef struct TCase {
	struct TCase *next;
	const char *name;
	struct standin_test *first, **last;
	void (*setup)(void);
	void (*teardown)(void);
	double seconds;
} TCase;

typedef struct Suite {
	const char *name;
	TCase *first, **last;
} Suite;

typedef struct SRunner {
	Suite *suite;
	enum fork_status forks;
	int run, failed;
} SRunner;

#define START_TEST(test) \
static void test##_fn(int _i); \
static const TTest test##_ttest = { #test, test##_fn, __FILE__, __LINE__ }; \
static const TTest *const test = &test##_ttest; \
static void \
test##_fn(int _i __attribute__((unused)))
#define END_TEST

/* The process group of the test that runs, for the handlers. */
static volatile sig_atomic_t standin_group;
static volatile sig_atomic_t standin_late;

static inline void *
standin_alloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (p == NULL)
		abort();
	return p;
}

/* By write(2), and in little room: it may be called on a small stack. */
__attribute__((noreturn, format(printf, 4, 5))) static inline void
_ck_assert_failed(const char *file, int line, const char *expr,
    const char *format, ...)
{
	char text[512];
	size_t n, size = sizeof(text) - 1;
	va_list ap;

	n = (size_t)snprintf(text, size, "%s:%d: %s: ", file, line, expr);
	n = n < size ? n : size;
	va_start(ap, format);
	n += (size_t)vsnprintf(text + n, size - n, format, ap);
	va_end(ap);
	n = n < size ? n : size - 1;
	text[n++] = '\n';
	if (write(STDERR_FILENO, text, n) < 0)
		_exit(2);
	_exit(1);
}

static inline Suite *
suite_create(const char *name)
{
	Suite *s = standin_alloc(sizeof(*s));

	s->name = name;
	s->last = &s->first;
	return s;
}

static inline TCase *
tcase_create(const char *name)
{
	TCase *tc = standin_alloc(sizeof(*tc));

	tc->name = name;
	tc->last = &tc->first;
	tc->seconds = 4;
	return tc;
}

static inline void
suite_add_tcase(Suite *s, TCase *tc)
{
	*s->last = tc;
	s->last = &tc->next;
}

static inline void
tcase_add_checked_fixture(TCase *tc, void (*setup)(void),
    void (*teardown)(void))
{
	tc->setup = setup;
	tc->teardown = teardown;
}

static inline void
tcase_set_timeout(TCase *tc, double seconds)
{
	tc->seconds = seconds;
}

static inline void
tcase_add_loop_test(TCase *tc, const TTest *test, int first, int end)
{
	struct standin_test *t = standin_alloc(sizeof(*t));

	t->test = test;
	t->first = first;
	t->end = end;
	*tc->last = t;
	tc->last = &t->next;
}

static inline void
tcase_add_test(TCase *tc, const TTest *test)
{
	tcase_add_loop_test(tc, test, 0, 1);
}

static inline SRunner *
srunner_create(Suite *s)
{
	SRunner *sr = standin_alloc(sizeof(*sr));

	sr->suite = s;
	return sr;
}

static inline void
srunner_set_fork_status(SRunner *sr, enum fork_status forks)
{
	sr->forks = forks;
}

/* Time is up, or whoever runs us wants to stop. */
static inline void
standin_signal(int sig)
{
	if (standin_group > 0)
		(void)kill(-(pid_t)standin_group, SIGKILL);
	standin_late = sig == SIGALRM;
	if (sig != SIGALRM)
		_exit(1);
}

static inline void
standin_call(const TCase *tc, const TTest *test, int i)
{
	if (tc->setup != NULL)
		tc->setup();
	test->fn(i);
	if (tc->teardown != NULL)
		tc->teardown();
}

/* Its wait status, or -1 if it ran out of time. */
static inline int
standin_fork(const TCase *tc, const TTest *test, int i)
{
	int status = 0;
	pid_t pid;

	(void)fflush(NULL);
	standin_late = 0;
	pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		(void)signal(SIGALRM, SIG_DFL);
		(void)signal(SIGTERM, SIG_DFL);
		(void)signal(SIGINT, SIG_DFL);
		(void)setpgid(0, 0);
		standin_call(tc, test, i);
		exit(0);
	}
	(void)setpgid(pid, pid);
	standin_group = pid;
	/* 0: as long as it takes. */
	(void)alarm(tc->seconds > 0 ? (unsigned)tc->seconds + 1 : 0);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	(void)alarm(0);
	(void)kill(-pid, SIGKILL);
	standin_group = 0;
	return standin_late ? -1 : status;
}

static inline void
standin_run(SRunner *sr, const TCase *tc, const TTest *test, int i)
{
	int status = 0;

	sr->run++;
	if (sr->forks == CK_NOFORK)
		standin_call(tc, test, i);
	else
		status = standin_fork(tc, test, i);
	if (status == 0)
		return;
	sr->failed++;
	printf("%s:%d: %s(%d) ", test->file, test->line, test->name, i);
	if (status == -1)
		printf("ran out of time, %g s\n", tc->seconds);
	else if (WIFSIGNALED(status))
		printf("ended by signal %d\n", WTERMSIG(status));
	else
		printf("failed, exit code %d\n", WEXITSTATUS(status));
}

static inline void
srunner_run_all(SRunner *sr, enum print_output print)
{
	const char *only = getenv("CK_RUN_CASE");
	struct sigaction act;
	struct standin_test *t;
	TCase *tc;

	(void)print;
	memset(&act, 0, sizeof(act));
	act.sa_handler = standin_signal;
	(void)sigemptyset(&act.sa_mask);
	if (sr->forks == CK_FORK) {
		(void)sigaction(SIGALRM, &act, NULL);
		(void)sigaction(SIGTERM, &act, NULL);
		(void)sigaction(SIGINT, &act, NULL);
	}
	for (tc = sr->suite->first; tc != NULL; tc = tc->next) {
		if (only != NULL && strcmp(only, tc->name) != 0)
			continue;
		for (t = tc->first; t != NULL; t = t->next)
			for (int i = t->first; i < t->end; i++)
				standin_run(sr, tc, t->test, i);
	}
	printf("%s: %d tests, %d failed\n", sr->suite->name, sr->run,
	    sr->failed);
}

static inline int
srunner_ntests_failed(SRunner *sr)
{
	return sr->failed;
}

static inline void
srunner_free(SRunner *sr)
{
	struct standin_test *t;
	TCase *tc;

	while ((tc = sr->suite->first) != NULL) {
		sr->suite->first = tc->next;
		while ((t = tc->first) != NULL) {
			tc->first = t->next;
			free(t);
		}
		free(tc);
	}
	free(sr->suite);
	free(sr);
}

#endif
