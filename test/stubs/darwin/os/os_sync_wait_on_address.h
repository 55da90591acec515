/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* As much of this header of macOS 14.4 as the library uses. */
#ifndef STUB_OS_SYNC_WAIT_ON_ADDRESS_H
#define STUB_OS_SYNC_WAIT_ON_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

typedef enum { OS_CLOCK_MACH_ABSOLUTE_TIME = 32 } os_clockid_t;
typedef enum { OS_SYNC_WAIT_ON_ADDRESS_NONE } os_sync_wait_on_address_flags_t;
typedef enum { OS_SYNC_WAKE_BY_ADDRESS_NONE } os_sync_wake_by_address_flags_t;

int os_sync_wait_on_address(void *addr, uint64_t value, size_t size,
    os_sync_wait_on_address_flags_t flags);
int os_sync_wait_on_address_with_timeout(void *addr, uint64_t value,
    size_t size, os_sync_wait_on_address_flags_t flags, os_clockid_t clock,
    uint64_t timeout_ns);
int os_sync_wake_by_address_any(void *addr, size_t size,
    os_sync_wake_by_address_flags_t flags);
int os_sync_wake_by_address_all(void *addr, size_t size,
    os_sync_wake_by_address_flags_t flags);

#endif
