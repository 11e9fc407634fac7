/* SPDX-License-Identifier: MIT */
#include "tests/sim/submission.h"

#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared_copy.h"

/* Segment 0: pages and rings of queues, buffers, lists. */
#define QUEUE_BYTES    (sizeof(struct pb_queue_page) + PB_RING_MAX * sizeof(struct pb_descriptor))
#define BUFFERS_OFFSET 0x3000u
#define BUFFER_BYTES   256u
#define BUFFERS_A_PAGE (PB_PAGE_BYTES / BUFFER_BYTES)
#define LISTS_OFFSET   (BUFFERS_OFFSET + PB_SLOTS * BUFFER_BYTES)
#define LISTS_BYTES    0x180u
#define ALLOCATIONS_AT 0u
#define PATCHES_AT     0xa8u
#define WAITS_AT       0x140u

PB_STATIC_ASSERT(PB_QUEUES *QUEUE_BYTES <= BUFFERS_OFFSET, "queues fit");
PB_STATIC_ASSERT(LISTS_OFFSET + PB_SLOTS * LISTS_BYTES <= PB_SUBMISSION_SYSTEM_BYTES, "lists fit");
PB_STATIC_ASSERT(PB_SLOTS % BUFFERS_A_PAGE == 0, "buffers fill whole pages");

/* No host stores this value, so that a word of a mark names its owner. */
#define VALUE_BASE 0x40000000u

uint32_t pb_submission_queue_offset(uint32_t queue)
{
	return queue * (uint32_t)QUEUE_BYTES;
}

uint32_t *pb_submission_mark(const struct pb_host *host, uint32_t mark)
{
	return (uint32_t *)(void *)host->memory[pb_submission_segment(mark)] + mark / 2u * PB_MARK_WORDS;
}

uint32_t pb_submission_word(const struct pb_host *host, uint32_t mark, uint32_t i)
{
	if (host->marks[mark].gone)
		return i < 3u ? host->marks[mark].seen[i] : PB_UNMARKED;
	return pb_shared_read32(&pb_submission_mark(host, mark)[i]);
}

void pb_submission_unmark(struct pb_host *host, uint32_t mark, uint32_t i)
{
	if (host->marks[mark].gone)
		host->marks[mark].seen[i] = PB_UNMARKED;
	else
		pb_shared_write32(&pb_submission_mark(host, mark)[i], PB_UNMARKED);
}

bool pb_submission_is_doomed(const struct pb_host *host, const struct pb_entry *entry)
{
	return host->revocation != PB_REVOCATION_NONE && pb_submission_runs(entry) &&
	       pb_submission_segment(entry->mark) == PB_REVOKED_SEGMENT;
}

uint32_t *pb_submission_words(const struct pb_host *host, uint32_t slot)
{
	return (uint32_t *)(void *)(host->memory[0] + BUFFERS_OFFSET + slot * BUFFER_BYTES);
}

bool pb_submission_runs(const struct pb_entry *entry)
{
	return entry->kind == PB_KIND_PLAIN || entry->kind == PB_KIND_FAULT || entry->kind == PB_KIND_HANG;
}

uint32_t pb_submission_new_mark(struct pb_run *run, struct pb_host *host)
{
	if (host->mark_count == PB_MARKS)
		pb_run_break(run, "the schedule is too long: no mark is left");
	host->marks[host->mark_count] = (struct pb_mark){.settled = false};
	/* Most submissions go on beside pages that are revoked. */
	if (host->revocation != PB_REVOCATION_NONE && host->mark_count + 1u < PB_MARKS &&
	    pb_submission_segment(host->mark_count) == PB_REVOKED_SEGMENT &&
	    !pb_random_one_in(&run->random, 6))
		host->marks[++host->mark_count] = (struct pb_mark){.settled = false};
	return host->mark_count++;
}

/** Offset in the DMA buffer of word i of a slot's program. */
static uint32_t offset_of(uint32_t slot, uint32_t word)
{
	return slot % BUFFERS_A_PAGE * BUFFER_BYTES + word * 4u;
}

static void put(struct pb_slot *slot, uint32_t raw, uint32_t image)
{
	slot->raw[slot->words] = raw;
	slot->image[slot->words++] = image;
}

static void plain(struct pb_slot *slot, uint32_t word)
{
	put(slot, word, word);
}

