/* SPDX-License-Identifier: MIT */
#include "tests/unit/firmware/once.h"

#include <stddef.h>
#include <string.h>

#include "firmware/limits.h"
#include "hal/engine/registers.h"
#include "hal/engine_memory.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/submission.h"
#include "qemu/mcu/layout.h"
#include "tests/unit/stepped.h"
#include "tests/unit/unit.h"

#define QUEUES_MAX 64u
#define TURNS_MAX  (1u << 20)
#define TURN       0x5au

#define CONTROL_BYTES ((uint32_t)(PB_LIMIT_CONTROL_ENTRIES * sizeof(struct pb_command)))
#define REPLY_BYTES   ((uint32_t)(PB_LIMIT_CONTROL_ENTRIES * sizeof(struct pb_reply)))
#define EVENT_BYTES   ((uint32_t)(PB_LIMIT_EVENT_ENTRIES * sizeof(struct pb_event)))
#define KICK_BYTES    ((uint32_t)(PB_LIMIT_KICK_ENTRIES * sizeof(uint32_t)))
#define RINGS_BYTES   (CONTROL_BYTES + REPLY_BYTES + EVENT_BYTES + KICK_BYTES)
#define ENTRY_BYTES   ((uint32_t)sizeof(struct pb_channel_entry))
#define RINGS_OFFSET  (PB_CARD_CHANNELS_OFFSET + PB_LIMIT_CHANNELS * ENTRY_BYTES)

struct once_report once_report;

static uint8_t *memory; /* NULL: nothing is watched */
static struct {
	uint32_t offset;
	uint32_t end;
} queues[QUEUES_MAX];
static uint32_t queue_count;
static uint32_t pass;
/** An allocation list of which a digest is taken, and bytes of it that the digest has yet to read. */
static struct {
	uint32_t offset;
	uint32_t end;
	uint32_t left;
} digested;

/** By byte of memory: the operation has read it, and what it has turned into. */
static bool been_read[PB_CARD_MEMORY_BYTES];
static uint8_t turned_to[PB_CARD_MEMORY_BYTES];
/** By word: the pass in which a descriptor's first word was read. */
static uint32_t admitted_in[PB_CARD_MEMORY_BYTES / 4u];

/** Bytes that have turned, in the order in which they were read. */
static struct {
	uint32_t offset;
	enum once_kind kind;
} turns[TURNS_MAX];
static uint32_t turn_count;
static uint32_t turned_kinds; /* a bit for each kind among them */

/* ---- what lies where ---- */

static enum once_kind kind_of_ring(uint32_t offset, uint32_t *word)
{
	const uint32_t in = (offset - RINGS_OFFSET) % RINGS_BYTES;

	if (offset - RINGS_OFFSET >= PB_LIMIT_CHANNELS * RINGS_BYTES)
		return ONCE_OTHER;
	*word = in / 4u % 16u;
	if (in < CONTROL_BYTES)
		return ONCE_COMMAND;
	*word = 0;
	return in >= RINGS_BYTES - KICK_BYTES ? ONCE_KICK : ONCE_OTHER;
}

static enum once_kind kind_of_queue(uint32_t in, uint32_t *word)
{
	*word = in / 4u % 32u;
	if (in >= sizeof(struct pb_queue_page))
		return ONCE_DESCRIPTOR;
	if (in < offsetof(struct pb_queue_page, fence))
		return ONCE_PUT;
	if (in < offsetof(struct pb_queue_page, save))
		return ONCE_RECORD;
	return ONCE_MEMORY;
}

static bool is_page_table(uint32_t offset)
{
	const struct pb_engine_range_entry *ranges = (const void *)(memory + PB_CARD_RANGES_OFFSET);

	for (uint32_t i = 0; i < PB_LIMIT_CHANNELS * PB_ENGINE_RANGES; i++) {
		const uint32_t table = ranges[i].memory_offset & ~PB_ENGINE_RANGE_PAGED;

		if ((ranges[i].memory_offset & PB_ENGINE_RANGE_PAGED) != 0 &&
		    offset - table < PB_ENGINE_TABLE_BYTES(ranges[i].bytes))
			return true;
	}
	return false;
}

