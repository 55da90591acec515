/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The probe catalogue: the only place where a probe is declared. The macro
 * header of every build mode, the tables of the manual and of the pages, and
 * the list that the tests walk are all derived from this file by
 * tools/gen/probes.awk, which reads the comment before each probe too. It
 * relies on this shape: one declaration a probe, every argument named, and
 * a comment of four parts that begin with the words "Fires", "Arguments:",
 * "Not" and "Stability:", each at the start of a line, in this order.
 *
 * The numbers that reasons, causes and kinds have are in xtc_kinds.h.
 *
 * "task" is an opaque key, the same for the whole life of a fiber and unique
 * among the fibers alive. A plain thread that waits, sends or wakes stands
 * under a key of its own, which is never a fiber's. "pid" is the process id,
 * which is never used twice in a run; it is 0 for a fiber that is no process.
 *
 * If the meaning or the order of arguments ever changes, the probe gets a new
 * name; an argument may be added at the end.
 */
provider xtc {
	/*
	 * Fires when a process or a fiber has been spawned, before it is
	 * queued for the first time, on the stack of whoever spawned it.
	 * Arguments: task, the new fiber; pid, its process id or 0; entry,
	 * the address of the function it starts in; loop, the index of the
	 * loop it was given to; name, its name, "" if it has none.
	 * Not when the spawn fails.
	 * Stability: Evolving.
	 */
	probe fiber__create(uintptr_t task, uint64_t pid, uintptr_t entry,
	    int loop, char *name);

	/*
	 * Fires when a fiber has ended, on its own stack, after its at-exit
	 * functions have run and before anything of it is reused.
	 * Arguments: task, the fiber; pid, its process id or 0; reason, the
	 * exit reason, 0 for a normal end.
	 * Not for fibers still alive when the program ends without finishing
	 * its loops.
	 * Stability: Evolving.
	 */
	probe fiber__exit(uintptr_t task, uint64_t pid, int reason);

	/*
	 * Fires when a fiber is about to leave the CPU in order to wait, on
	 * its own stack.
	 * Arguments: task, the fiber; why, the reason (XTC_WHY); object, what
	 * it waits for: 0 for a message or a sleep, the descriptor, the
	 * operation, the job, the lock, the lock manager, the future or the
	 * task; timeout_ns, the timeout in nanoseconds as the caller gave it,
	 * -1 for none.
	 * Not for xtc_yield, for a wait that ends before the fiber has left
	 * the CPU, or for a plain thread.
	 * Stability: Evolving.
	 */
	probe fiber__park(uintptr_t task, int why, uintptr_t object,
	    int64_t timeout_ns);

	/*
	 * Fires exactly once a park, when a waker has claimed the parked
	 * fiber and before it is queued, on the stack of the waker.
	 * Arguments: task, the fiber that was parked; why, the reason of the
	 * park (XTC_WHY); cause, what ended it (XTC_CAUSE); waker, the task of
	 * the fiber or the key of the thread that did it, 0 for the loop
	 * itself and for a claim made before the fiber had left the CPU.
	 * Not for a claim that came too early for the wait to become a park,
	 * and not for a plain thread that waits.
	 * Stability: Evolving.
	 */
	probe fiber__wake(uintptr_t task, int why, int cause,
	    uintptr_t waker);

	/*
	 * Fires when a fiber runs again after a park, on its own stack and
	 * below the same public function as the fiber-park it ends.
	 * Arguments: task, the fiber; why, the reason of the park (XTC_WHY);
	 * cause, what ended it (XTC_CAUSE); loop, the index of the loop it
	 * runs on now.
	 * Not after a yield, and not for the first run of a fiber.
	 * Stability: Evolving.
	 */
	probe fiber__resume(uintptr_t task, int why, int cause, int loop);

	/*
	 * Fires when the loop of a runnable fiber changes, on the stack of
	 * whoever changes it: its waker, or the loop that is about to run it.
	 * Between create, wake or a yield and the next run; never between
	 * park and wake.
	 * Arguments: task, the fiber; from, the index of the loop it leaves;
	 * to, the index of the loop it goes to; how, 1 stolen by a loop that
	 * had nothing to do, 2 placed by its waker.
	 * Not for a fiber that is pinned, nor when it runs where it was.
	 * Stability: Evolving.
	 */
	probe fiber__steal(uintptr_t task, int from, int to, int how);

	/*
	 * Fires when a loop has found nothing to run and enters its poller,
	 * on the stack of the loop.
	 * Arguments: loop, the index of the loop; timeout_ns, how long it may
	 * stay there in nanoseconds, -1 for ever.
	 * Not when the loop only looks into the poller between two fibers.
	 * Stability: Evolving.
	 */
	probe loop__sleep(int loop, int64_t timeout_ns);

	/*
	 * Fires when a loop has come back from the poller that it entered
	 * with loop-sleep, on the stack of the loop.
	 * Arguments: loop, the index of the loop; events, how many events the
	 * poller brought, 0 for a timeout.
	 * Not when the loop only looks into the poller between two fibers.
	 * Stability: Evolving.
	 */
	probe loop__awake(int loop, int events);

	/*
	 * Fires when a fiber leaves the CPU after it has held its loop longer
	 * than the yield budget that is set for the loop, on its own stack.
	 * Arguments: loop, the index of the loop; task, the fiber; ran_ns, how
	 * long it ran in nanoseconds.
	 * Not where no budget is set (xtc_yield_set_budget).
	 * Stability: Evolving.
	 */
	probe loop__stall(int loop, uintptr_t task, int64_t ran_ns);

	/*
	 * Fires when a send has found its receiver parked and is making it
	 * runnable, after the claim and before the fiber-wake that follows,
	 * on the stack of the sender.
	 * Arguments: to, the task of the receiver; from, the task of the
	 * sending fiber or the key of the sending thread; bytes, the size of
	 * the message in bytes; queued, the messages in the mailbox, this one
	 * included.
	 * Not for a send to a fiber that is running, runnable, or has not left
	 * the CPU yet.
	 * Stability: Evolving.
	 */
	probe msg__send(uintptr_t to, uintptr_t from, uint64_t bytes,
	    uint64_t queued);

	/*
	 * Fires when a send has failed, on the stack of the sender.
	 * Arguments: to_pid, the process id the message was meant for; from,
	 * the task of the sending fiber or the key of the sending thread;
	 * bytes, the size of the message in bytes; why, what was wrong
	 * (XTC_DROP).
	 * Not for messages that were queued and then died with their receiver.
	 * Stability: Evolving.
	 */
	probe msg__drop(uint64_t to_pid, uintptr_t from, uint64_t bytes,
	    int why);

	/*
	 * Fires when the number of messages waiting in a mailbox reaches a
	 * power of two that it never reached before, from 64 up, on the stack
	 * of the sender.
	 * Arguments: to, the task of the receiver; depth, the messages in the
	 * mailbox; cap, the most it may hold.
	 * Not below 64 messages, and not for a peak reached before.
	 * Stability: Evolving.
	 */
	probe mailbox__high(uintptr_t to, uint64_t depth, uint64_t cap);

	/*
	 * Fires when a timer has been armed.
	 * Arguments: timer, an opaque key that is unique among the timers
	 * armed; deadline_ns, when it is due, in nanoseconds of
	 * xtc_clock_mono; kind, what it is for (XTC_TIMER).
	 * Not for a wait without a timeout or with a timeout of 0.
	 * Stability: Evolving.
	 */
	probe timer__arm(uintptr_t timer, int64_t deadline_ns, int kind);

	/*
	 * Fires when a timer has been disarmed before it fired.
	 * Arguments: timer, its key; deadline_ns, when it was due, in
	 * nanoseconds of xtc_clock_mono; kind, what it was for (XTC_TIMER).
	 * Not when the timer has fired already.
	 * Stability: Evolving.
	 */
	probe timer__cancel(uintptr_t timer, int64_t deadline_ns, int kind);

	/*
	 * Fires when a timer is due and the loop acts on it, on the stack of
	 * the loop.
	 * Arguments: timer, its key; deadline_ns, when it was due, in
	 * nanoseconds of xtc_clock_mono; now_ns, the clock as the loop read it
	 * last, so that now_ns - deadline_ns is how late it is; kind, what it
	 * is for (XTC_TIMER).
	 * Not for a timer that was cancelled.
	 * Stability: Evolving.
	 */
	probe timer__fire(uintptr_t timer, int64_t deadline_ns,
	    int64_t now_ns, int kind);

	/*
	 * Fires when an acquisition has found the lock taken and starts to
	 * wait, on the stack of whoever waits.
	 * Arguments: lock, its address; kind, what kind of lock it is
	 * (XTC_LOCK); task, the fiber that waits or the key of the thread;
	 * mode, how it is asked for: 0 exclusive or plain, 1 shared, for a
	 * semaphore the count, for the lock manager its mode; holder, the task
	 * that holds it, 0 when unknown or several.
	 * Not for an acquisition that succeeds or fails without waiting.
	 * Stability: Evolving.
	 */
	probe lock__wait__start(uintptr_t lock, int kind, uintptr_t task,
	    int mode, uintptr_t holder);

	/*
	 * Fires when the wait that lock-wait-start announced has ended, on
	 * the same stack and below the same public function, on every way
	 * out.
	 * Arguments: lock, its address; kind, what kind of lock it is
	 * (XTC_LOCK); task, the fiber that waited or the key of the thread;
	 * mode, as in lock-wait-start; result, XTC_OK or XTC_E_OWNERDEAD when
	 * it was acquired, else the error, XTC_E_ABORTED for a kill.
	 * Not without a lock-wait-start before it.
	 * Stability: Evolving.
	 */
	probe lock__wait__done(uintptr_t lock, int kind, uintptr_t task,
	    int mode, int result);

	/*
	 * Fires when an allocation has failed.
	 * Arguments: bytes, the size asked for, in bytes; where, which
	 * allocator it was (XTC_ALLOC).
	 * Not for a request that is refused because its size is nonsense.
	 * Stability: Evolving.
	 */
	probe alloc__fail(uint64_t bytes, int where);
};

#pragma D attributes Evolving/Evolving/Common provider xtc provider
#pragma D attributes Private/Private/Unknown provider xtc module
#pragma D attributes Private/Private/Unknown provider xtc function
#pragma D attributes Evolving/Evolving/Common provider xtc name
#pragma D attributes Evolving/Evolving/Common provider xtc args