/** An allocation that ends with the word, and the offset of the word in it. */
static uint32_t add_allocation(struct pb_run *run, struct pb_host *host, struct pb_slot *slot,
			       uint32_t segment, uint32_t at)
{
	const uint32_t before = pb_random_below(&run->random, at / 4u + 1u) * 4u;
	const uint64_t address = host->os_base[segment] + at - before;

	slot->allocation[slot->allocations++] = (struct pb_allocation){
		.address_low = (uint32_t)address,
		.address_high = (uint32_t)(address >> 32),
		.size_low = before + 4u,
		.flags = PB_ALLOCATION_WRITE | segment << PB_ALLOCATION_SEGMENT_SHIFT,
	};
	return before;
}

static void add_patch(struct pb_slot *slot, uint32_t index, uint32_t format, uint32_t offset, uint32_t at)
{
	slot->patch[slot->patches++] = (struct pb_patch_location){.allocation_index = index,
								  .slot = slot->patches,
								  .driver_id = format,
								  .allocation_offset = offset,
								  .patch_offset = at};
}

/**
 * Presumes the last allocation where it is listed, or almost there.
 * @param kept false: one bit differs from the list
 */
static void presume(struct pb_run *run, struct pb_slot *slot, bool kept)
{
	const struct pb_allocation *listed = &slot->allocation[slot->allocations - 1u];
	struct pb_presumed *presumed = &slot->presumed[slot->allocations - 1u];
	uint32_t *words[] = {&presumed->address_low, &presumed->address_high, &presumed->flags};

	*presumed = (struct pb_presumed){listed->address_low, listed->address_high, listed->flags};
	if (!kept)
		*words[pb_random_below(&run->random, 3)] ^= 1u << pb_random_below(&run->random, 32);
}

/**
 * Writes the address itself, or another one, and presumes that it need not be patched: the first is true, the second a lie,
 * with which the engine reads what the host has written.
 */
static void presume_address(struct pb_slot *slot, uint32_t word, bool lie)
{
	for (uint32_t i = word + 1u; i <= word + 2u; i++) {
		if (lie)
			slot->image[i] = slot->raw[i];
		else
			slot->raw[i] = slot->image[i];
	}
}

/** Adds a FILL of word i of the mark. Its address is patched, if there are lists, or presumed. */
static void add_fill(struct pb_run *run, struct pb_host *host, struct pb_entry *entry, uint32_t i, bool lie)
{
	struct pb_slot *slot = &host->slots[entry->slot];
	const uint32_t segment = pb_submission_segment(entry->mark);
	const uint32_t at = (entry->mark / 2u * PB_MARK_WORDS + i) * 4u;
	const uint64_t target = host->gpu_base[segment] + at;
	const uint32_t word = slot->words;
	const bool by_host = entry->paging;
	uint32_t value = VALUE_BASE + entry->mark * PB_MARK_WORDS + i;
	uint32_t raw = value;

	if (!by_host && i == 2u && entry->fence_id != 0 && pb_random_one_in(&run->random, 2)) {
		value = entry->fence_id;
		raw = 0xbadbad00u;
		add_patch(slot, slot->presumes ? PB_INDEX_NONE : 0, PB_PATCH_FORMAT_FENCE_ID, 0,
			  offset_of(entry->slot, word + 4u));
	}
	plain(slot, PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS));
	put(slot, by_host ? (uint32_t)target : 0xbad00000u, (uint32_t)target);
	put(slot, by_host ? (uint32_t)(target >> 32) : 0xbad00001u, (uint32_t)(target >> 32));
	plain(slot, 4);
	put(slot, raw, value);
	host->marks[entry->mark].value[i] = lie ? 0 : value;
	if (!by_host) {
		const uint32_t offset = add_allocation(run, host, slot, segment, at);

		add_patch(slot, slot->allocations - 1u, PB_PATCH_FORMAT_ADDRESS64_WRITE, offset,
			  offset_of(entry->slot, word + 1u));
		if (slot->presumes) {
			const bool kept =
				lie || (entry->kind != PB_KIND_BAD && pb_random_one_in(&run->random, 2));
			presume(run, slot, kept);
			if (kept)
				presume_address(slot, word, lie);
			/* What a mistake makes of the list must not be what is presumed. */
			if (entry->kind == PB_KIND_BAD)
				slot->presumed[slot->allocations - 1u].flags = 0;
		}
	}
}

