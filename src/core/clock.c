/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* clock.c: the time as the caller's loop has it (a simulator's, perhaps). */
#include <stddef.h>

#include "xtc_base.h"
#include "core/loop.h"
#include "os/os.h"

int64_t
xtc_clock_mono(void)
{
	struct xtc_loop *loop = xtc__loop_self();

	return loop == NULL ? xtc__os_mono() : xtc__loop_clock(loop);
}

int64_t
xtc_clock_real(void)
{
	return xtc__os_real();
}
