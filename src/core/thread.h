/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* thread.h: the park record of a plain thread. */
#ifndef XTC_CORE_THREAD_H
#define XTC_CORE_THREAD_H

struct xtc__park;

/* The calling thread's record, made on first use; NULL: no memory. */
struct xtc__park *xtc__thread_self(void);
/* NULL if it has none yet. For signal handlers too. */
struct xtc__park *xtc__thread_peek(void);

#endif
