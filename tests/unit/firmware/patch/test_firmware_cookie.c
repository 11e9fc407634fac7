/* SPDX-License-Identifier: MIT */
/*
 * Buffers that come again with their cookie: what is unchanged is not patched
 * again, whatever else changes is. A patched word is overwritten in between,
 * which an honest host does not do: it shows which of the two happened.
 */
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ALLOCATIONS  50u /* more than two slices */
#define PATCHES      52u
#define MIDDLE       25u
#define LAST         (ALLOCATIONS - 1u)
#define BYTES        0x1000u
#define COOKIE       0xc001u
#define POISON       0x0badbadu
#define RANGE_START  8u /* bytes of the buffer before the range, and behind it */

/* An aperture at the same GPU addresses as a part of segment 3, which has no memory. */
#define APERTURE     4u
#define APERTURE_OS  UINT64_C(0x70000000000)
#define APERTURE_GPU UINT64_C(0x80000000)

static struct pb_allocation allocation_of(uint32_t i)
{
	struct pb_allocation allocation =
		oracle_allocation(0x80000000u + 0x10000u * i, 0x1000, CARD_SEGMENT(3));

	allocation.id = 0x40u + 4u * i;
	return allocation;
}

static struct pb_allocation *allocation_at(const struct card *card, uint32_t i)
{
	return (struct pb_allocation *)(void *)card_bytes(
		card, 0, CARD_ALLOCATIONS + i * (uint32_t)sizeof(struct pb_allocation));
}

static struct pb_patch_location *patch_at(const struct card *card, uint32_t i)
{
	return (struct pb_patch_location *)(void *)card_bytes(
		card, 0, CARD_PATCHES + i * (uint32_t)sizeof(struct pb_patch_location));
}

/** One entry for each allocation, and one that reaches into the buffer itself. */
static void write_lists(const struct card *card)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		*allocation_at(card, i) = allocation_of(i);
	for (uint32_t i = 0; i < PATCHES; i++)
		*patch_at(card, i) = (struct pb_patch_location){
			.allocation_index = i % ALLOCATIONS,
			.driver_id = i < ALLOCATIONS ? PB_PATCH_FORMAT_ADDRESS64 : PB_PATCH_FORMAT_SELF32,
			.patch_offset = 16u + 8u * i,
		};
}

