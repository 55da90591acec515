/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* <pthread.h> of macOS names the calling thread and no other. */
#ifndef STUB_PTHREAD_H
#define STUB_PTHREAD_H

#include_next <pthread.h>

#define pthread_setname_np stub_set_name

int stub_set_name(const char *name);

#endif
