/* SPDX-License-Identifier: MIT */
/* How the scripted firmware takes work back, stops, goes on and answers questions. */
#include <string.h>

#include "tests/unit/fake_firmware.h"

/* The queue of a handle; without one the reply says so. */
static uint32_t find_queue(struct fake_firmware *fake, uint32_t handle)
{
	for (uint32_t i = 0; i < FAKE_QUEUES; i++)
		if (fake->queues[i].page != 0 && fake->queues[i].handle == handle)
			return i;
	fake->reply.error = PB_ERROR_BAD_HANDLE;
	return FAKE_QUEUES;
}

/* Gives back what is in front of the cutoff. @return how many */
static uint32_t give_back(struct fake_firmware *fake, uint32_t index, uint32_t cutoff)
{
	uint32_t returned = cutoff - fake->queues[index].get;

	/* A test may have set either to nonsense. */
	if (returned > fake->queues[index].entries)
		return 0;
	fake->queues[index].get = cutoff;
	fake_complete(&fake_page(fake, index)->fence, NULL, cutoff);
	return returned;
}

static void preempt(struct fake_firmware *fake, const struct pb_command *command)
{
	const uint32_t index = find_queue(fake, command->arguments[0]);
	struct pb_preempt_record *record;
	const struct pb_fence_record *fence;

	if (index == FAKE_QUEUES)
		return;
	fence = &fake_page(fake, index)->fence;
	record = &fake_page(fake, index)->preempt;
	record->sequence++;
	record->count++;
	record->preemption_id = command->arguments[2];
	record->returned = give_back(fake, index, command->arguments[1]);
	record->fence_id = fence->fence_id;
	record->valid = fence->valid;
	record->completed = fence->completed;
	record->started = record->returned != 0 && (command->arguments[3] & PB_STOP_INSIDE) != 0;
	record->epoch = fake_entry(fake)->epoch;
	record->sequence++;
	fake->reply.results[0] = record->fence_id;
	fake->reply.results[1] = record->valid;
	fake->reply.results[2] = record->completed;
	fake->reply.results[3] = record->returned;
	fake->reply.results[4] = record->started;
	fake_event(fake, PB_EVENT_PREEMPTED, record->epoch);
}

/* The first one that is there fails, the rest is given back. */
static void reset(struct fake_firmware *fake, const struct pb_command *command)
{
	const uint32_t index =
		command->arguments[1] != 0 ? find_queue(fake, command->arguments[1]) : FAKE_QUEUES;
	const uint32_t limit = fake->work_limit;
	struct pb_fence_record *fence;

	if (index == FAKE_QUEUES)
		return;
	fence = &fake_page(fake, index)->fence;
	fake->work_limit = 1;
	if (fake_serve_queue(fake, index)) {
		fence->status = PB_ERROR_ENGINE_HANG;
		fence->error = PB_ERROR_ENGINE_HANG;
	}
	fake->work_limit = limit;
	fake->reply.results[3] = give_back(fake, index, fake_page(fake, index)->put);
	fake->reply.results[0] = fence->fence_id;
	fake->reply.results[1] = fence->valid;
	fake->reply.results[2] = fence->completed;
}

static void suspend(struct fake_firmware *fake, const struct pb_command *command, bool stop)
{
	const uint32_t all = (1u << FAKE_QUEUES) - 1u;
	const uint32_t index =
		command->arguments[0] != 0 ? find_queue(fake, command->arguments[0]) : FAKE_QUEUES;
	const uint32_t which = index < FAKE_QUEUES ? 1u << index : all;

	if (fake->reply.error != PB_ERROR_OK)
		return;
	if (stop && index < FAKE_QUEUES && (command->arguments[2] & PB_STOP_RECALL) == 0)
		fake_serve_queue(fake, index);
	fake->stopped = stop ? fake->stopped | which : fake->stopped & ~which;
	fake->kicked |= stop ? 0 : which;
}

static void query_queue(struct fake_firmware *fake, uint32_t index)
{
	const struct pb_queue_page *page = fake_page(fake, index);
	uint32_t *results = fake->reply.results;

	results[0] = (fake->stopped >> index & 1u) != 0 ? PB_WHY_SUSPENDED : PB_WHY_EMPTY;
	results[4] = page->put;
	results[5] = fake->queues[index].get;
	results[6] = page->fence.completed;
	results[7] = page->fence.timeline_low;
	results[8] = page->fence.timeline_high;
	results[9] = page->fence.error != PB_ERROR_OK;
	results[10] = fake->stopped >> index & 1u;
	results[11] = fake->queues[index].node;
	results[12] = fake->queues[index].priority;
}

/* Of nodes, contexts and channels it says the same each time: 100 times the kind of question, and so on. */
static void query(struct fake_firmware *fake, const struct pb_command *command)
{
	const uint32_t kind = command->arguments[0];
	const uint32_t owner = command->arguments[2];
	uint32_t handle = command->arguments[1];
	uint32_t index;

	if (kind != PB_QUERY_QUEUE) {
		for (uint32_t i = 0; i < PB_REPLY_RESULTS; i++)
			fake->reply.results[i] = 100 * kind + i;
		return;
	}
	/* All queues are those of the one channel there is, and have generation 1. */
	if (PB_HANDLE_GENERATION(handle) == 0)
		handle = PB_HANDLE(handle, 1);
	index = find_queue(fake, owner == 0 || owner == FAKE_CHANNEL ? handle : PB_HANDLE_NONE);
	if (index < FAKE_QUEUES)
		query_queue(fake, index);
}

void fake_schedule(struct fake_firmware *fake, const struct pb_command *command)
{
	switch (command->code) {
	case PB_COMMAND_PREEMPT:
		preempt(fake, command);
		break;
	case PB_COMMAND_SUSPEND:
		suspend(fake, command, true);
		break;
	case PB_COMMAND_RESUME:
		suspend(fake, command, false);
		break;
	case PB_COMMAND_RESET:
		reset(fake, command);
		break;
	case PB_COMMAND_QUERY:
		query(fake, command);
		break;
	default:
		break;
	}
}
