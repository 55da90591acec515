#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# probed.sh: the step of dtrace -G, where it rewrites objects. It works on
# copies: -G changes the objects it is given, and a second run over the same
# ones, or a time stamp newer than what they were made from, is trouble.
#
#	probed.sh [--join OUT] DIR TOP DTRACE LD NM OBJECT...
#
# In DIR it leaves copies of the objects with a probe site (those that define
# a xtc__site_ of trace.h), dof.o, xtc_probes.o (dof.o joined with the anchor,
# so that whoever takes one takes both) and the file `objects`, the list of
# what the library is made of now. --join makes one object OUT of them all.
set -e
out=''
if [ "$1" = --join ]; then
	out=$2
	shift 2
fi
dir=$1 top=$2 dtrace=$3 ld=$4 nm=$5
shift 5
rm -rf "$dir"
mkdir -p "$dir"
anchor=''
sites=''
list=''
for o
do
	case $o in
	*src?trace?anchor*.o)
		anchor=$o
		continue
		;;
	esac
	if $nm "$o" | grep ' [A-TV-Z] xtc__site_' > /dev/null; then
		case $o in
		*/src/*) copy=$dir/src/${o##*/src/} ;;
		*) copy=$dir/${o##*/} ;;
		esac
		mkdir -p "${copy%/*}"
		cp "$o" "$copy"
		sites="$sites $copy"
	else
		list="$list $o"
	fi
done
if [ -z "$anchor" ] || [ -z "$sites" ]; then
	echo "probed.sh: no anchor, or no object with a probe site" >&2
	exit 1
fi
# The words of these variables are file names and commands of the build.
# shellcheck disable=SC2086
$dtrace -G -s "$top/src/xtc_probes.d" -o "$dir/dof.o" $sites
# shellcheck disable=SC2086
$ld -r -o "$dir/xtc_probes.o" "$dir/dof.o" "$anchor"
# shellcheck disable=SC2086
test -z "$out" || $ld -r -o "$out" $list $sites "$dir/xtc_probes.o"
echo "$list $sites $dir/xtc_probes.o" > "$dir/objects"
