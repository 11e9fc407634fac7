/* SPDX-License-Identifier: MIT */
/*
 * Control messages: any commands in any order, with handles that exist or do
 * not, among submissions, kicks, and words of the channel that make no sense.
 * As long as the guest keeps the rules of its rings, each command has one
 * reply, and in the end, with all that it stopped resumed, no fence is lost.
 *
 * Aims at: firmware/command/control.c firmware/command/objects.c firmware/command/lifecycle.c firmware/command/doorbell.c
 * Aims at: firmware/command/stop.c firmware/command/stopping.c firmware/command/query.c firmware/channel/endpoint.c
 * Aims at: firmware/channel/reply.c firmware/channel/event.c firmware/queue/table.c firmware/queue/poll.c
 * Aims at: firmware/engine/recall.c
 */
#include <string.h>

#include "tests/fuzz/card.h"

#define SETTLE_STEPS 20000u
#define HANDLES      16u
/** Places for pages of queues that a case makes. */
#define PAGE_PLACES 4u
#define PAGE_STRIDE 0x1000u
/** Where work other than marks stands, behind them. */
#define OTHER_WORK 0x800u

/** What the guest knows. */
static struct {
	uint32_t asked;            /**< commands */
	uint32_t answered;         /**< replies */
	uint32_t handles[HANDLES]; /**< that replies named, and those of the fixture */
	uint32_t count;
	bool spoilt; /**< it has broken a rule, or left: nothing is promised to it any more */
	bool lied; /**< its queues may not be what they should: on top of each other, or cut off ahead of their put */
} guest;

static void remember(uint32_t handle)
{
	guest.handles[guest.count++ % HANDLES] = handle;
}

static void start(void)
{
	static const uint32_t others[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS),   20000,
					  PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS),   300,
					  PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS),   0,
					  PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS), 0};

	fuzz_card_reset();
	memcpy(fuzz_guest_bytes(FUZZ_MARKS + OTHER_WORK), others, sizeof(others));
	memset(&guest, 0, sizeof(guest));
	for (uint32_t n = 0; n < FUZZ_NODES; n++)
		remember(fuzz_card.guest.queues[n].handle);
	remember(fuzz_card.guest.context);
	guest.asked = fuzz_card.guest.channel.control_put;
	guest.answered = fuzz_card.guest.channel.reply_get;
}

static void ring(void)
{
	fuzz_card.guest.link.ops->doorbell(&fuzz_card.guest.link);
}

static void read_replies(void)
{
	struct pb_channel *channel = &fuzz_card.guest.channel;
	const struct pb_reply *replies =
		(const struct pb_reply *)(const void *)(fuzz_card.memory + channel->reply_offset);
	const uint32_t put = channel->entry->reply_put;

	FUZZ_CHECK(put - guest.answered <= guest.asked - guest.answered || guest.spoilt);
	for (uint32_t i = 0; i < channel->control_entries && guest.answered != put; i++, guest.answered++) {
		const struct pb_reply *reply = &replies[guest.answered % channel->control_entries];

		if (reply->error == PB_ERROR_OK &&
		    (reply->code == PB_COMMAND_CONTEXT_CREATE || reply->code == PB_COMMAND_QUEUE_CREATE))
			remember(reply->results[0]);
	}
	if (!guest.spoilt)
		channel->entry->reply_get = guest.answered;
	ring();
}

/** A number that may mean something. */
static uint32_t argument(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	if (kind < 0x60)
		return guest.handles[kind % HANDLES];
	if (kind < 0x70)
		return (uint32_t)FUZZ_SYSTEM_OS + FUZZ_FREE + kind % PAGE_PLACES * PAGE_STRIDE;
	if (kind < 0x80)
		return fuzz_card.guest.queues[kind % FUZZ_NODES].put;
	return fuzz_number(input);
}

/** A cutoff is the queue's put; what lies behind that has never been submitted, and is returned all the same. */
static bool cuts_ahead(const struct pb_command *command)
{
	const uint32_t first = command->code == PB_COMMAND_RESET;

	if (!first && command->code != PB_COMMAND_PREEMPT && command->code != PB_COMMAND_SUSPEND)
		return false;
	for (uint32_t n = 0; n < FUZZ_NODES; n++) {
		const struct pb_queue *queue = &fuzz_card.guest.queues[n];

		if (command->arguments[first] == queue->handle &&
		    (int32_t)(command->arguments[first + 1u] - queue->put) > 0)
			return true;
	}
	return false;
}

static void command(struct fuzz_input *input)
{
	struct pb_channel *channel = &fuzz_card.guest.channel;
	struct pb_command *commands =
		(struct pb_command *)(void *)(fuzz_card.memory + channel->control_offset);
	struct pb_command *slot = &commands[guest.asked % channel->control_entries];
	const uint32_t count = fuzz_below(input, PB_COMMAND_ARGUMENTS + 1u);

	read_replies();
	/* Room for the reply is reserved. */
	if (guest.asked - guest.answered >= channel->control_entries)
		return;
	memset(slot, 0, sizeof(*slot));
	slot->code = fuzz_below(input, 24);
	slot->tag = guest.asked;
	for (uint32_t i = 0; i < count; i++)
		slot->arguments[i] = argument(input);
	guest.lied = guest.lied || slot->code == PB_COMMAND_QUEUE_CREATE || cuts_ahead(slot);
	channel->entry->control_put = ++guest.asked;
	ring();
}

