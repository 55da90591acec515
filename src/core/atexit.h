/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* atexit.h: what a fiber asked to have done when it ends. */
#ifndef XTC_CORE_ATEXIT_H
#define XTC_CORE_ATEXIT_H

struct xtc_task;

/* XTC_E_NOMEM: no memory, nothing is registered. */
int	xtc__atexit_add(struct xtc_task *, void (*fn)(void *), void *arg);
/* Run them, last first; they may add more. */
void	xtc__atexit_run(struct xtc_task *);

#endif
