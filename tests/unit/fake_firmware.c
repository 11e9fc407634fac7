/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_firmware.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static void tamper(struct fake_firmware *fake, enum fake_moment moment)
{
	if (fake->tamper != NULL)
		fake->tamper(fake, moment);
}

uint32_t *fake_word(const struct fake_firmware *fake, uint32_t offset)
{
	return (uint32_t *)(void *)(fake->link.memory + offset);
}

struct pb_boot_block *fake_boot(const struct fake_firmware *fake)
{
	return (struct pb_boot_block *)(void *)fake->link.memory;
}

struct pb_channel_entry *fake_entry(const struct fake_firmware *fake)
{
	return (struct pb_channel_entry *)(void *)fake_word(fake,
							    FAKE_DIRECTORY_OFFSET + FAKE_CHANNEL * 256u);
}

struct pb_queue_page *fake_page(const struct fake_firmware *fake, uint32_t queue)
{
	return (struct pb_queue_page *)(void *)fake_word(fake, fake->queues[queue].page);
}

/* ---- attach ---- */

static void open_channel(struct fake_firmware *fake, struct pb_channel_entry *entry)
{
	entry->control_get = 0;
	entry->reply_put = 0;
	entry->kick_get = 0;
	entry->event_put = 0;
	entry->control_offset = FAKE_CONTROL_OFFSET;
	entry->reply_offset = FAKE_REPLY_OFFSET;
	entry->kick_offset = FAKE_KICK_OFFSET;
	entry->event_offset = FAKE_EVENT_OFFSET;
	entry->control_entries = FAKE_CONTROL_ENTRIES;
	entry->kick_entries = FAKE_KICK_ENTRIES;
	entry->event_entries = FAKE_EVENT_ENTRIES;
	entry->state = PB_CHANNEL_OPEN;
	entry->error = PB_ERROR_OK;
	fake->rescan = entry->rescan;
	if (entry->control_put != 0 || entry->reply_get != 0 || entry->kick_put != 0 || entry->event_get != 0)
		fake->violations++;
}

static uint32_t refusal(struct fake_firmware *fake, const struct pb_channel_entry *entry)
{
	if (entry->host_version >> 16 != PB_ABI_MAJOR)
		return PB_ERROR_BAD_VERSION;
	if (fake->refusals != 0) {
		fake->refusals--;
		return PB_ERROR_BAD_ARGUMENT;
	}
	return entry->incarnation == fake_boot(fake)->incarnation ? PB_ERROR_OK : PB_ERROR_BAD_ARGUMENT;
}

static bool serve_attach(struct fake_firmware *fake)
{
	struct pb_channel_entry *entry = fake_entry(fake);
	uint32_t request = entry->attach_request;

	if (request == entry->attach_done)
		return false;
	entry->epoch++;
	entry->state = PB_CHANNEL_CLOSED;
	entry->error = PB_ERROR_OK;
	memset(fake->queues, 0, sizeof(fake->queues));
	fake->segment_bytes = 0;
	if ((request & PB_ATTACH_OP_MASK) == PB_ATTACH_OP_ATTACH) {
		entry->error = refusal(fake, entry);
		if (entry->error == PB_ERROR_OK)
			open_channel(fake, entry);
	}
	tamper(fake, FAKE_ATTACHED);
	entry->attach_done = request;
	return true;
}

/* ---- commands ---- */

static void create_segment(struct fake_firmware *fake, const struct pb_command *command)
{
	fake->reply.results[0] = FAKE_POOL_OFFSET + fake->segment_bytes;
	if (command->arguments[0] == PB_SEGMENT_SYSTEM) {
		fake->os_base = (uint64_t)command->arguments[3] << 32 | command->arguments[2];
		fake->system = FAKE_POOL_OFFSET + fake->segment_bytes;
	}
	if (command->arguments[8] > FAKE_BYTES - FAKE_POOL_OFFSET - fake->segment_bytes)
		fake->reply.error = PB_ERROR_NO_SPACE;
	else
		fake->segment_bytes += command->arguments[8];
}

