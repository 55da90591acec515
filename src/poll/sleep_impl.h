/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * sleep_impl.h: long sleeps that end on time.
 *
 * A kernel may fire the timeout of poll(2) and its kin late by a share of its
 * length, to serve several sleepers with one interrupt: Linux by 1/1000,
 * whatever the timer slack, so that a second becomes 1.001. The cure is to
 * sleep most of the time first and the small rest after. That costs a second
 * wake-up for sleeps of more than 10 ms, a third from 2.5 s on, and so forth.
 */
#ifndef XTC_POLL_SLEEP_IMPL_H
#define XTC_POLL_SLEEP_IMPL_H

#include <stdint.h>

/*
 * One call of the system: events, 0 when the time is over, -1 and errno.
 * timeout_ns as in wait() of poll.h, and not above the number below.
 */
typedef int xtc__sleep_fn(void *arg, int64_t timeout_ns);

/* 30 years: still a good time_t of 32 bits. */
#define XTC__SLEEP_MOST_NS ((int64_t)1000000000 * 946080000)

/* As fn, in as many calls as it takes; 0 means that timeout_ns is over. */
int xtc__sleep(xtc__sleep_fn *fn, void *arg, int64_t timeout_ns);

#endif