static void add_busy(struct pb_run *run, struct pb_slot *slot, uint32_t microseconds)
{
	for (uint32_t i = pb_random_below(&run->random, 3); i != 0; i--)
		plain(slot, PB_PACKET(PB_PACKET_NOP, 1));
	if (microseconds == 0)
		return;
	plain(slot, PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS));
	plain(slot, microseconds);
}

static void build_program(struct pb_run *run, struct pb_host *host, struct pb_entry *entry)
{
	struct pb_slot *slot = &host->slots[entry->slot];
	bool lies;

	*slot = (struct pb_slot){.used = true};
	host->marks[entry->mark] =
		(struct pb_mark){.gone = host->revocation >= PB_REVOCATION_DONE &&
					 pb_submission_segment(entry->mark) == PB_REVOKED_SEGMENT};
	for (uint32_t i = 0; i < 3u; i++)
		pb_submission_unmark(host, entry->mark, i);
	if (entry->kind == PB_KIND_EMPTY)
		return;
	slot->presumes = !entry->paging && pb_random_one_in(&run->random, 3);
	lies = slot->presumes && (entry->kind == PB_KIND_FAULT || entry->kind == PB_KIND_NULL) &&
	       pb_random_one_in(&run->random, 2);
	add_fill(run, host, entry, 0, false);
	add_busy(run, slot,
		 entry->busy /
			 2u); /* The engine faults where a lie has left it an address that no segment has. */
	if (lies)
		add_fill(run, host, entry, 1, true);
	else if (entry->kind == PB_KIND_FAULT)
		plain(slot, PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS));
	if (entry->kind == PB_KIND_HANG)
		plain(slot, PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS));
	if (!lies && pb_random_one_in(&run->random, 2))
		add_fill(run, host, entry, 1, false);
	add_busy(run, slot, entry->busy - entry->busy / 2u);
	add_fill(run, host, entry, 2, false);
}

/* ---- one planted error ---- */

/** An error in the list entry that `index` names. */
struct mistake {
	uint32_t error;
	bool allocation; /**< in the allocation list; else in the patch list */
	uint32_t word;   /**< of the entry, set to `value` */
	uint32_t value;
};

/* Word 0 is the entry's first word. Only address patches are spoiled. */
static const struct mistake mistakes[] = {
	{PB_ERROR_PATCH_RESERVED, false, 1, 0x01000000u},
	{PB_ERROR_PATCH_FORMAT, false, 2, 127},
	{PB_ERROR_PATCH_INDEX, false, 0, 1000},
	{PB_ERROR_PATCH_ALIGNMENT, false, 4, 2},
	{PB_ERROR_PATCH_RANGE, false, 4, PB_PAGE_BYTES},
	{PB_ERROR_PATCH_RANGE, false, 4, UINT32_MAX - 3u},
	{PB_ERROR_PATCH_OFFSET, false, 3, 0x10000},
	{PB_ERROR_NOT_RESIDENT, true, 4, PB_ALLOCATION_WRITE},
	{PB_ERROR_BAD_ALLOCATION, true, 2, 0},
	{PB_ERROR_BAD_ALLOCATION, true, 4, 0x80000003u},
	{PB_ERROR_ALLOCATION_SEGMENT, true, 4, 0x13},
	{PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, true, 3, 1},
	{PB_ERROR_PATCH_WRITE, false, 0, 0}, /* value chosen by make_mistake() */
};

/** The last entry of the patch list is always an address; earlier ones are right. */
static void plant_error(struct pb_run *run, struct pb_host *host, struct pb_entry *entry)
{
	struct pb_slot *slot = &host->slots[entry->slot];
	const struct mistake *mistake =
		&mistakes[pb_random_below(&run->random, sizeof(mistakes) / sizeof(mistakes[0]))];
	const uint32_t index = (mistake->allocation ? slot->allocations : slot->patches) - 1u;
	uint32_t *word = mistake->allocation ? &slot->allocation[index].address_low
					     : &slot->patch[index].allocation_index;

	entry->bad = mistake->error;
	entry->bad_index = index;
	if (mistake->error == PB_ERROR_PATCH_WRITE)
		slot->allocation[slot->allocations - 1u].flags &= ~PB_ALLOCATION_WRITE;
	else if (mistake->error == PB_ERROR_PATCH_ALIGNMENT)
		slot->patch[index].patch_offset += 2u;
	else
		word[mistake->word] = mistake->value;
}

