/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* fault.c: the one pointer behind xtc__os_fault(); see os.h. */
#include "os/os.h"

_Atomic(xtc__os_fault_fn *) xtc__os_fault_hook;
