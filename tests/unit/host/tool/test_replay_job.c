/* SPDX-License-Identifier: MIT */
/*
 * What a replay hands to a card, and whether it notices a card that patches
 * wrongly. The card is this file: it reads the lists back from memory.
 */
#include <stdlib.h>
#include <string.h>

#include "host/tool/replay_job.h"
#include "tests/unit/unit.h"

#define OS_ADDRESS UINT64_C(0x10000001000)

static const struct pb_card_info board = {
	.capabilities[PB_CAPABILITY_ALLOCATIONS_MAX] = 4,
	.capabilities[PB_CAPABILITY_PATCHES_MAX] = 5,
	.capabilities[PB_CAPABILITY_BUFFER_BYTES_MAX] = 256,
	.capabilities[PB_CAPABILITY_POOL_BYTES] = 448,
};

static const struct pb_replay_formats formats;
static uint8_t contents_bytes[2][128];
static struct pb_subm_object objects[4];
static struct pb_subm_relocation relocations[6];
static struct pb_subm_contents contents[2];

/* Objects 0 and 2 have contents of 100 and 20 bytes, and patches of both widths, one of them to itself. */
static void make_job(struct pb_replay_job *job)
{
	for (uint32_t i = 0; i < 4; i++)
		objects[i] = (struct pb_subm_object){
			.handle = 70 + i, .size = 0x1000, .contents = PB_SUBM_NONE, .written = i == 1};
	objects[0].contents = 0;
	objects[2].contents = 1;
	for (uint32_t i = 0; i < sizeof(contents_bytes); i++)
		contents_bytes[i / 128][i % 128] = (uint8_t)(i + 1);
	contents[0] = (struct pb_subm_contents){.object = 0, .bytes = 100, .data = contents_bytes[0]};
	contents[1] = (struct pb_subm_contents){.object = 2, .bytes = 20, .data = contents_bytes[1]};
	relocations[0] =
		(struct pb_subm_relocation){.object = 0, .target = 1, .offset = 4, .delta = 8, .width = 8};
	relocations[1] = (struct pb_subm_relocation){
		.object = 0, .target = 0, .offset = 96, .delta = 0x2001, .width = 4};
	relocations[2] = (struct pb_subm_relocation){
		.object = 2, .target = 3, .offset = 12, .delta = 0xffffffff, .width = 8};
	*job = (struct pb_replay_job){
		.submission =
			{
				.driver = PB_SUBM_I915,
				.index = 9,
				.object_count = 4,
				.relocation_count = 3,
				.contents_count = 2,
				.contents_bytes = 120,
				.objects = objects,
				.relocations = relocations,
				.contents = contents,
			},
	};
}

static struct pb_replay_rules make_rules(void)
{
	return (struct pb_replay_rules){.card = &board, .reloc_bits = 64};
}

/* Prepares the job and writes it into memory of its own. */
static void write_job(struct pb_replay_job *job, enum pb_patch_encoding encoding)
{
	struct pb_replay_rules rules = make_rules();
	char message[PB_REPLAY_MESSAGE_BYTES];

	rules.encoding = encoding;
	assert_true(pb_replay_job_prepare(job, &rules, message));
	job->memory = (struct pb_memory){.bytes = job->memory_bytes,
					 .os_address = OS_ADDRESS,
					 .bytes_host = malloc(job->memory_bytes)};
	assert_non_null(job->memory.bytes_host);
	memset(job->memory.bytes_host, 0xcc, job->memory_bytes);
	assert_true(pb_replay_job_list(job, &rules, &formats, message));
	pb_replay_job_write(job, 0x10007, encoding);
}

static void start_job(struct pb_replay_job *job)
{
	make_job(job);
	write_job(job, PB_PATCH_ENCODING_WDDM);
}

static void end_job(struct pb_replay_job *job)
{
	free(job->memory.bytes_host);
	pb_replay_job_clear(job);
}

static void read_patch(const struct pb_replay_job *job, uint32_t i, struct pb_patch_location *patch)
{
	uint64_t list =
		(uint64_t)job->descriptor.patch_address_high << 32 | job->descriptor.patch_address_low;

	memcpy(patch, job->memory.bytes_host + (list - OS_ADDRESS) + i * sizeof(*patch), sizeof(*patch));
}

