/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * A context switch keeps what the calling convention says a call keeps, and
 * no more; a new context starts as promised; and whoever walks a fiber's
 * stack, at any instruction, comes to its end.
 */
#define _GNU_SOURCE
#include "testlib.h"

#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <sys/time.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAVE_BACKTRACE 1
#endif
#endif

#include "arch/ctx.h"
#include "arch/san.h"

#define STACK_BYTES	(128 * 1024)
#define N_STACKS	64

/* A fiber as small as can be: what core does around the switch. */
struct fib {
	void *sp;
	struct xtc__san san;
	void (*fn)(struct fib *);
	struct fib *back;	/* whom it exits to */
	int64_t n;
	int started;
	int done;
};

static _Alignas(4096) char stacks[N_STACKS][STACK_BYTES];
static struct fib thread_fib;

/* The one call of xtc__ctx_switch. */
static XTC__NOINLINE void *
fib_switch(struct fib *from, struct fib *to, void *carry, int exits)
{
	xtc__san_leave(&from->san, &to->san, exits);
	carry = xtc__ctx_switch(&from->sp, to->sp, carry);
	xtc__san_enter(&from->san);
	XTC__COMPILER_BARRIER();
	return carry;
}

static XTC__NOINLINE void
fib_entry(void *carry, void *arg)
{
	struct fib *f = arg;

	xtc__san_enter(&f->san);
	f->started = 1;
	f->back = carry;
	f->fn(f);
	f->done = 1;
	fib_switch(f, f->back, NULL, 1);
	t_fail("a fiber that had exited ran on");
}

static void
fib_make(struct fib *f, int stack, void (*fn)(struct fib *))
{
	memset(f, 0, sizeof(*f));
	xtc__san_reuse(stacks[stack], STACK_BYTES);
	f->fn = fn;
	f->sp = xtc__ctx_make(stacks[stack] + STACK_BYTES, STACK_BYTES,
	    fib_entry, f);
	xtc__san_init(&f->san, stacks[stack], STACK_BYTES);
}

/* Run f for a while, from the thread's own stack. */
static void
fib_run(struct fib *f)
{
	fib_switch(&thread_fib, f, &thread_fib, 0);
}

static void
fib_yield(struct fib *f)
{
	f->back = fib_switch(f, f->back, NULL, 0);
}

static void
setup(void)
{
	xtc__san_mapped(stacks, STACK_BYTES, STACK_BYTES, N_STACKS);
	xtc__san_thread(&thread_fib.san);
}

static void
carry_echo(struct fib *f)
{
	for (;;) {
		uintptr_t v = (uintptr_t)fib_switch(f, &thread_fib,
		    (void *)(uintptr_t)f->n, 0);

		f->n = (int64_t)(v * 3);
	}
}

START_TEST(the_carry_reaches_whoever_is_switched_to)
{
	struct fib f;

	fib_make(&f, 0, carry_echo);
	f.n = 77;
	T_EQ((uintptr_t)fib_switch(&thread_fib, &f, (void *)1, 0), 77);
	T_TRUE(f.back == (void *)1);
	for (uintptr_t v = 0; v < 1000; v++)
		T_EQ((uintptr_t)fib_switch(&thread_fib, &f, (void *)v, 0),
		    v * 3);
}
END_TEST

static char *seen_low, *seen_high;
static void *seen_carry, *seen_arg;
static uintptr_t seen_frame;

static XTC__NOINLINE void
note_entry(void *carry, void *arg)
{
	xtc__san_enter(&((struct fib *)arg)->san);
	seen_carry = carry;
	seen_arg = arg;
	seen_frame = (uintptr_t)__builtin_frame_address(0);
	fib_switch(arg, &thread_fib, NULL, 1);
}