/** An error in the descriptor. */
struct wrong_word {
	uint32_t error;
	size_t offset; /**< of the word in the descriptor */
	uint32_t value;
};

static const struct wrong_word wrong_words[] = {
	{PB_ERROR_BAD_OPTIONS, offsetof(struct pb_descriptor, options), 0x80000000u},
	{PB_ERROR_BAD_CONTEXT, offsetof(struct pb_descriptor, context), 0},
	{PB_ERROR_BAD_RANGE, offsetof(struct pb_descriptor, dma_end), PB_PAGE_BYTES + 4u},
	{PB_ERROR_BAD_RANGE, offsetof(struct pb_descriptor, dma_start), 2},
	{PB_ERROR_BAD_BUFFER, offsetof(struct pb_descriptor, dma_address_low), 0x10},
	{PB_ERROR_BAD_SEGMENT, offsetof(struct pb_descriptor, dma_segment), 20},
	{PB_ERROR_BAD_PRIVATE_DATA, offsetof(struct pb_descriptor, private_end), 1},
	{PB_ERROR_BAD_ALLOCATION_LIST, offsetof(struct pb_descriptor, allocation_address_high), UINT32_MAX},
	{PB_ERROR_TOO_MANY_ALLOCATIONS, offsetof(struct pb_descriptor, allocation_count), UINT32_MAX},
	{PB_ERROR_BAD_PATCH_LIST, offsetof(struct pb_descriptor, patch_address_high), UINT32_MAX},
	{PB_ERROR_BAD_PATCH_LIST, offsetof(struct pb_descriptor, patch_start), UINT32_MAX},
};

static void plant_wrong_word(struct pb_run *run, struct pb_entry *entry)
{
	const struct wrong_word *wrong =
		&wrong_words[pb_random_below(&run->random, sizeof(wrong_words) / sizeof(wrong_words[0]))];

	entry->bad = wrong->error;
	entry->bad_index = PB_INDEX_NONE;
	entry->wrong_word = 1u + (uint32_t)(wrong - wrong_words);
}

void pb_submission_build(struct pb_run *run, struct pb_host *host, struct pb_entry *entry)
{
	build_program(run, host, entry);
	entry->cookie = pb_random_one_in(&run->random, 2) ? ++host->cookies : 0;
	entry->wrong_word = 0;
	if (entry->kind == PB_KIND_BAD && pb_random_one_in(&run->random, 3))
		plant_wrong_word(run, entry);
	else if (entry->kind == PB_KIND_BAD)
		plant_error(run, host, entry);
}

/* ---- into card memory ---- */

/** Writes to segment 0 and to the host's copy of it. */
static void write_words(struct pb_host *host, void *to, const void *from, uint32_t bytes)
{
	memcpy(host->written + ((uint8_t *)to - host->memory[0]), from, bytes);
	pb_shared_copy_out(to, from, bytes);
}

static void write_lists(struct pb_host *host, const struct pb_entry *entry)
{
	const struct pb_slot *slot = &host->slots[entry->slot];
	uint8_t *lists = host->memory[0] + LISTS_OFFSET + entry->slot * LISTS_BYTES;
	struct pb_wait waits[PB_WAITS_MAX];

	write_words(host, lists + ALLOCATIONS_AT, slot->allocation,
		    slot->allocations * (uint32_t)sizeof(struct pb_allocation));
	if (slot->presumes)
		write_words(host, lists + ALLOCATIONS_AT + slot->allocations * sizeof(struct pb_allocation),
			    slot->presumed, slot->allocations * (uint32_t)sizeof(struct pb_presumed));
	write_words(host, lists + PATCHES_AT, slot->patch,
		    slot->patches * (uint32_t)sizeof(struct pb_patch_location));
	for (uint32_t i = 0; i < entry->wait_count; i++)
		waits[i] = (struct pb_wait){.queue = entry->waits[i].handle,
					    .timeline_low = (uint32_t)entry->waits[i].value,
					    .timeline_high = (uint32_t)(entry->waits[i].value >> 32)};
	write_words(host, lists + WAITS_AT, waits, entry->wait_count * (uint32_t)sizeof(struct pb_wait));
}

