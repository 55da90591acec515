/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * park.pml: the park record, the direct switch, and the sleep of a worker.
 *
 * Models (ARCHITECTURE.md, "Waiting" and "Scheduling"):
 *   two worker threads, each with a run queue, an inbox, a loop context and
 *   a sleeping flag; two fibers, F0 pinned to worker 0 and F1 migratable;
 *   the state word {epoch, RUNNING ARMED PARKED CLAIMED, cause, masked};
 *   prepare, publish, re-check, cancel, commit; the direct switch to the next
 *   fiber or to the loop, and the post-switch action that whatever runs next
 *   executes first (a fiber's first run too), for park, yield and exit;
 *   claim() as a load and a compare-and-swap loop, used concurrently by
 *   events (a plain thread and the other fiber), timers (fired by the loop
 *   that armed them, stale ones too) and a kill from a plain thread;
 *   stealing, placing by the waker; the worker's last look before it sleeps;
 *   the coalesced wake of a sleeping worker.
 * Every access to shared memory is a step of its own.
 *
 * Leaves out: memory weaker than sequential consistency (the swapped orders
 * among the mutations stand for it), the insides of the queues (each
 * operation is one step), the real clock (an armed timer may fire at any
 * moment), reuse of a fiber's struct (kill.pml).
 *
 * Properties, checked as assertions and as absence of invalid end states:
 *   the trace of each fiber is create (park wake resume)* exit;
 *   at most one successful claim an epoch; a fiber is in at most one queue;
 *   no fiber runs on two workers, nor before the post-switch action of its
 *   last switch was executed; a wait ends with the cause of its claim; a
 *   kill is never lost (the victim's last wait is ended by nothing else); a
 *   masked wait is not ended by a kill; nobody sleeps for ever (all fibers
 *   exit, all queues are empty).
 *
 * Run:  spin -a -DNWAIT=1 park.pml &&
 *       gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m400000 -w26
 * Options of spin -a: -DVICTIM=0, 1 or 2 (who is killed, 2 nobody; default
 * 1), -DNWAIT=n (waits of each fiber, default 2), -DMASK0 (first wait of the
 * victim masked), -DNOYIELD, -DNOTIMER; -DBUSY (F0 keeps the CPU after its
 * first wait until F1 has ended) is found to hang unless -DFEED (a loop that
 * sleeps is woken for work it may steal); -DPUBLISH_FIRST (ticket visible
 * before ARMED, the re-check after both) is no fault; and one of the
 * mutations M_... below, each of which must be found. tools/model.sh runs
 * them all.
 */
#ifndef NWAIT
#define NWAIT 2
#endif
#ifndef VICTIM
#define VICTIM 1
#endif

#define F0	0
#define F1	1
#define LOOP	2	/* the loop's own context */
#define NOBODY	3
#define THREAD	2	/* "worker" of a plain thread */

#define RUNNING	0
#define ARMED	1
#define PARKED	2
#define CLAIMED	3

#define C_NONE	0
#define C_EVENT	1
#define C_TIMEOUT 2
#define C_KILL	3

#define STALE	0
#define EARLY	1
#define OWNED	2
#define AGAIN	3

#define A_NONE	0
#define A_PARK	1
#define A_YIELD	2
#define A_EXIT	3

/* the state word of each fiber; read and swapped as one */
byte ep[2], st[2], cs[2];
bool masked[2];

bool kill_pending[2];
byte tok[2];		/* the condition waited for: tokens */
byte tick[2];		/* ticket published with the condition, 0 none */
byte tm_ep[2];		/* ticket in the fiber's timer, 0 not armed */
byte tm_w[2];		/* the loop that owns that timer */

byte cur[2];		/* what runs on each worker: a fiber or LOOP */
byte left[2];		/* fiber whose post-switch action is due */
byte act[2];		/* ... and which */
byte loop_of[2];	/* worker a fiber last ran on */
bool sleeping[2], ev[2];
chan rq[2] = [2] of { byte };
chan inbox[2] = [2] of { byte };

/* ghosts */
byte mon[2];		/* 1 runs, 2 parked, 3 woken, 4 exited */
byte claims[2];
bool queued[2];

#define T_CREATE(f)	d_step { assert(mon[f] == 0); mon[f] = 1 }
#define T_PARK(f)	d_step { assert(mon[f] == 1); mon[f] = 2 }
#define T_WAKE(f)	d_step { assert(mon[f] == 2); mon[f] = 3 }
#define T_RESUME(f)	assert(mon[f] == 3); mon[f] = 1
#define T_EXIT(f)	d_step { assert(mon[f] == 1); mon[f] = 4 }

/*
 * Put a fiber one owns where a worker finds it. w: worker of the caller.
 * woken: emit fiber-wake first. The two are one step here: nobody else may
 * touch the fiber between them, and the assertions see it if somebody does.
 */
inline make_ready(f, w, woken)
{
	atomic {
		if
		:: woken -> T_WAKE(f)
		:: else
		fi;
		assert(!queued[f]); queued[f] = 1;
		mr_t = loop_of[f];
		if
		:: w == mr_t -> rq[mr_t]!f; mr_t = NOBODY
		:: w != mr_t && w != THREAD && f == F1 ->
			/* placed by its waker */
			loop_of[f] = w; rq[w]!f; mr_t = NOBODY
		:: w != mr_t -> inbox[mr_t]!f
		fi
	};
#ifdef FEED
	/* a loop that sleeps may steal this one: wake it */
	d_step {
		if
		:: f == F1 && sleeping[0] -> ev[0] = 1; sleeping[0] = 0
		:: f == F1 && !sleeping[0] && sleeping[1] ->
			ev[1] = 1; sleeping[1] = 0
		:: else
		fi
	};
#endif
	if
	:: d_step { mr_t != NOBODY ->
		if
		:: sleeping[mr_t] -> ev[mr_t] = 1; sleeping[mr_t] = 0
		:: else
		fi;
		mr_t = NOBODY }
	:: mr_t == NOBODY
	fi
}

/* One load, then a compare-and-swap, again while it fails. */
inline claim(f, e, c)
{
	do
	:: atomic {
		cl_s = st[f];
		if
#ifdef M_NO_EPOCH
		:: cl_s != ARMED && cl_s != PARKED ->
#else
		:: ep[f] != e || (cl_s != ARMED && cl_s != PARKED) ->
#endif
			r = STALE; break
		:: else ->
#ifdef M_WAKE_BEFORE_CLAIM
			if
			:: cl_s == PARKED -> T_WAKE(f)
			:: else
			fi
#endif
			cl_e = ep[f]
		fi };
		atomic {
			if
			:: ep[f] == cl_e && st[f] == cl_s ->
				st[f] = CLAIMED; cs[f] = c;
				claims[f]++; assert(claims[f] == 1);
				assert(c != C_KILL || !masked[f]);
				r = (cl_s == PARKED -> OWNED : EARLY)
			:: else ->
#ifdef M_CLAIM_ONE_SHOT
				r = STALE
#else
				r = AGAIN
#endif
			fi;
			cl_e = 0; cl_s = 0;
			if
			:: r != AGAIN -> break
			:: else
			fi
		}
	od;
	cl_e = 0; cl_s = 0
}

/* claim, then what the result asks of the waker */
inline claim_and_wake(f, e, c, w)
{
	claim(f, e, c);
	if
#ifdef M_EARLY_QUEUES
	:: r == OWNED || r == EARLY ->
#else
	:: r == OWNED ->
#endif
#ifdef M_WAKE_AFTER_QUEUE
		make_ready(f, w, 0);
		T_WAKE(f)
#else
#ifdef M_WAKE_BEFORE_CLAIM
		make_ready(f, w, 0)
#else
		make_ready(f, w, 1)
#endif
#endif
	:: else
	fi;
	r = 0
}

/* An event: make the condition true, then look for a ticket. */
inline signal(f, w)
{
	tok[f]++;
	atomic { sg_t = tick[f]; sg_f = f };
	if
	:: sg_t != 0 -> claim_and_wake(sg_f, sg_t, C_EVENT, w)
	:: else
	fi;
	atomic { sg_t = 0; sg_f = 0 }
}

/* What runs next on worker w does this first for the fiber just left. */
inline post_switch(w)
{
	d_step {
		ps_f = left[w]; ps_a = act[w];
		if
		:: ps_a == A_PARK && st[ps_f] == ARMED ->
			st[ps_f] = PARKED; ps_a = A_NONE
		:: ps_a == A_PARK && st[ps_f] != ARMED ->
			assert(st[ps_f] == CLAIMED)
		:: else
		fi;
		if
		:: ps_a == A_NONE || ps_a == A_EXIT ->
			left[w] = NOBODY; act[w] = A_NONE;
			ps_f = 0; ps_a = A_NONE
		:: else
		fi
	};
	if
	:: ps_a != A_NONE ->
		d_step { left[w] = NOBODY; act[w] = A_NONE };
#ifdef M_POST_CLAIMED_IGNORED
		if
		:: ps_a == A_YIELD -> make_ready(ps_f, w, 0)
		:: else
		fi;
#else
		make_ready(ps_f, w, (ps_a == A_PARK));
#endif
		ps_f = 0; ps_a = A_NONE
	:: else
	fi
}

/* Worker w starts to run x, on whose stack nobody may still be. */
#define RUN_ON(w, x) \
	assert(x == LOOP || (cur[1 - w] != x && left[1 - w] != x)); \
	cur[w] = x

/* A fiber leaves worker w for the next fiber there, or for the loop. */
inline switch_away(w, a)
{
	d_step {
		left[w] = (a == A_NONE -> NOBODY : me); act[w] = a;
		if
		:: len(rq[w]) > 0 -> rq[w]?nx; queued[nx] = 0
		:: len(rq[w]) == 0 -> nx = LOOP
		fi
	};
	d_step { RUN_ON(w, nx); nx = 0; w = 0 }
}

/* Wait here until some worker runs me. */
inline resumed(w)
{
	(cur[0] == me || cur[1] == me) ->
	w = (cur[0] == me -> 0 : 1);
	assert(me == F1 || w == 0);
	loop_of[me] = w
}

proctype fiber(byte me)
{
	byte w, n, nx, res, r, cl_e, cl_s, sg_t, sg_f, ps_f, ps_a;
	byte mr_t = NOBODY;
	bool gave, timed, look;

	atomic {
		resumed(w);
#ifndef M_NO_FIRST_RUN_POST
		post_switch(w)
#endif
	};
	do
	:: n == NWAIT && me != VICTIM -> break
	:: n < NWAIT || me == VICTIM ->
		/* the quick way: a token is there */
		atomic {
			if
#ifndef NOTIMER
			:: n < NWAIT -> timed = 1
#endif
			:: timed = 0
			fi;
			if
			:: tok[me] > 0 -> tok[me]--; res = C_EVENT;
				goto waited
			:: else
			fi;
#ifdef M_KILL_LOOK_FIRST
			look = kill_pending[me]
#endif
		};
#if defined(M_ARM_LAST) || defined(PUBLISH_FIRST)
		tick[me] = ep[me] + 1;
#endif
#ifdef M_ARM_LAST
		look = (tok[me] > 0);
#endif
		/* prepare */
		d_step {
			ep[me]++; st[me] = ARMED; claims[me] = 0;
#ifdef MASK0
			masked[me] = (me == VICTIM && n == 0)
#endif
		};
#if !defined(M_SKIP_KILL_LOOK) && !defined(M_ARM_LAST)
		atomic {
#ifndef M_KILL_LOOK_FIRST
			look = kill_pending[me];
#endif
			if
			:: look && !masked[me] -> res = C_KILL
			:: else -> look = 0
			fi
		};
		if
		:: res == C_KILL -> st[me] = RUNNING; goto waited
		:: else
		fi;
#endif
#ifdef M_RECHECK_FIRST
		look = (tok[me] > 0);
#endif
		/* publish the tickets, re-check */
		d_step {
			if
			:: timed -> tm_w[me] = w; tm_ep[me] = ep[me]
			:: else
			fi;
			tick[me] = ep[me]
		};
#ifndef M_SKIP_RECHECK
#if !defined(M_RECHECK_FIRST) && !defined(M_ARM_LAST)
		look = (tok[me] > 0);
#endif
		if
		:: look ->
			/* cancel */
			d_step {
				look = 0;
				if
				:: st[me] == ARMED -> st[me] = RUNNING;
					res = C_EVENT
				:: else -> assert(st[me] == CLAIMED);
					res = cs[me]; st[me] = RUNNING
				fi
			}
			goto unpublish
		:: else
		fi;
#endif
		/* commit */
		if
		:: d_step { st[me] == CLAIMED -> res = cs[me];
			st[me] = RUNNING };
			goto unpublish
		:: st[me] == ARMED
		fi;
#ifdef M_POST_BEFORE_SWITCH
		T_PARK(me);
		d_step {
			if
			:: st[me] == ARMED -> st[me] = PARKED; look = 0
			:: else -> look = 1
			fi
		};
		if
		:: look -> look = 0; make_ready(me, w, 1)
		:: else
		fi;
		switch_away(w, A_NONE);
#else
		atomic {
			T_PARK(me);
			switch_away(w, A_PARK)
		};
#endif
		atomic {
			resumed(w);
			post_switch(w)
		};
		d_step {
			T_RESUME(me);
			assert(st[me] == CLAIMED);
			res = cs[me]; st[me] = RUNNING
		};
unpublish:
		atomic {
			assert(res == C_EVENT || res == C_TIMEOUT ||
			    res == C_KILL);
			assert(res != C_TIMEOUT || timed);
			assert(res != C_KILL || kill_pending[me]);
			tick[me] = 0; cs[me] = C_NONE; claims[me] = 0;
			if
			:: tm_ep[me] != 0 && tm_w[me] == w ->
				tm_ep[me] = 0; tm_w[me] = 0
			:: else /* another loop's timer: it is stale now */
			fi;
			/* an event may come late, when its token is gone */
			if
			:: res == C_EVENT && tok[me] > 0 -> tok[me]--
			:: res == C_EVENT && tok[me] == 0 -> res = C_NONE
			:: else
			fi
		};
waited:
		atomic {
			timed = 0; look = 0;
			if
			:: res == C_KILL -> break
			:: res == C_NONE
			:: res == C_EVENT || res == C_TIMEOUT ->
				n = (n < NWAIT -> n + 1 : n)
			fi
		};
		if
		:: res != C_NONE && !gave ->
			atomic { gave = 1; res = 0 };
			signal((1 - me), w)
		:: else
		fi;
		res = 0;
#ifdef BUSY
		/* a computation that ends only after F1 has: work must move */
		if
		:: me == F0 && n == 1 -> mon[F1] == 4
		:: else
		fi;
#endif
#ifndef NOYIELD
		/* yield; stays when nothing else is there */
		if
		:: me == F1 && n == 1 && nempty(rq[w]) ->
#ifdef M_YIELD_QUEUES_FIRST
			make_ready(me, w, 0);
			switch_away(w, A_NONE);
#else
			switch_away(w, A_YIELD);
#endif
			atomic {
				resumed(w);
				post_switch(w)
			}
		:: me != F1 || n != 1 || empty(rq[w])
		fi
#endif
	od;
	res = 0;
	if
	:: !gave -> gave = 1; signal((1 - me), w)
	:: else
	fi;
	atomic { T_EXIT(me); switch_away(w, A_EXIT) }
}

/* Fire fiber f's timer if it belongs to w. It may also not be due yet. */
inline timer(f)
{
	if
	:: d_step { tm_ep[f] != 0 && tm_w[f] == w ->
		e = tm_ep[f]; tm_ep[f] = 0; tm_w[f] = 0 };
		claim_and_wake(f, e, C_TIMEOUT, w); e = 0
	:: skip
	fi
}

/* the loop's own context on worker w */
proctype worker(byte w)
{
	byte f, r, cl_e, cl_s, ps_f, ps_a, e;
	byte mr_t = NOBODY;

turn:
	atomic {
		cur[w] == LOOP;
		post_switch(w)
	};
#ifndef NOTIMER
	timer(F0);
	timer(F1);
#endif
	/* empty the inbox; run one, or steal one */
	atomic {
		do
		:: len(inbox[w]) > 0 -> inbox[w]?f; rq[w]!f
		:: len(inbox[w]) == 0 -> break
		od;
		f = LOOP;
		if
		:: len(rq[w]) > 0 -> rq[w]?f
		:: len(rq[w]) == 0 && rq[1 - w]??[F1] ->
			rq[1 - w]??F1; f = F1;
			assert(mon[F1] == 1 || mon[F1] == 3)
#ifdef FEED
		:: len(rq[w]) == 0 && inbox[1 - w]??[F1] ->
			inbox[1 - w]??F1; f = F1;
			assert(mon[F1] == 1 || mon[F1] == 3)
#endif
		:: len(rq[w]) == 0
		fi;
#ifdef FEED
		/* it leaves one behind that a sleeping loop may steal */
		if
		:: f != LOOP && len(rq[w]) > 0 && sleeping[1 - w] ->
			ev[1 - w] = 1; sleeping[1 - w] = 0
		:: else
		fi;
#endif
		if
		:: f != LOOP -> queued[f] = 0; RUN_ON(w, f); f = 0;
			goto turn
		:: else -> f = 0
		fi
	};
	/* sleep, after a last look */
#ifdef M_LAST_LOOK_FIRST
	if
	:: nempty(inbox[w]) -> goto turn
	:: empty(inbox[w])
	fi;
	sleeping[w] = 1;
#else
	sleeping[w] = 1;
#ifndef M_NO_LAST_LOOK
	if
#ifdef FEED
	:: nempty(inbox[w]) || rq[1 - w]??[F1] || inbox[1 - w]??[F1] ->
		sleeping[w] = 0; goto turn
	:: empty(inbox[w]) && !rq[1 - w]??[F1] && !inbox[1 - w]??[F1]
#else
	:: nempty(inbox[w]) -> sleeping[w] = 0; goto turn
	:: empty(inbox[w])
#endif
	fi;
#endif
#endif
end_asleep:
	if
	:: d_step { ev[w] -> ev[w] = 0; sleeping[w] = 0 }
	:: d_step { (tm_ep[0] != 0 && tm_w[0] == w) ||
		(tm_ep[1] != 0 && tm_w[1] == w) -> sleeping[w] = 0 }
	fi;
	goto turn
}

/* a plain thread that sends one token to each fiber */
proctype thread()
{
	byte r, cl_e, cl_s, sg_t, sg_f;
	byte mr_t = NOBODY;

	if
	:: signal(F0, THREAD); signal(F1, THREAD)
	:: signal(F1, THREAD); signal(F0, THREAD)
	fi
}

/* a plain thread that kills the victim */
proctype killer()
{
	byte r, e, s, cl_e, cl_s;
	byte mr_t = NOBODY;
	bool m;

#ifdef M_KILL_WORD_FIRST
	d_step { e = ep[VICTIM]; s = st[VICTIM]; m = masked[VICTIM] };
	kill_pending[VICTIM] = 1;
#else
	kill_pending[VICTIM] = 1;
	d_step { e = ep[VICTIM]; s = st[VICTIM]; m = masked[VICTIM] };
#endif
	if
	:: (s == ARMED || s == PARKED) && !m ->
		claim_and_wake(VICTIM, e, C_KILL, THREAD)
	:: else
	fi
}

init
{
	atomic {
		cur[0] = LOOP; cur[1] = LOOP;
		left[0] = NOBODY; left[1] = NOBODY;
		T_CREATE(F0); T_CREATE(F1);
		queued[F0] = 1; queued[F1] = 1;
		rq[0]!F0; rq[0]!F1;
		run worker(0); run worker(1);
		run fiber(F0); run fiber(F1);
		run thread();
#if VICTIM < 2
		run killer();
#endif
	}
}
