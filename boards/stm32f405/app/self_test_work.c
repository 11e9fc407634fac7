/* SPDX-License-Identifier: MIT */
#include "boards/stm32f405/app/self_test_work.h"

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "hal/shared_copy.h"
#include "patchbay/abi/format.h"
#include "patchbay/abi/patch.h"

/* Segment 0, behind the queues. */
#define ALLOCATIONS_OFFSET 0x600u
#define WAITS_OFFSET       0x680u
#define PATCHES_OFFSET     0x700u
#define PATCHES_STRIDE     0x60u
#define BUFFER_OFFSET      0x1000u
#define BUFFER_BYTES       0x1000u
#define BUFFER_STRIDE      0x100u
PB_STATIC_ASSERT(PB_SELF_TEST_QUEUES *PB_SELF_TEST_QUEUE_BYTES <= ALLOCATIONS_OFFSET, "room for the queues");

/* Pictures: 16 x 16 pixels. */
#define SIDE          16u
#define PITCH         (SIDE * 4u)
#define PICTURE_BYTES (SIDE * PITCH)
#define COPIED_ROWS   12u
#define SQUARE        8u

/* The video segment. */
#define TEXTURE_OFFSET  0x000u
#define TARGET_OFFSET   0x400u
#define COPY_OFFSET     0x800u
#define VERTICES_OFFSET 0xc00u
#define VERTICES        6u

/* Where an address is to be patched: nothing may be executed with this. */
#define UNPATCHED 0xbad0add5u, 0xbad0add5u
#define FILLED    0x50415443u
#define UNWANTED  0x0badf111u

enum allocation {
	TEXTURE,
	TARGET,
	COPY,
	VERTEX_LIST,
	ALLOCATIONS,
	NO_ALLOCATION = 9,
};

static const struct {
	uint32_t offset;
	uint32_t bytes;
	uint32_t write;
} allocations[ALLOCATIONS] = {
	[TEXTURE] = {TEXTURE_OFFSET, PICTURE_BYTES, 0},
	[TARGET] = {TARGET_OFFSET, PICTURE_BYTES, PB_ALLOCATION_WRITE},
	[COPY] = {COPY_OFFSET, PICTURE_BYTES, PB_ALLOCATION_WRITE},
	[VERTEX_LIST] = {VERTICES_OFFSET, VERTICES * sizeof(struct pb_vertex), 0},
};

/* Pixels and texels of the corners; the texture is seen in a mirror. */
static const struct pb_vertex vertices[VERTICES] = {
	{0, 0, 4096, 0},     {256, 0, 0, 0},       {256, 256, 0, 4096},
	{256, 256, 0, 4096}, {0, 256, 4096, 4096}, {0, 0, 4096, 0},
};

static const uint32_t fill_target[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), UNPATCHED,
				       PICTURE_BYTES, UNWANTED};
static const uint32_t fill_copy[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), UNPATCHED,
				     PICTURE_BYTES, FILLED};
static const uint32_t draw[] = {
	PB_PACKET(PB_PACKET_TARGET, PB_PACKET_TARGET_WORDS),   UNPATCHED, SIDE,     SIDE, PITCH,
	PB_PACKET(PB_PACKET_TEXTURE, PB_PACKET_TEXTURE_WORDS), UNPATCHED, SIDE,     SIDE, PITCH,
	PB_PACKET(PB_PACKET_DRAW, PB_PACKET_DRAW_WORDS),       UNPATCHED, VERTICES,
};
static const uint32_t copy_rows[] = {PB_PACKET(PB_PACKET_COPY, PB_PACKET_COPY_WORDS), UNPATCHED, UNPATCHED,
				     COPIED_ROWS *PITCH};
static const uint32_t fill_nowhere[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), UNPATCHED,
					PICTURE_BYTES, UNWANTED};
static const uint32_t copy_square[] = {PB_PACKET(PB_PACKET_COPY_RECT, PB_PACKET_COPY_RECT_WORDS),
				       UNPATCHED,
				       PITCH,
				       UNPATCHED,
				       PITCH,
				       SQUARE * 4u,
				       SQUARE};
/* The host itself writes the addresses of a paging buffer. */
static const uint32_t discard[] = {PB_PACKET(PB_PACKET_DISCARD, PB_PACKET_DISCARD_WORDS),
				   (uint32_t)(PB_SELF_TEST_VIDEO_AT_ENGINES + TEXTURE_OFFSET),
				   (uint32_t)((PB_SELF_TEST_VIDEO_AT_ENGINES + TEXTURE_OFFSET) >> 32),
				   PICTURE_BYTES};

/* An address to be patched: `word` of the packets becomes that of the allocation's byte `offset`. */
struct place {
	uint32_t word;
	uint32_t allocation;
	uint32_t offset;
};

