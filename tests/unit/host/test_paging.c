/* SPDX-License-Identifier: MIT */
/* Paging buffers: the words of each operation, and operations that several buffers share. */
#include <string.h>

#include "patchbay/paging.h"
#include "tests/unit/unit.h"

#define GPU       UINT64_C(0x1f0000000)
#define WORDS     64u
#define UNTOUCHED 0xa5a5a5a5u

/* Pages 0 and 1 in a row, then another two, then one by itself. */
static const uintptr_t scattered[] = {0x200001, 0x200002, 0x200007, 0x200008, 0x200003};
/* In a row up to the fourth. */
static const uintptr_t in_row[] = {0x300000, 0x300001, 0x300002, 0x300003, 0x400000};

struct bench {
	uint32_t words[WORDS];
	struct pb_paging_buffer buffer;
};

static void open_buffer(struct bench *bench, uint64_t gpu_address, uint32_t bytes)
{
	for (uint32_t i = 0; i < WORDS; i++)
		bench->words[i] = UNTOUCHED;
	bench->buffer = (struct pb_paging_buffer){
		.dma_buffer = bench->words, .gpu_address = gpu_address, .dma_size = bytes};
}

/* What was written, and nothing behind it; the buffer has moved behind it. */
static void expect_words(const char *row, const struct bench *bench, uint64_t gpu_address, uint32_t bytes,
			 const uint32_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < WORDS; i++) {
		const uint32_t expected = i < count ? words[i] : UNTOUCHED;

		if (bench->words[i] != expected)
			fail_msg("%s: word %u is 0x%x, not 0x%x", row, i, bench->words[i], expected);
	}
	assert_ptr_equal(bench->buffer.dma_buffer, bench->words + count);
	assert_int_equal(bench->buffer.gpu_address, gpu_address + 4 * count);
	assert_int_equal(bench->buffer.dma_size, bytes - 4 * count);
}

static const struct {
	const char *row;
	struct pb_paging_operation operation;
	uint64_t gpu_address; /* of the buffer */
	uint32_t count;
	uint32_t words[24];
} written[] = {
	{"copy",
	 {PB_PAGING_TRANSFER, {0x123456784, NULL}, {0x9abcdef00, NULL}, 20, 0, 0},
	 GPU,
	 6,
	 {0x02000006, 0x23456784, 1, 0xabcdef00, 9, 20}},
	{"nothing to copy: an eviction that is only told",
	 {PB_PAGING_TRANSFER, {0x1000, NULL}, {0x2000, NULL}, 0, 0, 0},
	 GPU,
	 0,
	 {0}},
	{"copy from a page list: runs, and a short end",
	 {PB_PAGING_TRANSFER, {0, scattered}, {0x500000100, NULL}, 0x4010, 0, 0},
	 GPU,
	 18,
	 {0x02000006, 0x00001000, 2, 0x00000100, 5, 0x2000, 0x02000006, 0x00007000, 2, 0x00002100, 5, 0x2000,
	  0x02000006, 0x00003000, 2, 0x00004100, 5, 0x10}},
	{"copy to a page list",
	 {PB_PAGING_TRANSFER, {0x500000000, NULL}, {0, scattered}, 0x3000, 0, 0},
	 GPU,
	 12,
	 {0x02000006, 0, 5, 0x00001000, 2, 0x2000, 0x02000006, 0x2000, 5, 0x00007000, 2, 0x1000}},
	{"copy between page lists: a run ends on either side",
	 {PB_PAGING_TRANSFER, {0, in_row}, {0, scattered}, 0x4000, 0, 0},
	 GPU,
	 12,
	 {0x02000006, 0, 3, 0x1000, 2, 0x2000, 0x02000006, 0x2000, 3, 0x7000, 2, 0x2000}},
	{"more than one packet can count",
	 {PB_PAGING_TRANSFER, {0x1000000000, NULL}, {0x2000000000, NULL}, 0x100000004, 0, 0},
	 GPU,
	 12,
	 {0x02000006, 0, 0x10, 0, 0x20, 0xfffff000, 0x02000006, 0xfffff000, 0x10, 0xfffff000, 0x20, 0x1004}},
	{"fill",
	 {PB_PAGING_FILL, {1, NULL}, {0x123456784, NULL}, 0x2004, 0xfee1dead, 0},
	 GPU,
	 5,
	 {0x01000005, 0x23456784, 1, 0x2004, 0xfee1dead}},
	{"discard",
	 {PB_PAGING_DISCARD, {1, NULL}, {0x123456784, NULL}, 8, 0, 0},
	 GPU,
	 4,
	 {0x04000004, 0x23456784, 1, 8}},
	{"map, page list behind NOP and one word",
	 {PB_PAGING_MAP_APERTURE, {0, scattered}, {0x700004000, NULL}, 0x3000, 0, 0},
	 GPU,
	 14,
	 {0x00000008, 0, 0x1000, 2, 0x2000, 2, 0x7000, 2, 0x05000006, 0x4000, 7, 3, 0xf0000008, 1}},
	{"map, page list right behind NOP",
	 {PB_PAGING_MAP_APERTURE, {0x88000, NULL}, {0x700004000, NULL}, 0x2000, 0, 0},
	 0xfffffffcu,
	 11,
	 {0x00000005, 0x88000, 0, 0x89000, 0, 0x05000006, 0x4000, 7, 2, 0x00000000, 1}},
	{"unmap",
	 {PB_PAGING_UNMAP_APERTURE, {1, NULL}, {0x700004000, NULL}, 0x5000, 0, 0},
	 GPU,
	 4,
	 {0x06000004, 0x4000, 7, 5}},
	{"rest of an unmap",
	 {PB_PAGING_UNMAP_APERTURE, {1, NULL}, {0x700004000, NULL}, 0x5000, 0, 3},
	 GPU,
	 4,
	 {0x06000004, 0x7000, 7, 2}},
};

