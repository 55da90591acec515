/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* As much of <pthread_np.h> of FreeBSD as the library uses. */
#ifndef STUB_PTHREAD_NP_H
#define STUB_PTHREAD_NP_H

#include <pthread.h>

void pthread_set_name_np(pthread_t thread, const char *name);

#endif
