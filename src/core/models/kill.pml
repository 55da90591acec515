/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * kill.pml: kill by pid, against a fiber's struct that is used again.
 *
 * Models (ARCHITECTURE.md, "Waiting" and "Memory"): one
 * struct used by two fibers one after the other (incarnations 1 and 2); a
 * killer that holds the pid of incarnation 1, found it alive, and may be
 * preempted anywhere after; an event for each wait but the last of
 * incarnation 1, which only the kill ends. The epoch goes on across
 * incarnations.
 *
 *   default    the mark is {incarnation, pending}, set by compare-and-swap;
 *              after reading the state word the killer looks at the mark's
 *              incarnation once more, then claims
 *   -DINWORD   the mark is a bit of the state word: kill is one
 *              compare-and-swap loop {load word; check incarnation; swap in
 *              the bit, and CLAIMED if ARMED or PARKED}; prepare is one
 *              compare-and-swap too; exit changes the incarnation first,
 *              the word after
 *   -DTEXT     as first written: look the pid up, set the mark, read the
 *              word, claim. Found to kill the wrong fiber.
 *
 * Leaves out: workers, queues, masks (park.pml), memory order.
 *
 * Properties: incarnation 2, which nobody kills, never ends as killed and
 * never wakes by a kill; incarnation 1 does not sleep for ever.
 *
 * Run:  spin -a kill.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan
 */
#define RUNNING	0
#define ARMED	1
#define PARKED	2
#define CLAIMED	3

#define C_NONE	0
#define C_EVENT	1
#define C_KILL	3

byte ep, st, cs;	/* the state word ... */
bool kbit;		/* ... and its bit (INWORD) */
byte inc = 1;		/* incarnation in the process slot */
byte mark_inc = 1;	/* the mark: incarnation and pending */
bool mark;
byte ticket;

/* load, then compare-and-swap, again while it fails */
inline claim(e, c)
{
	do
	:: s = st;
		if
		:: ep != e || (s != ARMED && s != PARKED) -> break
		:: else
		fi;
		if
		:: d_step { ep == e && st == s -> st = CLAIMED; cs = c };
			break
		:: ep != e || st != s
		fi
	od
}

proctype fiber()
{
	byte me = 1, n;
	bool look;

live:
	n = 0;
	do
	:: me == 1 && n < 2 -> break		/* exits early */
	:: me == 2 && n == 2 -> break
	:: me == 1 || n < 2 ->
		n = (n < 2 -> n + 1 : n);
		/* prepare */
#ifdef INWORD
		d_step {
			look = kbit;
			if
			:: !kbit -> ep++; st = ARMED; cs = C_NONE
			:: else
			fi
		};
		if
		:: look -> assert(me == 1); break
		:: else
		fi;
#else
		d_step { ep++; st = ARMED; cs = C_NONE };
		look = mark;
		if
		:: look -> assert(me == 1); st = RUNNING; break
		:: else
		fi;
#endif
		if
		:: me == 2 || n < 2 -> ticket = ep
		:: else
		fi;
		/* commit, switch, post-switch action */
		d_step {
			if
			:: st == ARMED -> st = PARKED
			:: else
			fi
		};
		st == CLAIMED;
		ticket = 0;
		if
		:: cs == C_KILL -> assert(me == 1); st = RUNNING; break
		:: else -> st = RUNNING
		fi
	od;
	/* exit, and the next one is spawned in the same struct */
#ifdef INWORD
	inc = me + 1;
	d_step { ep++; st = RUNNING; cs = C_NONE; kbit = 0 };
#else
	inc = me + 1;
	d_step { mark_inc = me + 1; mark = 0 };
#endif
	me++;
	if
	:: me == 2 -> goto live
	:: else
	fi
}

proctype events()
{
	byte t, s;

end:
	do
	:: d_step { ticket != 0 -> t = ticket };
		claim(t, C_EVENT); atomic { t = 0; s = 0 }
	od
}

proctype killer()
{
	byte e, s;

	if
	:: inc != 1 -> goto done		/* the pid is stale */
	:: else
	fi;
#ifdef TEXT
	mark = 1;
	e = ep;
	claim(e, C_KILL);
#elif defined(INWORD)
	do
	:: d_step { e = ep; s = st };
		if
		:: inc != 1 -> break
		:: else
		fi;
		if
		:: d_step { ep == e && st == s ->
			kbit = 1;
			if
			:: s == ARMED || s == PARKED ->
				st = CLAIMED; cs = C_KILL
			:: else
			fi };
			break
		:: ep != e || st != s
		fi
	od;
#else
	if
	:: d_step { mark_inc == 1 -> mark = 1 }
	:: mark_inc != 1 -> goto done
	fi;
	e = ep;
#ifndef M_NO_SECOND_LOOK
	if
	:: mark_inc != 1 -> goto done
	:: else
	fi;
#endif
	claim(e, C_KILL);
#endif
done:	skip
}

init
{
	atomic { run fiber(); run events(); run killer() }
}