START_TEST(a_new_context_calls_its_entry_on_its_own_aligned_stack)
{
	struct fib f;
	size_t off;

	for (off = 0; off < 64; off++) {
		memset(&f, 0, sizeof(f));
		seen_low = stacks[0];
		seen_high = stacks[0] + STACK_BYTES - off;
		f.sp = xtc__ctx_make(seen_high, STACK_BYTES - off, note_entry,
		    &f);
		xtc__san_reuse(seen_low, STACK_BYTES);
		xtc__san_init(&f.san, seen_low, STACK_BYTES - off);
		fib_switch(&thread_fib, &f, &off, 0);
		xtc__san_fini(&f.san);
		T_TRUE(seen_carry == &off);
		T_TRUE(seen_arg == &f);
		T_TRUE(seen_frame > (uintptr_t)seen_low);
		T_TRUE(seen_frame < (uintptr_t)seen_high);
#if defined(__x86_64__) || defined(__aarch64__)
		T_EQ(seen_frame % 16, 0);
#endif
	}
}
END_TEST

static void
chain_step(struct fib *f)
{
	struct fib *next = f + 1;

	while (f->n > 0) {
		volatile char frame[256];

		frame[f->n % 256] = (char)f->n;
		f->n--;
		fib_switch(f, next->fn == NULL ? &thread_fib : next, f->back,
		    0);
		T_EQ(frame[(f->n + 1) % 256], (char)(f->n + 1));
	}
}

START_TEST(many_contexts_in_a_circle_keep_their_frames)
{
	static struct fib f[N_STACKS + 1];
	int i, rounds = t_count(10000);

	for (i = 0; i < N_STACKS; i++) {
		fib_make(&f[i], i, chain_step);
		f[i].n = rounds;
	}
	for (i = 0; i < rounds; i++)
		fib_run(&f[0]);
	for (i = 0; i < N_STACKS; i++) {
		T_EQ(f[i].n, 0);
		fib_run(&f[i]);
		T_TRUE(f[i].done);
		xtc__san_fini(&f[i].san);
	}
}
END_TEST

/*
 * uint64_t regs_switch(void **save_sp, void *to_sp, const uint64_t *v)
 *
 * Fills every register that a call keeps from v, switches with carry v,
 * and returns a bit for each that came back different.
 */
uint64_t regs_switch(void **save_sp, void *to_sp, const uint64_t *v);

#if defined(__APPLE__)
#define ASM_NAME(name)	"_" name
#else
#define ASM_NAME(name)	name
#endif