static void every_operation_has_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		struct pb_paging_operation operation = written[i].operation;
		const uint32_t bytes = 4 * written[i].count;
		struct bench bench;

		/* Just enough room. */
		open_buffer(&bench, written[i].gpu_address, bytes);
		assert_int_equal(pb_paging_build(&operation, &bench.buffer), PB_RENDER_SUCCESS);
		expect_words(written[i].row, &bench, written[i].gpu_address, bytes, written[i].words,
			     written[i].count);
		assert_int_equal(operation.multipass_offset, (operation.bytes + 4095) / 4096);
		/* Done is done. */
		assert_int_equal(pb_paging_build(&operation, &bench.buffer), PB_RENDER_SUCCESS);
		expect_words(written[i].row, &bench, written[i].gpu_address, bytes, written[i].words,
			     written[i].count);
	}
}

/* Back to back in one buffer. */
static void operations_follow_each_other_in_one_buffer(void **state)
{
	static const uint32_t words[] = {0x04000004, 0x1000, 1, 0x100, 0x01000005, 0x2000, 2, 8, 7};
	struct pb_paging_operation discard = {.kind = PB_PAGING_DISCARD, .bytes = 0x100};
	struct pb_paging_operation fill = {.kind = PB_PAGING_FILL, .bytes = 8, .value = 7};
	struct bench bench;

	(void)state;
	discard.destination.gpu_address = 0x100001000;
	fill.destination.gpu_address = 0x200002000;
	open_buffer(&bench, GPU, 100);
	assert_int_equal(pb_paging_build(&discard, &bench.buffer), PB_RENDER_SUCCESS);
	assert_int_equal(pb_paging_build(&fill, &bench.buffer), PB_RENDER_SUCCESS);
	expect_words("several", &bench, GPU, 100, words, 9);
}

/* One word less than the smallest part: nothing happens. */
static void an_operation_that_does_not_fit_writes_nothing(void **state)
{
	static const struct {
		enum pb_paging_kind kind;
		uint32_t words;
	} cases[] = {{PB_PAGING_TRANSFER, 6},
		     {PB_PAGING_FILL, 5},
		     {PB_PAGING_DISCARD, 4},
		     {PB_PAGING_MAP_APERTURE, PB_PAGING_BYTES_MIN / 4},
		     {PB_PAGING_UNMAP_APERTURE, 4}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_paging_operation operation = {.kind = cases[i].kind, .bytes = 4096};
		struct bench bench;

		open_buffer(&bench, GPU, 4 * cases[i].words - 4);
		assert_int_equal(pb_paging_build(&operation, &bench.buffer),
				 PB_RENDER_INSUFFICIENT_DMA_BUFFER);
		expect_words("too small", &bench, GPU, 4 * cases[i].words - 4, NULL, 0);
		assert_int_equal(operation.multipass_offset, 0);
		open_buffer(&bench, GPU, 4 * cases[i].words);
		assert_int_equal(pb_paging_build(&operation, &bench.buffer), PB_RENDER_SUCCESS);
		assert_int_equal(bench.buffer.dma_size, 0);
	}
}

/* ---- operations over several buffers ---- */

#define MODEL_PAGES 16u

/* What happened to each page of the destination, from 0x700000000: where it comes from, and how often. */
struct model {
	uint64_t from[MODEL_PAGES];
	uint32_t times[MODEL_PAGES];
};

