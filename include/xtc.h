/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc.h: all of libxtc. A program includes this one; the headers below may
 * also be included one by one.
 */
#ifndef XTC_H
#define XTC_H

#include "xtc_base.h"
#include "xtc_kinds.h"
#include "xtc_loop.h"
#include "xtc_async.h"
#include "xtc_exec.h"
#include "xtc_proc.h"
#include "xtc_sync.h"

#endif
