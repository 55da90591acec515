#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# install-deps.sh: sees to it that what a target needs is on this machine.
#
#	install-deps.sh demo|check|ci
#
# What is missing is installed by root on Debian and its kin. Elsewhere the
# packages are named, and the exit code is 1 where nothing works without them.
# Root also gets tracefs mounted, which uprobes need.

level=$1
case $level in
demo | check | ci) ;;
*)
	echo "usage: install-deps.sh demo|check|ci" >&2
	exit 2
	;;
esac

debian=''
fedora=''
hard=''

# want LEVELS WEIGHT DEBIAN FEDORA TEST...: hard stops the target.
want()
{
	levels=$1 weight=$2 deb=$3 rpm=$4
	shift 4
	case " $levels " in
	*" $level "*) ;;
	*) return 0 ;;
	esac
	"$@" > /dev/null 2>&1 && return 0
	debian="$debian $deb"
	fedora="$fedora $rpm"
	test "$weight" = soft || hard="$hard $deb"
}

# Called through want: does CC make a program of this line, with these flags?
# shellcheck disable=SC2317
links()
{
	line=$1
	shift
	dir=$(mktemp -d) || return 1
	echo "$line" > "$dir/a.c"
	"$@" -o "$dir/a" "$dir/a.c"
	code=$?
	rm -rf "$dir"
	return "$code"
}

look()
{
	debian='' fedora='' hard=''
	main='int main(void) { return 0; }'
	want "demo check ci" hard "gcc libc6-dev" gcc \
	    links "$main" "${CC:-cc}"
	want "check ci" hard g++ gcc-c++ command -v "${CXX:-c++}"
	want "check ci" hard binutils binutils command -v readelf
	want "check ci" hard python3 python3 command -v python3
	want "check ci" hard pkg-config pkgconf-pkg-config \
	    command -v pkg-config
	want "check ci" hard check check-devel pkg-config check
	want "check ci" soft mandoc mandoc command -v mandoc
	want "check ci" soft meson meson command -v meson
	want "check ci" soft ninja-build ninja-build command -v ninja
	if [ "$(uname -s)" = Linux ]; then
		want "demo check ci" soft systemtap-sdt-dev \
		    systemtap-sdt-devel \
		    links "#include <sys/sdt.h>
$main" "${CC:-cc}"
		want "demo check ci" soft bpftrace bpftrace \
		    command -v bpftrace
		want "check ci" soft linux-perf perf perf --version
	fi
	want ci hard clang clang command -v clang
	want ci hard libclang-rt-dev compiler-rt \
	    links "$main" clang -fsanitize=address
	want ci soft "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" \
	    gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
	want ci soft qemu-user qemu-user command -v qemu-aarch64
	want ci soft musl-tools musl-gcc command -v musl-gcc
	want ci hard spin spin command -v spin
	want ci hard valgrind valgrind command -v valgrind
	want ci hard autoconf autoconf command -v autoconf
}

mount_tracefs()
{
	if [ "$(id -u)" != 0 ] || [ ! -d /sys/kernel/tracing ] ||
	    [ -e /sys/kernel/tracing/uprobe_events ]; then
		return
	fi
	mount -t tracefs nodev /sys/kernel/tracing 2> /dev/null ||
	    echo "tracefs cannot be mounted here: no uprobes" >&2
}

look
if [ -n "$debian" ] && [ "$(id -u)" = 0 ] &&
    command -v apt-get > /dev/null; then
	echo "installing$debian"
	log=$(mktemp) || exit 1
	# One name that is not to be had must not keep the others away.
	DEBIAN_FRONTEND=noninteractive
	export DEBIAN_FRONTEND
	# shellcheck disable=SC2086
	{ apt-get update -qq && {
	    apt-get install -y -qq --no-install-recommends $debian ||
	    for p in $debian; do
		apt-get install -y -qq --no-install-recommends "$p"
	    done; }; } > "$log" 2>&1 < /dev/null || tail -n 15 "$log" >&2
	rm -f "$log"
	look
fi
if [ -n "$debian" ]; then
	echo "not here, install them: Debian:$debian; Fedora:$fedora" >&2
fi
mount_tracefs
if [ -n "$hard" ]; then
	echo "make cannot go on without:$hard" >&2
	exit 1
fi
exit 0
