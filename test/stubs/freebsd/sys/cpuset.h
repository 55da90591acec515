/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* As much of <sys/cpuset.h> of FreeBSD as the library uses. */
#ifndef STUB_SYS_CPUSET_H
#define STUB_SYS_CPUSET_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t bits[16];
} cpuset_t;

#define CPU_LEVEL_WHICH 3
#define CPU_WHICH_PID 2
#define CPU_COUNT(set) stub_cpu_count(set)

int stub_cpu_count(const cpuset_t *set);
int cpuset_getaffinity(int level, int which, int64_t id, size_t bytes,
    cpuset_t *mask);

#endif
