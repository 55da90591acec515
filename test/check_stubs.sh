#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# The library for operating systems that are not at hand compiles, is complete,
# and its files of src/os and src/poll do as os.h and poll.h say: for each
# system, all files that dist/sources.txt takes there are compiled against
# test/stubs, linked and run with t_os, t_poll, t_poll_fds and, with a loop on
# top, t_timer. What t_os leaves out there is what only Linux has; more loops
# than one the stubs do not bear.
#
#	check_stubs.sh [SOURCE_DIR]

set -u
top=${1:-${XTC_SRC_DIR:-.}}
work=$(mktemp -d "${TMPDIR:-/tmp}/xtc-stubs.XXXXXX") || exit 1
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15

case $(uname -s) in
Linux) ;;
*)
	echo "skip: the stubs stand on Linux"
	exit 77
	;;
esac
if ! pkg-config --exists check; then
	echo "skip: needs libcheck"
	exit 77
fi

CC=${CC:-cc}
W="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror"
flags="${XTC_CFLAGS:--std=c11 -pthread} ${CFLAGS:--O2 -g} $W \
    -I $work -I $top/src -I $top/include"
awk -v mode=no -f "$top/tools/gen/probes.awk" "$top/src/xtc_probes.d" \
    > "$work/xtc_probes.h" || exit 1
case $(uname -m) in
x86_64) cpu=x86_64 ;;
aarch64) cpu=aarch64 ;;
*) cpu=generic ;;
esac
failed=0

fail()
{
	echo "$1"
	failed=1
}

# compile OBJECT SOURCE FLAGS...
compile()
{
	object=$1
	source=$2
	shift 2
	# shellcheck disable=SC2086
	$CC $flags "$@" -c -o "$object" "$source" ||
	    fail "$source does not compile"
}

# system NAME FACTS INCLUDES STUBS TEST_FLAGS
system()
{
	name=$1
	facts=$2
	includes=$3
	stubs=$4
	test_flags=$5
	mkdir "$work/$name" || exit 1
	objects=
	for source in $(awk -v facts="cpu=$cpu dtrace=no $facts" \
	    -f "$top/dist/sources.awk" "$top/dist/sources.txt" |
	    sed -n 's,^lib \([^ ]*\) .*,\1,p'); do
		object=$work/$name/$(echo "$source" | tr / _).o
		# shellcheck disable=SC2086
		compile "$object" "$top/$source" -D_DEFAULT_SOURCE= $includes
		objects="$objects $object"
	done
	for stub in $stubs; do
		# shellcheck disable=SC2086
		compile "$work/$name/stub_$stub.o" "$top/test/stubs/$stub.c" \
		    -I "$top/test/stubs/freebsd" $includes \
		    -idirafter "$top/test/stubs/darwin"
		objects="$objects $work/$name/stub_$stub.o"
	done
	[ $failed = 0 ] || return
	for t in t_os t_poll t_poll_fds t_timer; do
		# shellcheck disable=SC2046,SC2086
		compile "$work/$name/$t.o" "$top/test/$t.c" $test_flags \
		    $(pkg-config --cflags check)
		# shellcheck disable=SC2046,SC2086
		$CC ${XTC_CFLAGS:--std=c11 -pthread} ${CFLAGS:-} \
		    -Wl,--wrap=close,--wrap=dup2 -o "$work/$name/$t" \
		    "$work/$name/$t.o" $objects \
		    $(pkg-config --libs check) ${XTC_LIBS:--pthread} ||
		    fail "$name: $t does not link"
		[ $failed = 0 ] || return
		"$work/$name/$t" > "$work/out" 2>&1 || {
			cat "$work/out"
			fail "$name: $t fails"
		}
	done
}

s=$top/test/stubs
system freebsd "os=freebsd os=bsd os=posix os=other" \
    "-isystem $s/freebsd -isystem $s/bsd" "systems kqueue" -DT_OS_OTHER
system darwin "os=darwin os=posix os=other" \
    "-isystem $s/darwin -isystem $s/bsd" "systems kqueue" \
    "-DT_OS_OTHER -DT_POLL_MS"
system sunos "os=sunos os=posix os=other" "-isystem $s/sunos" \
    "systems port" -DT_OS_OTHER
exit $failed
