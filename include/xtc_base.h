/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * xtc_base.h: what every other header needs: error codes, the version,
 * memory and clocks.
 *
 * Every fallible function returns int: XTC_OK (0) or one of the negative
 * codes below. Times are int64_t nanoseconds. A timeout is negative for
 * ever, 0 for a try, positive for a bound; when it runs out the answer is
 * XTC_E_AGAIN, as it is for "full", "empty" and "would block".
 *
 * Memory that the library hands out (a message, say) goes back with
 * xtc_free(), from any thread, also after the loop that made it is gone.
 *
 *	function		parks	alloc	called from
 *	xtc_strerror		no	no	anywhere
 *	xtc_version_*		no	no	anywhere
 *	xtc_malloc and family	no	yes	any thread
 *	xtc_free		no	no	any thread
 *	xtc_clock_*		no	no	anywhere
 *	xtc_set_allocator	no	no	before any use
 */
#ifndef XTC_BASE_H
#define XTC_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* On every public declaration; the export list is made from it. */
#if defined(__GNUC__)
#define XTC_API __attribute__((__visibility__("default")))
#else
#define XTC_API
#endif

#define XTC_VERSION_MAJOR 0
#define XTC_VERSION_MINOR 1
#define XTC_VERSION_PATCH 0

/* The error codes, in one table: X(name, value, text). */
#define XTC_ERROR_TABLE(X) \
	X(XTC_OK, 0, "success") \
	X(XTC_E_INVAL, -1, "invalid argument or state") \
	X(XTC_E_NOMEM, -2, "out of memory") \
	X(XTC_E_NOSYS, -3, "not supported here") \
	X(XTC_E_RANGE, -4, "value out of range") \
	X(XTC_E_AGAIN, -5, "timed out, full, empty or would block") \
	X(XTC_E_INTERNAL, -6, "internal error") \
	X(XTC_E_RESOURCE, -7, "a system resource ran out") \
	X(XTC_E_DEADLK, -8, "would deadlock") \
	X(XTC_E_VERSION, -9, "version mismatch") \
	X(XTC_E_ABORTED, -10, "ended before it was done") \
	X(XTC_E_OWNERDEAD, -11, "the previous owner died holding it") \
	X(XTC_E_IO, -12, "input/output error")

#define XTC__ERROR_ENUM(name, value, text) name = (value),
enum xtc_error {
	XTC_ERROR_TABLE(XTC__ERROR_ENUM)
	XTC__ERROR_LAST = 1
};
#undef XTC__ERROR_ENUM

/* A text for an error code; never NULL, also for a code that is none. */
XTC_API const char *xtc_strerror(int error);

/* "major.minor.patch" of the library that runs (not of this header). */
XTC_API const char *xtc_version_string(void);
/* The same as numbers. Each pointer may be NULL. XTC_OK. */
XTC_API int xtc_version_components(int *major, int *minor, int *patch);

/*
 * Memory as malloc(3), calloc(3) and realloc(3) give it, 16-byte aligned,
 * NULL when there is none. It is given back with xtc_free() only.
 * xtc_malloc(0) returns a unique pointer.
 */
XTC_API void *xtc_malloc(size_t bytes);
XTC_API void *xtc_calloc(size_t n, size_t bytes);
XTC_API void *xtc_realloc(void *p, size_t bytes);
/* Any thread. Takes memory of this family and received messages; NULL too. */
XTC_API void xtc_free(void *p);

/* align: a power of two. Given back with xtc_aligned_free() only. */
XTC_API void *xtc_aligned_alloc(size_t align, size_t bytes);
XTC_API void xtc_aligned_free(void *p);

/* Where the library gets its heap memory from; each as its C namesake. */
typedef struct xtc_allocator {
	uint32_t size;		/* sizeof(xtc_allocator_t), or 0 */
	void *(*malloc_fn)(size_t bytes);
	void *(*realloc_fn)(void *p, size_t bytes);
	void (*free_fn)(void *p);
} xtc_allocator_t;

/*
 * Set once, before any other call into the library. XTC_E_INVAL: NULL, a
 * function missing, or the library has allocated already.
 */
XTC_API int xtc_set_allocator(const xtc_allocator_t *a);

/* Nanoseconds of a clock that never goes back / since 1970 (UTC). */
XTC_API int64_t xtc_clock_mono(void);
XTC_API int64_t xtc_clock_real(void);

#ifdef __cplusplus
}
#endif
#endif