static uint64_t address_at(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

static void note(struct model *model, uint64_t destination, uint64_t from)
{
	const uint64_t page = (destination - 0x700000000) / 4096;

	assert_int_equal(destination % 4096, 0);
	assert_in_range(page, 0, MODEL_PAGES - 1);
	model->from[page] = from;
	model->times[page]++;
}

/* Runs a buffer, whose first word the engine sees at GPU. */
static void run_model(struct model *model, const uint32_t *words, const uint32_t *end)
{
	const uint32_t *first = words;

	for (; words < end; words += words[0] & 0xffffff) {
		switch (words[0]) {
		case 0x02000006:
			for (uint32_t at = 0; at < words[5]; at += 4096)
				note(model, address_at(&words[3]) + at, address_at(&words[1]) + at);
			break;
		case 0x05000006:
			assert_int_equal(address_at(&words[4]) % 8, 0);
			for (uint32_t i = 0; i < words[3]; i++)
				note(model, address_at(&words[1]) + 4096 * i,
				     address_at(first + (address_at(&words[4]) - GPU) / 4 + 2 * i));
			break;
		default:
			assert_int_equal(words[0] >> 24, 0);
		}
	}
	assert_ptr_equal(words, end);
}

static uint32_t run_in_buffers(struct model *model, struct pb_paging_operation operation, uint32_t bytes)
{
	enum pb_render_status status;
	uint32_t buffers = 0;

	memset(model, 0, sizeof(*model));
	do {
		const uint32_t before = operation.multipass_offset;
		struct bench bench;

		open_buffer(&bench, GPU, bytes);
		status = pb_paging_build(&operation, &bench.buffer);
		run_model(model, bench.words, bench.buffer.dma_buffer);
		assert_true(operation.multipass_offset > before);
		buffers++;
	} while (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER);
	assert_int_equal(status, PB_RENDER_SUCCESS);
	return buffers;
}

static void long_operations_are_split_over_buffers(void **state)
{
	static const uintptr_t every_other[] = {1, 3, 5, 7, 9, 0xb, 0xd, 0xf, 0x11, 0x13};
	static const enum pb_paging_kind kinds[] = {PB_PAGING_TRANSFER, PB_PAGING_MAP_APERTURE};

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		const struct pb_paging_operation operation = {
			kinds[k], {0, every_other}, {0x700001000, NULL}, 0xa000, 0, 0};

		for (uint32_t bytes = PB_PAGING_BYTES_MIN; bytes <= 4 * WORDS; bytes += 4) {
			struct model model;
			uint32_t buffers = run_in_buffers(&model, operation, bytes);
			uint32_t least = k == 0 ? bytes / 24 : (bytes - 32) / 8;

			assert_int_equal(buffers, (10 + least - 1) / least);
			for (uint32_t i = 0; i < MODEL_PAGES; i++) {
				assert_int_equal(model.times[i], i >= 1 && i <= 10);
				assert_int_equal(model.from[i],
						 i >= 1 && i <= 10 ? every_other[i - 1] * 4096 : 0);
			}
		}
	}
}

static void invalid_operations_are_refused(void **state)
{
	static const struct {
		const char *row;
		struct pb_paging_operation operation;
	} cases[] = {
		{"unknown", {(enum pb_paging_kind)3, {0, NULL}, {0, NULL}, 4096, 0, 0}},
		{"size", {PB_PAGING_FILL, {0, NULL}, {0, NULL}, 4098, 0, 0}},
		{"size of an aperture", {PB_PAGING_UNMAP_APERTURE, {0, NULL}, {0, NULL}, 4100, 0, 0}},
		{"more pages than can be counted",
		 {PB_PAGING_FILL, {0, NULL}, {0, NULL}, 0x100000000000, 0, 0}},
		{"destination", {PB_PAGING_FILL, {0, NULL}, {2, NULL}, 4096, 0, 0}},
		{"source", {PB_PAGING_TRANSFER, {2, NULL}, {0, NULL}, 4096, 0, 0}},
		{"place in an aperture", {PB_PAGING_UNMAP_APERTURE, {0, NULL}, {8, NULL}, 4096, 0, 0}},
		{"mapped memory", {PB_PAGING_MAP_APERTURE, {8, NULL}, {0, NULL}, 4096, 0, 0}},
		{"aperture as a list", {PB_PAGING_MAP_APERTURE, {0, NULL}, {0, in_row}, 4096, 0, 0}},
		{"list of the source", {PB_PAGING_TRANSFER, {4, scattered}, {0, NULL}, 4100, 0, 0}},
		{"list of the destination", {PB_PAGING_DISCARD, {0, NULL}, {0x800, scattered}, 8192, 0, 0}},
		{"beyond all addresses",
		 {PB_PAGING_DISCARD, {0, NULL}, {0xfffffffffffff000, NULL}, 4100, 0, 0}},
		{"beyond its end", {PB_PAGING_DISCARD, {0, NULL}, {0, NULL}, 4100, 0, 3}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_paging_operation operation = cases[i].operation;
		struct bench bench;

		open_buffer(&bench, GPU, 100);
		if (pb_paging_build(&operation, &bench.buffer) != PB_RENDER_INVALID_PARAMETER)
			fail_msg("%s: was taken", cases[i].row);
		expect_words(cases[i].row, &bench, GPU, 100, NULL, 0);
		assert_int_equal(operation.multipass_offset, cases[i].operation.multipass_offset);
	}
}

UNIT_SUITE(test_paging)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_has_its_words),
		cmocka_unit_test(operations_follow_each_other_in_one_buffer),
		cmocka_unit_test(an_operation_that_does_not_fit_writes_nothing),
		cmocka_unit_test(long_operations_are_split_over_buffers),
		cmocka_unit_test(invalid_operations_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
