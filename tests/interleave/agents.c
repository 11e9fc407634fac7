/* SPDX-License-Identifier: MIT */
/* Coroutines, virtual time, and the choice of the agent that runs next. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/interleave/weave.h"

#define STACK_BYTES 0x10000u
/** Accesses between two switches of the agent that runs the card's clock. */
#define CLOCK_ACCESSES 64u

struct agent {
	bool exists;
	bool begun;
	bool waits;
	bool woken;
	uint64_t until;      /**< moment at which its wait ends */
	uint64_t back_until; /**< accesses until which it does not run */
	void (*run)(void);
	jmp_buf resume_point;
	ucontext_t first;
};

static struct agent agents[PB_WEAVE_AGENTS];
static _Alignas(64) uint8_t stacks[PB_WEAVE_AGENTS][STACK_BYTES];
static const struct pb_weave_ground *around;
static struct pb_weave_rates rates;
static struct pb_random chance;
static uint32_t self;
static uint64_t accesses, now, next_moment;
static uint32_t left_to_run, left_to_drain;
static jmp_buf outside;
static char failure[256];

void pb_weave_reset(const struct pb_weave_ground *ground, uint64_t seed)
{
	memset(agents, 0, sizeof(agents));
	around = ground;
	chance.state = seed;
	accesses = 0;
	now = 0;
	next_moment = PB_WEAVE_NEVER;
	left_to_run = 1;
	left_to_drain = 1;
	failure[0] = '\0';
	pb_weave_memory_reset(ground);
}

void pb_weave_set_rates(const struct pb_weave_rates *chosen)
{
	rates = *chosen;
	pb_weave_memory_rates(chosen);
}

uint32_t pb_weave_self(void)
{
	return self;
}

uint64_t pb_weave_now(void)
{
	return now;
}

struct pb_random *pb_weave_random(void)
{
	return &chance;
}

const char *pb_weave_failure(void)
{
	return failure[0] != '\0' ? failure : NULL;
}

_Noreturn void pb_weave_end(void)
{
	_longjmp(outside, 1);
}

_Noreturn void pb_weave_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(failure, sizeof(failure), format, arguments);
	va_end(arguments);
	pb_weave_end();
}

void pb_weave_log(const char *format, ...)
{
	static const char *const names[PB_WEAVE_AGENTS] = {"firmware", "engine 0", "engine 1", "card",
							   "tick",     "host 0",   "host 1",   "host 2"};
	va_list arguments;

	if (!around->verbose)
		return;
	printf("%10.2f us  %-8s  ", (double)now / PB_WEAVE_MOMENTS, names[self]);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

/* ---- choice of the next agent ---- */

static void begin(void)
{
	agents[self].run();
	abort(); /* an agent ends by killing itself */
}

static _Noreturn void enter(uint32_t agent)
{
	self = agent;
	left_to_run = 1u + pb_random_below(&chance, 2u * rates.run);
	if (agents[agent].begun)
		_longjmp(agents[agent].resume_point, 1);
	agents[agent].begun = true;
	setcontext(&agents[agent].first);
	abort();
}

/** Ends waits whose moment has come. */
static void end_due_waits(void)
{
	next_moment = PB_WEAVE_NEVER;
	for (uint32_t i = 0; i < PB_WEAVE_AGENTS; i++) {
		struct agent *agent = &agents[i];

		if (!agent->exists || !agent->waits)
			continue;
		if (agent->until <= now)
			agent->waits = false;
		else if (agent->until < next_moment)
			next_moment = agent->until;
	}
}

/** One of the agents that can run. @return PB_WEAVE_AGENTS: none can */
static uint32_t choose(bool also_back)
{
	uint32_t chosen = PB_WEAVE_AGENTS, count = 0;

	for (uint32_t i = 0; i < PB_WEAVE_AGENTS; i++) {
		const struct agent *agent = &agents[i];

		if (!agent->exists || agent->waits || (!also_back && agent->back_until > accesses))
			continue;
		if (pb_random_below(&chance, ++count) == 0)
			chosen = i;
	}
	return chosen;
}

/** No agent can run: store buffers drain, then time advances. */
static void let_time_pass(void)
{
	if (pb_weave_drain(true))
		return;
	around->quiet();
	if (next_moment == PB_WEAVE_NEVER)
		pb_weave_fail("no agent will ever run again");
	now = next_moment;
	around->clock(now / PB_WEAVE_MOMENTS);
	end_due_waits();
}

static _Noreturn void run_another(void)
{
	uint32_t chosen;

	while ((chosen = choose(false)) == PB_WEAVE_AGENTS && (chosen = choose(true)) == PB_WEAVE_AGENTS)
		let_time_pass();
	enter(chosen);
}

static void switch_agent(void)
{
	if (_setjmp(agents[self].resume_point) == 0)
		run_another();
}

void pb_weave_run(void)
{
	if (_setjmp(outside) == 0)
		run_another();
}

void pb_weave_point(void)
{
	now++;
	if (++accesses > around->limit)
		pb_weave_fail("%llu accesses without an end", (unsigned long long)accesses);
	if (accesses % CLOCK_ACCESSES == 0)
		around->clock(now / PB_WEAVE_MOMENTS);
	if (now >= next_moment)
		end_due_waits();
	if (--left_to_drain == 0) {
		left_to_drain = 1u + pb_random_below(&chance, 2u * rates.drain);
		(void)pb_weave_drain(false);
	}
	if (--left_to_run == 0) {
		left_to_run = 1u + pb_random_below(&chance, 2u * rates.run);
		switch_agent();
	}
}

void pb_weave_yield(uint32_t count)
{
	agents[self].back_until = accesses + count;
	switch_agent();
}

/* ---- beginning, waiting, ending ---- */

void pb_weave_start(uint32_t index, void (*run)(void))
{
	struct agent *agent = &agents[index];

	memset(agent, 0, sizeof(*agent));
	agent->exists = true;
	agent->run = run;
	getcontext(&agent->first);
	agent->first.uc_stack.ss_sp = stacks[index];
	agent->first.uc_stack.ss_size = STACK_BYTES;
	agent->first.uc_link = NULL;
	makecontext(&agent->first, begin, 0);
}

void pb_weave_kill(uint32_t agent)
{
	agents[agent].exists = false;
	if (agent == self)
		run_another();
}

bool pb_weave_wait(uint64_t until)
{
	struct agent *agent = &agents[self];

	agent->waits = true;
	agent->woken = false;
	agent->until = until;
	if (until < next_moment)
		next_moment = until;
	switch_agent();
	return agent->woken;
}

void pb_weave_wake(uint32_t index)
{
	struct agent *agent = &agents[index];

	if (!agent->exists || !agent->waits)
		return;
	agent->waits = false;
	agent->woken = true;
}

bool pb_weave_is_blocked(uint32_t index)
{
	const struct agent *agent = &agents[index];

	return !agent->exists || (agent->waits && agent->until == PB_WEAVE_NEVER);
}
