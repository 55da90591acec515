/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * mailbox.pml: the mailbox, its parking receiver, its close, slot reuse.
 *
 * Models (ARCHITECTURE.md, "Messages"): one process slot that two processes
 * use one after the other (incarnations 1 and 2); senders that hold a pid of
 * incarnation 1 (two of them) or 2 (one) and may be preempted anywhere; a
 * kill at any moment; a receiver that tries, waits, or exits as it likes.
 * The receiver parks by: prepare, publish the ticket, re-check, commit.
 * The box word {incarnation, closed, count} is one atomic: a sender reserves
 * room in it with a compare-and-swap that also checks the incarnation; close
 * sets the bit and the slot is not reused until the count is 0 again.
 *
 * With -DFETCHADD it reserves by fetch-and-add and takes a refused place
 * back, which may refuse somebody else room for a moment.
 *
 * The queue is one of two:
 *   default     intrusive push, exchange the tail then link; the receiver
 *               that finds the tail moved and the link missing waits for it
 *               (with -DNOSPIN it takes the queue for empty instead)
 *   -DCASPUSH   one word holds the newest message, EMPTY or WAITING; a
 *               sender links first and then swaps the word; the receiver
 *               takes all of them with one exchange and turns them round
 *
 * The park record is reduced to its contract (park.pml checks it): claims
 * are one atomic step, ARMED and PARKED are one state.
 *
 * Leaves out: memory order, timeouts (a kill stands for any other claim),
 * recv_match, signals that take no room, the slab of the envelopes.
 *
 * Properties: no message reaches a process it was not sent to; each message
 * is received at most once; messages of a sender stay in order (one message
 * a sender here, so: no message overtakes one whose send returned before it
 * began); a receive that starts after a send returned OK does not come back
 * empty; when nothing moves any more, a parked receiver has no message, and
 * every message whose send returned OK was received if its process lives.
 *
 * Run:  spin -a mailbox.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c &&
 *       ./pan -m200000
 * Mutations, each of which must be found: the M_... below (M_SENTINEL with
 * -DCASPUSH: a closed sentinel in the queue's word instead of the count, the
 * incarnation looked at before), and -DNOSPIN without -DCASPUSH.
 */
#define STUB	0
#define NM	3		/* messages 1, 2 to incarnation 1; 3 to 2 */
#define WAITING	8
#define NIL	9
#define SHUT	7		/* sentinel, M_SENTINEL only */
#define CAP	2

#define RUNNING	0
#define ARMED	1
#define CLAIMED	2

/* the box word */
byte gen = 1, cnt;
bool closed;

byte tail = STUB, head = STUB, nx[4] = NIL;	/* default queue */
byte top = NIL, priv = NIL;			/* CASPUSH queue */
byte ticket;					/* 0 none */
byte ep, st;					/* the fiber's state word */
bool killed;					/* the cause is a kill */

/* ghosts */
bool ok[4], got[4];
byte after[4];		/* messages known to be sent before this began */
bool parked;

#define FOR(m)	(m == 3 -> 2 : 1)

inline claim(e, k)
{
	d_step {
		if
		:: ep == e && st == ARMED -> st = CLAIMED; killed = k
		:: else
		fi
	}
}

proctype sender(byte m)
{
	byte prev = NIL, t;
	bool room;

end_nopid:
	gen >= FOR(m);		/* the pid exists */
	d_step { after[m] = (ok[1] && !got[1] && m == 2 -> 1 :
		(ok[2] && !got[2] && m == 1 -> 2 : 0)) };
#ifdef M_CHECK_THEN_PUSH
	room = (gen == FOR(m) && !closed && cnt < CAP);
	if
	:: room -> cnt++
	:: else
	fi;
#elif defined(M_SENTINEL)
	room = (gen == FOR(m));
#elif defined(FETCHADD)
	d_step {
		room = (gen == FOR(m) && !closed && cnt < CAP);
		cnt++
	};
	if
	:: !room -> cnt--
	:: else
	fi;
#else
	d_step {
		room = (gen == FOR(m) && !closed && cnt < CAP);
		if
		:: room -> cnt++
		:: else
		fi
	};
#endif
	if
	:: !room -> goto done
	:: else
	fi;
#ifdef CASPUSH
	do
	:: prev = top;
		nx[m] = (prev == WAITING -> NIL : prev);
		if
#ifdef M_SENTINEL
		:: prev == SHUT -> goto done
		:: d_step { prev != SHUT && top == prev -> top = m; cnt++ };
			break
#else
		:: d_step { top == prev -> top = m }; break
#endif
		:: top != prev
		fi
	od;
	if
	:: prev == WAITING -> t = ticket; claim(t, 0)
	:: else
	fi;
#else
#ifdef M_WAKE_BEFORE_PUSH
	t = ticket;
	if
	:: t != 0 -> claim(t, 0)
	:: else
	fi;
#endif
	nx[m] = NIL;
	d_step { prev = tail; tail = m };
	nx[prev] = m;
#ifndef M_WAKE_BEFORE_PUSH
	t = ticket;
	if
	:: t != 0 -> claim(t, 0)
	:: else
	fi;
#endif
#endif
	ok[m] = 1;
done:	skip
}

