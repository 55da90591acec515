/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * lock.pml: the amutex on top of the park record.
 *
 * Models (ARCHITECTURE.md, "The amutex" and "Failure";
 * include/xtc_sync.h): a lock word {owner, WAITERS, DEAD}, a FIFO of waiters
 * under a short queue lock, N fibers that lock, unlock and exit; timers that
 * may fire at any moment of a timed wait, late too; a kill of fiber 0 at any
 * moment (set the mark, read the word, claim); death of a holder and of a
 * waiter; hand-off to the oldest waiter, and with -DBARGE, chosen at each
 * unlock, the other policy: the lock is freed, the oldest waiter (the heir)
 * is woken to try again, a runner may take the lock before it, and the heir
 * then waits again at the head of the queue.
 *
 * The park record is reduced to its contract, which park.pml checks:
 * {epoch, RUNNING ARMED CLAIMED, cause}; ARMED and PARKED are one state, a
 * claim is one atomic step, one claim an epoch.
 *
 * Leaves out: workers and queues of runnable fibers, memory order, the rule
 * that says when a runner may barge (here: whenever), plain threads (they
 * use the same record), the probes.
 *
 * Properties: never two owners; a wait that ended by timeout or kill does
 * not own the lock, one that ended by hand-off does; nobody is stranded (all
 * fibers exit; at the end the lock is free and its queue empty); relocking
 * is never reported to somebody who is not the owner; OWNERDEAD is told
 * exactly once for each death, to the next owner.
 *
 * Run:  spin -a lock.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c &&
 *       ./pan -m200000
 * Options of spin -a: -DBARGE, -DN=n fibers (3), -DROUNDS=n locks of each
 * (1), -DNOTIMER, -DNOKILL, and one of the mutations M_... below, each of
 * which must be found.
 */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define VICTIM	0
#define NONE	7

#define RUNNING	0
#define ARMED	1
#define CLAIMED	2

#define C_NONE	0
#define C_EVENT	1
#define C_TIMEOUT 2
#define C_KILL	3

byte ep[N], st[N], cs[N];
byte tm[N];			/* ticket in the fiber's timer, 0 none */
bool kill_pending;		/* of the victim */

/* the lock word, one atomic; and the queue under its own short lock */
byte owner = NONE;
bool waiters, dead;
bool qlock;
byte q[N], q_ep[N], qn;

/* ghosts */
byte inside = NONE;		/* who is between lock and unlock */
byte deaths, told, gone;
bool live[N];			/* the waiter's node exists */

#define QLOCK	atomic { !qlock -> qlock = 1 }
#define QUNLOCK	qlock = 0

inline q_push_tail(f)
{
	d_step { q[qn] = f; q_ep[qn] = ep[f]; qn++; live[f] = 1 }
}

inline q_push_head(f)
{
	d_step {
		i = qn;
		do
		:: i > 0 -> q[i] = q[i - 1]; q_ep[i] = q_ep[i - 1]; i--
		:: else -> break
		od;
		q[0] = f; q_ep[0] = ep[f]; qn++; live[f] = 1
	}
}

/* take out position i */
inline q_take()
{
	do
	:: i + 1 < qn -> q[i] = q[i + 1]; q_ep[i] = q_ep[i + 1]; i++
	:: else -> break
	od;
	qn--; q[qn] = 0; q_ep[qn] = 0; i = 0
}

inline q_pop()
{
	atomic { h = q[0]; he = q_ep[0]; assert(live[h]); i = 0; q_take() }
}

inline q_remove(f)
{
	atomic {
		i = 0;
		do
		:: i < qn && q[i] != f -> i++
		:: else -> break
		od;
		if
		:: i < qn -> q_take()
		:: else -> i = 0
		fi
	}
}

inline claim(f, e, c)
{
	d_step {
		if
		:: ep[f] == e && st[f] == ARMED ->
			st[f] = CLAIMED; cs[f] = c; r = 1
		:: else -> r = 0
		fi
	}
}

/*
 * Queue lock held, owner == me: give the lock to the oldest waiter that can
 * still be claimed, or free it. The new owner is in the word before the
 * claim, for it may run at once; a claim that fails takes it out again.
 */
inline hand_off()
{
	do
	:: qn == 0 ->
		d_step { owner = NONE; waiters = 0 };
		break
	:: qn > 0 ->
		q_pop();
#ifdef M_OWNER_AFTER_CLAIM
		claim(h, he, C_EVENT);
		if
		:: r -> d_step { owner = h; waiters = (qn > 0) }; break
		:: else
		fi
#else
		d_step { owner = h; waiters = (qn > 0) };
		claim(h, he, C_EVENT);
#ifdef M_IGNORE_STALE
		break
#else
		if
		:: r -> break
		:: else -> owner = me
		fi
#endif
#endif
	od;
	atomic { h = 0; he = 0; r = 0 }
}

/* Queue lock held: wake the oldest waiter of a free lock to try again. */
inline wake_heir()
{
	do
	:: qn == 0 -> waiters = 0; break
	:: qn > 0 ->
		q_pop();
		claim(h, he, C_EVENT);
		if
		:: r -> if
			:: qn == 0 -> waiters = 0
			:: else
			fi;
			break
		:: else
		fi
	od;
	atomic { h = 0; he = 0; r = 0 }
}

inline release()
{
	QLOCK;
	assert(owner == me);
#ifdef BARGE
	if
	:: hand_off()
	:: owner = NONE; wake_heir()
	fi;
#else
	hand_off();
#endif
	QUNLOCK
}

