/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * guard.c: what guard.h has renamed. The headers declare these functions
 * under the names that the macros give them, so each has its own type here.
 */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "sim/sim.h"

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	(void)ts;
	xtc__sim_fail("a real clock was read");
}

int
nanosleep(const struct timespec *ns, struct timespec *left)
{
	(void)ns;
	(void)left;
	xtc__sim_fail("somebody slept in real time");
}

time_t
time(time_t *out)
{
	(void)out;
	xtc__sim_fail("a real clock was read");
}

clock_t
clock(void)
{
	xtc__sim_fail("a real clock was read");
}

int
rand(void)
{
	xtc__sim_fail("a random number was not the seed's");
}

long
random(void)
{
	xtc__sim_fail("a random number was not the seed's");
}

pthread_t
pthread_self(void)
{
	xtc__sim_fail("somebody asked for the thread");
}

int
pthread_create(pthread_t *t, const pthread_attr_t *attr,
    void *(*fn)(void *), void *arg)
{
	(void)t;
	(void)attr;
	(void)fn;
	(void)arg;
	xtc__sim_fail("a real thread was made");
}

int
sched_yield(void)
{
	xtc__sim_fail("a real thread yielded");
}
