/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e_victim.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "hal/engine/packets.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define SYSTEM_BYTES 0x60000u
#define QUEUES       12u
#define CONTEXTS     4u
#define SEGMENTS     4u
#define FIRST        2u /* first id of its own segments, after those of the host */
#define BUSY_US      2000u
#define LONG_US      1000000u

struct life {
	struct e2e_host host;
	uint32_t random;
	struct pb_queue queues[QUEUES]; /**< handle 0: none */
	uint32_t contexts[CONTEXTS];    /**< 0: none */
	struct pb_segment segments[SEGMENTS];
	bool made[SEGMENTS];
	struct pb_memory waits;
	uint32_t tags[PB_COMMANDS_PENDING]; /**< of unread replies */
	uint32_t late;                      /**< of them */
};

/* ---- where it dies ---- */

static struct {
	const struct pb_link_ops *ops;
	uint32_t *points;
} fate;

static _Noreturn void die(void)
{
	for (;;)
		kill(getpid(), SIGKILL);
}

static void pass_point(void)
{
	if (__atomic_load_n(fate.points, __ATOMIC_SEQ_CST) != 0 &&
	    __atomic_sub_fetch(fate.points, 1, __ATOMIC_SEQ_CST) == 0)
		die();
}

static void doorbell(struct pb_link *link)
{
	pass_point();
	fate.ops->doorbell(link);
	pass_point();
}

void e2e_victim_dies_at(struct pb_link *link, uint32_t *points)
{
	static struct pb_link_ops ops;

	fate.ops = link->ops;
	fate.points = points;
	ops = *link->ops;
	ops.doorbell = doorbell;
	link->ops = &ops;
}

/* ---- what it does ---- */

static uint32_t draw(struct life *life, uint32_t below)
{
	life->random = life->random * 1664525u + 1013904223u;
	return (life->random >> 16) % below;
}

/* One of its own queues. The host's two queues always exist. */
static struct pb_queue *some_queue(struct life *life)
{
	struct pb_queue *queue = &life->queues[draw(life, QUEUES)];

	return queue->handle != 0 ? queue : &life->host.queues[draw(life, E2E_NODES)];
}

static void create_or_destroy_queue(struct life *life)
{
	struct pb_queue *queue = &life->queues[draw(life, QUEUES)];
	const struct pb_queue_request request = {.node = draw(life, 4),
						 .entries = 4u << draw(life, 3),
						 .priority = draw(life, PB_PRIORITIES),
						 .quantum_us = draw(life, 3) * 1000u};

	if (queue->handle != 0)
		(void)pb_queue_destroy(queue);
	memset(queue, 0, sizeof(*queue));
	if (pb_queue_create_with(queue, &life->host.channel, &life->host.system, &request) != PB_ERROR_OK)
		memset(queue, 0, sizeof(*queue));
}

static void create_or_destroy_context(struct life *life)
{
	uint32_t *context = &life->contexts[draw(life, CONTEXTS)];

	if (*context != 0)
		(void)pb_context_destroy(&life->host.channel, *context);
	if (*context != 0 || pb_context_create(&life->host.channel, context) != PB_ERROR_OK)
		*context = 0;
}

static void create_or_destroy_segment(struct life *life, uint32_t kind)
{
	const uint32_t i = draw(life, SEGMENTS);
	struct pb_segment *segment = &life->segments[i];
	const struct pb_segment_request request = {
		.id = FIRST + i,
		.os_base = 0x1000000000u + i * 0x1000000u,
		.gpu_base = 0x2000000000u + i * 0x1000000u,
		.size = 0x100000,
		.backing_bytes = kind == PB_SEGMENT_LINEAR ? draw(life, 16) * PB_PAGE_BYTES : 0,
		.kind = kind,
	};

	if (life->made[i])
		(void)pb_segment_destroy(segment);
	life->made[i] =
		!life->made[i] && pb_segment_create(segment, &life->host.channel, &request) == PB_ERROR_OK;
}

static void segment(struct life *life)
{
	create_or_destroy_segment(life, PB_SEGMENT_LINEAR);
}

static void aperture(struct life *life)
{
	create_or_destroy_segment(life, PB_SEGMENT_APERTURE);
}

static void format(struct life *life)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_FORMAT_OWN + draw(life, 16)};
	const struct pb_patch_format format = {.align = 4, .mask = UINT32_MAX};

	memcpy(&arguments[1], &format, sizeof(format));
	(void)pb_channel_command(&life->host.channel, PB_COMMAND_FORMAT_SET, arguments, NULL);
}

/* A patched FILL and another packet, on any queue. */
static void submit(struct life *life, uint32_t opcode, uint32_t words, uint32_t operand)
{
	const uint32_t b = draw(life, E2E_NODES);
	struct pb_dma *dma = &life->host.builders[b];

	e2e_host_fill(&life->host, b, life->random);
	pb_dma_packet(dma, opcode, words);
	if (words > 1)
		pb_dma_word(dma, operand);
	dma->queue = some_queue(life);
	(void)pb_dma_submit(dma, life->random);
}

static void submit_short(struct life *life)
{
	submit(life, PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS, BUSY_US);
}

static void submit_long(struct life *life)
{
	submit(life, PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS, LONG_US);
}

static void hang(struct life *life)
{
	submit(life, PB_PACKET_HANG, PB_PACKET_HANG_WORDS, 0);
}

static void fault(struct life *life)
{
	submit(life, PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS, 0);
	(void)pb_context_clear(&life->host.channel, life->host.context);
}

