#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# front.sh: what the top Makefile does with a build directory, whichever of
# the two build systems it is of.
#
#	front.sh DIR TARGET...		configures DIR where needed, and makes
#					all, check, bench, soak, install, ...
#
# From the environment: CONFIGURE_ARGS; BUILD=meson for meson in a new DIR,
# with MESON_ARGS; TESTS, names for check; MAKE. A directory that somebody
# configured by hand is taken as it is. One made here is configured again when
# other arguments are asked for, or when probes or tests have become possible.
# With QUIET=1 what make prints is shown only if it fails.
set -e
top=$(cd "$(dirname "$0")/../.." && pwd)
dir=$1
shift
make=${MAKE:-make}

how=configure
test -e "$dir/build.ninja" && how=meson
test -e "$dir/xtc.env" || how=${BUILD:-configure}

configure()
{
	echo "configuring $dir"
	mkdir -p "$dir"
	if [ "$how" = meson ]; then
		args=${MESON_ARGS--Ddtrace=auto}
		rm -rf "$dir/meson-private"
		eval "meson setup $args \"\$dir\" \"\$top\"" \
		    > "$dir/front.log" 2>&1 || {
			tail -n 20 "$dir/front.log" >&2
			exit 1
		}
		grep 'Message: probes' "$dir/front.log"
	else
		args=${CONFIGURE_ARGS---enable-dtrace=auto}
		configure=$top/dist/configure
		parent=$(cd "$dir/.." && pwd)
		test "$parent" = "$top" && configure=../dist/configure
		# shellcheck disable=SC2086
		(cd "$dir" && eval "$configure $args") \
		    > "$dir/front.log" 2>&1 || {
			tail -n 20 "$dir/front.log" >&2
			exit 1
		}
		grep 'configure: ' "$dir/front.log"
	fi
	echo "$wanted" > "$dir/.front"
}

# Was DIR configured without libcheck, or without the probes it was to have
# if possible, and are they here by now?
more_is_possible_now()
{
	if grep '^XTC_CHECK=no$' "$dir/xtc.env" > /dev/null &&
	    pkg-config --exists check 2> /dev/null; then
		return 0
	fi
	grep '^XTC_DTRACE=no$' "$dir/xtc.env" > /dev/null || return 1
	case $(sed -n 1p "$dir/.front") in
	*dtrace=auto*) ;;
	*) return 1 ;;
	esac
	case $(sh "$top/dist/dtrace.sh" auto "$(uname -s |
	    tr '[:upper:]' '[:lower:]')" no "${CC:-cc}") in
	"no "* | error:*) return 1 ;;
	esac
}

if [ "$how" = meson ]; then
	wanted="${MESON_ARGS--Ddtrace=auto}"
	given=${MESON_ARGS+yes}
else
	wanted="${CONFIGURE_ARGS---enable-dtrace=auto}"
	given=${CONFIGURE_ARGS+yes}
fi
wanted="$wanted CC=$CC CFLAGS=$CFLAGS"
if [ ! -e "$dir/xtc.env" ]; then
	configure
elif [ ! -e "$dir/.front" ]; then
	:
elif [ "$given" = yes ] && [ "$(cat "$dir/.front")" != "$wanted" ]; then
	configure
elif more_is_possible_now; then
	configure
fi

if [ "$how" = configure ]; then
	cd "$dir"
	# Nobody watches, so take all processors unless make was told how many.
	jobs=''
	case " $MAKEFLAGS " in
	*j*) ;;
	*) jobs=-j$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2) ;;
	esac
	for target
	do
		if [ "$QUIET" = 1 ]; then
			# shellcheck disable=SC2086
			$make $jobs "$target" > front.log 2>&1 || {
				cat front.log >&2
				exit 1
			}
		else
			$make "$target"
		fi
	done
	exit
fi

# meson test, its output and closing line in the form of runtests.
meson_check()
{
	if [ -n "$TESTS" ]; then
		meson compile -C "$dir" > "$dir/front.log" 2>&1 || {
			cat "$dir/front.log" >&2
			return 1
		}
		# shellcheck disable=SC2086
		python3 "$top/tools/build/runtests" "$dir" $TESTS
		return
	fi
	rm -f "$dir"/meson-logs/testlog.*
	meson test -C "$dir" --num-processes 2 > "$dir/front.log" 2>&1 &&
	    code=0 || code=$?
	if [ ! -e "$dir/meson-logs/testlog.json" ]; then
		cat "$dir/front.log" >&2
		return "$code"
	fi
	grep -E '^(ok|FAIL|skip) |^    \| ' "$dir/meson-logs/testlog.txt"
	awk '/"result": *"/ {
		sub(/.*"result": *"/, "")
		sub(/".*/, "")
		n[$0]++
		all++
	} END {
		if (all)
			printf "%d passed, %d failed, %d skipped\n", n["OK"],
			    all - n["OK"] - n["SKIP"], n["SKIP"]
	}' "$dir/meson-logs/testlog.json"
	return "$code"
}

for target
do
	case $target in
	all) meson compile -C "$dir" > "$dir/front.log" 2>&1 || {
		cat "$dir/front.log" >&2
		exit 1
	    } ;;
	install | clean) ninja -C "$dir" "$target" ;;
	check) meson_check ;;
	*)
		echo "front.sh: meson builds have no target $target" >&2
		exit 2 ;;
	esac
done
