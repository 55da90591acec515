/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Fiber stacks lie apart from each other, each above a guard that stops what
 * overflows, however the guard was made; there can be a great many; and where
 * the system refuses, that is told by its right name and nothing stays mapped.
 */
#define _DEFAULT_SOURCE
#include "testlib.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "arch/ctx.h"
#include "arch/san.h"
#include "mem/mem.h"
#include "mem/stack.h"
#include "os/os.h"
#include "os/pages.h"

#define STRUCT_BYTES	700
#define STACK_BYTES	((size_t)64 << 10)

/* Refusals: sites whose bit is set; or the n-th question of all. */
#define NO_VECTOR	1
#define NO_MARK		2
static int refuse, refuse_errno;
static atomic_int saw_marks;	/* pages.c has better than mprotect */
static atomic_int refuse_at, refuse_asked;

static int
refuse_some(const char *site)
{
	if (strncmp(site, "guard", 5) == 0)
		t_set(&saw_marks, 1);
	if (strcmp(site, "guard-vector") == 0 && (refuse & NO_VECTOR) != 0)
		return EINVAL;
	if (strcmp(site, "guard") == 0 && (refuse & NO_MARK) != 0)
		return EINVAL;
	if (t_get(&refuse_at) != 0 &&
	    t_add(&refuse_asked, 1) + 1 == t_get(&refuse_at))
		return refuse_errno;
	return 0;
}

/* The three ways to make a guard, best first. */
static const int ways[] = { 0, NO_VECTOR, NO_VECTOR | NO_MARK };
#define N_WAYS	3

static void
setup(void)
{
	xtc__os_fault_set(refuse_some);
}

