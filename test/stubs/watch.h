/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * watch.h: what kqueue.c and port.c share: a queue of their kind is a plain
 * descriptor with a list of fds beside it, and fds leave the list when they
 * are closed, which is seen by wrapping close() and dup2() at the link.
 */
#ifndef STUB_WATCH_H
#define STUB_WATCH_H

/* The linker's names for the real ones and for ours. */
int __real_close(int fd);
int __real_dup2(int from, int to);
int __wrap_close(int fd);
int __wrap_dup2(int from, int to);

/* Supplied by the queue: fd is about to be closed. */
void stub_closing(int fd);

int
__wrap_close(int fd)
{
	stub_closing(fd);
	return __real_close(fd);
}

int
__wrap_dup2(int from, int to)
{
	if (from != to)
		stub_closing(to);
	return __real_dup2(from, to);
}

#endif
