/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * env.h: the envelope, a message with its 16-byte header in front.
 *
 * The receiver gets a pointer to the payload and gives it back with
 * xtc_free(), on any thread. Envelopes up to 4,096 bytes come from pools of
 * seven sizes, larger ones from the heap. Under ASan the payload can be
 * touched only while the envelope is out, and only as far as it was asked for.
 */
#ifndef XTC_MEM_ENV_H
#define XTC_MEM_ENV_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/attr.h"
#include "base/bits.h"
#include "mem/mem.h"
#include "mem/pool.h"

#if defined(__SANITIZE_ADDRESS__)
#define XTC__ENV_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XTC__ENV_ASAN 1
#endif
#endif

#ifdef XTC__ENV_ASAN
#include <sanitizer/asan_interface.h>
#define XTC__ENV_OPEN(p, bytes)		ASAN_UNPOISON_MEMORY_REGION(p, bytes)
#define XTC__ENV_CLOSE(p, bytes)	ASAN_POISON_MEMORY_REGION(p, bytes)
#else
#define XTC__ENV_OPEN(p, bytes)		((void)0)
#define XTC__ENV_CLOSE(p, bytes)	((void)0)
#endif

/* (o) whoever holds the envelope; magic and pool are not the holder's. */
struct xtc__env {
	union {
		struct xtc__env *next;	/* (o) in a mailbox; the pool's link */
		uint64_t width;		/* 8 bytes everywhere */
	};
	uint32_t bytes;			/* of the payload */
	uint8_t pool;			/* or XTC__ENV_ON_HEAP */
	uint8_t kind;			/* (o) 0 from xtc__env_get() */
	uint16_t magic;
};

#define XTC__ENV_ON_HEAP	255u
#define XTC__ENV_POOL_BYTES	4096u	/* header and payload */

_Static_assert(sizeof(struct xtc__env) == XTC__MEM_HEAD_BYTES,
    "the payload follows directly, 16-byte aligned");
_Static_assert(offsetof(struct xtc__env, magic) ==
    offsetof(struct xtc__mem_head, magic), "xtc_free() looks there");

static inline void *
xtc__env_payload(struct xtc__env *e)
{
	return e + 1;
}

/* The envelope of a payload that xtc__env_payload() gave. */
static inline struct xtc__env *
xtc__env_of(void *payload)
{
	return (struct xtc__env *)payload - 1;
}

/* From the heap; NULL also where bytes does not fit 32 bits. */
struct xtc__env *xtc__env_get_large(size_t bytes);
void	xtc__env_put_large(struct xtc__env *e);

/* The payload bytes that a pooled envelope has room for. */
static inline size_t
xtc__env_room(const struct xtc__env *e)
{
	return ((size_t)64 << (e->pool - XTC__POOL_ENV0)) - sizeof(*e);
}

/* A pooled envelope's payload is now `bytes` long, at most its room. */
static inline void
xtc__env_resize(struct xtc__env *e, size_t bytes)
{
	e->bytes = (uint32_t)bytes;
	XTC__ENV_CLOSE(e + 1, xtc__env_room(e));
	XTC__ENV_OPEN(e + 1, bytes);
}

/*
 * An envelope with room for a payload of `bytes`, not cleared; NULL: no
 * memory. m: the magazines of the caller's loop, NULL on a plain thread.
 */
static inline struct xtc__env *
xtc__env_get(struct xtc__mags *m, size_t bytes)
{
	struct xtc__env *e;
	unsigned pool;

	if (XTC__UNLIKELY(bytes > XTC__ENV_POOL_BYTES - sizeof(*e)))
		return xtc__env_get_large(bytes);
	/* 1 to 48 bytes of payload are pool 0; |63 makes it the smallest */
	pool = XTC__POOL_ENV0 - 5 +
	    xtc__bits_highest((bytes + sizeof(*e) - 1) | 63);
	e = xtc__pool_get(m, pool);
	if (XTC__UNLIKELY(e == NULL))
		return NULL;
	e->pool = (uint8_t)pool;
	e->kind = 0;
	e->magic = XTC__MAGIC_ENV;
	xtc__env_resize(e, bytes);
	return e;
}

/* From any thread, with the magazines of the loop it runs, or NULL. */
static inline void
xtc__env_put(struct xtc__mags *m, struct xtc__env *e)
{
	if (XTC__UNLIKELY(e->magic != XTC__MAGIC_ENV))
		xtc__mem_bad_free(e->magic);
	e->magic = XTC__MAGIC_FREE;
	if (XTC__UNLIKELY(e->pool == XTC__ENV_ON_HEAP)) {
		xtc__env_put_large(e);
		return;
	}
	XTC__ENV_CLOSE(e + 1, xtc__env_room(e));
	xtc__pool_put(m, e->pool, e);
}

#endif