/** @param word which one of a command, a descriptor and so on */
static enum once_kind kind_of(uint32_t offset, uint32_t *word)
{
	const uint32_t in_directory = offset - PB_CARD_CHANNELS_OFFSET;

	*word = 0;
	if (offset < PB_CARD_CHANNELS_OFFSET)
		return ONCE_OTHER;
	if (in_directory < PB_LIMIT_CHANNELS * ENTRY_BYTES) {
		*word = in_directory % ENTRY_BYTES / 4u;
		return *word < 32u ? ONCE_ENTRY : ONCE_OTHER;
	}
	if (offset < PB_CARD_POOL_OFFSET)
		return kind_of_ring(offset, word);
	for (uint32_t q = 0; q < queue_count; q++) {
		if (offset >= queues[q].offset && offset < queues[q].end)
			return kind_of_queue(offset - queues[q].offset, word);
	}
	return is_page_table(offset) ? ONCE_TABLE : ONCE_MEMORY;
}

/* ---- operations ---- */

/** Its word has not been read; it is what it was, unless a host has stored there since. */
static void make_new(uint32_t offset)
{
	const uint32_t word = offset & ~3u;
	bool as_turned = true;

	for (uint32_t i = word; i < word + 4u; i++)
		as_turned = as_turned && (!been_read[i] || memory[i] == turned_to[i]);
	for (uint32_t i = word; i < word + 4u; i++) {
		if (been_read[i] && as_turned)
			memory[i] ^= TURN;
		been_read[i] = false;
	}
}

/** Operations of these kinds are over. */
static void end_of(uint32_t kinds)
{
	uint32_t kept = 0;

	if ((turned_kinds & kinds) == 0)
		return;
	turned_kinds &= ~kinds;
	for (uint32_t i = 0; i < turn_count; i++) {
		if ((kinds >> turns[i].kind & 1u) == 0)
			turns[kept++] = turns[i];
		else
			make_new(turns[i].offset);
	}
	turn_count = kept;
}

#define KIND(kind)  (1u << ONCE_##kind)
#define ONE_PASS    (KIND(ENTRY) | KIND(COMMAND) | KIND(KICK) | KIND(PUT) | KIND(RECORD))
#define ALL_OF_WORK (KIND(DESCRIPTOR) | KIND(MEMORY) | KIND(TABLE))

static void breach(enum once_kind kind, uint32_t offset)
{
	if (once_report.breaches++ != 0)
		return;
	once_report.kind = kind;
	once_report.offset = offset;
}

static void turn(uint32_t offset, enum once_kind kind)
{
	assert_true(turn_count < TURNS_MAX);
	turns[turn_count].offset = offset;
	turns[turn_count++].kind = kind;
	turned_kinds |= 1u << kind;
	been_read[offset] = true;
	memory[offset] ^= TURN;
	turned_to[offset] = memory[offset];
}

/** The first word of a descriptor begins an admission; another one of the same comes in a later pass, if at all. */
static void begin_admission(uint32_t offset)
{
	if (been_read[offset] && admitted_in[offset / 4u] != pass)
		end_of(ALL_OF_WORK);
	admitted_in[offset / 4u] = pass;
	once_report.admissions++;
}

static void saw_read(const void *address, uint32_t bytes)
{
	const uint32_t offset = (uint32_t)((const uint8_t *)address - memory);
	enum once_kind kind;
	uint32_t word;

	if (memory == NULL || (const uint8_t *)address < memory ||
	    (const uint8_t *)address >= memory + PB_CARD_MEMORY_BYTES)
		return;
	kind = kind_of(offset, &word);
	if (kind == ONCE_OTHER)
		return;
	once_report.reads[kind]++;
	once_report.words[kind] |= 1u << word;
	if (digested.left != 0 && offset >= digested.offset && offset < digested.end) {
		/* Once, in order: what is left of it begins at this word. */
		if (offset != digested.end - digested.left)
			breach(kind, offset);
		digested.left -= bytes;
		return;
	}
	if (kind == ONCE_KICK)
		end_of(KIND(PUT));
	if (kind == ONCE_DESCRIPTOR && word == 0)
		begin_admission(offset);
	for (uint32_t i = 0; i < bytes; i++) {
		if (been_read[offset + i])
			breach(kind, offset + i);
		else
			turn(offset + i, kind);
	}
}

