/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* ppoll_impl.h: poll(2) with a timeout in nanoseconds, as good as it gets. */
#ifndef XTC_POLL_PPOLL_IMPL_H
#define XTC_POLL_PPOLL_IMPL_H

#include <poll.h>
#include <stdint.h>

/* As poll(2), with a timeout as that of an xtc__sleep_fn. */
int xtc__ppoll(struct pollfd *fds, nfds_t n, int64_t timeout_ns);

#endif
