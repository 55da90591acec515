/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * sim/sim.h: the simulator as its stories see it; the theory is in sim.c.
 *
 *	xtc__sim_begin("name", seed);
 *	xtc__sim_spawn("main", fn, arg);
 *	xtc__sim_run();
 *	hash = xtc__sim_end();
 *
 * All of the library may be called from fn, and from what it spawns. A run
 * that fails says why, with its seed, and ends the process.
 */
#ifndef XTC_SIM_SIM_H
#define XTC_SIM_SIM_H

#include <stddef.h>
#include <stdint.h>

struct xtc__seams;

/* What a failing process exits with. */
#define XTC__SIM_FAILED	3

/* A run begins: a new world, in which nothing has happened. */
void	xtc__sim_begin(const char *story, uint64_t seed);
/* A thread of this world. Its number. */
int	xtc__sim_spawn(const char *name, void (*fn)(void *), void *arg);
/* In one of them: wait for the end of another. */
void	xtc__sim_await(int thread);
/* Until all of them have ended. */
void	xtc__sim_run(void);
/* The run is over, and every fiber has ended; the hash of what happened. */
uint64_t xtc__sim_end(void);

/* From 0 to n - 1, as the seed says. */
unsigned xtc__sim_choose(unsigned n);
/* One in n. */
int	xtc__sim_chance(unsigned n);
/* The caller computes for so long. */
void	xtc__sim_spend(int64_t ns);
int64_t	xtc__sim_now(void);
/* Clock and chooser for a loop. */
struct xtc__seams *xtc__sim_seams(void);
/* Goes into the hash, and into the list of what has happened. */
void	xtc__sim_note(const char *what, uint64_t a, uint64_t b);

__attribute__((__format__(__printf__, 1, 2)))
_Noreturn void xtc__sim_fail(const char *format, ...);

#define XTC_SIM_CHECK(cond, ...) \
	((cond) ? (void)0 : xtc__sim_fail(__VA_ARGS__))

/* Where the text of a failure goes besides stderr; NULL: nowhere. */
extern char *xtc__sim_text;
extern size_t xtc__sim_text_bytes;
/* Everything that happens is printed. */
extern int xtc__sim_verbose;

#endif
