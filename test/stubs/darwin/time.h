/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* What <time.h> of macOS has beyond POSIX, as much as the library uses. */
#ifndef STUB_TIME_H
#define STUB_TIME_H

#include_next <time.h>
#include <stdint.h>

#define CLOCK_UPTIME_RAW CLOCK_MONOTONIC
#define clock_gettime_nsec_np stub_clock_ns

uint64_t stub_clock_ns(clockid_t id);

#endif
