#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# dtrace.sh: how --enable-dtrace=WORD (meson: -Ddtrace=WORD) is done here.
# Both build systems ask it, so that a word means the same in both.
#
#	dtrace.sh WORD OS LTO CC [FLAGS...]
#
# WORD is yes, sdt, auto or no; OS as in sources.txt; LTO is yes or no. The
# variable DTRACE names a dtrace. Prints one line, and exits 1 on an error:
#
#	MODE KIND DTRACE	MODE no, sdt or yes; with yes, KIND is
#				systemtap: SystemTap's script, which makes
#				notes and semaphores; rewrite: -G rewrites
#				objects; header: macOS, there is no -G
#	error: TEXT
#
# DTRACE_KIND=rewrite takes a dtrace for one of that kind unseen: the recipe
# of -G is tested so where no such system is at hand.

word=$1 os=$2 lto=$3
shift 3
deb="systemtap-sdt-dev (Debian) or systemtap-sdt-devel (Fedora)"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' 0
trap 'exit 1' 1 2 15

refuse()
{
	echo "error: $*"
	exit 1
}

# Does a compiled probe of <sys/sdt.h> leave a note? Elsewhere a header of
# that name is another thing, so the name of the header says nothing.
sdt_works()
{
	cat > "$work/try.c" <<'X'
#define STAP_SDT_ARG_CONSTRAINT nr
#include <sys/sdt.h>
void xtc_site(unsigned long task);
void
xtc_site(unsigned long task)
{
	DTRACE_PROBE2(xtcconf, fiber__park, task, 1);
}
X
	"$@" -fno-lto -c -o "$work/try.o" "$work/try.c" 2> "$work/err" ||
	    "$@" -c -o "$work/try.o" "$work/try.c" 2> "$work/err" || return 1
	grep 'note\.stapsdt' "$work/try.o" > /dev/null 2>&1 &&
	    grep 'fiber__park' "$work/try.o" > /dev/null 2>&1
}

find_dtrace()
{
	if [ -n "$DTRACE" ]; then
		command -v "$DTRACE" 2> /dev/null
		return
	fi
	(PATH=$PATH:/usr/sbin:/sbin; command -v dtrace)
}

# The kind of a dtrace, told by what its -h writes; nothing if it fails.
kind_of()
{
	echo 'provider xtcconf { probe fiber__park(int, int); };' \
	    > "$work/try.d"
	"$1" -h -s "$work/try.d" -o "$work/try.h" > "$work/err" 2>&1 &&
	    [ -s "$work/try.h" ] || return 0
	if grep -i 'semaphore' "$work/try.h" > /dev/null; then
		echo systemtap
	elif grep '__asm__' "$work/try.h" > /dev/null; then
		echo header
	else
		echo rewrite
	fi
}

# Prints what `yes` comes to; on failure the reason, and returns 1.
try_yes()
{
	dtrace=$(find_dtrace)
	if [ -z "$dtrace" ] && [ -n "$DTRACE" ]; then
		echo "DTRACE=$DTRACE is no program"
		return 1
	fi
	if [ -z "$dtrace" ] && [ "$os" = linux ]; then
		echo "no dtrace found: install $deb, or name SystemTap's" \
		    "with DTRACE=PATH"
		return 1
	fi
	if [ -z "$dtrace" ]; then
		echo "no dtrace found: name it with DTRACE=PATH"
		return 1
	fi
	kind=${DTRACE_KIND:-$(kind_of "$dtrace")}
	if [ -z "$kind" ]; then
		echo "$dtrace -h does not work ($(head -n 1 "$work/err"));" \
		    "name another dtrace with DTRACE=PATH"
		return 1
	fi
	if [ "$os" = linux ] && [ "$kind" != systemtap ] &&
	    [ -z "$DTRACE_KIND" ]; then
		echo "$dtrace is not SystemTap's dtrace, and the probes of" \
		    "another cannot be traced here: name SystemTap's with" \
		    "DTRACE=PATH (package $deb), or ask for sdt"
		return 1
	fi
	if [ "$kind" = systemtap ] && ! sdt_works "$@"; then
		echo "<sys/sdt.h> is missing or leaves no notes: install $deb"
		return 1
	fi
	if [ "$kind" = rewrite ] && [ "$lto" = yes ]; then
		echo "dtrace -G cannot rewrite the objects of -flto: leave" \
		    "out one or the other"
		return 1
	fi
	echo "yes $kind $dtrace"
}

if [ "$word" = no ]; then
	echo "no - -"
	exit 0
fi
case $word:$os in
auto:windows)
	echo "no - -"
	;;
*:windows)
	refuse "there are no probes on Windows: do not ask for them"
	;;
sdt:linux)
	sdt_works "$@" || refuse "probes (sdt) need <sys/sdt.h>: install $deb"
	echo "sdt - -"
	;;
sdt:*)
	refuse "probes (sdt) are for Linux only: ask for yes here"
	;;
yes:*)
	answer=$(try_yes "$@") || refuse "$answer"
	echo "$answer"
	;;
auto:linux)
	if sdt_works "$@"; then
		echo "sdt - -"
	else
		try_yes "$@" > "$work/answer" && cat "$work/answer" ||
		    echo "no - -"
	fi
	;;
auto:*)
	try_yes "$@" > "$work/answer" && cat "$work/answer" || echo "no - -"
	;;
*)
	refuse "$word: yes, sdt, auto or no"
	;;
esac