#define PLACES_MAX 3u

struct submission {
	const uint32_t *packets;
	uint32_t bytes;
	enum pb_self_test_queue queue;
	uint32_t encoding; /* enum pb_patch_encoding */
	uint32_t flags;
	uint32_t waits_for; /* of the other queue: its timeline value; 0: nothing */
	uint32_t place_count;
	struct place places[PLACES_MAX];
};

#define PACKETS(name) .packets = (name), .bytes = sizeof(name)

static const struct submission submissions[PB_SELF_TEST_COUNT] = {
	{PACKETS(fill_target), .queue = PB_SELF_TEST_COPY, .place_count = 1, .places = {{1, TARGET, 0}}},
	{PACKETS(fill_copy), .queue = PB_SELF_TEST_COPY, .encoding = PB_PATCH_ENCODING_COMPACT,
	 .place_count = 1, .places = {{1, COPY, 0}}},
	{PACKETS(draw), .queue = PB_SELF_TEST_3D, .waits_for = 2, .place_count = 3,
	 .places = {{1, TARGET, 0}, {7, TEXTURE, 0}, {13, VERTEX_LIST, 0}}},
	{PACKETS(copy_rows), .queue = PB_SELF_TEST_COPY, .waits_for = 1, .place_count = 2,
	 .places = {{1, TARGET, 0}, {3, COPY, 0}}},
	{PACKETS(fill_nowhere), .queue = PB_SELF_TEST_COPY, .place_count = 1,
	 .places = {{1, NO_ALLOCATION, 0}}},
	{PACKETS(copy_square), .queue = PB_SELF_TEST_COPY, .encoding = PB_PATCH_ENCODING_COMPACT,
	 .place_count = 2, .places = {{1, TARGET, SQUARE *PITCH + SQUARE * 4u}, {4, COPY, 0}}},
	{PACKETS(discard), .queue = PB_SELF_TEST_COPY, .flags = PB_FLAG_PAGING},
};

static uint32_t texel(uint32_t x, uint32_t y)
{
	return 0xff000000u | (x * 17u) << 16 | (y * 17u) << 8 | (x * SIDE + y);
}

/** What the target shows. */
static uint32_t drawn(uint32_t x, uint32_t y)
{
	return texel(SIDE - 1u - x, y);
}

static uint32_t copied(uint32_t x, uint32_t y)
{
	if (x < SQUARE && y < SQUARE)
		return drawn(x + SQUARE, y + SQUARE);
	return y < COPIED_ROWS ? drawn(x, y) : FILLED;
}

/* ---- what is there before ---- */

static uint32_t *word_at(const struct pb_self_test *test, uint32_t offset)
{
	return (uint32_t *)(void *)(test->memory + offset);
}

static void write_words(const struct pb_self_test *test, uint32_t offset, const void *from, uint32_t bytes)
{
	pb_shared_copy_out(word_at(test, offset), from, bytes);
}

void pb_self_test_prepare(const struct pb_self_test *test)
{
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		pb_shared_write32(word_at(test, test->video + TEXTURE_OFFSET) + i, texel(i % SIDE, i / SIDE));
	write_words(test, test->video + VERTICES_OFFSET, vertices, sizeof(vertices));
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		const uint64_t address = PB_SELF_TEST_VIDEO_ADDRESS + allocations[i].offset;
		const struct pb_allocation allocation = {
			.address_low = (uint32_t)address,
			.address_high = (uint32_t)(address >> 32),
			.size_low = allocations[i].bytes,
			.flags = PB_SELF_TEST_VIDEO << PB_ALLOCATION_SEGMENT_SHIFT | allocations[i].write,
		};

		write_words(test, test->system + ALLOCATIONS_OFFSET + i * (uint32_t)sizeof(allocation),
			    &allocation, sizeof(allocation));
	}
}

/* ---- one submission ---- */

/** @return words written */
static uint32_t write_place(const struct pb_self_test *test, uint32_t offset,
			    const struct submission *submission, const struct place *place, uint32_t buffer)
{
	const bool writes = place->allocation < ALLOCATIONS && allocations[place->allocation].write != 0;
	const uint32_t format = writes ? PB_PATCH_FORMAT_ADDRESS64_WRITE : PB_PATCH_FORMAT_ADDRESS64;
	const uint32_t patch_offset = buffer + 4u * place->word;
	const struct pb_patch_location listed = {
		.allocation_index = place->allocation,
		.driver_id = format,
		.allocation_offset = place->offset,
		.patch_offset = patch_offset,
	};
	const uint32_t compact[PB_COMPACT_ESCAPE_WORDS] = {
		PB_COMPACT_ESCAPE | format << PB_COMPACT_FORMAT_SHIFT | place->allocation, patch_offset,
		place->offset};

	if (submission->encoding == PB_PATCH_ENCODING_COMPACT) {
		write_words(test, offset, compact, sizeof(compact));
		return PB_COMPACT_ESCAPE_WORDS;
	}
	write_words(test, offset, &listed, sizeof(listed));
	return sizeof(listed) / sizeof(uint32_t);
}

