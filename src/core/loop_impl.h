/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* loop_impl.h: what the files of this room tell each other. */
#ifndef XTC_CORE_LOOP_IMPL_H
#define XTC_CORE_LOOP_IMPL_H

struct xtc__park;
struct xtc_loop;
struct xtc_task;

/* Let the others run, if there are others; the budget is charged. */
void	xtc__loop_yield(struct xtc_loop *, struct xtc_task *);

/*
 * A loop's life without the checks of the public functions: run; run all
 * its fibers to their end; stop; free, when no fiber is left.
 */
int	xtc__loop_run(struct xtc_loop *);
int	xtc__loop_finish(struct xtc_loop *);
void	xtc__loop_stop(struct xtc_loop *);
void	xtc__loop_free(struct xtc_loop *);

/* A small number for tracers, unique among the living loops. */
int	xtc__loop_index_get(void);
void	xtc__loop_index_put(int);

/*
 * At the end of a loop: kill those of its fibers that are not killed yet;
 * how many that were.
 */
unsigned xtc__task_kill_all(struct xtc_loop *);

/* async.c: a fiber has ended; its result goes to those who wait for it. */
void	xtc__async_finish(struct xtc_task *);
/* waker.c: wakers of this incarnation are stale from now on. */
void	xtc__waker_retire(struct xtc__park *);

#endif
