/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* sim_impl.h: what the files of the simulator tell each other. */
#ifndef XTC_SIM_SIM_IMPL_H
#define XTC_SIM_SIM_IMPL_H

#include <stdint.h>

#include "sim/sim.h"

struct xtc__park;

/* The running thread sleeps on an address; 1: woken, 0: the deadline. */
int	xtc__sim_sleep(const void *on, int64_t deadline_ns);
/* Wake up to n of those who sleep there. */
void	xtc__sim_wake(const void *on, int n);
/* As xtc__sim_spawn(), for a function as pthreads have it. */
int	xtc__sim_spawn_thread(const char *name, void *(*fn)(void *), void *arg);
/* Where the running thread's record is kept; NULL: no thread runs. */
struct xtc__park **xtc__sim_record(void);
/* thread.c: the end of a thread that has a record. */
void	xtc__sim_record_gone(struct xtc__park *);
/* The number of the running thread, or -1. */
int	xtc__sim_self(void);
void	xtc__sim_fold(uint64_t);

/* core/loop_impl.h has it too, for its own room. */
void	xtc__waker_retire(struct xtc__park *);

/* heap.c */
void	xtc__sim_heap_begin(void);
void	xtc__sim_heap_end(void);

/* trace.c */
void	xtc__sim_trace_begin(void);
void	xtc__sim_trace_end(void);
void	xtc__sim_trace_print(void);

#endif
