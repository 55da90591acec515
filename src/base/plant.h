/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * plant.h: what the simulator needs inside the protocols, and nothing
 * without it. XTC_SIM_POINT() is a place where another simulated thread may
 * run. XTC_PLANT(NAME) is true where that mistake is planted, so that the
 * simulator can be shown to find it; in every real build it is 0.
 */
#ifndef XTC_BASE_PLANT_H
#define XTC_BASE_PLANT_H

#ifdef XTC_SIM

void	xtc__sim_point(void);
extern int xtc__sim_planted;

#define XTC_SIM_POINT()	xtc__sim_point()
#define XTC_PLANT(name)	(xtc__sim_planted == XTC__PLANT_##name)

#else

#define XTC_SIM_POINT()	((void)0)
#define XTC_PLANT(name)	0

#endif

/* The mistakes, in one table: X(name, what it breaks). */
#define XTC__PLANT_TABLE(X) \
	X(SKIP_RECHECK, "no look at the mailbox after publishing") \
	X(RECHECK_FIRST, "a look at the waker before publishing") \
	X(ARM_LAST, "publish and look before ARMED") \
	X(POST_BEFORE_SWITCH, "PARKED before the stack is left") \
	X(EARLY_QUEUES, "an early claim queues the fiber too") \
	X(NO_FIRST_RUN_POST, "a first run skips the post-switch action") \
	X(YIELD_QUEUES_FIRST, "a yielder is queued before the switch") \
	X(WAKE_AFTER_QUEUE, "fiber-wake is emitted after the push") \
	X(POST_CLAIMED_IGNORED, "the post-switch action forgets a claim") \
	X(NO_LAST_LOOK, "no look before a loop sleeps") \
	X(LAST_LOOK_FIRST, "... or one before it says that it sleeps") \
	X(CLAIM_ONE_SHOT, "a claim that fails once gives up") \
	X(NO_EPOCH, "claims do not compare the epoch") \
	X(SKIP_KILL_LOOK, "prepare does not look at the kill mark") \
	X(NO_SECOND_LOOK, "a kill does not look whom it hits") \
	X(ENQUEUE_FIRST, "a waiter is in the lock's queue before ARMED") \
	X(OWNER_AFTER_CLAIM, "a lock's owner is written after the claim") \
	X(IGNORE_STALE, "a hand-off does not see that it failed") \
	X(NO_OWNER_DEATH, "a dead owner keeps the lock") \
	X(NO_REMOVE, "a waiter whose time is up stays in the queue") \
	X(HEIR_DIES, "a killed heir dies before it tries the lock") \
	X(HEIR_TIMES_OUT, "an heir gives up before it tries the lock") \
	X(DRAIN_VISIBLE, "close does not wait for those inside") \
	X(CHECK_THEN_PUSH, "room is looked at and taken in two steps") \
	X(FULL_AT_TWO_TIMES, "sent and taken are of different times") \
	X(DEQUE_POP_BLIND, "the owner pops without a swap") \
	X(DEQUE_STEAL_LOSES, "a thief drops one") \
	X(NO_FEED, "queueing wakes no sleeping loop") \
	X(FREED_UNDER_WAKER, "fini does not wait for those who wake") \
	X(NAP_TOO_LATE, "a nap is counted after SLEEPING is seen") \
	X(SECOND_SUM, "who is alive is counted on the second round") \
	X(MISSED_QUIESCENCE, "one look is taken for all loops asleep")

#define XTC__PLANT_ENUM(name, text) XTC__PLANT_##name,
enum xtc__plant {
	XTC__PLANT_NONE,
	XTC__PLANT_TABLE(XTC__PLANT_ENUM)
	XTC__PLANT_COUNT
};
#undef XTC__PLANT_ENUM

#endif