static void create_queue(struct fake_firmware *fake, const struct pb_command *command)
{
	uint64_t address = (uint64_t)command->arguments[3] << 32 | command->arguments[2];
	uint64_t page = address - fake->os_base + fake->system;
	uint32_t free_slot = 0;

	while (free_slot < FAKE_QUEUES && fake->queues[free_slot].page != 0)
		free_slot++;
	if (free_slot == FAKE_QUEUES || page > FAKE_BYTES - 4096u) {
		fake->reply.error = PB_ERROR_NO_SPACE;
		return;
	}
	fake->queues[free_slot].handle = PB_HANDLE(free_slot, 1);
	fake->queues[free_slot].page = (uint32_t)page;
	fake->queues[free_slot].entries = command->arguments[1];
	fake->queues[free_slot].get = 0;
	fake->queues[free_slot].node = command->arguments[0];
	fake->queues[free_slot].priority = command->arguments[4];
	fake_page(fake, free_slot)->fence.epoch = fake_entry(fake)->epoch;
	fake->reply.results[0] = fake->queues[free_slot].handle;
}

static void destroy_queue(struct fake_firmware *fake, uint32_t handle)
{
	uint32_t index = PB_HANDLE_INDEX(handle);

	if (index >= FAKE_QUEUES || fake->queues[index].page == 0)
		fake->reply.error = PB_ERROR_BAD_HANDLE;
	else
		fake->queues[index].page = 0;
}

static void carry_out(struct fake_firmware *fake, const struct pb_command *command)
{
	switch (command->code) {
	case PB_COMMAND_SEGMENT_CREATE:
		create_segment(fake, command);
		break;
	case PB_COMMAND_CONTEXT_CREATE:
		fake->reply.results[0] = PB_HANDLE(3, 9);
		break;
	case PB_COMMAND_QUEUE_CREATE:
		create_queue(fake, command);
		break;
	case PB_COMMAND_QUEUE_DESTROY:
		destroy_queue(fake, command->arguments[0]);
		break;
	case PB_COMMAND_CHANNEL_CLOSE:
		fake->reply.error = PB_ERROR_NO_PERMISSION;
		break;
	default:
		fake_schedule(fake, command);
		break;
	}
}

static void post_reply(struct fake_firmware *fake)
{
	struct pb_channel_entry *entry = fake_entry(fake);

	for (uint32_t i = 0; i < fake->reply_copies; i++) {
		uint32_t slot = entry->reply_put % FAKE_CONTROL_ENTRIES;

		if (entry->reply_put - entry->reply_get >= FAKE_CONTROL_ENTRIES)
			fake->violations++;
		memcpy(fake_word(fake, FAKE_REPLY_OFFSET + slot * 64u), &fake->reply, sizeof(fake->reply));
		entry->reply_put++;
	}
}

/* A test may have put nonsense into an index of the fake's own: then there is nothing to do. */
static uint32_t entries_ahead(uint32_t put, uint32_t get, uint32_t entries)
{
	return put - get <= entries ? put - get : 0;
}

static bool serve_commands(struct fake_firmware *fake)
{
	struct pb_channel_entry *entry = fake_entry(fake);
	bool open = entry->state == PB_CHANNEL_OPEN;
	uint32_t asked = entries_ahead(entry->control_put, entry->control_get, FAKE_CONTROL_ENTRIES);

	for (uint32_t i = 0; open && i < asked; i++) {
		struct pb_command command;
		uint32_t slot = entry->control_get % FAKE_CONTROL_ENTRIES;

		memcpy(&command, fake_word(fake, FAKE_CONTROL_OFFSET + slot * 64u), sizeof(command));
		memcpy(fake->last_command, &command, sizeof(command));
		entry->control_get++;
		memset(&fake->reply, 0, sizeof(fake->reply));
		fake->reply.code = command.code;
		fake->reply.tag = command.tag;
		carry_out(fake, &command);
		tamper(fake, FAKE_REPLY);
		if (fake->defer)
			fake->deferred[fake->deferred_count++ % FAKE_CONTROL_ENTRIES] = fake->reply;
		else
			post_reply(fake);
	}
	return open && asked != 0;
}

void fake_answer(struct fake_firmware *fake, uint32_t deferred)
{
	fake->reply = fake->deferred[deferred];
	post_reply(fake);
}

/* ---- work ---- */

void fake_complete(struct pb_fence_record *fence, const struct pb_descriptor *work, uint32_t completed)
{
	fence->sequence++;
	fence->completed = completed;
	if (work != NULL) {
		fence->timeline_low = work->timeline_low;
		fence->timeline_high = work->timeline_high;
		fence->fence_id = work->fence_id;
		fence->valid = 1;
	}
	fence->sequence++;
}