/** Whether this is the word of a channel's entry that lies so far inside. */
static bool is_entry_word(uint32_t offset, size_t in)
{
	return offset - PB_CARD_CHANNELS_OFFSET < PB_LIMIT_CHANNELS * ENTRY_BYTES &&
	       (offset - PB_CARD_CHANNELS_OFFSET) % ENTRY_BYTES == in;
}

static void new_event(uint32_t offset)
{
	const uint32_t get = offset - (offset - PB_CARD_CHANNELS_OFFSET) % ENTRY_BYTES +
			     (uint32_t)offsetof(struct pb_channel_entry, event_get);

	make_new(get);
}

static bool ends_work(uint32_t offset)
{
	for (uint32_t q = 0; q < queue_count; q++) {
		if (offset == queues[q].offset + offsetof(struct pb_queue_page, fence.completed))
			return true;
	}
	return false;
}

/** Before the firmware stores. */
static void saw_write(const void *address, uint32_t value)
{
	const uint32_t offset = (uint32_t)((const uint8_t *)address - memory);
	uint32_t word;

	if (memory == NULL || (const uint8_t *)address < memory ||
	    (const uint8_t *)address >= memory + PB_CARD_MEMORY_BYTES)
		return;
	make_new(offset);
	if (offset == PB_BOOT_OFFSET + offsetof(struct pb_boot_block, heartbeat))
		pass++;
	if (offset == PB_BOOT_OFFSET + offsetof(struct pb_boot_block, heartbeat) ||
	    (offset == PB_BOOT_OFFSET + offsetof(struct pb_boot_block, waypoint) &&
	     value == PB_WAYPOINT_IDLE))
		end_of(ONE_PASS);
	if (is_entry_word(offset, offsetof(struct pb_channel_entry, attach_done)))
		end_of(KIND(ENTRY));
	if (is_entry_word(offset, offsetof(struct pb_channel_entry, kick_get)))
		end_of(KIND(PUT));
	if (is_entry_word(offset, offsetof(struct pb_channel_entry, event_put)) ||
	    is_entry_word(offset, offsetof(struct pb_channel_entry, events_dropped)))
		new_event(offset);
	if (ends_work(offset))
		end_of(ALL_OF_WORK);
	else if (offset >= PB_CARD_POOL_OFFSET && kind_of(offset, &word) == ONCE_MEMORY)
		end_of(KIND(TABLE));
}

/* ---- the hooks ---- */

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint32_t value = *address;

	saw_read(address, sizeof(value));
	return value;
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	const uint8_t value = *address;

	saw_read(address, sizeof(value));
	return value;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	saw_write(address, value);
	*address = value;
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	saw_write(address, value);
	*address = value;
}

void once_start(uint8_t *watched)
{
	memset(&once_report, 0, sizeof(once_report));
	memory = watched;
	digested.left = 0;
	queue_count = 0;
	pass = 1;
}

void once_queue(uint32_t offset, uint32_t entries)
{
	queues[queue_count].offset = offset;
	queues[queue_count++].end = offset + (uint32_t)sizeof(struct pb_queue_page) +
				    entries * (uint32_t)sizeof(struct pb_descriptor);
}

void once_digest(uint32_t offset, uint32_t bytes)
{
	digested.offset = offset;
	digested.end = offset + bytes;
	digested.left = bytes;
}

void once_stop(void)
{
	end_of(UINT32_MAX);
	memory = NULL;
}
