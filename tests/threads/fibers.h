/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Threads whose order a seed chooses. Each is a fiber of one thread of the
 * process, and a thread of its own for ThreadSanitizer: two accesses of two
 * fibers are a race, unless a lock stands between them. Whether they really come
 * at the same time does not matter.
 *
 * Fibers change at locks, at accesses to card memory and where they wait; not
 * between other accesses. One seed is one order. What all fibers use without a
 * lock, such as the random numbers, is kept here and in card.c, which are
 * compiled without ThreadSanitizer.
 */
#ifndef PB_TESTS_THREADS_FIBERS_H
#define PB_TESTS_THREADS_FIBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/lock.h"

/** Four threads, and the interrupt. */
#define PB_FIBERS          5u
#define PB_FIBER_INTERRUPT 4u
/** The caller of pb_fibers_run(): it prepares a schedule and judges it. */
#define PB_FIBER_MAIN PB_FIBERS

/** What the holder of a lock may do. */
enum pb_fiber_lock_kind {
	PB_FIBER_MUTEX, /**< anything */
	PB_FIBER_OUTER, /**< take a short lock */
	PB_FIBER_SHORT, /**< neither wait nor take another lock */
};

/** A lock of the schedule. */
struct pb_fiber_lock {
	struct pb_lock lock; /**< first, so that one pointer is both */
	const char *name;    /**< for messages */
	enum pb_fiber_lock_kind kind;
	bool removed;    /**< planted fault: it keeps no thread away */
	uint32_t holder; /**< fiber plus 1; 0: free */
};

/** A lock by its name. Several locks may have one name. */
struct pb_fiber_lock_row {
	const char *name;
	struct pb_fiber_lock *lock;
	enum pb_fiber_lock_kind kind;
};

/** Initialises locks. @param removed those of this name keep no thread away: a planted fault; NULL: none */
void pb_fiber_locks_init(const struct pb_fiber_lock_row *rows, uint32_t count, const char *removed);
/** Whether a lock has this name. */
bool pb_fiber_locks_have(const struct pb_fiber_lock_row *rows, uint32_t count, const char *name);
/** Takes a lock, as its user does. */
void pb_fiber_take(struct pb_fiber_lock *lock);
/** Gives it back. */
void pb_fiber_give(struct pb_fiber_lock *lock);
/** Plants a fault: the place FILE:LINE takes no lock. Pre: `place` contains a colon */
void pb_fibers_leave_out(const char *place);

/**
 * Runs all fibers until each has returned.
 * @param seed of the schedule
 * @param body of the fibers, with the number of each
 * @param others called between two fibers: lets the card run
 */
void pb_fibers_run(uint64_t seed, void (*body)(uint32_t fiber), void (*others)(void));
/** Returns the number of the running fiber. */
uint32_t pb_fiber_self(void);
/** Returns the seed's next choice: 0 to n - 1. */
uint32_t pb_fiber_choose(uint32_t n);
/** A point at which another fiber may run. */
void pb_fiber_point(void);
/** Lets others run. Fails if the fiber holds a short lock. */
void pb_fiber_wait(void);
/** Returns the number of fibers that have not returned. */
uint32_t pb_fibers_running(void);
/** Ends the process: a rule is broken. A planted fault that breaks a rule is no race: the process ends with 3. */
_Noreturn void pb_fibers_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** A fault is planted: pb_fibers_fail() ends with 3. */
void pb_fibers_planted(void);

#endif
