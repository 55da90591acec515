/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * guard.h: put before every source of the simulator's build by the compiler's
 * command line. What would tell one run from another (a clock, chance, the
 * thread) has another name there: those that guard.c defines fail the run
 * that calls them, with the others it does not link.
 */
#ifndef XTC_SIM_GUARD_H
#define XTC_SIM_GUARD_H

/* defined by guard.c */
#define clock_gettime		xtc__sim_no_clock_gettime
#define nanosleep		xtc__sim_no_nanosleep
#define time			xtc__sim_no_time
#define clock			xtc__sim_no_clock
#define rand			xtc__sim_no_rand
#define random			xtc__sim_no_random
#define pthread_self		xtc__sim_no_pthread_self
#define pthread_create		xtc__sim_no_pthread_create
#define sched_yield		xtc__sim_no_sched_yield

/* nowhere */
#define clock_nanosleep		xtc__sim_no_clock_nanosleep
#define gettimeofday		xtc__sim_no_gettimeofday
#define timespec_get		xtc__sim_no_timespec_get
#define usleep			xtc__sim_no_usleep
#define rand_r			xtc__sim_no_rand_r
#define drand48			xtc__sim_no_drand48
#define getrandom		xtc__sim_no_getrandom
#define getentropy		xtc__sim_no_getentropy
#define arc4random		xtc__sim_no_arc4random
#define gettid			xtc__sim_no_gettid
#define sched_getcpu		xtc__sim_no_sched_getcpu
#define pthread_getspecific	xtc__sim_no_pthread_getspecific
#define pthread_setspecific	xtc__sim_no_pthread_setspecific

#endif