static struct pb_descriptor describe(const struct pb_host *host, const struct pb_entry *entry)
{
	const struct pb_slot *slot = &host->slots[entry->slot];
	const uint64_t lists = host->os_base[0] + LISTS_OFFSET + entry->slot * LISTS_BYTES;
	const uint64_t buffer =
		host->os_base[0] + BUFFERS_OFFSET + entry->slot / BUFFERS_A_PAGE * PB_PAGE_BYTES;
	struct pb_descriptor descriptor = {
		.flags = (entry->paging ? PB_FLAG_PAGING : 0) |
			 (entry->kind == PB_KIND_NULL ? PB_FLAG_NULL_RENDERING : 0),
		.options = entry->resumed ? PB_OPTION_RESUME : 0,
		.context = entry->paging ? 0 : host->contexts[entry->context].handle,
		.fence_id = entry->fence_id,
		.timeline_low = (uint32_t)entry->timeline,
		.timeline_high = (uint32_t)(entry->timeline >> 32),
		.dma_address_low = (uint32_t)buffer,
		.dma_address_high = (uint32_t)(buffer >> 32),
		.dma_size = PB_PAGE_BYTES,
		.dma_start = offset_of(entry->slot, 0),
		.dma_end = offset_of(entry->slot, slot->words),
		.allocation_count = slot->allocations,
		.allocation_address_low = (uint32_t)(lists + ALLOCATIONS_AT),
		.allocation_address_high = (uint32_t)((lists + ALLOCATIONS_AT) >> 32),
		.patch_address_low = (uint32_t)(lists + PATCHES_AT),
		.patch_address_high = (uint32_t)((lists + PATCHES_AT) >> 32),
		.patch_count = slot->patches,
		.patch_length = slot->patches,
		.wait_count = entry->wait_count,
		.wait_address_low = (uint32_t)(lists + WAITS_AT),
		.wait_address_high = (uint32_t)((lists + WAITS_AT) >> 32),
		.cookie = entry->cookie,
		.patch_encoding = slot->presumes ? PB_PATCH_PRESUMED : 0,
	};

	if (entry->wrong_word != 0)
		memcpy((uint8_t *)&descriptor + wrong_words[entry->wrong_word - 1u].offset,
		       &wrong_words[entry->wrong_word - 1u].value, sizeof(uint32_t));
	return descriptor;
}

void pb_submission_write(struct pb_host *host, const struct pb_entry *entry, struct pb_descriptor *to)
{
	const struct pb_slot *slot = &host->slots[entry->slot];
	const struct pb_descriptor descriptor = describe(host, entry);

	/* A submission that resumes in the middle runs the bytes that it began with. */
	if (!entry->resumed)
		write_words(host, pb_submission_words(host, entry->slot), slot->raw, slot->words * 4u);
	write_lists(host, entry);
	write_words(host, to, &descriptor, sizeof(descriptor));
}

void pb_submission_move(struct pb_run *run, struct pb_host *host, struct pb_entry *entry,
			struct pb_descriptor *to)
{
	host->marks[entry->mark].settled = true;
	for (uint32_t i = 0; i < 3u; i++)
		host->marks[entry->mark].seen[i] = PB_UNMARKED;
	entry->mark = pb_submission_new_mark(run, host);
	pb_submission_build(run, host, entry);
	pb_submission_write(host, entry, to);
}

/** Whether a descriptor is not as its host left it. */
static bool is_spoiled(const struct pb_descriptor *descriptor, const struct pb_descriptor *written)
{
	return memcmp(descriptor, written, sizeof(*descriptor)) != 0;
}

const uint8_t *pb_submission_changed_byte(const struct pb_host *host)
{
	const size_t lists = PB_SLOTS * LISTS_BYTES;

	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		const size_t ring = pb_submission_queue_offset(q) + sizeof(struct pb_queue_page);

		for (size_t at = ring; at < ring + PB_RING_MAX * sizeof(struct pb_descriptor);
		     at += sizeof(struct pb_descriptor)) {
			const void *written = host->written + at;

			if (is_spoiled((const void *)(host->memory[0] + at), written))
				return host->memory[0] + at;
		}
	}
	if (memcmp(host->memory[0] + LISTS_OFFSET, host->written + LISTS_OFFSET, lists) != 0)
		return host->memory[0] + LISTS_OFFSET;
	return NULL;
}
