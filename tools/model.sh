#!/bin/sh
# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# model.sh: check every model of the protocols, then every mutation and every
# reading of the text that fails; print one line each.
#
#	model.sh [quick|full]
#
# quick (a few minutes, 2 GiB) is what `make model` runs; full adds the
# searches of minutes and 12 GiB each. Needs spin and a C compiler; without
# spin it says so and exits 77. "ok" is what must come out: no error for a
# model as it stands, an error for a mutation. Exits 1 if any line says BAD.
# The results are in src/core/models/README.md.

src=$(cd "$(dirname "$0")/../src" && pwd) || exit 1
CC=${CC:-cc}
SPIN=${SPIN:-spin}
bad=0

case ${1:-quick} in
quick | full)
	;;
*)
	echo "usage: model.sh [quick|full]" >&2
	exit 2 ;;
esac
if ! command -v "$SPIN" > /dev/null; then
	echo "skipped: no $SPIN"
	exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1

# check WANT CFLAGS MODEL FLAGS...: WANT is pass or fail
check()
{
	want=$1 cflags=$2 model=$3
	shift 3
	rm -f ./*
	cp "$src"/*/models/"$model" . &&
	"$SPIN" -a "$@" "$model" > spin.out 2>&1 &&
	$CC -O2 -w -DSAFETY -DCOLLAPSE $cflags -o pan pan.c || {
		cat spin.out
		exit 1
	}
	./pan -m1000000 -w26 > out 2>&1
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' out)
	states=$(awk '/states, stored/ { print $1; exit }' out)
	what=$(sed -n 's/^pan:1: //p' out | head -n 1)
	case $want:$errors in
	pass:0 | fail:1)
		grep -q 'max search depth too small' out && r=BAD || r=ok ;;
	*)
		r=BAD ;;
	esac
	[ $r = ok ] || bad=1
	echo "$r $model $*: $states states, ${what:-no error}"
}

pass() { check pass "" "$@"; }
fail() { check fail -DBFS "$@"; }	# breadth first: the shortest run

pass park.pml -DVICTIM=2 -DNWAIT=1
pass park.pml -DVICTIM=2 -DNWAIT=1 -DPUBLISH_FIRST
pass park.pml -DVICTIM=2 -DNWAIT=1 -DBUSY -DFEED
pass lock.pml
pass lock.pml -DBARGE
pass lock.pml -DN=2 -DROUNDS=2
pass lock.pml -DN=2 -DROUNDS=2 -DBARGE
pass mailbox.pml
pass mailbox.pml -DFETCHADD
pass mailbox.pml -DCASPUSH
pass mailbox.pml -DCASPUSH -DFETCHADD
pass kill.pml
pass kill.pml -DINWORD
if [ "$1" = full ]; then
	pass park.pml -DVICTIM=0 -DNWAIT=1 -DNOTIMER -DNOYIELD
	pass park.pml -DVICTIM=1 -DNWAIT=1 -DNOTIMER
	pass park.pml -DVICTIM=1 -DNWAIT=1 -DMASK0 -DNOTIMER -DNOYIELD
	pass park.pml -DVICTIM=2 -DNWAIT=2
	pass park.pml -DVICTIM=1 -DNWAIT=1 -DNOYIELD
	pass lock.pml -DROUNDS=2
fi

# readings of the text that fail
fail kill.pml -DTEXT
fail mailbox.pml -DNOSPIN
fail mailbox.pml -DCASPUSH -DM_SENTINEL
fail park.pml -DVICTIM=2 -DNWAIT=1 -DBUSY

# mutations
for m in SKIP_RECHECK RECHECK_FIRST ARM_LAST POST_BEFORE_SWITCH \
    EARLY_QUEUES NO_FIRST_RUN_POST YIELD_QUEUES_FIRST NO_LAST_LOOK \
    LAST_LOOK_FIRST WAKE_BEFORE_CLAIM WAKE_AFTER_QUEUE CLAIM_ONE_SHOT \
    POST_CLAIMED_IGNORED; do
	fail park.pml -DVICTIM=2 -DNWAIT=1 -DM_$m
done
for m in SKIP_KILL_LOOK KILL_LOOK_FIRST KILL_WORD_FIRST CLAIM_ONE_SHOT; do
	fail park.pml -DVICTIM=1 -DNWAIT=1 -DNOTIMER -DNOYIELD -DM_$m
done
fail park.pml -DVICTIM=2 -DNWAIT=2 -DM_NO_EPOCH
for m in OWNER_AFTER_CLAIM ENQUEUE_FIRST IGNORE_STALE NO_OWNER_DEATH; do
	fail lock.pml -DM_$m
done
fail lock.pml -DROUNDS=2 -DM_NO_REMOVE
for m in HEIR_DIES HEIR_TIMES_OUT; do
	fail lock.pml -DBARGE -DM_$m
done
for m in RECHECK_FIRST SKIP_RECHECK WAKE_BEFORE_PUSH DRAIN_VISIBLE \
    CHECK_THEN_PUSH; do
	fail mailbox.pml -DM_$m
done
for m in SKIP_RECHECK DRAIN_VISIBLE CHECK_THEN_PUSH; do
	fail mailbox.pml -DCASPUSH -DM_$m
done
fail kill.pml -DM_NO_SECOND_LOOK
exit $bad
