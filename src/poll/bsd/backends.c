/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* bsd/backends.c: kqueue, and poll where somebody asks for it. */
#include "poll/backends_impl.h"

const struct xtc__poll_ops *const xtc__poll_backends[] = {
	&xtc__poll_kqueue_ops,
	&xtc__poll_poll_ops,
	NULL
};
