/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * dump.c: a list of living fibers, and the report of a deadlock. Both only
 * read: nobody is woken, locked out or asked. So it is for a loop that does
 * not run, or for the thread that runs it.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/dump.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xtc_kinds.h"
#include "xtc_loop.h"
#include "core/exec.h"
#include "core/loop.h"
#include "core/park.h"
#include "core/task.h"

/* -1: look into the environment first */
static _Atomic int dump_deadlocks = -1;

int
xtc__deadlock_wanted(void)
{
	/* Relaxed: a switch on its own. */
	int on = atomic_load_explicit(&dump_deadlocks, memory_order_relaxed);
	const char *env;

	if (on >= 0)
		return on;
	env = getenv("XTC_DEADLOCK_REPORT");
	on = env != NULL && *env != '\0' && strcmp(env, "0") != 0;
	atomic_store_explicit(&dump_deadlocks, on, memory_order_relaxed);
	return on;
}

int
xtc_set_deadlock_report(int on)
{
	atomic_store_explicit(&dump_deadlocks, on != 0, memory_order_relaxed);
	return XTC_OK;
}

/* A line being put together; what does not fit is cut. */
struct dump_line {
	char text[512];
	size_t len;
};

__attribute__((__format__(__printf__, 2, 3)))
static void
dump_add(struct dump_line *l, const char *format, ...)
{
	size_t room = sizeof(l->text) - l->len;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(l->text + l->len, room, format, ap);
	va_end(ap);
	if (n > 0)
		l->len += (size_t)n < room ? (size_t)n : room - 1;
}

static int
dump_write(struct dump_line *l, int fd)
{
	size_t done = 0;
	ssize_t n;

	dump_add(l, "\n");
	while (done < l->len) {
		n = write(fd, l->text + done, l->len - done);
		if (n <= 0)
			return XTC_E_IO;
		done += (size_t)n;
	}
	l->len = 0;
	return XTC_OK;
}

static const char *
dump_why_text(unsigned why)
{
	static const char *const text[] = {
#define DUMP_TEXT(name, value, text) [value] = text,
		XTC_WHY_TABLE(DUMP_TEXT)
#undef DUMP_TEXT
	};

	return why < sizeof(text) / sizeof(text[0]) && text[why] != NULL ?
	    text[why] : "something";
}

static void
dump_who(struct dump_line *l, struct xtc__park *rec)
{
	struct xtc_task *t = (struct xtc_task *)(void *)rec;

	if (rec->is_thread) {
		dump_add(l, "a thread (record %p)", (void *)rec);
		return;
	}
	dump_add(l, "%s \"%s\" (", t->pid != 0 ? "process" : "fiber",
	    t->name);
	if (t->pid != 0)
		dump_add(l, "pid %llu, ", (unsigned long long)t->pid);
	dump_add(l, "fiber %p)", (void *)t);
}

/* One fiber: what it does, or why it does not. */
static void
dump_fiber(struct dump_line *l, struct xtc_task *t)
{
	uint64_t word = atomic_load_explicit(&t->park.word,
	    memory_order_acquire);
	const struct xtc__waited *what = t->park.waited;
	struct xtc__park *holder = NULL;

	dump_add(l, "  ");
	dump_who(l, &t->park);
	if ((word & XTC__PARK_STATE) != XTC__PARK_PARKED) {
		dump_add(l, ": runs, or can");
		return;
	}
	dump_add(l, ": waits for %s", what != NULL ? what->name :
	    dump_why_text(t->park.why));
	if (t->park.object != 0)
		dump_add(l, " 0x%llx", (unsigned long long)t->park.object);
	if (what != NULL && what->holder != NULL)
		holder = what->holder(t->park.object);
	if (holder != NULL) {
		dump_add(l, ", held by ");
		dump_who(l, holder);
	}
	if ((word & XTC__PARK_KILL) != 0)
		dump_add(l, "; killed, but may not die yet");
}

/* All living fibers of the loop, or of its executor. */
static int
dump_all(struct xtc_loop *loop, int fd)
{
	struct dump_line line = { .len = 0 };
	uint32_t slot, slots = xtc__task_slots();
	struct xtc_loop *its;
	struct xtc_task *t;
	int r = XTC_OK;

	for (slot = 0; slot < slots && r == XTC_OK; slot++) {
		t = xtc__task_at(slot);
		if (t == NULL || atomic_load_explicit(&t->alive,
		    memory_order_acquire) == 0)
			continue;
		its = atomic_load_explicit(&t->park.loop,
		    memory_order_relaxed);
		if (its != loop && (loop->exec == NULL ||
		    !xtc__exec_has_loop(loop->exec, its)))
			continue;
		dump_fiber(&line, t);
		r = dump_write(&line, fd);
	}
	return r;
}

int
xtc_loop_dump(xtc_loop_t *loop, int fd)
{
	if (loop == NULL)
		return XTC_E_INVAL;
	return dump_all(loop, fd);
}

void
xtc__deadlock_report(struct xtc_loop *loop)
{
	struct dump_line line = { .len = 0 };

	dump_add(&line, "libxtc: deadlock: these fibers are parked, and "
	    "nothing in %s can wake them:", loop->exec == NULL ? "their loop" :
	    "their executor");
	(void)dump_write(&line, STDERR_FILENO);
	(void)dump_all(loop, STDERR_FILENO);
}