/** @return its length, as the encoding counts it */
static uint32_t write_patches(const struct pb_self_test *test, uint32_t offset,
			      const struct submission *submission, uint32_t buffer)
{
	uint32_t words = 0;

	for (uint32_t i = 0; i < submission->place_count; i++)
		words += write_place(test, offset + 4u * words, submission, &submission->places[i], buffer);
	return submission->encoding == PB_PATCH_ENCODING_COMPACT ? words : submission->place_count;
}

static void write_wait(const struct pb_self_test *test, uint32_t offset, const struct submission *submission)
{
	const uint32_t other = submission->queue == PB_SELF_TEST_3D ? PB_SELF_TEST_COPY : PB_SELF_TEST_3D;
	const struct pb_wait wait = {.queue = test->queues[other].handle,
				     .timeline_low = submission->waits_for};

	write_words(test, offset, &wait, sizeof(wait));
}

#define SYSTEM_HIGH   ((uint32_t)(PB_SELF_TEST_SYSTEM_ADDRESS >> 32))
#define SYSTEM_LOW(x) ((uint32_t)PB_SELF_TEST_SYSTEM_ADDRESS + (x))

void pb_self_test_submit(struct pb_self_test *test)
{
	const uint32_t i = test->submitted++;
	const struct submission *submission = &submissions[i];
	struct pb_local_queue *queue = &test->queues[submission->queue];
	const uint32_t buffer = i * BUFFER_STRIDE;
	const uint32_t patches = PATCHES_OFFSET + i * PATCHES_STRIDE;
	const uint32_t wait = WAITS_OFFSET + i * (uint32_t)sizeof(struct pb_wait);
	const uint32_t length = write_patches(test, test->system + patches, submission, buffer);
	const struct pb_descriptor descriptor = {
		.flags = submission->flags,
		.context = (submission->flags & PB_FLAG_PAGING) != 0 ? 0 : test->context,
		.fence_id = i,
		.timeline_low = queue->put + 1u,
		.dma_address_low = SYSTEM_LOW(BUFFER_OFFSET),
		.dma_address_high = SYSTEM_HIGH,
		.dma_segment = PB_SEGMENT_SYSTEM,
		.dma_size = BUFFER_BYTES,
		.dma_start = buffer,
		.dma_end = buffer + submission->bytes,
		.allocation_count = length != 0 ? ALLOCATIONS : 0,
		.allocation_address_low = SYSTEM_LOW(ALLOCATIONS_OFFSET),
		.allocation_address_high = SYSTEM_HIGH,
		.patch_address_low = SYSTEM_LOW(patches),
		.patch_address_high = SYSTEM_HIGH,
		.patch_count = length,
		.patch_length = length,
		.patch_encoding = submission->encoding,
		.wait_address_low = SYSTEM_LOW(wait),
		.wait_address_high = SYSTEM_HIGH,
		.wait_count = submission->waits_for != 0 ? 1u : 0,
	};

	write_words(test, test->system + BUFFER_OFFSET + buffer, submission->packets, submission->bytes);
	write_wait(test, test->system + wait, submission);
	pb_local_host_submit(&test->host, queue, &descriptor);
}

/* ---- what has come of it ---- */

/** CRC-32 (ISO 3309) of one more word. */
static uint32_t crc_word(uint32_t crc, uint32_t word)
{
	crc ^= word;
	for (uint32_t bit = 0; bit < 32u; bit++)
		crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0xedb88320u : 0);
	return crc;
}

static uint32_t expected(uint32_t i)
{
	const uint32_t picture = i / (SIDE * SIDE);
	const uint32_t x = i % SIDE;
	const uint32_t y = i / SIDE % SIDE;

	if (picture == 0)
		return PB_ENGINE_POISON;
	return picture == 1u ? drawn(x, y) : copied(x, y);
}

bool pb_self_test_compare(struct pb_self_test *test)
{
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; i < 3u * SIDE * SIDE; i++) {
		test->got = pb_shared_read32(word_at(test, test->video + TEXTURE_OFFSET) + i);
		test->wanted = expected(i);
		if (test->got != test->wanted)
			return false;
		crc = crc_word(crc, test->got);
	}
	test->crc = ~crc;
	return true;
}