#if defined(__x86_64__)
#define REGS		6
__asm__(
"	.text\n"
"	.globl " ASM_NAME("regs_switch") "\n"
ASM_NAME("regs_switch") ":\n"
"	pushq %rbp\n"
"	pushq %rbx\n"
"	pushq %r12\n"
"	pushq %r13\n"
"	pushq %r14\n"
"	pushq %r15\n"
"	pushq %rdx\n"
"	movq 0(%rdx), %rbx\n"
"	movq 8(%rdx), %rbp\n"
"	movq 16(%rdx), %r12\n"
"	movq 24(%rdx), %r13\n"
"	movq 32(%rdx), %r14\n"
"	movq 40(%rdx), %r15\n"
"	call " ASM_NAME("xtc__ctx_switch") "\n"
"	popq %rdx\n"
"	xorl %eax, %eax\n"
"	cmpq 0(%rdx), %rbx\n"
"	je 1f\n"
"	orl $1, %eax\n"
"1:	cmpq 8(%rdx), %rbp\n"
"	je 1f\n"
"	orl $2, %eax\n"
"1:	cmpq 16(%rdx), %r12\n"
"	je 1f\n"
"	orl $4, %eax\n"
"1:	cmpq 24(%rdx), %r13\n"
"	je 1f\n"
"	orl $8, %eax\n"
"1:	cmpq 32(%rdx), %r14\n"
"	je 1f\n"
"	orl $16, %eax\n"
"1:	cmpq 40(%rdx), %r15\n"
"	je 1f\n"
"	orl $32, %eax\n"
"1:	popq %r15\n"
"	popq %r14\n"
"	popq %r13\n"
"	popq %r12\n"
"	popq %rbx\n"
"	popq %rbp\n"
"	ret\n");
#elif defined(__aarch64__)
#define REGS		19
#define LOAD_X(r, o)	"	ldr " r ", [x2, #" o "]\n"
#define CHECK_X(r, o, bit) \
"	ldr x9, [x2, #" o "]\n" \
"	cmp x9, " r "\n" \
"	cset x9, ne\n" \
"	orr x0, x0, x9, lsl #" bit "\n"
#define CHECK_D(r, o, bit) \
"	fmov x10, " r "\n" \
CHECK_X("x10", o, bit)
__asm__(
"	.text\n"
"	.globl " ASM_NAME("regs_switch") "\n"
ASM_NAME("regs_switch") ":\n"
"	stp x29, x30, [sp, #-176]!\n"
"	stp x19, x20, [sp, #16]\n"
"	stp x21, x22, [sp, #32]\n"
"	stp x23, x24, [sp, #48]\n"
"	stp x25, x26, [sp, #64]\n"
"	stp x27, x28, [sp, #80]\n"
"	stp d8, d9, [sp, #96]\n"
"	stp d10, d11, [sp, #112]\n"
"	stp d12, d13, [sp, #128]\n"
"	stp d14, d15, [sp, #144]\n"
"	str x2, [sp, #160]\n"
"	ldp x19, x20, [x2, #0]\n"
"	ldp x21, x22, [x2, #16]\n"
"	ldp x23, x24, [x2, #32]\n"
"	ldp x25, x26, [x2, #48]\n"
"	ldp x27, x28, [x2, #64]\n"
"	ldr x29, [x2, #80]\n"
"	ldp d8, d9, [x2, #88]\n"
"	ldp d10, d11, [x2, #104]\n"
"	ldp d12, d13, [x2, #120]\n"
"	ldp d14, d15, [x2, #136]\n"
"	bl " ASM_NAME("xtc__ctx_switch") "\n"
"	ldr x2, [sp, #160]\n"
"	mov x0, #0\n"
CHECK_X("x19", "0", "0") CHECK_X("x20", "8", "1") CHECK_X("x21", "16", "2")
CHECK_X("x22", "24", "3") CHECK_X("x23", "32", "4") CHECK_X("x24", "40", "5")
CHECK_X("x25", "48", "6") CHECK_X("x26", "56", "7") CHECK_X("x27", "64", "8")
CHECK_X("x28", "72", "9") CHECK_X("x29", "80", "10")
CHECK_D("d8", "88", "11") CHECK_D("d9", "96", "12") CHECK_D("d10", "104", "13")
CHECK_D("d11", "112", "14") CHECK_D("d12", "120", "15")
CHECK_D("d13", "128", "16") CHECK_D("d14", "136", "17")
CHECK_D("d15", "144", "18")
"	ldp d14, d15, [sp, #144]\n"
"	ldp d12, d13, [sp, #128]\n"
"	ldp d10, d11, [sp, #112]\n"
"	ldp d8, d9, [sp, #96]\n"
"	ldp x27, x28, [sp, #80]\n"
"	ldp x25, x26, [sp, #64]\n"
"	ldp x23, x24, [sp, #48]\n"
"	ldp x21, x22, [sp, #32]\n"
"	ldp x19, x20, [sp, #16]\n"
"	ldp x29, x30, [sp], #176\n"
"	ret\n");
#endif

#if defined(REGS)

static XTC__NOINLINE uint64_t
regs_round(struct fib *from, struct fib *to, const uint64_t *v)
{
	uint64_t wrong;

	xtc__san_leave(&from->san, &to->san, 0);
	wrong = regs_switch(&from->sp, to->sp, v);
	xtc__san_enter(&from->san);
	XTC__COMPILER_BARRIER();
	return wrong;
}

static void
regs_fill(uint64_t *v, uint64_t *rng)
{
	for (int i = 0; i < REGS; i++)
		v[i] = t_rand(rng);
}

static void
regs_peer(struct fib *f)
{
	uint64_t v[REGS], rng = 4711;

	for (;;) {
		regs_fill(v, &rng);
		T_EQ(regs_round(f, &thread_fib, v), 0);
	}
}

START_TEST(every_register_that_a_call_keeps_is_kept)
{
	uint64_t v[REGS], rng = 42;
	struct fib f;
	int i, n = t_count(1000000);

	fib_make(&f, 0, regs_peer);
	for (i = 0; i < n; i++) {
		regs_fill(v, &rng);
		T_EQ(regs_round(&thread_fib, &f, v), 0);
	}
}
END_TEST