static void make_aperture(const struct card *card)
{
	static const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {APERTURE,
								 PB_SEGMENT_APERTURE,
								 (uint32_t)APERTURE_OS,
								 (uint32_t)(APERTURE_OS >> 32),
								 (uint32_t)APERTURE_GPU,
								 0,
								 0x200000};

	assert_int_equal(pb_channel_command((struct pb_channel *)(uintptr_t)&card->channel,
					    PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			 PB_ERROR_OK);
}

static struct pb_descriptor start(struct card *card)
{
	struct pb_descriptor descriptor;

	card_start(card);
	make_aperture(card);
	write_lists(card);
	descriptor = card_descriptor(card, 1, BYTES, ALLOCATIONS, PATCHES);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.dma_start = RANGE_START;
	descriptor.dma_end = BYTES - RANGE_START;
	descriptor.cookie = COOKIE;
	return descriptor;
}

/** Submits with another value in the place of the list's first word. @return whether it was patched */
static bool patched_on(struct card *card, uint32_t node, const char *row,
		       const struct pb_descriptor *descriptor)
{
	uint32_t *words = (uint32_t *)(void *)card_bytes(
		card, 0, descriptor->dma_address_low - (uint32_t)CARD_SYSTEM_OS);
	const uint32_t first = patch_at(card, 0)->patch_offset / 4u + descriptor->patch_start * 2u;
	const struct pb_fence before = card_wait(card, node, card->queues[node].put);
	struct pb_fence after;
	bool again;

	words[first] = POISON;
	after = card_execute(card, node, descriptor);
	card_equal(row, after.status, PB_ERROR_OK);
	again = words[first] != POISON;
	card_equal(row, after.patches - before.patches, again ? descriptor->patch_length : 0);
	return again;
}

static bool patched(struct card *card, const char *row, const struct pb_descriptor *descriptor)
{
	return patched_on(card, 0, row, descriptor);
}

static void unchanged_is_not_patched(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	assert_true(patched(&card, "first", &descriptor));
	for (uint32_t i = 0; i < 5; i++)
		assert_false(patched_on(&card, i % 2u, "again", &descriptor));
	descriptor.cookie = 0;
	assert_true(patched(&card, "no cookie", &descriptor));
	assert_true(patched(&card, "no cookie again", &descriptor));
	card_stop(&card);
}

/* ---- one field of one allocation ---- */

static const struct field {
	const char *name;
	struct pb_allocation change; /* exclusive or */
} fields[] = {
	{"address", {.address_low = 0x1000}},
	{"address above 4 GiB", {.address_high = 1}},
	{"size", {.size_low = 1}},
	{"size above 4 GiB", {.size_high = 1}},
	{"write", {.flags = PB_ALLOCATION_WRITE}},
	{"attribute", {.flags = 0x200}},
	{"other attribute", {.flags = 0x400}},
	{"id", {.id = 1}},
	{"id, high bit", {.id = 0x80000000}},
	{"id and attribute", {.id = 1, .flags = 0x200}},
	{"id and both attribute bits", {.id = 3, .flags = 0x600}},
	{"id and write", {.id = 0x100000, .flags = PB_ALLOCATION_WRITE}},
	{"address and size", {.address_low = 0x1000, .size_low = 0x3000}},
	{"both halves of the address", {.address_low = 0x80, .address_high = 0x80}},
};

static void every_field(void **state)
{
	static const uint32_t places[] = {0, 1, 23, 24, MIDDLE, 47, 48, LAST};
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	descriptor = start(&card);
	for (uint32_t i = 0; i < COUNT(fields) * COUNT(places); i++) {
		const struct field *field = &fields[i / COUNT(places)];
		struct pb_allocation *allocation = allocation_at(&card, places[i % COUNT(places)]);

		write_lists(&card);
		patched(&card, field->name, &descriptor);
		card_equal(field->name, patched(&card, field->name, &descriptor), false);
		allocation->address_low ^= field->change.address_low;
		allocation->address_high ^= field->change.address_high;
		allocation->size_low ^= field->change.size_low;
		allocation->size_high ^= field->change.size_high;
		allocation->flags ^= field->change.flags;
		allocation->id ^= field->change.id;
		card_equal(field->name, patched(&card, field->name, &descriptor), true);
		card_equal(field->name, patched(&card, field->name, &descriptor), false);
	}
	card_stop(&card);
}

/* ---- what else may change ---- */

struct host {
	struct card *card;
	struct pb_descriptor descriptor;
};

static void unbind(struct host *host)
{
	/* Not the first: its word is the one that is looked at. */
	allocation_at(host->card, MIDDLE)->flags = PB_ALLOCATION_UNBIND;
}

/** To the same GPU address in an aperture: the kind is another. */
static void move_to_aperture(struct host *host)
{
	struct pb_allocation *allocation = allocation_at(host->card, MIDDLE);

	*allocation = oracle_allocation(APERTURE_OS + 0x80000000u + 0x10000u * MIDDLE - APERTURE_GPU, 0x1000,
					CARD_SEGMENT(APERTURE));
	allocation->id = allocation_of(MIDDLE).id;
}

static void aperture_allocation(struct host *host)
{
	struct pb_allocation *allocation = allocation_at(host->card, MIDDLE);

	allocation->address_low = (uint32_t)APERTURE_GPU;
}

static void aperture_allocation_moved(struct host *host)
{
	allocation_at(host->card, MIDDLE)->address_low = (uint32_t)APERTURE_OS;
	allocation_at(host->card, MIDDLE)->address_high = (uint32_t)(APERTURE_OS >> 32);
	allocation_at(host->card, MIDDLE)->flags = CARD_SEGMENT(APERTURE);
}

static void swap(const struct card *card, uint32_t a, uint32_t b)
{
	const struct pb_allocation first = *allocation_at(card, a);

	*allocation_at(card, a) = *allocation_at(card, b);
	*allocation_at(card, b) = first;
}

static void swap_neighbours(struct host *host)
{
	swap(host->card, MIDDLE, MIDDLE + 1u);
}

static void swap_ends(struct host *host)
{
	swap(host->card, 0, LAST);
}

static void rotate_all(struct host *host)
{
	for (uint32_t i = 0; i < LAST; i++)
		swap(host->card, i, i + 1u);
}

static void an_attribute(struct host *host)
{
	allocation_at(host->card, MIDDLE)->flags |= 0x200;
}

static void attribute_to_another(struct host *host)
{
	allocation_at(host->card, MIDDLE)->flags &= ~0x200u;
	allocation_at(host->card, MIDDLE + 1u)->flags |= 0x200;
}

static void one_more(struct host *host)
{
	*allocation_at(host->card, ALLOCATIONS) = allocation_of(ALLOCATIONS);
	host->descriptor.allocation_count++;
}

static void list_elsewhere(struct host *host)
{
	memcpy(patch_at(host->card, 100), patch_at(host->card, 0),
	       PATCHES * sizeof(struct pb_patch_location));
	host->descriptor.patch_address_low += 100u * (uint32_t)sizeof(struct pb_patch_location);
}

static void allocations_elsewhere(struct host *host)
{
	memcpy(allocation_at(host->card, 100), allocation_at(host->card, 0),
	       ALLOCATIONS * sizeof(struct pb_allocation));
	host->descriptor.allocation_address_low += 100u * (uint32_t)sizeof(struct pb_allocation);
}

static void format_anew(struct host *host)
{
	static const struct pb_patch_format format = {.bound = PB_FORMAT_NONE, .align = 4, .mask = 1};
	uint32_t reason;

	assert_int_equal(oracle_format_set(&host->card->channel, PB_FORMAT_OWN, &format, &reason),
			 PB_ERROR_OK);
}

static void segment_anew(struct host *host)
{
	struct pb_segment *segment = &host->card->segments[2];
	const struct pb_segment_request request = segment->request;

	assert_int_equal(pb_segment_destroy(segment), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(segment, &host->card->channel, &request), PB_ERROR_OK);
}

/** The list has the words that it had; its segment has other GPU addresses. */
static void segment_elsewhere(struct host *host)
{
	struct pb_segment *segment = &host->card->segments[3];
	struct pb_segment_request request = segment->request;

	request.gpu_base += UINT64_C(0x10000000000);
	assert_int_equal(pb_segment_destroy(segment), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(segment, &host->card->channel, &request), PB_ERROR_OK);
}

static void other_context(struct host *host)
{
	assert_int_equal(pb_context_create(&host->card->channel, &host->descriptor.context), PB_ERROR_OK);
}

#define EDIT(name, edit)                                                                                     \
	static void name(struct host *host)                                                                  \
	{                                                                                                    \
		struct pb_descriptor *descriptor = &host->descriptor;                                        \
		edit;                                                                                        \
	}
EDIT(nothing, (void)descriptor)
EDIT(earlier_start, descriptor->dma_start -= 4u)
EDIT(earlier_end, descriptor->dma_end -= 4u)
EDIT(larger_buffer, descriptor->dma_size += PB_PAGE_BYTES)
EDIT(other_buffer, descriptor->dma_address_low += CARD_DMA_STRIDE)
EDIT(later_entry, (descriptor->patch_start++, descriptor->patch_length--))
EDIT(shorter_list, descriptor->patch_length--)
EDIT(longer_rest, descriptor->patch_count++)
EDIT(other_cookie, descriptor->cookie++)
EDIT(other_fence, descriptor->fence_id = 0x77777777)
EDIT(other_flags, descriptor->flags |= PB_FLAG_PRESENT | PB_FLAG_RESUBMISSION)
EDIT(one_less, descriptor->allocation_count = ALLOCATIONS)

static const struct {
	const char *name;
	void (*before)(struct host *host); /* the first time */
	void (*change)(struct host *host);
	bool again;
} changes[] = {
	{"nothing", nothing, nothing, false},
	{"unbound", nothing, unbind, true},
	{"unbound already", unbind, nothing, false},
	{"into an aperture", nothing, move_to_aperture, true},
	{"kind of segment, and nothing else", aperture_allocation, aperture_allocation_moved, true},
	{"two neighbours swapped", nothing, swap_neighbours, true},
	{"first and last swapped", nothing, swap_ends, true},
	{"all in another order", nothing, rotate_all, true},
	{"an attribute that goes to the next", an_attribute, attribute_to_another, true},
	{"an allocation more", nothing, one_more, true},
	{"an allocation less", one_more, one_less, true},
	{"allocations elsewhere", nothing, allocations_elsewhere, false},
	{"start", nothing, earlier_start, true},
	{"end", nothing, earlier_end, true},
	{"size of the buffer", nothing, larger_buffer, true},
	{"another buffer", nothing, other_buffer, true},
	{"list elsewhere", nothing, list_elsewhere, true},
	{"start of the list", nothing, later_entry, true},
	{"length of the list", nothing, shorter_list, true},
	{"entries that are not submitted", nothing, longer_rest, false},
	{"a segment that is created anew", nothing, segment_anew, true},
	{"a segment that is created anew elsewhere", nothing, segment_elsewhere, true},
	{"another cookie", nothing, other_cookie, true},
	{"another fence id", nothing, other_fence, false},
	{"flags", nothing, other_flags, false},
	{"another context", nothing, other_context, false},
	{"a format of the channel", nothing, format_anew, true},
	{"the same format again", format_anew, format_anew, true},
};

static void every_change(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(changes); i++) {
		struct card card;
		struct host host = {.card = &card};

		host.descriptor = start(&card);
		changes[i].before(&host);
		card_equal(changes[i].name, patched(&card, changes[i].name, &host.descriptor), true);
		card_equal(changes[i].name, patched(&card, changes[i].name, &host.descriptor), false);
		changes[i].change(&host);
		card_equal(changes[i].name, patched(&card, changes[i].name, &host.descriptor),
			   changes[i].again);
		card_equal(changes[i].name, patched(&card, changes[i].name, &host.descriptor), false);
		card_stop(&card);
	}
}