#ifdef BARGE
#define MAY_TAKE (owner == NONE)
#else
#define MAY_TAKE (owner == NONE && !waiters)
#endif

proctype fiber(byte me)
{
	byte n, i, h, he, res;
	bool r, heir, timed, got;

	do
	:: n == ROUNDS -> break
	:: n < ROUNDS ->
		n++;
		/* lock: the quick way */
		if
		:: d_step { MAY_TAKE -> owner = me };
			goto locked
		:: !MAY_TAKE
		fi;
		if
#ifndef NOTIMER
		:: timed = 1
#endif
		:: timed = 0
		fi;
		/* "I own it already" (DEADLK) may be tested without the queue
		 * lock: a fiber that lost a grant passed it on its way out */
		assert(owner != me);
again:
		QLOCK;
		assert(owner != me);
		/* take it if it is free, else set WAITERS, in one swap */
		d_step {
			if
			:: owner == NONE -> owner = me; got = 1
			:: else -> waiters = 1; got = 0
			fi
		};
		if
		:: got -> QUNLOCK; goto locked
		:: else
		fi;
#ifdef M_ENQUEUE_FIRST
		d_step { q[qn] = me; q_ep[qn] = ep[me] + 1; qn++;
			live[me] = 1 };
		QUNLOCK;
		d_step { ep[me]++; st[me] = ARMED; cs[me] = C_NONE };
#else
		/* prepare */
		d_step { ep[me]++; st[me] = ARMED; cs[me] = C_NONE };
		if
		:: me == VICTIM && kill_pending ->
			d_step { st[me] = RUNNING; res = C_KILL };
			if
			:: qn == 0 -> waiters = 0
			:: else
			fi;
			QUNLOCK;
			break
		:: else
		fi;
		if
		:: heir -> q_push_head(me)
		:: else -> q_push_tail(me)
		fi;
		if
		:: timed -> tm[me] = ep[me]
		:: else
		fi;
		QUNLOCK;
#endif
		/* commit */
		d_step { st[me] == CLAIMED -> res = cs[me]; st[me] = RUNNING;
			tm[me] = 0 };
		if
		:: res == C_EVENT ->
			live[me] = 0;
#ifdef BARGE
			if
			:: owner == me -> goto locked
			:: else
			fi;
#ifdef M_HEIR_DIES
			if
			:: me == VICTIM && kill_pending -> break
			:: else
			fi;
#endif
#ifdef M_HEIR_TIMES_OUT
			if
			:: timed -> goto next
			:: else
			fi;
#endif
			heir = 1;
			goto again
#else
			goto locked
#endif
		:: else ->
#ifndef M_NO_REMOVE
			QLOCK;
			q_remove(me);
			if
			:: qn == 0 -> waiters = 0
			:: else
			fi;
			assert(owner != me);
			QUNLOCK;
#endif
			live[me] = 0;
			if
			:: res == C_KILL -> break
			:: else -> goto next
			fi
		fi;
locked:
		atomic {
			assert(owner == me); assert(inside == NONE);
			inside = me;
			if
			:: dead -> dead = 0; told++; assert(told == deaths)
			:: else -> assert(told == deaths)
			fi
		};
		heir = 0; timed = 0; res = C_NONE;
		/* a holder may be killed in a wait here, or just exit */
		if
		:: me == VICTIM && kill_pending -> break
		:: me == 1 -> break
		:: skip
		fi;
		/* unlock */
		inside = NONE;
		if
		:: d_step { owner == me && !waiters -> owner = NONE }
		:: waiters -> release()
		fi;
next:
		heir = 0; timed = 0; res = C_NONE
	od;
	/* exit: release what is held */
	if
	:: inside == me ->
#ifdef M_NO_OWNER_DEATH
		inside = NONE
#else
		d_step { inside = NONE; dead = 1; deaths++ };
		if
		:: d_step { owner == me && !waiters -> owner = NONE }
		:: waiters -> release()
		fi
#endif
	:: else
	fi;
	atomic {
		gone++;
		if
		:: gone == N ->
			assert(owner == NONE && qn == 0 && !waiters && !qlock);
			assert(told + dead == deaths)
		:: else
		fi
	}
}

/* the timers of all fibers */
proctype timers()
{
	byte f, e;
	bool r;

end:
	do
	:: d_step { tm[0] != 0 -> f = 0; e = tm[0]; tm[0] = 0 };
		claim(f, e, C_TIMEOUT); d_step { f = 0; e = 0; r = 0 }
	:: d_step { tm[1] != 0 -> f = 1; e = tm[1]; tm[1] = 0 };
		claim(f, e, C_TIMEOUT); d_step { f = 0; e = 0; r = 0 }
	:: d_step { tm[N - 1] != 0 -> f = N - 1; e = tm[N - 1];
		tm[N - 1] = 0 };
		claim(f, e, C_TIMEOUT); d_step { f = 0; e = 0; r = 0 }
	od
}

proctype killer()
{
	byte e;
	bool r;

	kill_pending = 1;
	e = ep[VICTIM];
	claim(VICTIM, e, C_KILL)
}

init
{
	byte k;

	atomic {
		do
		:: k < N -> run fiber(k); k++
		:: else -> break
		od;
#ifndef NOTIMER
		run timers();
#endif
#ifndef NOKILL
		run killer()
#endif
	}
}
