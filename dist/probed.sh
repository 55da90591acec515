#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# probed.sh: the step of dtrace -G, where it rewrites objects. It works on
# copies: -G changes the objects it is given, and a second run over the same
# ones, or a time stamp newer than what they were made from, is trouble.
#
#	probed.sh DIR TOP DTRACE LD PREFIX OBJECT...
#
# OBJECT is PREFIX/PATH.o, made from TOP/PATH.c or TOP/PATH.S. In DIR it
# leaves copies of the objects with a probe site, dof.o, xtc_probes.o (dof.o
# joined with the anchor, so that whoever takes one takes both) and the file
# `objects`, the list of what the library is made of now.
set -e
dir=$1 top=$2 dtrace=$3 ld=$4 prefix=$5
shift 5
rm -rf "$dir"
mkdir -p "$dir"
anchor= sites= list=
for o
do
	path=${o#"$prefix"/}
	path=${path%.o}
	if [ "$path" = src/trace/anchor ]; then
		anchor=$o
	elif grep -q 'XTC_PROBE_SITE *(' "$top/$path.c" 2> /dev/null; then
		mkdir -p "$dir/${path%/*}"
		cp "$o" "$dir/$path.o"
		sites="$sites $dir/$path.o"
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
echo "$list $sites $dir/xtc_probes.o" > "$dir/objects"
