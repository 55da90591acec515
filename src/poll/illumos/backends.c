/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* illumos/backends.c: event ports, and poll where somebody asks for it. */
#include "poll/backends_impl.h"

const struct xtc__poll_ops *const xtc__poll_backends[] = {
	&xtc__poll_port_ops,
	&xtc__poll_poll_ops,
	NULL
};
