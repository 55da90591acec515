/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * peek.h: what the library says about itself to a reader of the memory of
 * the process, xtc-trace for one: where the table of fibers is, and where in
 * a fiber's struct the fields are that it wants. So the reader mirrors no
 * layout, and it needs no symbol: it finds the description by its first 16
 * bytes in the data of the program or of libxtc.so, stripped or not, and
 * knows the real one by its own address.
 *
 * The reader takes no lock and stops nobody. It believes a struct that says
 * alive, before and after, with the same pid, name and entry: they change
 * only while alive is 0.
 *
 * A field that is added, moved or changes its meaning changes the number in
 * the magic.
 */
#ifndef XTC_CORE_PEEK_H
#define XTC_CORE_PEEK_H

#include <stdint.h>

#define XTC__PEEK_MAGIC	"libxtc fibers 1"

struct xtc__peek {
	char magic[16];
	uint32_t bytes;			/* of this struct */
	uint32_t chunk_bits;		/* a chunk has 1 << chunk_bits slots */
	uint32_t task_bytes;
	uint32_t name_bytes;
	/* where it is in struct xtc_task */
	uint32_t word;			/* uint64_t */
	uint32_t object;		/* uint64_t */
	uint32_t why;			/* uint8_t, enum xtc_why */
	uint32_t pid;			/* uint64_t */
	uint32_t name;			/* char[name_bytes] */
	uint32_t alive;			/* uint8_t */
	uint32_t proc_fn;		/* pointers: the entry is the one */
	uint32_t async_fn;		/* ... that is not NULL */
	/* the word: epoch << epoch_shift, and a state below */
	uint32_t state_mask;
	uint32_t state_parked;
	uint32_t epoch_shift;
	uint32_t spare;
	const void *self;		/* this struct */
	const void *table;		/* pointers to chunks of pointers */
	const void *slots;		/* uint64_t: slots in use */
};

#endif