bool fake_serve_queue(struct fake_firmware *fake, uint32_t index)
{
	struct pb_queue_page *page = fake_page(fake, index);
	const struct pb_descriptor *ring = (const struct pb_descriptor *)(const void *)(page + 1);
	uint32_t entries = fake->queues[index].entries;
	uint32_t ahead = entries_ahead(page->put, fake->queues[index].get, entries);
	bool served = false;

	for (; ahead != 0 && fake->work_limit != 0; ahead--) {
		struct pb_descriptor work = ring[fake->queues[index].get++ % entries];

		fake->work_limit--;
		fake_complete(&page->fence, &work, fake->queues[index].get);
		tamper(fake, FAKE_COMPLETED);
		served = true;
	}
	return served;
}

/* Takes the kicks. @return a bit for every queue to look at */
static uint32_t take_kicks(struct fake_firmware *fake)
{
	struct pb_channel_entry *entry = fake_entry(fake);
	uint32_t ahead = entries_ahead(entry->kick_put, entry->kick_get, FAKE_KICK_ENTRIES);
	uint32_t queues = entry->rescan != fake->rescan ? (1u << FAKE_QUEUES) - 1 : 0;

	fake->rescan = entry->rescan;
	for (; ahead != 0; ahead--, entry->kick_get++) {
		uint32_t slot = entry->kick_get % FAKE_KICK_ENTRIES;

		queues |= 1u << PB_HANDLE_INDEX(*fake_word(fake, FAKE_KICK_OFFSET + slot * 4u)) % 32;
	}
	return queues;
}

static bool serve_work(struct fake_firmware *fake)
{
	bool served = false;

	if (fake->work_limit == 0 || fake_entry(fake)->state != PB_CHANNEL_OPEN)
		return false;
	fake->kicked |= take_kicks(fake);
	for (uint32_t i = 0; i < FAKE_QUEUES; i++)
		if (((fake->kicked & ~fake->stopped) >> i & 1u) != 0 && fake->queues[i].page != 0)
			served |= fake_serve_queue(fake, i);
	fake->kicked &= fake->stopped;
	return served;
}

bool fake_serve(struct fake_firmware *fake)
{
	bool served = serve_attach(fake);

	served |= serve_commands(fake);
	served |= serve_work(fake);
	return served;
}

void fake_event(struct fake_firmware *fake, uint32_t type, uint32_t epoch)
{
	struct pb_channel_entry *entry = fake_entry(fake);
	struct pb_event event = {.type = type, .epoch = epoch, .fence_id = 40 + entry->event_put};

	memcpy(fake_word(fake, FAKE_EVENT_OFFSET + entry->event_put % FAKE_EVENT_ENTRIES * 32u), &event,
	       sizeof(event));
	entry->event_put++;
}

/* ---- what may befall it ---- */

void fake_die(struct fake_firmware *fake)
{
	fake_boot(fake)->mcu_state = PB_MCU_DEAD;
}

void fake_restart(struct fake_firmware *fake)
{
	fake_boot(fake)->mcu_state = PB_MCU_RESTARTING;
}

void fake_fail(struct fake_firmware *fake)
{
	fake_boot(fake)->boot_stage = PB_BOOT_STAGE_FATAL;
}

void fake_reboot(struct fake_firmware *fake)
{
	fake_boot(fake)->incarnation++;
}

void fake_close_channel(struct fake_firmware *fake)
{
	fake_entry(fake)->state = PB_CHANNEL_CLOSED;
}

void fake_fault_channel(struct fake_firmware *fake)
{
	fake_entry(fake)->state = PB_CHANNEL_FAULTED;
}

void fake_unplug(struct fake_firmware *fake)
{
	fake->gone = true;
}

void fake_nothing(struct fake_firmware *fake)
{
	(void)fake;
}

/* ---- the link ---- */

static struct fake_firmware *fake_of(struct pb_link *link)
{
	return (struct fake_firmware *)(void *)link;
}

static void fake_doorbell(struct pb_link *link)
{
	fake_of(link)->doorbells++;
}

static enum pb_error fake_wait(struct pb_link *link, uint64_t timeout_us)
{
	struct fake_firmware *fake = fake_of(link);

	fake->waits++;
	tamper(fake, FAKE_WAIT);
	if (fake->gone)
		return PB_ERROR_NO_CARD;
	if (!fake->stalled && fake_serve(fake)) {
		fake->now += FAKE_PASS_US;
		return PB_ERROR_OK;
	}
	fake->now += timeout_us;
	return PB_ERROR_TIMEOUT;
}

