/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_sync.h: locks that park the fiber and not the thread.
 *
 *	xtc_amutex_t *m;
 *
 *	xtc_amutex_create(&m);
 *	...
 *	if (xtc_amutex_lock(m, -1) == XTC_OK) {
 *		...
 *		xtc_amutex_unlock(m);
 *	}
 *
 * amutex: a mutex with an owner, for fibers of any loop and for plain
 * threads. Waiting is first come first served on one loop; across loops a
 * runner may take the lock before a waiter that has waited less than 50
 * microseconds, at most 16 times in a row. An owner that ends while it
 * holds the lock leaves it to the next, who is told once with
 * XTC_E_OWNERDEAD and holds it.
 *
 *	function		parks	alloc	called from
 *	xtc_amutex_create	no	yes	any thread
 *	xtc_amutex_destroy	no	no	any thread
 *	xtc_amutex_lock		yes	no	fiber or plain thread
 *	xtc_amutex_try_lock	no	no	any thread
 *	xtc_amutex_unlock	no	no	the owner
 */
#ifndef XTC_SYNC_H
#define XTC_SYNC_H

#include "xtc_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xtc_amutex xtc_amutex_t;

/* XTC_E_INVAL: out is NULL. XTC_E_NOMEM. */
XTC_API int xtc_amutex_create(xtc_amutex_t **out);

/* NULL does nothing. XTC_E_INVAL: held or waited for; it stays. */
XTC_API int xtc_amutex_destroy(xtc_amutex_t *m);

/*
 * XTC_OK, or XTC_E_OWNERDEAD: the lock is held. XTC_E_AGAIN: not in time.
 * XTC_E_DEADLK: the caller holds it already. XTC_E_INVAL: NULL, or it would
 * have to wait on a loop's own stack. XTC_E_NOMEM: no memory for the
 * timeout's timer or for a thread's first wait.
 */
XTC_API int xtc_amutex_lock(xtc_amutex_t *m, int64_t timeout_ns);
XTC_API int xtc_amutex_try_lock(xtc_amutex_t *m);

/* XTC_E_INVAL: NULL, or the caller does not hold it. */
XTC_API int xtc_amutex_unlock(xtc_amutex_t *m);

#ifdef __cplusplus
}
#endif
#endif