/* Lines of a file of the kernel's, or -1: no such file here. */
static long
lines_of(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = 0;
	int c;

	if (f == NULL)
		return -1;
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* Sanitizers, valgrind and emulators map for themselves, whenever they like. */
static int
only_we_map(void)
{
#if defined(T_ASAN) || defined(T_TSAN)
	return 0;
#else
	return !t_valgrind() && !t_emulated();
#endif
}

/* Mappings of this process, or -1. */
static long
mappings(void)
{
	return only_we_map() ? lines_of("/proc/self/maps") : -1;
}

/* The first number in a file, or -1. */
static long
number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = -1;

	if (f == NULL)
		return -1;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

/* Pages mapped by this process, or -1. */
static long
mapped_pages(void)
{
	return only_we_map() ? number_in("/proc/self/statm") : -1;
}

START_TEST(stacks_and_structs_do_not_touch)
{
	const unsigned n = 48;
	size_t page = xtc__pages_size();
	struct xtc__stack_slab *s;
	char *low, *top, *before = NULL, *at;
	uint64_t *w;
	unsigned i;

	T_OK(xtc__stack_slab_create(STACK_BYTES, n, &s));
	T_EQ(xtc__stack_slab_count(s), n);
	for (i = 0; i < n; i++) {
		at = xtc__stack_struct_at(s, i, STRUCT_BYTES, (void **)&low,
		    (void **)&top);
		T_TRUE(top == at);
		T_EQ((uintptr_t)at % 128, 0);
		T_EQ((uintptr_t)low % page, 0);
		/* The struct is in the top page, with frames below it. */
		T_TRUE(at + STRUCT_BYTES <= low + STACK_BYTES);
		T_TRUE(at - 1024 >= low + STACK_BYTES - page);
		/* A page lies between it and what is below. */
		if (before != NULL)
			T_TRUE(before + page <= low);
		before = at + STRUCT_BYTES;
		/* All of it can be used, and was nobody's before. */
		for (w = (uint64_t *)(void *)low; (char *)w < before -
		    STRUCT_BYTES % 8; w++) {
			T_EQ(*w, 0);
			*w = i;
		}
	}
	for (i = 0; i < n; i++) {
		at = xtc__stack_struct_at(s, i, STRUCT_BYTES, (void **)&low,
		    (void **)&top);
		T_EQ(*(uint64_t *)(void *)low, i);
		T_EQ(*(uint64_t *)(void *)at, i);
	}
	T_EQ(xtc__stack_slab_count(s), n);
}
END_TEST

START_TEST(structs_lie_at_sixteen_offsets)
{
	size_t page = xtc__pages_size();
	struct xtc__stack_slab *s;
	unsigned seen[32] = { 0 }, i, k, last;
	void *low, *top;
	char *at;

	for (k = 0; k < 10; k++) {
		T_OK(xtc__stack_slab_create(STACK_BYTES, 32, &s));
		last = 32;
		for (i = 0; i < 32; i++) {
			at = xtc__stack_struct_at(s, i, STRUCT_BYTES, &low,
			    &top);
			unsigned colour =
			    (unsigned)((uintptr_t)at % page % 4096 / 128);

			T_TRUE(colour != last);
			seen[colour]++;
			last = colour;
		}
	}
	for (i = 0, k = 0; i < 32; i++) {
		T_TRUE(seen[i] == 0 || seen[i] == 20);
		k += seen[i] != 0;
	}
	T_EQ(k, 16);
}
END_TEST

START_TEST(slabs_of_one_stack_differ_in_offset_too)
{
	struct xtc__stack_slab *s;
	uint64_t seen = 0;
	void *low, *top;
	int i, n = 0;

	for (i = 0; i < 64; i++) {
		T_OK(xtc__stack_slab_create((size_t)1 << 20, 1, &s));
		seen |= UINT64_C(1) << (uintptr_t)xtc__stack_struct_at(s, 0,
		    STRUCT_BYTES, &low, &top) / 128 % 32;
	}
	for (i = 0; i < 32; i++)
		n += (seen >> i & 1) != 0;
	T_TRUE(n >= 8);
}
END_TEST

START_TEST(any_number_of_bytes_makes_whole_pages)
{
	size_t bytes, page = xtc__pages_size();
	struct xtc__stack_slab *s;
	char *low, *top;

	for (bytes = page; bytes < 6 * page; bytes += page / 3 + 1) {
		T_OK(xtc__stack_slab_create(bytes, 2, &s));
		xtc__stack_struct_at(s, 1, STRUCT_BYTES, (void **)&low,
		    (void **)&top);
		T_EQ((uintptr_t)low % page, 0);
		T_TRUE(top + 4096 >= low + bytes);
		*low = 1;
		*top = 1;
	}
}
END_TEST

/* The signal that ends a child which does fn(arg); 0: none. */
static int
signal_of(void (*fn)(char *), char *arg)
{
	struct sigaction sa;
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	T_TRUE(child >= 0);
	if (child == 0) {
		/* Neither a core file nor a sanitizer's page of text. */
		memset(&sa, 0, sizeof(sa));
		sa.sa_handler = SIG_DFL;
		sigaction(SIGSEGV, &sa, NULL);
		sigaction(SIGBUS, &sa, NULL);
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		fn(arg);
		_exit(0);
	}
	T_EQ(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void
read_at(char *p)
{
	(void)*(volatile char *)p;
}

static void
write_at(char *p)
{
	*(volatile char *)p = 1;
}

static int
is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS;
}

START_TEST(each_stack_stands_on_a_guard)
{
	size_t page = xtc__pages_size();
	struct xtc__stack_slab *s;
	char *low, *top;
	unsigned i, n = 66;	/* more than one batch of guards */
	int w;

	for (w = 0; w < N_WAYS; w++) {
		refuse = ways[w];
		T_OK(xtc__stack_slab_create(STACK_BYTES, n, &s));
		for (i = 0; i < n; i += 13) {
			xtc__stack_struct_at(s, i, STRUCT_BYTES,
			    (void **)&low, (void **)&top);
			T_EQ(signal_of(read_at, low), 0);
			T_EQ(signal_of(write_at, low), 0);
			T_TRUE(is_fault(signal_of(read_at, low - 1)));
			T_TRUE(is_fault(signal_of(write_at, low - 1)));
			T_TRUE(is_fault(signal_of(write_at, low - page)));
		}
	}
}
END_TEST

/* A fiber that recurses without end. */
static void *deep_sp;
static char *deep_low;
static struct xtc__san deep_san, deep_home_san;

static XTC__NOINLINE int
deep(volatile char *above, int n)
{
	volatile char here[100];

	here[n % 100] = *above;
	if (n < 1 << 30)
		n = deep(here, n + 1);
	return n + here[0];
}

static void
deep_entry(void *carry, void *arg)
{
	volatile char c = 0;

	(void)carry;
	(void)arg;
	xtc__san_enter(&deep_san);
	deep(&c, 1);
	_exit(3);
}

static void
deep_handler(int sig, siginfo_t *si, void *uc)
{
	char *at = si->si_addr;

	(void)sig;
	(void)uc;
	_exit(at < deep_low && at >= deep_low - xtc__pages_size() ? 42 : 4);
}

static void
deep_child(void)
{
	static char alternate[64 << 10];
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction sa;
	void *home;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = deep_handler;
	sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
	T_EQ(sigaltstack(&ss, NULL), 0);
	T_EQ(sigaction(SIGSEGV, &sa, NULL), 0);
	T_EQ(sigaction(SIGBUS, &sa, NULL), 0);
	xtc__san_thread(&deep_home_san);
	xtc__san_leave(&deep_home_san, &deep_san, 0);
	xtc__ctx_switch(&home, deep_sp, NULL);
	_exit(5);
}

START_TEST(an_endless_recursion_ends_at_the_guard)
{
	struct xtc__stack_slab *s;
	int status, w;
	pid_t child;
	char *top;

	for (w = 0; w < N_WAYS; w++) {
		refuse = ways[w];
		T_OK(xtc__stack_slab_create(STACK_BYTES, 3, &s));
		xtc__stack_struct_at(s, 1, STRUCT_BYTES, (void **)&deep_low,
		    (void **)&top);
		deep_sp = xtc__ctx_make(top, (size_t)(top - deep_low),
		    deep_entry, NULL);
		xtc__san_init(&deep_san, deep_low, (size_t)(top - deep_low));
		fflush(NULL);
		child = fork();
		T_TRUE(child >= 0);
		if (child == 0)
			deep_child();
		T_EQ(waitpid(child, &status, 0), child);
		T_TRUE(WIFEXITED(status));
		T_EQ(WEXITSTATUS(status), 42);
		xtc__san_fini(&deep_san);
	}
}
END_TEST

/* Can this kernel make guards that do not cost a mapping? */
static int
guards_are_free(void)
{
	size_t page = xtc__pages_size();
	struct xtc__stack_slab *s;
	char *p;

	T_OK(xtc__stack_slab_create(STACK_BYTES, 1, &s));
	p = mmap(NULL, page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANON, -1, 0);
	T_TRUE(p != MAP_FAILED);
	/* 102: MADV_GUARD_INSTALL */
	return t_get(&saw_marks) && madvise(p, page, 102) == 0 &&
	    is_fault(signal_of(read_at, p));
}

START_TEST(a_hundred_thousand_stacks_are_a_few_mappings)
{
	struct xtc__stack_slab *s;
	int i, w, n = 100000 / 128;
	long before;

	if (!guards_are_free() || !only_we_map()) {
		fprintf(stderr, "skipped: no guards without mappings here\n");
		return;
	}
	/* The one by one way as well: it is for the same kernels. */
	for (w = 0; w < 2; w++) {
		refuse = ways[w];
		before = mappings();
		for (i = 0; i < n; i++)
			T_OK(xtc__stack_slab_create(STACK_BYTES, 128, &s));
		T_TRUE(mappings() - before < 50);
	}
}
END_TEST

START_TEST(when_the_mappings_run_out_that_is_what_is_said)
{
	long max = number_in("/proc/sys/vm/max_map_count");
	struct xtc__stack_slab *s;
	const unsigned n = 64;
	long i, want, before = 0, pages = 0;
	int rc = XTC_OK;

	if (max < 0 || max > 1 << 20 || !only_we_map()) {
		fprintf(stderr, "skipped: no limit that can be reached\n");
		return;
	}
	refuse = NO_VECTOR | NO_MARK;
	want = max / 2 + 10000 > 40000 ? max / 2 + 10000 : 40000;
	for (i = 0; i < want && rc == XTC_OK; i += n) {
		/* Counting them takes long, so only where it may fail. */
		if (i > max / 2 - 1000) {
			before = mappings();
			pages = mapped_pages();
		}
		rc = xtc__stack_slab_create((size_t)16 << 10, n, &s);
	}
	T_RC(rc, XTC_E_RESOURCE);
	T_TRUE(i > max / 2 - 1000 + n);
	T_EQ(mappings(), before);
	T_EQ(mapped_pages(), pages);
	T_TRUE(strstr(xtc__stack_error_text(), "max_map_count") != NULL);
	/* The next one fails in the same way, and a smaller one may not. */
	T_RC(xtc__stack_slab_create((size_t)16 << 10, n, &s),
	    XTC_E_RESOURCE);
	T_EQ(mappings(), before);
	/* Also when there is not even one left for the slab itself. */
	while (mmap(NULL, 1, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		continue;
	refuse = 0;
	if (t_get(&saw_marks))
		T_RC(xtc__stack_slab_create((size_t)16 << 10, n, &s),
		    XTC_E_RESOURCE);
}
END_TEST

START_TEST(no_address_space_is_no_memory)
{
	struct xtc__stack_slab *s;
	struct rlimit rl;
	long pages;

	/* What is not a number of bytes is not even asked for. */
	t_set(&refuse_at, 1);
	T_RC(xtc__stack_slab_create(SIZE_MAX - 1, 1, &s), XTC_E_NOMEM);
	T_RC(xtc__stack_slab_create(SIZE_MAX / 4, 16, &s), XTC_E_NOMEM);
	T_EQ(t_get(&refuse_asked), 0);
	t_set(&refuse_at, 0);
	if (sizeof(size_t) > 4)
		T_RC(xtc__stack_slab_create(SIZE_MAX >> 8, 1, &s),
		    XTC_E_NOMEM);
	pages = mapped_pages();
	if (pages < 0)
		return;
	rl.rlim_cur = rl.rlim_max = (rlim_t)pages * xtc__pages_size() +
	    ((rlim_t)1 << 20);
	T_EQ(setrlimit(RLIMIT_AS, &rl), 0);
	T_RC(xtc__stack_slab_create(STACK_BYTES, 64, &s), XTC_E_NOMEM);
	T_EQ(mapped_pages(), pages);
	T_OK(xtc__stack_slab_create(STACK_BYTES, 4, &s));
}
END_TEST

START_TEST(guards_hold_where_memory_is_locked)
{
	struct xtc__stack_slab *s;
	char *low, *top;

	/* Such memory cannot be marked: mprotect takes over. */
	if (mlockall(MCL_FUTURE) != 0) {
		fprintf(stderr, "skipped: mlockall: %s\n", strerror(errno));
		return;
	}
	if (t_valgrind() || xtc__stack_slab_create((size_t)16 << 10, 4, &s) !=
	    XTC_OK) {
		fprintf(stderr, "skipped: no memory can be locked\n");
		return;
	}
	T_EQ(munlockall(), 0);
	xtc__stack_struct_at(s, 3, STRUCT_BYTES, (void **)&low,
	    (void **)&top);
	T_EQ(signal_of(write_at, low), 0);
	T_TRUE(is_fault(signal_of(write_at, low - 1)));
}
END_TEST

START_TEST(a_refusal_at_any_place_leaves_nothing)
{
	struct xtc__stack_slab *s;
	long before, pages;
	int w, at, rc, failed;

	for (w = 0; w < N_WAYS; w++) {
		refuse = ways[w];
		refuse_errno = ENOMEM;
		failed = 0;
		for (at = 1; ; at++) {
			before = mappings();
			pages = mapped_pages();
			s = NULL;
			t_set(&refuse_asked, 0);
			t_set(&refuse_at, at);
			rc = xtc__stack_slab_create(STACK_BYTES, 5, &s);
			t_set(&refuse_at, 0);
			if (t_get(&refuse_asked) < at)
				break;
			/* A vector that is refused is no failure. */
			if (rc == XTC_OK)
				continue;
			failed++;
			T_TRUE(rc == XTC_E_NOMEM || rc == XTC_E_RESOURCE);
			T_TRUE(s == NULL);
			T_EQ(mappings(), before);
			T_EQ(mapped_pages(), pages);
		}
		T_OK(rc);
		/* The mapping, and each guard that is asked for alone. (An
		 * emulator makes no marks, and says that it has; under
		 * valgrind none are asked for together.) */
		if (w == N_WAYS - 1 || (t_get(&saw_marks) && !t_emulated() &&
		    !t_valgrind()))
			T_EQ(failed, w == 0 ? 1 : 1 + 5);
	}
	xtc__mem_fail_nth(1, 0);
	T_RC(xtc__stack_slab_create(STACK_BYTES, 5, &s), XTC_E_NOMEM);
	T_EQ(xtc__mem_fail_nth(0, 0), 1);
}
END_TEST

/* How many pages of [p, p + bytes) have memory; -1: cannot be asked. */
static int
resident(char *p, size_t bytes)
{
	size_t i, page = xtc__pages_size(), n = bytes / page;
	int count = 0;
#if defined(__linux__)
	unsigned char vec[64];

	T_TRUE(n <= sizeof(vec));
	T_EQ(mincore(p, bytes, vec), 0);
	for (i = 0; i < n; i++)
		count += vec[i] & 1;
	return count;
#else
	(void)p;
	(void)i;
	(void)n;
	return count - 1;
#endif
}

START_TEST(what_is_discarded_is_all_but_the_page_of_the_struct)
{
	size_t page = xtc__pages_size();
	struct xtc__stack_slab *s;
	char *low, *top, *at;
	unsigned i;

	T_OK(xtc__stack_slab_create(STACK_BYTES, 16, &s));
	for (i = 0; i < 16; i++) {
		at = xtc__stack_struct_at(s, i, STRUCT_BYTES, (void **)&low,
		    (void **)&top);
		if (i > 0 && resident(low, STACK_BYTES) >= 0)
			T_EQ(resident(low, STACK_BYTES), 0);
		memset(low, 0x55, STACK_BYTES - 2048);
		memset(at, 0x77, STRUCT_BYTES);
		xtc__stack_discard(low, top);
		/* Elsewhere the memory goes when the system needs it. */
		if (t_get(&saw_marks))
			T_EQ(resident(low, STACK_BYTES), 1);
		T_EQ(at[0], 0x77);
		T_EQ(at[STRUCT_BYTES - 1], 0x77);
		/* It can be used at once, and the guard is still there. */
		memset(low, 1, page);
		T_TRUE(is_fault(signal_of(write_at, low - 1)));
	}
	T_EQ(xtc__stack_slab_count(s), 16);
}
END_TEST

START_TEST(warming_touches_top_pages_and_no_others)
{
	struct xtc__stack_slab *s;
	char *low, *top, *at;
	unsigned i;
	int n;

	T_OK(xtc__stack_slab_create(STACK_BYTES, 100, &s));
	at = xtc__stack_struct_at(s, 20, STRUCT_BYTES, (void **)&low,
	    (void **)&top);
	*at = 5;
	xtc__stack_warm(s, 10, 80);
	T_EQ(*at, 5);
	for (i = 1; i < 100; i++) {
		at = xtc__stack_struct_at(s, i, STRUCT_BYTES, (void **)&low,
		    (void **)&top);
		n = resident(low, STACK_BYTES);
		if (i < 10 || i >= 90)
			T_TRUE(n <= 0);
		else if (n > 0)
			T_EQ(resident(at - (uintptr_t)at % xtc__pages_size(),
			    xtc__pages_size()), n);
		*at = 1;
	}
	xtc__stack_warm(s, 0, 100);
	xtc__stack_warm(s, 100, 0);
}
END_TEST

static void *
create_thread(void *arg)
{
	struct xtc__stack_slab *s;
	void *low, *top;
	int i;

	for (i = 0; i < 50; i++) {
		T_OK(xtc__stack_slab_create(STACK_BYTES, 16, &s));
		*(void **)xtc__stack_struct_at(s, 7, STRUCT_BYTES, &low,
		    &top) = arg;
		T_TRUE(*(void **)top == arg);
	}
	return NULL;
}

START_TEST(threads_make_slabs_at_once)
{
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++)
		t[i] = t_thread(create_thread, &t[i]);
	for (i = 0; i < 4; i++)
		t_join(t[i]);
}
END_TEST

static void
add(Suite *s, const TTest *t)
{
	TCase *tc = tcase_create(t->name);

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_set_timeout(tc, 60.0 * t_slow());
	tcase_add_test(tc, t);
	suite_add_tcase(s, tc);
}

int
main(void)
{
	Suite *s = suite_create("stack");

	add(s, stacks_and_structs_do_not_touch);
	add(s, structs_lie_at_sixteen_offsets);
	add(s, slabs_of_one_stack_differ_in_offset_too);
	add(s, any_number_of_bytes_makes_whole_pages);
	add(s, each_stack_stands_on_a_guard);
	add(s, an_endless_recursion_ends_at_the_guard);
	add(s, a_hundred_thousand_stacks_are_a_few_mappings);
	add(s, when_the_mappings_run_out_that_is_what_is_said);
	add(s, no_address_space_is_no_memory);
	add(s, guards_hold_where_memory_is_locked);
	add(s, a_refusal_at_any_place_leaves_nothing);
	add(s, what_is_discarded_is_all_but_the_page_of_the_struct);
	add(s, warming_touches_top_pages_and_no_others);
	add(s, threads_make_slabs_at_once);
	return t_main(s);
}
