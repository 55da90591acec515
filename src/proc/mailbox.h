/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* mailbox.h: the mailbox of a process; its theory is on top of mailbox.c. */
#ifndef XTC_PROC_MAILBOX_H
#define XTC_PROC_MAILBOX_H

#include <stddef.h>
#include <stdint.h>

struct xtc_task;

/* A process begins: its pid. */
uint64_t xtc__mbox_open(struct xtc_task *, uint32_t cap, uint32_t mark);
/* It ends: no more comes in, what came is freed, the pid is stale. */
void	xtc__mbox_close(struct xtc_task *);
/* The task of a living process, or NULL. */
struct xtc_task *xtc__mbox_find(uint64_t pid);

#endif