#endif

static const int rounding[] = {
	FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO
};

/* What a division does, which is what the mode is for. */
static double
third(void)
{
	volatile double one = 1, three = 3;

	return one / three;
}

static void
rounding_keep(struct fib *f)
{
	int mode = rounding[f->n];
	double want;

	T_EQ(fesetround(mode), 0);
	want = third();
	for (;;) {
		fib_yield(f);
		T_EQ(fegetround(), mode);
		T_TRUE(third() == want);
	}
}

START_TEST(each_fiber_has_its_own_rounding_mode)
{
	struct fib f[4];
	double nearest = third();
	int i, k, n = t_count(100000);

	for (i = 0; i < 4; i++) {
		fib_make(&f[i], i, rounding_keep);
		f[i].n = i;
	}
	for (k = 0; k < n; k++) {
		fib_run(&f[k % 4]);
		T_EQ(fegetround(), FE_TONEAREST);
		T_TRUE(third() == nearest);
	}
}
END_TEST

static void
rounding_tell(struct fib *f)
{
	f->n = fegetround();
	fesetround(FE_TOWARDZERO);
}

START_TEST(a_new_fiber_starts_with_the_rounding_mode_of_its_maker)
{
	struct fib f;
	int i;

	for (i = 0; i < 4; i++) {
		T_EQ(fesetround(rounding[i]), 0);
		fib_make(&f, 0, rounding_tell);
		T_EQ(fesetround(FE_TONEAREST), 0);
		fib_run(&f);
		T_TRUE(f.done);
		T_EQ(f.n, rounding[i]);
		T_EQ(fegetround(), FE_TONEAREST);
		xtc__san_fini(&f.san);
	}
}
END_TEST

#if defined(__x86_64__)

static inline uint32_t
mxcsr_get(void)
{
	uint32_t v;

	__asm__ volatile("stmxcsr %0" : "=m" (v));
	return v;
}

static inline void
mxcsr_set(uint32_t v)
{
	__asm__ volatile("ldmxcsr %0" : : "m" (v));
}

static inline uint16_t
x87_get(void)
{
	uint16_t v;

	__asm__ volatile("fnstcw %0" : "=m" (v));
	return v;
}

static inline void
x87_set(uint16_t v)
{
	__asm__ volatile("fldcw %0" : : "m" (v));
}

#define MXCSR_CONTROL	0xffc0u

/* Only one of the two differs from the thread's; or both, or none. */
static void
control_keep(struct fib *f)
{
	uint32_t mxcsr = mxcsr_get();
	uint16_t x87 = x87_get();

	if (f->n & 1)
		mxcsr ^= 0x8040;	/* flush to zero, denormals are zero */
	if (f->n & 2)
		x87 ^= 0x0300;		/* 53 bits become 64 or back */
	mxcsr_set(mxcsr);
	x87_set(x87);
	for (;;) {
		fib_yield(f);
		T_EQ(mxcsr_get() & MXCSR_CONTROL, mxcsr & MXCSR_CONTROL);
		T_EQ(x87_get(), x87);
		/* Status flags come and go: they must not matter. */
		mxcsr_set(mxcsr_get() ^ 0x3f);
	}
}

START_TEST(mxcsr_and_the_x87_control_word_belong_to_the_fiber)
{
	uint32_t mxcsr = mxcsr_get() & MXCSR_CONTROL;
	uint16_t x87 = x87_get();
	struct fib f[4];
	int i, k, n = t_count(100000);

	if (t_valgrind()) {
		fprintf(stderr, "valgrind does not have all of these bits\n");
		return;
	}
	for (i = 0; i < 4; i++) {
		fib_make(&f[i], i, control_keep);
		f[i].n = i;
	}
	for (k = 0; k < n; k++) {
		fib_run(&f[(k / 3) % 4]);
		T_EQ(mxcsr_get() & MXCSR_CONTROL, mxcsr);
		T_EQ(x87_get(), x87);
	}
}
END_TEST

