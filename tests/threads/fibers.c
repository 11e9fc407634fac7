/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/threads/fibers.h"

#include <sanitizer/tsan_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/sim/random.h"
#include "tests/threads/hooks.h"
#undef pb_lock
#undef pb_unlock

#define STACK_BYTES 0x20000u
/** Turns of all fibers after which a schedule counts as endless. */
#define TURNS_MAX 2000000u

struct fiber {
	void *tsan;
	void *resume[5]; /**< for __builtin_setjmp: setjmp() itself is ThreadSanitizer's */
	bool begun;
	bool done;
	uint32_t held[3];               /**< locks that it holds, by kind */
	const struct pb_lock *left_out; /**< it holds a lock that a planted fault has not taken */
};

static struct fiber fibers[PB_FIBERS + 1u];
static ucontext_t firsts[PB_FIBERS];
static _Alignas(64) uint8_t stacks[PB_FIBERS][STACK_BYTES];
static uint32_t self = PB_FIBER_MAIN;
static struct pb_random chance;
static uint64_t present_seed;
static uint32_t left, pace, turns;
static bool planted;
static void (*body_of_all)(uint32_t fiber);

_Noreturn void pb_fibers_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("seed %llu, fiber %u: ", (unsigned long long)present_seed, self);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
	_Exit(planted ? 3 : 1);
}

void pb_fibers_planted(void)
{
	planted = true;
}

uint32_t pb_fiber_self(void)
{
	return self;
}

uint32_t pb_fiber_choose(uint32_t n)
{
	return pb_random_below(&chance, n);
}

/* ---- switching ---- */

static _Noreturn void run_forever(void)
{
	for (;;) {
		body_of_all(self);
		fibers[self].done = true;
		/* What the fiber did comes before what the main fiber does next. */
		self = PB_FIBER_MAIN;
		__tsan_switch_to_fiber(fibers[PB_FIBER_MAIN].tsan, 0);
		__builtin_longjmp(fibers[PB_FIBER_MAIN].resume, 1);
	}
}

static void enter_again(void)
{
	run_forever();
}

/** Starts a fiber on its stack, which no schedule uses any more. */
static void start(uint32_t next)
{
	getcontext(&firsts[next]);
	firsts[next].uc_stack.ss_sp = stacks[next];
	firsts[next].uc_stack.ss_size = STACK_BYTES;
	makecontext(&firsts[next], enter_again, 0);
	/* What the main fiber prepared comes before what the fiber does. */
	__tsan_switch_to_fiber(fibers[next].tsan, 0);
	setcontext(&firsts[next]);
	abort();
}

/** Continues another fiber, without an order between the two for ThreadSanitizer. */
__attribute__((noinline)) static void change_to(uint32_t next)
{
	const uint32_t from = self;

	if (__builtin_setjmp(fibers[from].resume) != 0)
		return;
	self = next;
	if (next != PB_FIBER_MAIN && !fibers[next].begun) {
		fibers[next].begun = true;
		start(next);
	}
	__tsan_switch_to_fiber(fibers[next].tsan, __tsan_switch_to_fiber_no_sync);
	__builtin_longjmp(fibers[next].resume, 1);
}

static void leave(void)
{
	if (self != PB_FIBER_MAIN)
		change_to(PB_FIBER_MAIN);
}

void pb_fiber_point(void)
{
	if (self == PB_FIBER_MAIN || --left != 0)
		return;
	left = 1u + pb_random_below(&chance, 2u * pace);
	leave();
}

void pb_fiber_wait(void)
{
	if (fibers[self].held[PB_FIBER_SHORT] != 0 || fibers[self].held[PB_FIBER_OUTER] != 0)
		pb_fibers_fail("a wait under a short lock");
	leave();
}

uint32_t pb_fibers_running(void)
{
	uint32_t running = 0;

	for (uint32_t i = 0; i < PB_FIBERS; i++)
		running += !fibers[i].done;
	return running;
}