static void read_allocation(const struct pb_replay_job *job, uint32_t i, struct pb_allocation *allocation)
{
	uint64_t list = (uint64_t)job->descriptor.allocation_address_high << 32 |
			job->descriptor.allocation_address_low;

	memcpy(allocation, job->memory.bytes_host + (list - OS_ADDRESS) + i * sizeof(*allocation),
	       sizeof(*allocation));
}

/* Does what a firmware does, but for the locations in `skip`, a mask. */
static void patch(const struct pb_replay_job *job, uint32_t skip)
{
	for (uint32_t i = 0; i < job->descriptor.patch_length; i++) {
		struct pb_allocation allocation;
		struct pb_patch_location entry;
		uint64_t value;

		read_patch(job, i, &entry);
		read_allocation(job, entry.allocation_index, &allocation);
		value = ((uint64_t)allocation.address_high << 32 | allocation.address_low) +
			(uint64_t)(int64_t)(int32_t)entry.allocation_offset;
		if ((skip >> i & 1) == 0)
			memcpy(job->memory.bytes_host + entry.patch_offset, &value,
			       entry.driver_id == PB_PATCH_FORMAT_SUM64_SIGNED ? 8 : 4);
	}
}

/* ---- tests ---- */

static void test_lists(void **state)
{
	static const struct pb_patch_location patches[] = {
		{1, 1, PB_PATCH_FORMAT_SUM64_SIGNED, 8, 4, 0},
		{0, 0, PB_PATCH_FORMAT_SUM32, 0x2001, 96, 0},
		{3, 3, PB_PATCH_FORMAT_SUM64_SIGNED, 0xffffffff, 128 + 12, 0},
	};
	struct pb_replay_job job;

	(void)state;
	start_job(&job);
	assert_int_equal(job.buffer_bytes, 192);
	assert_int_equal(job.descriptor.flags, PB_FLAG_NULL_RENDERING);
	assert_int_equal(job.descriptor.fence_id, 9);
	assert_int_equal(job.descriptor.context, 0x10007);
	assert_int_equal(job.descriptor.dma_segment, 0);
	assert_int_equal(job.descriptor.dma_address_low, 0x1000);
	assert_int_equal(job.descriptor.dma_address_high, 0x100);
	assert_int_equal(job.descriptor.dma_size, 192);
	assert_int_equal(job.descriptor.dma_end, 192);
	assert_int_equal(job.descriptor.allocation_count, 4);
	assert_int_equal(job.descriptor.patch_count, 3);
	assert_int_equal(job.descriptor.patch_length, 3);
	for (uint32_t i = 0; i < 4; i++) {
		const struct pb_allocation expected = {i << 12, 1, 0x1000, 0, 3u << 1 | (i == 1), 70 + i};
		struct pb_allocation allocation;

		read_allocation(&job, i, &allocation);
		assert_memory_equal(&allocation, &expected, sizeof(expected));
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct pb_patch_location entry;

		read_patch(&job, i, &entry);
		assert_memory_equal(&entry, &patches[i], sizeof(entry));
	}
	end_job(&job);
}

/* Three escapes, as the format changes each time. */
static void compact_lists_escape_when_the_format_changes(void **state)
{
	static const uint32_t words[] = {0xffc01401, 4,          8,        0xffc01000, 96,
					 0x2001,     0xffc01403, 128 + 12, 0xffffffff};
	static const uint32_t entries[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, PB_INDEX_NONE};
	struct pb_replay_job job;
	uint64_t list;

	(void)state;
	make_job(&job);
	write_job(&job, PB_PATCH_ENCODING_COMPACT);
	list = (uint64_t)job.descriptor.patch_address_high << 32 | job.descriptor.patch_address_low;
	assert_int_equal(job.memory_bytes, 192 + 4 * 24 + 3 * 12);
	assert_int_equal(job.list_bytes, sizeof(words));
	assert_int_equal(job.descriptor.patch_encoding, PB_PATCH_ENCODING_COMPACT);
	assert_int_equal(job.descriptor.patch_count, 9);
	assert_int_equal(job.descriptor.patch_start, 0);
	assert_int_equal(job.descriptor.patch_length, 9);
	assert_memory_equal(job.memory.bytes_host + (list - OS_ADDRESS), words, sizeof(words));
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(pb_replay_job_entry(&job, i), entries[i]);
	end_job(&job);
}