static uint64_t fake_now(struct pb_link *link)
{
	return fake_of(link)->now;
}

static void fake_close(struct pb_link *link)
{
	fake_stop(fake_of(link));
}

/* ---- boot ---- */

static void write_capabilities(struct fake_firmware *fake)
{
	const uint32_t table[][2] = {
		{PB_CAPABILITY_NODES, 2},
		{PB_CAPABILITY_RING_ENTRIES_MIN, 4},
		{PB_CAPABILITY_RING_ENTRIES_MAX, 64},
		{0, 0xdead},                  /* in range, not in the list */
		{0x10000001, 0xbeef},         /* of a later version */
		{PB_CAPABILITY_WAKES_MIN, 3}, /* beyond the first 32 */
	};

	memcpy(fake_word(fake, FAKE_CAPABILITY_OFFSET), table, sizeof(table));
	fake_boot(fake)->capability_offset = FAKE_CAPABILITY_OFFSET;
	fake_boot(fake)->capability_count = 6;
}

void fake_start_again(struct fake_firmware *fake)
{
	static const struct pb_link_ops ops = {
		.doorbell = fake_doorbell, .wait = fake_wait, .now = fake_now, .close = fake_close};
	uint8_t *memory = fake->link.memory;
	struct pb_boot_block *boot;

	memset(fake, 0, sizeof(*fake));
	memset(memory, 0, FAKE_BYTES);
	fake->link.ops = &ops;
	fake->link.memory = memory;
	fake->link.memory_bytes = FAKE_BYTES;
	fake->link.channel = FAKE_CHANNEL;
	fake->work_limit = UINT32_MAX;
	fake->reply_copies = 1;
	fake->now = 1000;
	boot = fake_boot(fake);
	boot->magic = PB_BOOT_MAGIC;
	boot->abi_version = PB_ABI_VERSION;
	boot->block_bytes = sizeof(*boot);
	boot->memory_bytes = FAKE_BYTES;
	boot->channel_directory_offset = FAKE_DIRECTORY_OFFSET;
	boot->channel_count = FAKE_CHANNELS;
	memcpy(boot->build, "fake 1.0", 9);
	boot->boot_stage = PB_BOOT_STAGE_RUNNING;
	boot->incarnation = FAKE_INCARNATION;
	boot->mcu_state = PB_MCU_RUNNING;
	write_capabilities(fake);
}

void fake_start(struct fake_firmware *fake)
{
	fake->link.memory = malloc(FAKE_BYTES);
	assert_non_null(fake->link.memory);
	fake_start_again(fake);
}

void fake_stop(struct fake_firmware *fake)
{
	free(fake->link.memory);
	fake->link.memory = NULL;
}

void fake_open(struct fake_firmware *fake, struct pb_channel *channel, struct pb_segment *system)
{
	const struct pb_segment_request request = {
		.os_base = FAKE_OS_BASE, .size = 0x10000, .backing_bytes = 0x10000};

	assert_int_equal(pb_channel_attach(channel, &fake->link, 1000000), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(system, channel, &request), PB_ERROR_OK);
}

void fake_bench_start(struct fake_bench *bench)
{
	fake_start(&bench->fake);
	fake_open(&bench->fake, &bench->channel, &bench->system);
	assert_int_equal(pb_queue_create(&bench->queue, &bench->channel, &bench->system, 1, 8), PB_ERROR_OK);
}

void fake_bench_age(struct fake_bench *bench)
{
	const uint32_t submitted = UINT32_MAX - 2u;

	bench->queue.put = bench->queue.completed = submitted;
	bench->fake.queues[0].get = submitted;
	fake_page(&bench->fake, 0)->put = submitted;
	fake_record(bench)->completed = submitted;
}

void fake_bench_stop(struct fake_bench *bench)
{
	assert_int_equal(bench->fake.violations, 0);
	fake_stop(&bench->fake);
}

struct pb_fence_record *fake_record(const struct fake_bench *bench)
{
	return &fake_page(&bench->fake, 0)->fence;
}

enum pb_error fake_submit(struct fake_bench *bench, uint32_t fence_id)
{
	const struct pb_descriptor work = {.fence_id = fence_id, .patch_length = 3};

	return pb_queue_submit(&bench->queue, &work);
}