/* Waits that end, waits that never end, and waits that close cycles. */
static void wait(struct life *life)
{
	const uint32_t count = 1u + draw(life, PB_WAITS_MAX), list = draw(life, 16);
	struct pb_wait *waits = (struct pb_wait *)(void *)life->waits.bytes_host + list * PB_WAITS_MAX;
	struct pb_queue *queue = some_queue(life);
	const uint64_t address =
		life->waits.os_address + list * PB_WAITS_MAX * (uint64_t)sizeof(struct pb_wait);
	const struct pb_descriptor descriptor = {
		.context = life->host.context,
		.wait_address_low = (uint32_t)address,
		.wait_address_high = (uint32_t)(address >> 32),
		.wait_count = count,
	};

	for (uint32_t i = 0; i < count; i++) {
		const struct pb_queue *other = some_queue(life);

		pb_wait_on(&waits[i], other, other->timeline + draw(life, 3));
	}
	(void)pb_queue_submit(queue, &descriptor);
}

static void paging(struct life *life)
{
	const struct pb_descriptor descriptor = {.flags = PB_FLAG_PAGING,
						 .dma_start = draw(life, 8) == 0 ? 4u : 0};

	(void)pb_queue_submit(some_queue(life), &descriptor);
	(void)pb_node_release(&life->host.channel, draw(life, 4));
}

/* Reads the replies that have come since: each unread one keeps a command from being begun. */
static void read_late_replies(struct life *life)
{
	uint32_t late = 0;

	for (uint32_t i = 0; i < life->late; i++) {
		if (pb_channel_finish(&life->host.channel, life->tags[i], NULL) == PB_ERROR_TIMEOUT)
			life->tags[late++] = life->tags[i];
	}
	life->late = late;
}

/* Commands whose reply it reads if it comes soon, or when there is no room for another command. */
static void ask(struct life *life, uint32_t code, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {a, b, c, d};
	uint32_t tag;

	if (pb_channel_begin(&life->host.channel, code, arguments, &tag) != PB_ERROR_OK) {
		read_late_replies(life);
		return;
	}
	for (uint32_t i = draw(life, 4); i != 0; i--)
		(void)life->host.link->ops->wait(life->host.link, 500);
	if (pb_channel_finish(&life->host.channel, tag, NULL) == PB_ERROR_TIMEOUT)
		life->tags[life->late++] = tag;
}

static void preempt(struct life *life)
{
	const struct pb_queue *queue = some_queue(life);

	ask(life, PB_COMMAND_PREEMPT, queue->handle, queue->put, life->random,
	    draw(life, 2) ? PB_STOP_INSIDE : 0);
}

static void suspend(struct life *life)
{
	const struct pb_queue *queue = some_queue(life);

	ask(life, PB_COMMAND_SUSPEND, queue->handle, queue->put, draw(life, 2) ? PB_STOP_RECALL : 0, 0);
}

static void resume(struct life *life)
{
	ask(life, PB_COMMAND_RESUME, some_queue(life)->handle, 0, 0, 0);
}

static void reset(struct life *life)
{
	const struct pb_queue *queue = some_queue(life);

	ask(life, PB_COMMAND_RESET, queue->node, queue->handle, queue->put, 0);
}

static void question(struct life *life)
{
	ask(life, PB_COMMAND_QUERY, PB_QUERY_QUEUE, some_queue(life)->handle, 0, 0);
}

static void moderation(struct life *life)
{
	ask(life, PB_COMMAND_MODERATE, draw(life, 5), draw(life, 2000), 0, 0);
}

static void events(struct life *life)
{
	struct pb_event event;

	while (pb_channel_event(&life->host.channel, &event))
		continue;
	(void)pb_context_clear(&life->host.channel, life->host.context);
}

static const struct step {
	const char *name;
	void (*run)(struct life *life);
} steps[E2E_VICTIM_STEPS] = {
	{"queue", create_or_destroy_queue},
	{"context", create_or_destroy_context},
	{"segment", segment},
	{"aperture", aperture},
	{"format", format},
	{"submission", submit_short},
	{"long submission", submit_long},
	{"hang", hang},
	{"fault", fault},
	{"wait", wait},
	{"paging", paging},
	{"preempt", preempt},
	{"suspend", suspend},
	{"resume", resume},
	{"reset", reset},
	{"question", question},
	{"moderation", moderation},
	{"events", events},
};

const char *e2e_victim_step_name(uint32_t step)
{
	return steps[step].name;
}

/* While the card closes other victims' channels there may be no free channel. */
static bool attach(struct life *life, const struct e2e_victim *victim)
{
	const uint64_t start = e2e_now();
	enum pb_error error;

	while ((error = pb_link_open_socket(victim->socket, &life->host.link)) == PB_ERROR_CARD_FULL) {
		if (!e2e_patience(start))
			return e2e_fail("no channel is free");
	}
	if (!e2e_ok("connect", error))
		return false;
	e2e_victim_dies_at(life->host.link, victim->points);
	return e2e_ok("attach", pb_channel_attach(&life->host.channel, life->host.link, E2E_PATIENCE_US));
}

int e2e_victim_live(const struct e2e_victim *victim)
{
	static struct life life;

	life.random = victim->seed * 2654435761u;
	if (!attach(&life, victim) || !e2e_host_furnish(&life.host, SYSTEM_BYTES) ||
	    !e2e_ok("waits",
		    pb_memory_allocate(&life.host.system, PB_PAGE_BYTES, PB_LINE_BYTES, &life.waits)))
		return 1;
	for (uint32_t i = 0; i != victim->steps; i++) {
		const uint32_t step = draw(&life, E2E_VICTIM_STEPS);

		__atomic_fetch_add(&victim->counts[step], 1, __ATOMIC_RELAXED);
		steps[step].run(&life);
		if (pb_channel_check(&life.host.channel, NULL) != PB_ERROR_OK)
			return 1;
	}
	die();
}
