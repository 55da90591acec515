/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_kinds.h: the vocabulary of observation. Park reasons, wake causes,
 * lock and timer kinds are numbered here, once; the probes, the event ring,
 * the dump of fibers, the scripts and the pages use these numbers and names.
 */
#ifndef XTC_KINDS_H
#define XTC_KINDS_H

/* Why a fiber is parked: X(name, value, text). */
#define XTC_WHY_TABLE(X) \
	X(XTC_WHY_MAILBOX, 1, "mailbox") \
	X(XTC_WHY_SLEEP, 2, "sleep") \
	X(XTC_WHY_FD, 3, "fd") \
	X(XTC_WHY_AIO, 4, "aio") \
	X(XTC_WHY_POOL, 5, "blocking pool") \
	X(XTC_WHY_SYNC, 6, "sync") \
	X(XTC_WHY_LWLOCK, 7, "lwlock") \
	X(XTC_WHY_LOCKMGR, 8, "lock manager") \
	X(XTC_WHY_FUTURE, 9, "future")

/* What ended a park. */
#define XTC_CAUSE_TABLE(X) \
	X(XTC_CAUSE_EVENT, 1, "event") \
	X(XTC_CAUSE_TIMEOUT, 2, "timeout") \
	X(XTC_CAUSE_KILL, 3, "kill")

/* What kind of lock a lock wait is about. */
#define XTC_LOCK_TABLE(X) \
	X(XTC_LOCK_AMUTEX, 1, "amutex") \
	X(XTC_LOCK_ARWLOCK, 2, "arwlock") \
	X(XTC_LOCK_SEM, 3, "semaphore") \
	X(XTC_LOCK_NOTIFY, 4, "notify") \
	X(XTC_LOCK_BARRIER, 5, "barrier") \
	X(XTC_LOCK_GATE, 6, "gate") \
	X(XTC_LOCK_LWLOCK, 7, "lwlock") \
	X(XTC_LOCK_LOCKMGR, 8, "lock manager")

/* What a timer is for. */
#define XTC_TIMER_TABLE(X) \
	X(XTC_TIMER_USER, 1, "user timer") \
	X(XTC_TIMER_SLEEP, 2, "sleep") \
	X(XTC_TIMER_TIMEOUT, 3, "timeout of a wait")

/* Why a message was dropped. */
#define XTC_DROP_TABLE(X) \
	X(XTC_DROP_FULL, 1, "mailbox full") \
	X(XTC_DROP_NO_PROCESS, 2, "no such process") \
	X(XTC_DROP_NO_MEMORY, 3, "no memory")

/* Where an allocation failed. */
#define XTC_ALLOC_TABLE(X) \
	X(XTC_ALLOC_SLAB, 1, "slab") \
	X(XTC_ALLOC_STACK, 2, "stack") \
	X(XTC_ALLOC_HEAP, 3, "heap") \
	X(XTC_ALLOC_ENVELOPE, 4, "envelope") \
	X(XTC_ALLOC_RING, 5, "ring")

#define XTC__KIND_ENUM(name, value, text) name = (value),
enum xtc_why { XTC_WHY_TABLE(XTC__KIND_ENUM) XTC__WHY_NONE = 0 };
enum xtc_cause { XTC_CAUSE_TABLE(XTC__KIND_ENUM) XTC__CAUSE_NONE = 0 };
enum xtc_lock_kind { XTC_LOCK_TABLE(XTC__KIND_ENUM) XTC__LOCK_NONE = 0 };
enum xtc_timer_kind { XTC_TIMER_TABLE(XTC__KIND_ENUM) XTC__TIMER_NONE = 0 };
enum xtc_drop_why { XTC_DROP_TABLE(XTC__KIND_ENUM) XTC__DROP_NONE = 0 };
enum xtc_alloc_where { XTC_ALLOC_TABLE(XTC__KIND_ENUM) XTC__ALLOC_NONE = 0 };
#undef XTC__KIND_ENUM

#endif
