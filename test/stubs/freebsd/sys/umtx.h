/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* As much of <sys/umtx.h> of FreeBSD as the library uses: _umtx_op(2). */
#ifndef STUB_SYS_UMTX_H
#define STUB_SYS_UMTX_H

#include <stdint.h>
#include <time.h>

#define UMTX_OP_WAIT_UINT_PRIVATE 15
#define UMTX_OP_WAKE_PRIVATE 16
#define UMTX_ABSTIME 0x01

struct _umtx_time {
	struct timespec _timeout;
	uint32_t _flags;
	uint32_t _clockid;
};

int _umtx_op(void *obj, int op, unsigned long val, void *uaddr, void *uaddr2);

#endif