#elif defined(__aarch64__)

static void
control_keep(struct fib *f)
{
	uint64_t fpcr, now;

	__asm__ volatile("mrs %0, fpcr" : "=r" (fpcr));
	if (f->n & 1)
		fpcr ^= UINT64_C(1) << 24;	/* flush to zero */
	if (f->n & 2)
		fpcr ^= UINT64_C(1) << 25;	/* default NaN */
	__asm__ volatile("msr fpcr, %0" : : "r" (fpcr));
	for (;;) {
		fib_yield(f);
		__asm__ volatile("mrs %0, fpcr" : "=r" (now));
		T_EQ(now, fpcr);
	}
}

START_TEST(fpcr_belongs_to_the_fiber)
{
	uint64_t fpcr, now;
	struct fib f[4];
	int i, k, n = t_count(100000);

	__asm__ volatile("mrs %0, fpcr" : "=r" (fpcr));
	for (i = 0; i < 4; i++) {
		fib_make(&f[i], i, control_keep);
		f[i].n = i;
	}
	for (k = 0; k < n; k++) {
		fib_run(&f[(k / 3) % 4]);
		__asm__ volatile("mrs %0, fpcr" : "=r" (now));
		T_EQ(now, fpcr);
	}
}
END_TEST

#endif

#if defined(__x86_64__) || defined(__aarch64__)

/* Not there in a build with the generic switch. */
extern const char xtc__ctx_start[] __attribute__((__weak__));

static void *chain_above, *chain_return;

static XTC__NOINLINE void
chain_entry(void *carry, void *arg)
{
	/* Asking for it makes this function have one, whatever the flags. */
	void **frame = __builtin_frame_address(0);

	(void)carry;
	xtc__san_enter(&((struct fib *)arg)->san);
	chain_above = frame[0];
	chain_return = frame[1];
	fib_switch(arg, &thread_fib, NULL, 1);
}

START_TEST(the_chain_of_frame_pointers_ends_at_the_entry)
{
	uintptr_t start = (uintptr_t)xtc__ctx_start, at;
	struct fib f;

	if (start == 0) {
		fprintf(stderr, "the generic switch does not promise this\n");
		return;
	}
	/* From a stack full of what could be taken for frame pointers. */
	memset(&f, 0, sizeof(f));
	memset(stacks[0], 0x7f, STACK_BYTES);
	f.sp = xtc__ctx_make(stacks[0] + STACK_BYTES, STACK_BYTES,
	    chain_entry, &f);
	xtc__san_init(&f.san, stacks[0], STACK_BYTES);
	fib_run(&f);
	xtc__san_fini(&f.san);
	T_TRUE(chain_above == NULL);
	/* Without the signature that Arm code may put into the upper bits. */
	at = (uintptr_t)chain_return & (((uintptr_t)1 << 48) - 1);
	T_TRUE(at > start);
	T_TRUE(at < start + 64);
}
END_TEST

#endif

#if defined(HAVE_BACKTRACE)

#define FRAMES	64

static void *trace[FRAMES];
static int trace_n;
static void *trace_entry_return;

static XTC__NOINLINE void
trace_inner(void)
{
	trace_n = backtrace(trace, FRAMES);
	XTC__COMPILER_BARRIER();
}

static XTC__NOINLINE void
trace_outer(void)
{
	trace_entry_return = __builtin_return_address(0);
	trace_inner();
	XTC__COMPILER_BARRIER();
}

static XTC__NOINLINE void
trace_entry(void *carry, void *arg)
{
	(void)carry;
	xtc__san_enter(&((struct fib *)arg)->san);
	trace_outer();
	fib_switch(arg, &thread_fib, NULL, 1);
}

