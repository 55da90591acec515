#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# features.sh: asks the compiler what this platform has and writes
# xtc_config.h. Both build systems call it, so that a question is asked in
# one place only.
#
#	features.sh SELECTED CC [FLAGS...] > xtc_config.h
#
# SELECTED is the output of sources.awk: every poller in it, that is every
# src/poll/poll_NAME.c, gets a XTC_HAVE_POLL_NAME.

selected=$1
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/xtc-features.XXXXXX") || exit 1
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15

# try NAME COMMAND...: XTC_HAVE_NAME if the program on standard input links.
try()
{
	name=$1
	shift
	cat > "$work/try.c"
	if "$@" -o "$work/try" "$work/try.c" > /dev/null 2>&1; then
		echo "#define XTC_HAVE_$name 1"
	fi
}

cat <<'X'
/* Made by dist/features.sh: what this platform has. */
#ifndef XTC_CONFIG_H
#define XTC_CONFIG_H

X

try EPOLL_PWAIT2 "$@" <<'X'
#define _GNU_SOURCE
#include <sys/epoll.h>
int
main(void)
{
	struct epoll_event ev;
	struct timespec ts = { 0, 0 };

	return epoll_pwait2(-1, &ev, 1, &ts, 0) == 0;
}
X

try PTHREAD_SETNAME "$@" <<'X'
#define _GNU_SOURCE
#include <pthread.h>
int
main(void)
{
	return pthread_setname_np(pthread_self(), "x");
}
X

try VALGRIND_H "$@" <<'X'
#include <valgrind/valgrind.h>
int
main(void)
{
	return VALGRIND_STACK_REGISTER(0, 0) != 0;
}
X

sed -n 's,^lib src/poll/poll_\([a-z0-9]*\)\.c .*,\1,p' "$selected" |
    tr '[:lower:]' '[:upper:]' | sed 's/.*/#define XTC_HAVE_POLL_& 1/'

printf '\n#endif\n'
