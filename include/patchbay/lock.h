/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Locks for hosts with several threads, or with an interrupt routine. A program
 * with one thread needs none of this and changes nothing.
 *
 * The line "Threads:" of a function names the state that it uses:
 *
 *   commands   a channel's control ring, reply ring and unfinished commands
 *   kicks      a channel's kick ring
 *   events     a channel's event ring
 *   queue      one queue: its indices, timeline value, history, preemption
 *   mutex      a segment and its allocator
 *   alone      all of the object: no other function of it runs meanwhile
 *   none       constants, and card memory
 *
 * and then what it may do:
 *
 *   waits      it may sleep: never under a short lock, nor in an interrupt
 *   interrupt  it never blocks: an interrupt routine may call it, too
 *
 * A function without this line uses its arguments and card memory only.
 *
 * The first four are short locks: the library takes and releases them itself.
 * The system provides them, for example as spinlocks. The library neither waits
 * nor takes a second short lock while it holds one. So they have no order, and
 * one object may stand for several of them. They must keep away the interrupt
 * routine that calls the library (Linux: spin_lock_irqsave; Windows: a spinlock
 * at DISPATCH_LEVEL, and a DPC as that routine).
 *
 * The mutex is the caller's: one for each segment, or one for all. The library
 * never takes it, and may wait while the caller holds it.
 *
 * Of one queue, one thread at a time calls functions of patchbay/stop.h but
 * pb_queue_preempted_now(): they are two calls of one operation.
 */
#ifndef PB_HOST_LOCK_H
#define PB_HOST_LOCK_H

#include <stddef.h>

/** A short lock of the system. The caller owns it, usually as the first member of a struct with the lock proper. */
struct pb_lock {
	/** Waits until no other thread holds the lock, and takes it. What its last holder wrote is visible. */
	void (*acquire)(struct pb_lock *lock);
	/** Releases the lock. What this thread wrote is visible to the next holder. */
	void (*release)(struct pb_lock *lock);
};

/** The short locks of a channel. One object may stand for several of them. None is NULL. */
struct pb_channel_locks {
	struct pb_lock *commands; /**< of the control ring, the reply ring and the unfinished commands */
	struct pb_lock *kicks;    /**< of the kick ring */
	struct pb_lock *events;   /**< of the event ring */
};

#endif