START_TEST(a_backtrace_ends_at_the_entry)
{
	uintptr_t *word = (uintptr_t *)(void *)stacks[0];
	const size_t bytes = STACK_BYTES - 256;
	struct fib f;
	int i, at = -1;

	/* All around are what could be taken for return addresses. */
	for (i = 0; i < (int)(STACK_BYTES / sizeof(*word)); i++)
		word[i] = (uintptr_t)trace_outer + 8;
	memset(&f, 0, sizeof(f));
	f.sp = xtc__ctx_make(stacks[0] + bytes, bytes, trace_entry, &f);
	xtc__san_init(&f.san, stacks[0], STACK_BYTES);
	fib_run(&f);
	xtc__san_fini(&f.san);
	for (i = 0; i < trace_n; i++)
		if (trace[i] == trace_entry_return)
			at = i;
	T_TRUE(at > 0);
	/* Then its caller, and, of the generic switch, the C library. */
	T_TRUE(trace_n - 1 - at <= 2);
	for (i = 0; i < trace_n; i++)
		T_TRUE(trace[i] != NULL);
}
END_TEST

#if !defined(XTC__SAN_ASAN) && !defined(XTC__SAN_TSAN)

static volatile sig_atomic_t storm_n, storm_bad;

static void
storm_handler(int sig)
{
	void *frames[FRAMES];
	int saved = errno;
	int n = backtrace(frames, FRAMES);

	(void)sig;
	if (n < 3 || n >= FRAMES - 1)
		storm_bad = n;
	storm_n = storm_n + 1;
	errno = saved;
}

static void
storm_peer(struct fib *f)
{
	for (;;)
		fib_yield(f);
}

START_TEST(a_backtrace_from_a_signal_in_mid_switch_ends_too)
{
	struct itimerval it = { { 0, 50 }, { 0, 50 } };
	struct sigaction sa = { 0 };
	struct fib f;
	uintptr_t start = (uintptr_t)xtc__ctx_start;
	void *warm[4];
	int i, want = t_count(2000);

	if (start == 0) {
		fprintf(stderr, "swapcontext(3) does not promise this\n");
		return;
	}
	/* The first call allocates: not in the handler. */
	(void)backtrace(warm, 4);
	fib_make(&f, 0, storm_peer);
	sa.sa_handler = storm_handler;
	sa.sa_flags = SA_RESTART;
	T_EQ(sigaction(SIGALRM, &sa, NULL), 0);
	T_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
	while (storm_n < want)
		for (i = 0; i < 1000; i++)
			fib_run(&f);
	memset(&it, 0, sizeof(it));
	T_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
	T_EQ(storm_bad, 0);
}
END_TEST

#endif
#endif

/* Frames whose variables sanitizers keep elsewhere, deep and wide. */
static XTC__NOINLINE int64_t
deep(struct fib *f, int depth, int64_t *sum)
{
	volatile char wide[200];
	int64_t mine = depth;

	wide[depth % 200] = (char)depth;
	if (depth % 3 == 0)
		fib_yield(f);
	if (depth > 0)
		*sum += deep(f, depth - 1, &mine);
	return mine + wide[depth % 200];
}

static void
deep_run(struct fib *f)
{
	int64_t sum = 0;

	deep(f, 30, &sum);
	f->n = sum;
}

/* To its end, from wherever it is. */
static int64_t
deep_finish(struct fib *f)
{
	int turns = 0;

	while (!f->done) {
		fib_run(f);
		turns++;
	}
	T_TRUE(turns > 5);
	xtc__san_fini(&f->san);
	return f->n;
}

START_TEST(a_stack_serves_one_fiber_after_another)
{
	int i, k, n = t_count(4000);
	struct fib f[4];
	int64_t want = 0;

	for (k = 0; k < n; k++) {
		for (i = 0; i < 4; i++)
			fib_make(&f[i], i, deep_run);
		/* Stopped at different depths, ended in another order. */
		for (i = 0; i < 4; i++)
			for (int j = 0; j < i; j++)
				fib_run(&f[i]);
		for (i = 3; i >= 0; i--) {
			int64_t got = deep_finish(&f[i]);

			if (want == 0)
				want = got;
			T_EQ(got, want);
		}
	}
}
END_TEST

/* Leaves from within, and never returns from all the functions it is in. */
static XTC__NOINLINE int64_t
leave_deep(struct fib *f, int depth, int64_t *sum)
{
	volatile char wide[200];
	int64_t mine = depth;

	wide[depth % 200] = (char)depth;
	if (depth == 0) {
		f->done = 1;
		fib_switch(f, f->back, NULL, 1);
		return 0;
	}
	*sum += leave_deep(f, depth - 1, &mine);
	return mine + wide[depth % 200];
}