void pb_fibers_run(uint64_t seed, void (*body)(uint32_t fiber), void (*others)(void))
{
	static const uint32_t paces[] = {2, 10, 60, 300};

	present_seed = seed;
	chance.state = seed;
	pace = paces[pb_random_below(&chance, 4)];
	left = pace;
	turns = 0;
	body_of_all = body;
	if (fibers[PB_FIBER_MAIN].tsan == NULL) {
		fibers[PB_FIBER_MAIN].tsan = __tsan_get_current_fiber();
		for (uint32_t i = 0; i < PB_FIBERS; i++)
			fibers[i].tsan = __tsan_create_fiber(0);
	}
	for (uint32_t i = 0; i < PB_FIBERS; i++)
		fibers[i].begun = fibers[i].done = false;
	while (pb_fibers_running() != 0) {
		const uint32_t next = pb_random_below(&chance, PB_FIBERS + 1u);

		if (++turns > TURNS_MAX)
			pb_fibers_fail("no end: %u fibers run", pb_fibers_running());
		if (next == PB_FIBER_MAIN || fibers[next].done)
			others();
		else
			change_to(next);
	}
}

/* ---- locks ---- */

static void acquire(struct pb_lock *base)
{
	struct pb_fiber_lock *lock = (struct pb_fiber_lock *)(void *)base;

	pb_fiber_point();
	if (lock->removed)
		return;
	if (fibers[self].held[PB_FIBER_SHORT] != 0 ||
	    (lock->kind != PB_FIBER_SHORT && fibers[self].held[PB_FIBER_OUTER] != 0))
		pb_fibers_fail("%s is taken under a short lock", lock->name);
	while (lock->holder != 0) {
		if (lock->holder == self + 1u)
			pb_fibers_fail("%s is taken twice", lock->name);
		leave();
	}
	lock->holder = self + 1u;
	fibers[self].held[lock->kind]++;
	__tsan_acquire(lock);
}

static void release(struct pb_lock *base)
{
	struct pb_fiber_lock *lock = (struct pb_fiber_lock *)(void *)base;

	if (!lock->removed) {
		if (lock->holder != self + 1u)
			pb_fibers_fail("%s is released by a fiber that does not hold it", lock->name);
		__tsan_release(lock);
		lock->holder = 0;
		fibers[self].held[lock->kind]--;
	}
	pb_fiber_point();
}

void pb_fiber_locks_init(const struct pb_fiber_lock_row *rows, uint32_t count, const char *removed)
{
	for (uint32_t i = 0; i < count; i++)
		*rows[i].lock = (struct pb_fiber_lock){
			.lock = {.acquire = acquire, .release = release},
			.name = rows[i].name,
			.kind = rows[i].kind,
			.removed = removed != NULL && strcmp(removed, rows[i].name) == 0,
		};
}

bool pb_fiber_locks_have(const struct pb_fiber_lock_row *rows, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(rows[i].name, name) == 0)
			return true;
	}
	return false;
}

void pb_fiber_take(struct pb_fiber_lock *lock)
{
	lock->lock.acquire(&lock->lock);
}

void pb_fiber_give(struct pb_fiber_lock *lock)
{
	lock->lock.release(&lock->lock);
}

/* ---- places that take a lock ---- */

static const char *place_left_out;

void pb_fibers_leave_out(const char *place)
{
	place_left_out = place;
}

static bool is_left_out(const char *file, uint32_t line)
{
	const size_t length = strlen(file);

	return place_left_out != NULL && strncmp(place_left_out, file, length) == 0 &&
	       place_left_out[length] == ':' && strtoul(place_left_out + length + 1, NULL, 10) == line;
}

void pb_threads_lock(struct pb_lock *lock, const char *file, uint32_t line)
{
	if (is_left_out(file, line)) {
		fibers[self].left_out = lock;
		pb_fiber_point();
	} else if (lock != NULL) {
		lock->acquire(lock);
	}
}

void pb_threads_unlock(struct pb_lock *lock)
{
	if (lock != NULL && fibers[self].left_out == lock) {
		fibers[self].left_out = NULL;
		pb_fiber_point();
	} else if (lock != NULL) {
		lock->release(lock);
	}
}