/* In a plain list the index of an error is the relocation's. */
static void errors_of_plain_lists_name_the_relocation(void **state)
{
	struct pb_replay_job job;

	(void)state;
	start_job(&job);
	assert_int_equal(job.list_bytes, 3 * 24);
	assert_int_equal(job.descriptor.patch_encoding, PB_PATCH_ENCODING_WDDM);
	assert_int_equal(pb_replay_job_entry(&job, 2), 2);
	assert_int_equal(pb_replay_job_entry(&job, PB_INDEX_NONE), PB_INDEX_NONE);
	end_job(&job);
}

/* An object of nouveau says by its attribute where it was. */
static void nouveau_objects_say_where_they_were(void **state)
{
	struct pb_replay_job job;

	(void)state;
	make_job(&job);
	job.submission.driver = PB_SUBM_NOUVEAU;
	job.submission.relocation_count = 1;
	objects[3].gart = true;
	relocations[0] =
		(struct pb_subm_relocation){.target = 3, .offset = 4, .width = 4, .flags = PB_SUBM_HIGH};
	write_job(&job, PB_PATCH_ENCODING_WDDM);
	for (uint32_t i = 0; i < 4; i++) {
		struct pb_allocation allocation;

		read_allocation(&job, i, &allocation);
		assert_int_equal(allocation.flags, 3u << 1 | (i == 1 ? 1u : 0u) | (i == 3 ? 1u << 9 : 0u));
	}
	assert_int_equal(job.patches[0].driver_id, PB_PATCH_FORMAT_HIGH32);
	end_job(&job);
}

/* Outside the patched places the buffer is as captured; inside, each byte is the complement of the result. */
static void target_words_are_poisoned_and_others_are_not(void **state)
{
	static const uint8_t first[8] = {0xf7, 0xef, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff}; /* ~0x100001008 */
	static const uint8_t self[4] = {0xfe, 0xdf, 0xff, 0xff};                          /* ~0x00002001 */
	static const uint8_t last[8] = {0x00, 0xd0, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff};  /* ~0x100002fff */
	uint8_t expected[192] = {0};
	struct pb_replay_job job;

	(void)state;
	start_job(&job);
	memcpy(expected, contents_bytes[0], 100);
	memcpy(expected + 128, contents_bytes[1], 20);
	memcpy(expected + 4, first, 8);
	memcpy(expected + 96, self, 4);
	memcpy(expected + 128 + 12, last, 8);
	assert_memory_equal(job.memory.bytes_host, expected, sizeof(expected));
	end_job(&job);
}

static void right_results_pass(void **state)
{
	char message[PB_REPLAY_MESSAGE_BYTES];
	struct pb_replay_job job;

	(void)state;
	start_job(&job);
	patch(&job, 0);
	assert_true(pb_replay_job_verify(&job, message));
	assert_int_not_equal(job.crc_before, job.crc_after);
	end_job(&job);
}

static void a_missed_patch_is_found(void **state)
{
	static const char *const messages[] = {
		"relocation 0 (object 0, offset 0x4, target 1 at 0x100001000, delta 0x8): "
		"expected 0x100001008, found 0xfffffffeffffeff7",
		"relocation 1 (object 0, offset 0x60, target 0 at 0x100000000, delta 0x2001): "
		"expected 0x2001, found 0xffffdffe",
		"relocation 2 (object 2, offset 0xc, target 3 at 0x100003000, delta 0xffffffff): "
		"expected 0x100002fff, found 0xfffffffeffffd000",
	};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		char message[PB_REPLAY_MESSAGE_BYTES];
		struct pb_replay_job job;

		start_job(&job);
		patch(&job, 1u << i);
		assert_false(pb_replay_job_verify(&job, message));
		assert_string_equal(message, messages[i]);
		end_job(&job);
	}
}