/** Beside marks: nothing, what takes long, what never ends, what the engine refuses. */
static void choose_work(struct pb_descriptor *descriptor, uint32_t kind)
{
	if (kind > 4)
		return;
	descriptor->dma_start = OTHER_WORK + (kind > 1 ? 8u * (kind - 1u) : 0);
	descriptor->dma_end = descriptor->dma_start + (kind == 0 ? 0 : 8);
}

static void submit(struct fuzz_input *input)
{
	const uint32_t q = fuzz_below(input, FUZZ_NODES);
	struct pb_queue *queue = &fuzz_card.guest.queues[q];
	const struct pb_queue_page *page = (const void *)queue->memory.bytes_host;
	struct pb_descriptor mark = fuzz_mark(&fuzz_card.guest, fuzz_below(input, FUZZ_MARK_COUNT));

	if (queue->put - page->fence.completed >= FUZZ_ENTRIES)
		return;
	mark.timeline_low = queue->put + 1u;
	choose_work(&mark, fuzz_below(input, 16));
	fuzz_submit_raw(q, &mark);
}

/** Words that the guest may write at any time: those of its two lines. */
static void spoil(struct fuzz_input *input)
{
	uint32_t *words = (uint32_t *)(void *)fuzz_guest_entry();

	words[fuzz_below(input, 32)] = argument(input);
	guest.spoilt = true;
	ring();
}

static void kick(struct fuzz_input *input)
{
	struct pb_channel *channel = &fuzz_card.guest.channel;
	uint32_t *kicks = (uint32_t *)(void *)(fuzz_card.memory + channel->kick_offset);

	if (channel->kick_put - channel->entry->kick_get >= channel->kick_entries)
		return;
	kicks[channel->kick_put % channel->kick_entries] = argument(input);
	channel->entry->kick_put = ++channel->kick_put;
	ring();
}

static void run(struct fuzz_input *input)
{
	for (uint32_t steps = fuzz_below(input, 32) + 1u; steps != 0; steps--)
		fuzz_card_step();
}

static void act(struct fuzz_input *input)
{
	switch (fuzz_below(input, 8)) {
	case 0:
	case 1:
		command(input);
		break;
	case 2:
		submit(input);
		break;
	case 3:
		run(input);
		break;
	case 4:
		kick(input);
		break;
	case 5:
		fuzz_guest_entry()->rescan++;
		ring();
		break;
	case 6:
		fuzz_witness_submit(fuzz_below(input, FUZZ_NODES));
		break;
	default:
		if (fuzz_below(input, 8) == 0)
			spoil(input);
		else
			fuzz_guest_entry()->event_get = guest.spoilt ? 0 : fuzz_guest_entry()->event_put;
		break;
	}
}

/* ---- what must be so in the end ---- */

static void order(uint32_t code, uint32_t first, uint32_t second)
{
	struct pb_channel *channel = &fuzz_card.guest.channel;
	struct pb_command *commands =
		(struct pb_command *)(void *)(fuzz_card.memory + channel->control_offset);
	struct pb_command *slot = &commands[guest.asked % channel->control_entries];

	FUZZ_CHECK(fuzz_card_settle(SETTLE_STEPS));
	read_replies();
	*slot = (struct pb_command){.code = code, .tag = guest.asked, .arguments = {first, second}};
	channel->entry->control_put = ++guest.asked;
	ring();
}

/** Nothing keeps its two queues from working any more. */
static void let_all_go_on(void)
{
	for (uint32_t n = 0; n < FUZZ_NODES; n++) {
		order(PB_COMMAND_RESET, n, 0);
		order(PB_COMMAND_RESUME, fuzz_card.guest.queues[n].handle, 0);
	}
	FUZZ_CHECK(fuzz_card_settle(SETTLE_STEPS));
	read_replies();
}

/** A queue that is there, as its handle is still known. */
static bool is_there(const struct pb_queue *queue)
{
	const struct pb_channel *channel = &fuzz_card.guest.channel;
	const struct pb_reply *replies =
		(const struct pb_reply *)(const void *)(fuzz_card.memory + channel->reply_offset);

	order(PB_COMMAND_QUEUE_CLEAR, queue->handle, 0);
	FUZZ_CHECK(fuzz_card_settle(SETTLE_STEPS));
	read_replies();
	return replies[(guest.answered - 1u) % channel->control_entries].error == PB_ERROR_OK;
}

static void check_guest(void)
{
	let_all_go_on();
	FUZZ_CHECK(fuzz_guest_entry()->state == PB_CHANNEL_OPEN);
	FUZZ_CHECK(guest.answered == guest.asked);
	for (uint32_t n = 0; n < FUZZ_NODES && !guest.lied; n++) {
		const struct pb_queue *queue = &fuzz_card.guest.queues[n];
		const struct pb_queue_page *page = (const void *)queue->memory.bytes_host;

		if (is_there(queue))
			FUZZ_CHECK(page->fence.completed == queue->put && page->fence.sequence % 2u == 0);
	}
}

void fuzz_one(struct fuzz_input *input)
{
	start();
	while (fuzz_more(input))
		act(input);
	FUZZ_CHECK(fuzz_card_settle(SETTLE_STEPS));
	fuzz_witness_check();
	if (!guest.spoilt)
		check_guest();
}