/* r = a message, or NIL: empty, or STUB: a push is in the middle */
inline pop()
{
#ifdef CASPUSH
	if
	:: priv == NIL ->
		d_step { x = top; top = NIL };
		assert(x != WAITING);
		do
		:: x != NIL -> y = nx[x]; nx[x] = priv; priv = x; x = y
		:: else -> break
		od;
		y = 0; x = 0
	:: else
	fi;
	r = priv;
	if
	:: r != NIL -> priv = nx[r]
	:: else
	fi
#else
	r = NIL;
	x = head; y = nx[x];
	if
	:: x == STUB && y == NIL ->
		if
		:: tail != STUB -> r = STUB
		:: tail == STUB
		fi
	:: else ->
		if
		:: x == STUB -> head = y; x = y; y = nx[x]
		:: else
		fi;
		if
		:: y != NIL -> head = y; r = x
		:: y == NIL ->
			if
			:: tail != x -> r = STUB
			:: tail == x ->
				/* the last one: put the stub behind it */
				nx[STUB] = NIL;
				d_step { y = tail; tail = STUB };
				nx[y] = STUB;
				y = nx[x];
				if
				:: y != NIL -> head = y; r = x
				:: y == NIL -> r = STUB
				fi
			fi
		fi
	fi;
	x = 0; y = 0
#endif
}

/* pop, waiting for a push in the middle; m = the message or NIL */
inline take()
{
	do
	:: pop();
		if
#ifndef NOSPIN
		:: r == STUB -> skip
#else
		:: r == STUB -> r = NIL; break
#endif
		:: r != STUB -> break
		fi
	od;
	if
	:: r != NIL ->
		d_step {
			assert(FOR(r) == me); assert(!got[r]);
			assert(after[r] == 0 || got[after[r]]);
			got[r] = 1; cnt--
		}
	:: else
	fi
}

#define DUE	((ok[1] && !got[1] && me == 1) || (ok[2] && !got[2] && \
		me == 1) || (ok[3] && !got[3] && me == 2))

#ifdef CASPUSH
#define SEEN	(priv != NIL || (top != NIL && top != WAITING))
#elif defined(NOSPIN)
#define SEEN	(nx[head] != NIL)
#else
#define SEEN	(head != STUB || tail != STUB)
#endif

proctype slot()
{
	byte me = 1, r, x, y, e;
	bool due, dead, look;

live:
	do
	:: /* try to receive */
		due = DUE;
		take();
		assert(r != NIL || !due);
		r = 0; due = 0
	:: /* receive */
		do
		:: due = DUE;
			take();
			if
			:: r != NIL -> break
			:: else
			fi;
			/* prepare (a killed one ends here) */
			d_step { ep++; st = ARMED };
			e = ep;
#ifdef M_RECHECK_FIRST
			look = SEEN;
#endif
			/* publish */
			ticket = e;
#ifdef CASPUSH
			/* publish and re-check in one swap */
			d_step {
				if
				:: top == NIL -> top = WAITING; look = 0
				:: else -> look = 1
				fi
			};
#else
#ifndef M_RECHECK_FIRST
			look = SEEN;
#endif
#endif
#ifdef M_SKIP_RECHECK
			look = 0;
#endif
			if
			:: look -> look = 0;
				/* cancel; a claim that came is ours too */
				d_step { dead = (st == CLAIMED && killed);
					st = RUNNING; killed = 0 }
			:: else ->
				/* commit */
				parked = 1;
end_parked:
				d_step { st == CLAIMED -> parked = 0;
					dead = killed; st = RUNNING;
					killed = 0 }
			fi;
			/* remove what was published */
			ticket = 0;
#ifdef CASPUSH
			d_step {
				if
				:: top == WAITING -> top = NIL
				:: else
				fi
			};
#endif
			if
			:: dead -> break
			:: else
			fi
		od;
		r = 0; e = 0; due = 0;
		if
		:: dead -> break
		:: else
		fi
	:: break
	od;
	dead = 0;
	/* exit: close, empty, open for the next process */
	closed = 1;
#ifdef M_DRAIN_VISIBLE
	do
	:: take();
		if
		:: r == NIL -> break
		:: else
		fi
	od;
#elif defined(M_SENTINEL)
	d_step { x = top; top = SHUT };
	do
	:: x != NIL -> y = nx[x]; got[x] = 1; cnt--; x = y
	:: else -> break
	od;
	do
	:: priv != NIL -> got[priv] = 1; cnt--; priv = nx[priv]
	:: else -> break
	od;
	x = 0; y = 0;
#else
	do
	:: cnt == 0 -> break
	:: cnt != 0 -> take()
	od;
#endif
	r = 0;
#ifndef CASPUSH
	d_step { head = STUB; tail = STUB; nx[STUB] = NIL };
#endif
#ifdef M_SENTINEL
	gen++; top = NIL;
#endif
	d_step {
#ifndef M_SENTINEL
		gen++;
#endif
		closed = 0;
#if defined(M_DRAIN_VISIBLE) || defined(M_CHECK_THEN_PUSH)
		cnt = 0
#endif
	};
	me++;
	if
	:: me <= 2 -> goto live
	:: else
	fi
}

proctype killer()
{
	byte e;

	e = ep;
	claim(e, 1)
}

/* when nothing moves any more */
proctype quiet()
{
	timeout ->
	assert(!parked || cnt == 0);
	assert(gen > 2 || (!(ok[3] && !got[3]) || gen != 2));
	assert(gen != 1 || ((!ok[1] || got[1]) && (!ok[2] || got[2])))
}

init
{
	atomic {
		nx[STUB] = NIL;
		run slot(); run sender(1); run sender(2); run sender(3);
		run killer(); run quiet()
	}
}
