#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# rules.sh: the last step of configure, in the build directory: the selected
# files, their rules, and flags.stamp, on which every object depends. What did
# not change is not written, so that make sees no news where there is none.
#
#	rules.sh TOP AWK PROBED FACTS COMPILER-LINE
set -e
top=$1 awk=$2 probed=$3 facts=$4 compile=$5

keep()
{
	if cmp -s "$1.new" "$1"; then
		rm -f "$1.new"
	else
		mv -f "$1.new" "$1"
	fi
}

$awk -v facts="$facts" -f "$top/dist/sources.awk" "$top/dist/sources.txt" \
    > selected.txt.new
mv -f selected.txt.new selected.txt
$awk -v probed="$probed" -f "$top/dist/rules.awk" selected.txt > rules.mk.new
for dir in include-generated $(sed -n 's/^# DIRS//p' rules.mk.new); do
	mkdir -p "$dir"
done
sed -n 's/^# DEP //p' rules.mk.new | while read -r dep; do
	test -f "$dep" || : > "$dep"
done
mv -f rules.mk.new rules.mk
printf '%s\n%s\n' "$compile" "$facts" > flags.stamp.new
keep flags.stamp
test -e tools || ln -s "$top/tools" tools