static void
leave_run(struct fib *f)
{
	leave_deep(f, (int)f->n, &f->n);
	t_fail("a fiber that had exited ran on");
}

/* How much is mapped; 0 where this cannot be asked. */
static long
mapped_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (file != NULL) {
		if (fscanf(file, "%ld", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	return pages;
}

START_TEST(a_fiber_may_exit_from_within_and_leaves_nothing)
{
	/* More than the thread sanitizer has contexts, or frames. */
	int i, n = 9000;
	long before = 0;
	struct fib f;

	for (i = 0; i < n; i++) {
		fib_make(&f, 0, leave_run);
		f.n = i % 40 + 1;
		fib_run(&f);
		T_TRUE(f.done);
		xtc__san_fini(&f.san);
		if (i == 100)
			before = mapped_pages();
	}
	/* The memory is anybody's again. */
	xtc__san_reuse(stacks[0], STACK_BYTES);
	memset(stacks[0], 0, STACK_BYTES);
	/* A sanitizer maps hundreds of pages a fiber. */
	T_TRUE(mapped_pages() - before < n);
}
END_TEST

static struct fib travel_fib;
static atomic_int travel_turn;

static void
travel_fn(struct fib *f)
{
	int64_t sum = 0;

	for (int i = 0; i < 1000; i++) {
		deep(f, 9, &sum);
		fib_yield(f);
	}
	f->n = sum;
}

/* Two threads take turns in running one fiber. */
static void *
travel_thread(void *arg)
{
	int me = (int)(intptr_t)arg;
	struct fib own;
	int done = 0;

	memset(&own, 0, sizeof(own));
	xtc__san_thread(&own.san);
	while (!done) {
		while (t_get(&travel_turn) % 2 != me)
			sched_yield();
		if (!travel_fib.done)
			fib_switch(&own, &travel_fib, &own, 0);
		done = travel_fib.done;
		t_add(&travel_turn, 1);
	}
	return NULL;
}

START_TEST(a_fiber_moves_from_thread_to_thread)
{
	pthread_t t[2];

	fib_make(&travel_fib, 0, travel_fn);
	t[0] = t_thread(travel_thread, (void *)(intptr_t)0);
	t[1] = t_thread(travel_thread, (void *)(intptr_t)1);
	t_join(t[0]);
	t_join(t[1]);
	T_TRUE(travel_fib.done);
	T_TRUE(travel_fib.n > 0);
	T_TRUE(travel_turn > 1000);
	xtc__san_fini(&travel_fib.san);
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
	Suite *s = suite_create("ctx");

	add(s, the_carry_reaches_whoever_is_switched_to);
	add(s, a_new_context_calls_its_entry_on_its_own_aligned_stack);
	add(s, many_contexts_in_a_circle_keep_their_frames);
#if defined(REGS)
	add(s, every_register_that_a_call_keeps_is_kept);
#endif
	add(s, each_fiber_has_its_own_rounding_mode);
	add(s, a_new_fiber_starts_with_the_rounding_mode_of_its_maker);
#if defined(__x86_64__)
	add(s, mxcsr_and_the_x87_control_word_belong_to_the_fiber);
#elif defined(__aarch64__)
	add(s, fpcr_belongs_to_the_fiber);
#endif
#if defined(__x86_64__) || defined(__aarch64__)
	add(s, the_chain_of_frame_pointers_ends_at_the_entry);
#endif
#if defined(HAVE_BACKTRACE)
	add(s, a_backtrace_ends_at_the_entry);
#if !defined(XTC__SAN_ASAN) && !defined(XTC__SAN_TSAN)
	add(s, a_backtrace_from_a_signal_in_mid_switch_ends_too);
#endif
#endif
	add(s, a_stack_serves_one_fiber_after_another);
	add(s, a_fiber_may_exit_from_within_and_leaves_nothing);
	add(s, a_fiber_moves_from_thread_to_thread);
	return t_main(s);
}