/** Words of 0 are entries of either encoding. */
static void encoding(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, 0x7000, 0x1000, CARD_SEGMENT(3));
	descriptor = card_descriptor(&card, 1, 64, 1, 4);
	descriptor.cookie = COOKIE;
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	assert_int_equal(card_execute(&card, 0, &descriptor).patches, 4);
	assert_int_equal(card_execute(&card, 0, &descriptor).patches, 4);
	descriptor.patch_encoding = PB_PATCH_ENCODING_COMPACT;
	descriptor.patch_count = descriptor.patch_length = 24;
	assert_int_equal(card_execute(&card, 0, &descriptor).patches, 16);
	assert_int_equal(card_execute(&card, 0, &descriptor).patches, 16);
	card_stop(&card);
}

/** What other lists have left in a node's table does not matter, and neither does which node it is. */
static void lists_in_between(void **state)
{
	struct card card;
	struct pb_descriptor descriptor, other;

	(void)state;
	descriptor = start(&card);
	allocation_at(&card, MIDDLE)->flags = PB_ALLOCATION_UNBIND;
	other = descriptor;
	other.cookie = COOKIE + 1u;
	other.dma_address_low += CARD_DMA_STRIDE;
	other.allocation_address_low += 200u * (uint32_t)sizeof(struct pb_allocation);
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		*allocation_at(&card, 200 + i) = allocation_of(i + 7u);
	assert_true(patched(&card, "one", &descriptor));
	assert_true(patched(&card, "other", &other));
	for (uint32_t i = 0; i < 6; i++) {
		assert_false(patched_on(&card, i % 2u, "one", &descriptor));
		assert_false(patched_on(&card, i / 2u % 2u, "other", &other));
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_cookie)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged_is_not_patched),
		cmocka_unit_test(every_field),
		cmocka_unit_test(every_change),
		cmocka_unit_test(encoding),
		cmocka_unit_test(lists_in_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