/* A store to any byte of the buffer shows, the gaps between contents included. */
static void a_stray_store_is_found(void **state)
{
	char message[PB_REPLAY_MESSAGE_BYTES];
	struct pb_replay_job job;

	(void)state;
	start_job(&job);
	patch(&job, 0);
	for (uint32_t at = 0; at < job.buffer_bytes; at++) {
		job.memory.bytes_host[at] ^= 0x10;
		assert_false(pb_replay_job_verify(&job, message));
		job.memory.bytes_host[at] ^= 0x10;
	}
	job.memory.bytes_host[0x78] = 0x5a;
	assert_false(pb_replay_job_verify(&job, message));
	assert_string_equal(message, "byte 0x78 of the DMA buffer changed, and no relocation lies there: "
				     "expected 0x00, found 0x5a");
	end_job(&job);
}

struct limit {
	uint32_t objects;
	uint32_t relocations;
	uint32_t bytes; /* of contents 1; contents 0 take 128 in the buffer */
	const char *message;
};

/* The lists take 24 bytes an entry. */
static const struct limit limits[] = {
	{4, 3, 128, NULL},
	{5, 3, 20, "5 objects; this board's limit is ALLOCATIONS_MAX = 4"},
	{4, 6, 20, "6 relocations; this board's limit is PATCHES_MAX = 5"},
	{4, 3, 129,
	 "320 bytes of contents in its DMA buffer; this board's limit is BUFFER_BYTES_MAX "
	 "= 256"},
	{4, 5, 128, "472 bytes of buffer and lists; this board's limit is POOL_BYTES = 448"},
};

static void limits_of_the_board_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct pb_replay_rules rules = make_rules();
		char message[PB_REPLAY_MESSAGE_BYTES] = "";
		struct pb_replay_job job;
		bool taken;

		make_job(&job);
		job.submission.object_count = limits[i].objects;
		job.submission.relocation_count = limits[i].relocations;
		contents[1].bytes = limits[i].bytes;
		relocations[3] = relocations[4] = relocations[0];
		taken = pb_replay_job_prepare(&job, &rules, message);
		assert_int_equal(taken, limits[i].message == NULL);
		assert_string_equal(message, limits[i].message == NULL ? "" : limits[i].message);
		pb_replay_job_clear(&job);
	}
}

static void test_compact_limits(void **state)
{
	struct pb_card_info small = board;
	struct pb_replay_rules rules = {
		.card = &small, .reloc_bits = 64, .encoding = PB_PATCH_ENCODING_COMPACT};
	char message[PB_REPLAY_MESSAGE_BYTES];
	struct pb_replay_job job;

	(void)state;
	make_job(&job);
	assert_true(pb_replay_job_prepare(&job, &rules, message));
	/* Three escapes. */
	assert_true(pb_replay_job_list(&job, &rules, &formats, message));
	small.capabilities[PB_CAPABILITY_PATCHES_MAX] = 4;
	assert_false(pb_replay_job_list(&job, &rules, &formats, message));
	assert_string_equal(message, "the list has 9 words; this board's limit is two times PATCHES_MAX = 4");
	job.submission.relocations[1].target = 1023;
	small.capabilities[PB_CAPABILITY_PATCHES_MAX] = 5;
	assert_true(pb_replay_job_list(&job, &rules, &formats, message));
	job.submission.relocations[1].target = 1024;
	assert_false(pb_replay_job_list(&job, &rules, &formats, message));
	assert_string_equal(message, "relocation 1 names object 1024; such a list can name 1024");
	pb_replay_job_clear(&job);
}

static void test_no_place(void **state)
{
	struct pb_replay_rules rules = make_rules();
	char message[PB_REPLAY_MESSAGE_BYTES];
	struct pb_replay_job job;

	(void)state;
	make_job(&job);
	objects[3].size = UINT64_C(1) << 40;
	assert_false(pb_replay_job_prepare(&job, &rules, message));
	assert_string_equal(message, "the objects do not fit into the address space");
	pb_replay_job_clear(&job);
}

UNIT_SUITE(test_replay_job)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(target_words_are_poisoned_and_others_are_not),
		cmocka_unit_test(right_results_pass),
		cmocka_unit_test(a_missed_patch_is_found),
		cmocka_unit_test(a_stray_store_is_found),
		cmocka_unit_test(limits_of_the_board_are_named),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(compact_lists_escape_when_the_format_changes),
		cmocka_unit_test(errors_of_plain_lists_name_the_relocation),
		cmocka_unit_test(nouveau_objects_say_where_they_were),
		cmocka_unit_test(test_compact_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
