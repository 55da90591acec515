/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* In the simulator's build, found first: probes are calls of trace.c. */
#include "xtc_probes_sim.h"
