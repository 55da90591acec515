/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * backends_impl.h: the backends there are. Which of them a system has, and
 * which it prefers, is in its backends.c.
 */
#ifndef XTC_POLL_BACKENDS_IMPL_H
#define XTC_POLL_BACKENDS_IMPL_H

#include "poll/poll.h"

extern const struct xtc__poll_ops xtc__poll_epoll_ops;
extern const struct xtc__poll_ops xtc__poll_kqueue_ops;
extern const struct xtc__poll_ops xtc__poll_poll_ops;
extern const struct xtc__poll_ops xtc__poll_port_ops;

#endif
