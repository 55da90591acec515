#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# demo.sh: find a lock convoy in a running program from outside.
#
#	tools/demo.sh BUILD_DIR
#
# Attaches the contention script to a live usdt_convoy, prints what the
# script saw, does the same with the mended program, and compares their run
# times without a tracer. Every number is looked at: exit 0 if the report is
# right, 1 if the tracer ran and the report is wrong. Where no kernel tracer
# can run, it says why and shows the answer that the program itself has
# (exit 0; with XTC_REQUIRE_TRACER=1 exit 1). Exit 2: wrong usage.

set -u

say() {
	printf '%s\n' "$*"
}

die() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

[ $# -eq 1 ] || { echo "usage: tools/demo.sh BUILD_DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) || exit 2
build=$(cd "$1" 2>/dev/null && pwd) || {
	printf 'demo: no such directory: %s\n' "$1" >&2
	exit 2
}
convoy=$build/usdt_convoy
[ -x "$convoy" ] || {
	printf 'demo: %s is not built yet: run make first\n' "$convoy" >&2
	exit 2
}
script=$here/bpftrace/xtc_lock_contention.bt

program=
tracer=
dir=$(mktemp -d) || exit 1

# Only what was started here is ended, by its id.
tidy() {
	[ -z "$tracer" ] || { kill -INT "$tracer"; wait "$tracer"; }
	[ -z "$program" ] || kill -KILL "$program"
	rm -rf "$dir"
} 2>/dev/null
trap tidy EXIT
trap 'exit 1' HUP INT TERM

# wait_line FILE PID TENTHS GREP-ARGUMENTS: until the file has such a line.
# Fails when the process that writes it has ended without it, or when the
# time, meant for a machine that hangs, is up.
wait_line() {
	file=$1 pid=$2 tenths=$3
	shift 3
	while ! grep -q "$@" "$file"; do
		if ! kill -0 "$pid" 2>/dev/null; then
			grep -q "$@" "$file"
			return
		fi
		[ "$tenths" -gt 0 ] || return 1
		tenths=$((tenths - 1))
		sleep 0.1
	done
}

# counter FILE NAME: a number that usdt_convoy printed.
counter() {
	awk -v name="$2" '$1 == name { print $2 }' "$1"
}

# ---- Can a kernel tracer run here? ----------------------------------------

# What about this machine may be in the way of a uprobe, a line each.
obstacles() {
	for t in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[ ! -e "$t/uprobe_events" ] || tracefs=$t
	done
	pmu=/sys/bus/event_source/devices/uprobe
	if [ -z "${tracefs:-}" ]; then
		say "tracefs is not mounted" \
		    "(mount -t tracefs nodev /sys/kernel/tracing)"
		[ -e $pmu ] || say "this kernel offers no uprobes"
	fi
	[ -e /sys/kernel/btf/vmlinux ] || say "this kernel has no BTF"
	if [ -e /.dockerenv ] || [ -e /run/.containerenv ] ||
	    tr '\0' '\n' </proc/1/environ 2>/dev/null | grep -q '^container='
	then
		say "this is a container: it needs --privileged --pid=host"
	fi
	if grep -q '\[confidentiality\]' /sys/kernel/security/lockdown \
	    2>/dev/null
	then
		say "the kernel is locked down (confidentiality)"
	fi
}

# Prints nothing if a tracer can run, else the reason.
why_no_tracer() {
	if [ "$(uname -s)" != Linux ]; then
		say "bpftrace is for Linux; on $(uname -s) use" \
		    "dtrace -qs tools/dtrace/xtc_lock_contention.d" \
		    "-c './usdt_convoy convoy'"
	elif ! command -v bpftrace >/dev/null 2>&1; then
		say "bpftrace is not installed (Debian, Fedora: the package" \
		    "bpftrace)"
	elif [ "$(id -u)" -ne 0 ]; then
		say "you are not root (uid $(id -u)); try sudo make demo"
	elif ! bpftrace -e "uprobe:$convoy:main { exit(); }
	    BEGIN { printf(\"attached\\n\"); exit(); }" \
	    >"$dir/try.out" 2>"$dir/try.err" ||
	    ! grep -q '^attached' "$dir/try.out"
	then
		say "bpftrace cannot attach to a program:" \
		    "$(grep -v RLIMIT_MEMLOCK "$dir/try.err" | tail -n 1)"
		obstacles
	elif ! bpftrace -l "usdt:$convoy:xtc:*" 2>/dev/null |
	    grep -q lock__wait__start
	then
		say "this build has no probes (dist/configure" \
		    "--enable-dtrace=sdt; it needs sys/sdt.h, in Debian's" \
		    "systemtap-sdt-dev, Fedora's systemtap-sdt-devel)"
	fi
}

# ---- With a tracer --------------------------------------------------------

# trace MODE: leaves MODE.counters, what the program printed, and
# MODE.report, what the tracer did.
trace() {
	: >"$dir/$1.counters"
	: >"$dir/$1.report"
	"$convoy" "$1" --hold >"$dir/$1.counters" 2>&1 &
	program=$!
	wait_line "$dir/$1.counters" "$program" 300 '^[0-9][0-9]*$' ||
	    die "usdt_convoy did not print its pid"

	say "\$ bpftrace tools/bpftrace/xtc_lock_contention.bt -p $program"
	bpftrace "$script" -p "$program" \
	    >"$dir/$1.report" 2>"$dir/$1.err" &
	tracer=$!
	# The script's own first line comes after all probes are attached.
	wait_line "$dir/$1.report" "$tracer" 1200 -v '^Attaching' || {
		cat "$dir/$1.err" >&2
		die "bpftrace did not attach the script"
	}

	kill -USR1 "$program"
	wait_line "$dir/$1.counters" "$program" 600 '^run_ms' ||
	    die "usdt_convoy did not finish: $(cat "$dir/$1.counters")"

	# Stacks are named while the program lives, so it is kept alive.
	kill -STOP "$program"
	kill -INT "$tracer"
	# A bpftrace that was just looking elsewhere has missed it.
	(while sleep 2; do kill -INT "$tracer" || exit; done) 2> /dev/null &
	again=$!
	wait "$tracer" || die "bpftrace failed: $(tail -n 1 "$dir/$1.err")"
	kill "$again" 2> /dev/null
	tracer=
	kill -CONT "$program"
	kill -USR1 "$program"
	wait "$program" || die "usdt_convoy failed"
	program=
}

# What a report says, as "name value" lines. A histogram a lock; a stack ends
# in the microseconds that were waited under it.
digest() {
	awk '
	function number(text) {
		sub(/.*: /, "", text)
		return text + 0
	}
	/^@(stack)?[[]$/ { lock_at = worker_at = frames = 0; next }
	/^    / {
		frames++
		if ($1 ~ /^xtc_amutex_lock[+]/)
			lock_at = frames
		if ($1 ~ /^worker[+]/)
			worker_at = frames
		next
	}
	/^[]]: [0-9]+$/ {
		# Something of the library, the lock, worker, how it began.
		if (lock_at > 1 && worker_at == lock_at + 1 &&
		    frames > worker_at)
			named += number($0)
		else
			unnamed += number($0)
		next
	}
	/^@hist_us[[]/ { locks++; amutexes += /amutex/ }
	/^@total_us[[]/ { total += number($0) }
	/^@max_us[[]/ && number($0) > most { most = number($0) }
	/^[[].*[)] +[0-9]+ [|]/ {
		match($0, /[)] +[0-9]+ [|]/)
		n = substr($0, RSTART + 1, RLENGTH - 2) + 0
		waits += n
		if ($1 == "[1K,")
			middle += n
	}
	END {
		print "locks", locks + 0
		print "amutexes", amutexes + 0
		print "waits", waits + 0
		print "waits_1_to_2_ms", middle + 0
		printf("waited_ms %.0f\n", total / 1000)
		printf("longest_ms %.1f\n", most / 1000)
		print "us_named", named + 0
		print "us_unnamed", unnamed + 0
	}' "$1"
}

wrong=0

# expect WHAT VALUE OPERATOR LIMIT, as test(1) has them.
expect() {
	test "${2:-0}" "$3" "$4" && return
	printf 'demo: WRONG: %s is %s, expected %s %s\n' \
	    "$1" "${2:-nothing}" "$3" "$4" >&2
	wrong=1
}

# Without the blank lines that bpftrace prints for emptied maps.
show() {
	sed -e '/^[ 	]*$/d' -e 's/^/    /' "$1"
}

from_outside() {
	say "1. usdt_convoy convoy: eight fibers, twenty rounds each, one lock."
	say "   The tracer comes to a program that runs already and that was"
	say "   not prepared for it."
	say
	trace convoy
	show "$dir/convoy.report"
	saw=$dir/convoy.digest
	digest "$dir/convoy.report" >"$saw"
	waits=$(counter "$saw" waits)
	say
	say "   One lock: $waits of" \
	    "$(counter "$dir/convoy.counters" acquisitions) acquisitions" \
	    "waited, $(counter "$saw" waited_ms) ms in total," \
	    "$(counter "$saw" longest_ms) ms"
	say "   at most. The program itself counted" \
	    "$(counter "$dir/convoy.counters" contended) in a run of" \
	    "$(counter "$dir/convoy.counters" run_ms) ms."
	expect "number of locks" "$(counter "$saw" locks)" -eq 1
	expect "number of amutexes" "$(counter "$saw" amutexes)" -eq 1
	expect "waits" "$waits" -ge 158
	expect "waits" "$waits" -le 160
	expect "time under xtc_amutex_lock, worker and its caller" \
	    "$(counter "$saw" us_named)" -gt 0
	expect "time under other stacks" "$(counter "$saw" us_unnamed)" -eq 0
	if [ "$(counter "$saw" waits_1_to_2_ms)" -lt 140 ]; then
		say "   (Fewer than 140 waits of 1 to 2 ms: a busy machine.)"
	fi
	[ $wrong -ne 0 ] || how_to_read
	say
	say "2. usdt_convoy fixed: the same work, the sleep outside the lock."
	say
	trace fixed
	show "$dir/fixed.report"
	saw=$dir/fixed.digest
	digest "$dir/fixed.report" >"$saw"
	waits=$(counter "$saw" waits)
	say
	say "   $waits of $(counter "$dir/fixed.counters" acquisitions)" \
	    "acquisitions waited."
	say
	expect "waits of the mended program" "$waits" -eq 0
}

how_to_read() {
	cat <<'END'

   How to read it
   - Only an acquisition that has to wait is reported; taking a free lock
     passes no probe.
   - The histogram: nearly all waits last 1 to 2 ms, but a holder keeps the
     lock for 0.2 ms. So everybody waits for all seven others: a convoy.
   - The total is about seven times the run time: of eight fibers seven are
     waiting at any moment.
   - The stack, from its end: where a process begins, then worker, which is
     the function to mend, then xtc_amutex_lock and what it does inside.
END
}

# ---- Without a tracer -----------------------------------------------------

# The same answer from inside: from the program's own counters.
from_inside() {
	for mode in convoy fixed; do
		say "\$ ./usdt_convoy $mode"
		"$convoy" $mode >"$dir/$mode.counters" || die "$convoy failed"
		show "$dir/$mode.counters"
	done
	expect "contended" "$(counter "$dir/convoy.counters" contended)" \
	    -ge 158
	expect "contended in the mended program" \
	    "$(counter "$dir/fixed.counters" contended)" -eq 0
	cat <<'END'

   With the sleep inside the lock nearly every acquisition waits, most of
   them between 1 and 2 ms although a holder keeps the lock for 0.2 ms:
   everybody waits for all seven others. A tracer would also name the
   function that asks for the lock, in a program that counts nothing.

END
}

# ---- What it costs --------------------------------------------------------

# The shortest of five runs without a tracer, in ms: what else the machine
# does can only make a run longer.
run_ms() {
	for _ in 1 2 3 4 5; do
		"$convoy" "$1" >"$dir/run" || die "usdt_convoy $1 failed"
		counter "$dir/run" run_ms
	done | sort -n | sed -n 1p
}

ratio() {
	with=$(run_ms convoy)
	without=$(run_ms fixed)
	say "The shortest of five runs each, untraced: convoy $with ms, fixed" \
	    "$without ms:" "$(awk -v a="$with" -v b="$without" \
	    'BEGIN { printf("%.1f", b > 0 ? a / b : 0) }') times as long."
}

reason=$(why_no_tracer)
if [ -z "$reason" ]; then
	from_outside
else
	say "No kernel tracer can run here:"
	printf '%s\n' "$reason" | sed 's/^/  - /'
	say "So the program says itself what a tracer would show."
	say
	from_inside
fi
ratio
if [ -n "$reason" ] && [ "${XTC_REQUIRE_TRACER:-0}" = 1 ]; then
	die "XTC_REQUIRE_TRACER is set and no tracer can run"
fi
exit $wrong
