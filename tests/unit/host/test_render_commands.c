/* SPDX-License-Identifier: MIT */
/* Every command, good and bad. Opcodes and lengths are written as numbers on purpose. */
#include "patchbay/abi/boot.h"
#include "tests/unit/host/render_bench.h"

#define WORDS_MAX 24u

/* Who calls, and for which node: 3D if not COPY. */
#define USER        1u
#define KERNEL      2u
#define BOTH        3u
#define ON_COPY     4u
#define USER_COPY   (USER | ON_COPY)
#define KERNEL_COPY (KERNEL | ON_COPY)
#define BOTH_COPY   (BOTH | ON_COPY)

struct row {
	const char *name;
	uint32_t who;
	enum pb_render_status status;
	uint32_t words[WORDS_MAX];
	uint32_t count;
};

#define W(...) {__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

#define OK           PB_RENDER_SUCCESS
#define BAD          PB_RENDER_INVALID_PARAMETER
#define CUT          PB_RENDER_INVALID_USER_BUFFER
#define ILLEGAL      PB_RENDER_ILLEGAL_INSTRUCTION
#define PRIVILEGED   PB_RENDER_PRIVILEGED_INSTRUCTION
#define GOOD_TARGET  0x10000006, 2, 0, 8, 8, 32
#define GOOD_TEXTURE 0x11000006, 1, 0, 8, 8, 32
#define STATE        GOOD_TARGET, GOOD_TEXTURE

/* Indices: 0 NULL, 1 for reading, 2 for writing (256 bytes each), 3 paged out, 4 of 5 GiB, 5 of 3 bytes. */
static const struct row rows[] = {
	{"NOP", BOTH, OK, W(0x00000001)},
	{"NOP on the copy node", BOTH_COPY, OK, W(0x00000001)},
	{"NOP with words that look like commands", BOTH, OK, W(0x00000003, 0x21000002, 0xffffffff)},
	{"NOP of no words", BOTH, BAD, W(0x00000000)},
	{"NOP, cut off", BOTH, CUT, W(0x00000003, 0)},
	{"NOP of the greatest length, cut off", BOTH, CUT, W(0x00ffffff, 0)},

	{"FILL of all", BOTH, OK, W(0x01000005, 2, 0, 256, 7)},
	{"FILL on the copy node", BOTH_COPY, OK, W(0x01000005, 2, 0, 256, 7)},
	{"FILL of the last word", BOTH, OK, W(0x01000005, 2, 252, 4, 7)},
	{"FILL of nothing", BOTH, OK, W(0x01000005, 2, 252, 0, 7)},
	{"FILL of nothing at the end", BOTH, BAD, W(0x01000005, 2, 256, 0, 7)},
	{"FILL, one word too far", BOTH, BAD, W(0x01000005, 2, 4, 256, 7)},
	{"FILL, one word too long", BOTH, BAD, W(0x01000005, 2, 0, 260, 7)},
	{"FILL whose end wraps", BOTH, BAD, W(0x01000005, 2, 8, 0xfffffffc, 7)},
	{"FILL far outside", BOTH, BAD, W(0x01000005, 2, 0xfffffffc, 4, 7)},
	{"FILL of bytes", BOTH, BAD, W(0x01000005, 2, 0, 6, 7)},
	{"FILL at an odd place", BOTH, BAD, W(0x01000005, 2, 2, 4, 7)},
	{"FILL of what is read only", BOTH, BAD, W(0x01000005, 1, 0, 4, 7)},
	{"FILL of NULL", BOTH, BAD, W(0x01000005, 0, 0, 4, 7)},
	{"FILL of NULL, nothing of it", BOTH, BAD, W(0x01000005, 0, 0, 0, 7)},
	{"FILL of what is paged out", BOTH, OK, W(0x01000005, 3, 0, 4096, 7)},
	{"FILL in the last 4 GiB that an offset reaches", BOTH, OK, W(0x01000005, 4, 0xfffffffc, 64, 7)},
	{"FILL of the first 4 GiB", BOTH, OK, W(0x01000005, 4, 0, 0xfffffffc, 7)},
	{"FILL beyond 5 GiB", BOTH, BAD, W(0x01000005, 4, 0x80000000, 0xc0000004, 7)},
	{"FILL up to 5 GiB", BOTH, OK, W(0x01000005, 4, 0x80000000, 0xc0000000, 7)},
	{"FILL, index one too high", BOTH, BAD, W(0x01000005, 6, 0, 4, 7)},
	{"FILL, greatest index", BOTH, BAD, W(0x01000005, 0xffffffff, 0, 4, 7)},
	{"FILL, a word short", BOTH, BAD, W(0x01000004, 2, 0, 4)},
	{"FILL, a word long", BOTH, BAD, W(0x01000006, 2, 0, 4, 7, 0)},
	{"FILL of no words", BOTH, BAD, W(0x01000000, 2, 0, 4, 7)},
	{"FILL, cut off", BOTH, CUT, W(0x01000005, 2, 0, 4)},
	{"FILL, cut off behind another", BOTH, CUT, W(0x00000001, 0x01000005)},

	{"COPY of all", BOTH, OK, W(0x02000006, 1, 0, 2, 0, 256)},
	{"COPY of nothing", BOTH_COPY, OK, W(0x02000006, 1, 252, 2, 252, 0)},
	{"COPY within an allocation", BOTH, OK, W(0x02000006, 2, 0, 2, 4, 252)},
	{"COPY, source too long", BOTH, BAD, W(0x02000006, 1, 4, 3, 0, 256)},
	{"COPY, destination too long", BOTH, BAD, W(0x02000006, 1, 0, 2, 4, 256)},
	{"COPY of bytes", BOTH, BAD, W(0x02000006, 1, 0, 2, 0, 255)},
	{"COPY, source at an odd place", BOTH, BAD, W(0x02000006, 1, 1, 2, 0, 4)},
	{"COPY, destination at an odd place", BOTH, BAD, W(0x02000006, 1, 0, 2, 3, 4)},
	{"COPY to what is read only", BOTH, BAD, W(0x02000006, 2, 0, 1, 0, 4)},
	{"COPY from NULL", BOTH, BAD, W(0x02000006, 0, 0, 2, 0, 4)},
	{"COPY to NULL", BOTH, BAD, W(0x02000006, 1, 0, 0, 0, 4)},
	{"COPY, source index", BOTH, BAD, W(0x02000006, 6, 0, 2, 0, 4)},
	{"COPY, destination index", BOTH, BAD, W(0x02000006, 1, 0, 6, 0, 4)},
	{"COPY from 3 bytes", BOTH, BAD, W(0x02000006, 5, 0, 2, 0, 4)},
	{"COPY of nothing from 3 bytes", BOTH, OK, W(0x02000006, 5, 0, 2, 0, 0)},
	{"COPY, of wrong length", BOTH, BAD, W(0x02000005, 1, 0, 2, 0)},
	{"COPY, cut off", BOTH, CUT, W(0x02000006, 1, 0, 2, 0)},

	{"COPY_RECT to the last byte", BOTH, OK, W(0x03000009, 1, 4, 36, 2, 28, 60, 48, 4)},
	{"COPY_RECT on the copy node", BOTH_COPY, OK, W(0x03000009, 1, 0, 4, 2, 0, 4, 4, 1)},
	{"COPY_RECT, source one row too far", BOTH, BAD, W(0x03000009, 1, 208, 36, 2, 0, 0, 16, 3)},
	{"COPY_RECT, destination one word too far", BOTH, BAD, W(0x03000009, 1, 4, 36, 2, 32, 60, 48, 4)},
	{"COPY_RECT, pitches of 0", BOTH, OK, W(0x03000009, 1, 0, 0, 2, 0, 0, 256, 9)},
	{"COPY_RECT, pitch below the row", BOTH, OK, W(0x03000009, 1, 0, 4, 2, 0, 4, 8, 63)},
	{"COPY_RECT of no rows", BOTH, OK, W(0x03000009, 1, 0, 0xfffffffc, 2, 0, 0xfffffffc, 0xfffffffc, 0)},
	{"COPY_RECT of empty rows", BOTH, OK, W(0x03000009, 1, 0, 0xfffffffc, 2, 0, 4, 0, 0xffffffff)},
	{"COPY_RECT of all numbers", BOTH, BAD,
	 W(0x03000009, 1, 0, 0xfffffffc, 2, 0, 0xfffffffc, 0xfffffffc, 0xffffffff)},
	{"COPY_RECT, product of 2^32", BOTH, BAD, W(0x03000009, 1, 0, 0x10000, 2, 0, 0, 4, 0x10001)},
	{"COPY_RECT, odd source pitch", BOTH, BAD, W(0x03000009, 1, 0, 6, 2, 0, 4, 4, 1)},
	{"COPY_RECT, odd destination pitch", BOTH, BAD, W(0x03000009, 1, 0, 4, 2, 0, 5, 4, 1)},
	{"COPY_RECT, odd row", BOTH, BAD, W(0x03000009, 1, 0, 4, 2, 0, 4, 3, 1)},
	{"COPY_RECT, odd source", BOTH, BAD, W(0x03000009, 1, 2, 4, 2, 0, 4, 4, 1)},
	{"COPY_RECT, odd destination", BOTH, BAD, W(0x03000009, 1, 0, 4, 2, 1, 4, 4, 1)},
	{"COPY_RECT to what is read only", BOTH, BAD, W(0x03000009, 1, 0, 4, 1, 0, 4, 4, 1)},
	{"COPY_RECT, of wrong length", BOTH, BAD, W(0x03000008, 1, 0, 4, 2, 0, 4, 4)},
	{"COPY_RECT, cut off", BOTH, CUT, W(0x03000009, 1, 0, 4, 2, 0, 4, 4)},

	{"TARGET", BOTH, OK, W(0x10000006, 2, 0, 8, 8, 32)},
	{"TARGET to the last byte", BOTH, OK, W(0x10000006, 2, 28, 1, 57, 4)},
	{"TARGET, one row too high", BOTH, BAD, W(0x10000006, 2, 28, 1, 58, 4)},
	{"TARGET of the greatest size", BOTH, OK, W(0x10000006, 4, 0, 4096, 4096, 16384)},
	{"TARGET too wide", BOTH, BAD, W(0x10000006, 4, 0, 4097, 1, 32768)},
	{"TARGET too high", BOTH, BAD, W(0x10000006, 4, 0, 1, 4097, 4)},
	{"TARGET of no width", BOTH, BAD, W(0x10000006, 2, 0, 0, 1, 4)},
	{"TARGET of no height", BOTH, BAD, W(0x10000006, 2, 0, 1, 0, 4)},
	{"TARGET, width that wraps", BOTH, BAD, W(0x10000006, 2, 0, 0x40000001, 1, 4)},
	{"TARGET, pitch below the row", BOTH, BAD, W(0x10000006, 2, 0, 8, 1, 28)},
	{"TARGET, odd pitch", BOTH, BAD, W(0x10000006, 2, 0, 8, 1, 34)},
	{"TARGET, pitch too great", BOTH, BAD, W(0x10000006, 2, 0, 8, 2, 228)},
	{"TARGET, odd place", BOTH, BAD, W(0x10000006, 2, 2, 1, 1, 4)},
	{"TARGET that is read only", BOTH, BAD, W(0x10000006, 1, 0, 8, 8, 32)},
	{"TARGET, NULL", BOTH, BAD, W(0x10000006, 0, 0, 1, 1, 4)},
	{"TARGET, of wrong length", BOTH, BAD, W(0x10000007, 2, 0, 8, 8, 32, 0)},
	{"TARGET, cut off", BOTH, CUT, W(0x10000006, 2, 0, 8, 8)},
	{"TARGET for a user of the copy node", USER_COPY, ILLEGAL, W(0x10000006, 2, 0, 8, 8, 32)},
	{"TARGET for the kernel on the copy node", KERNEL_COPY, BAD, W(0x10000006, 2, 0, 8, 8, 32)},

	{"TEXTURE", BOTH, OK, W(0x11000006, 1, 0, 8, 8, 32)},
	{"TEXTURE from what is writable", BOTH, OK, W(0x11000006, 2, 0, 8, 8, 32)},
	{"TEXTURE too wide", BOTH, BAD, W(0x11000006, 4, 0, 4097, 1, 32768)},
	{"TEXTURE beyond its allocation", BOTH, BAD, W(0x11000006, 1, 4, 8, 8, 32)},
	{"TEXTURE, index", BOTH, BAD, W(0x11000006, 6, 0, 8, 8, 32)},
	{"TEXTURE, of wrong length", BOTH, BAD, W(0x11000005, 1, 0, 8, 8)},
	{"TEXTURE, cut off", BOTH, CUT, W(0x11000006)},
	{"TEXTURE for a user of the copy node", USER_COPY, ILLEGAL, W(0x11000006, 1, 0, 8, 8, 32)},

	{"DRAW of 15 vertices", BOTH, OK, W(STATE, 0x12000004, 1, 16, 15)},
	{"DRAW of no vertices", BOTH, OK, W(STATE, 0x12000004, 1, 252, 0)},
	{"DRAW of 18 vertices in 256 bytes", BOTH, BAD, W(STATE, 0x12000004, 1, 0, 18)},
	{"DRAW beyond the end", BOTH, BAD, W(STATE, 0x12000004, 1, 20, 15)},
	{"DRAW of 16 vertices", BOTH, BAD, W(STATE, 0x12000004, 1, 0, 16)},
	{"DRAW of 2^32 bytes", BOTH, BAD, W(STATE, 0x12000004, 1, 0, 0x10000002)},
	{"DRAW of 3 GiB", BOTH, OK, W(STATE, 0x12000004, 4, 0, 0x0bfffffd)},
	{"DRAW, odd place", BOTH, BAD, W(STATE, 0x12000004, 1, 2, 3)},
	{"DRAW without a texture", BOTH, BAD, W(GOOD_TARGET, 0x12000004, 1, 0, 3)},
	{"DRAW without a target", BOTH, BAD, W(GOOD_TEXTURE, 0x12000004, 1, 0, 3)},
	{"DRAW before its state", BOTH, BAD, W(0x12000004, 1, 0, 3, STATE)},
	{"DRAW, of wrong length", BOTH, BAD, W(STATE, 0x12000005, 1, 0, 3, 0)},
	{"DRAW, cut off", BOTH, CUT, W(STATE, 0x12000004, 1, 0)},
	{"DRAW for a user of the copy node", USER_COPY, ILLEGAL, W(0x12000004, 1, 0, 3)},

	{"INDIRECT of a user", USER, PRIVILEGED, W(0x20000004, 1, 0, 256)},
	{"INDIRECT of a user on the copy node", USER_COPY, PRIVILEGED, W(0x20000004, 1, 0, 256)},
	{"INDIRECT of a user, of wrong length", USER, PRIVILEGED, W(0x20000000)},
	{"INDIRECT of the kernel", KERNEL, OK, W(0x20000004, 1, 0, 256)},
	{"INDIRECT of the kernel on the copy node", KERNEL_COPY, OK, W(0x20000004, 1, 0, 256)},
	{"INDIRECT beyond its allocation", KERNEL, BAD, W(0x20000004, 1, 4, 256)},
	{"INDIRECT of bytes", KERNEL, BAD, W(0x20000004, 1, 0, 254)},
	{"INDIRECT as in the ring", KERNEL, BAD, W(0x20000005, 1, 0, 0, 256)},
	{"INDIRECT, cut off", KERNEL, CUT, W(0x20000004, 1, 0)},
	{"FENCE of a user", USER, PRIVILEGED, W(0x21000002, 1)},
	{"FENCE of the kernel", KERNEL, BAD, W(0x21000002, 1)},
	{"HANG of a user", USER, PRIVILEGED, W(0x30000001)},
	{"HANG of the kernel", KERNEL, OK, W(0x30000001)},
	{"HANG, of wrong length", KERNEL, BAD, W(0x30000002, 0)},
	{"FAULT of a user", USER, PRIVILEGED, W(0x31000001)},
	{"FAULT of the kernel", KERNEL, OK, W(0x31000001)},
	{"BUSY of a user", USER, PRIVILEGED, W(0x32000002, 1)},
	{"BUSY of the kernel", KERNEL, OK, W(0x32000002, 1)},
	{"BUSY, cut off", KERNEL, CUT, W(0x32000002)},

	{"opcode 4 of a user", USER, ILLEGAL, W(0x04000001)},
	{"opcode 4 of the kernel", KERNEL, BAD, W(0x04000001)},
	{"opcode 0x0f", USER, ILLEGAL, W(0x0f000001)},
	{"opcode 0x13", USER, ILLEGAL, W(0x13000001)},
	{"opcode 0x22", USER, ILLEGAL, W(0x22000001)},
	{"opcode 0x33", USER, ILLEGAL, W(0x33000001)},
	{"opcode 0xff, all bits", USER, ILLEGAL, W(0xffffffff)},
	{"opcode 0xff of the kernel", KERNEL, BAD, W(0xff000001)},
	{"illegal behind legal", USER, ILLEGAL, W(0x01000005, 2, 0, 4, 7, 0x40000001)},
	{"the first fault counts", USER, BAD, W(0x01000005, 0, 0, 4, 7, 0x30000001, 0x40000001)},
	{"two commands", BOTH, OK, W(0x01000005, 2, 0, 4, 7, 0x02000006, 1, 0, 2, 0, 4)},
};

static void run_row(const struct row *row, bool kernel)
{
	struct render_bench bench;
	enum pb_render_status status;

	render_bench_init(&bench);
	if ((row->who & ON_COPY) != 0)
		bench.device.node = PB_NODE_COPY;
	render_bench_commands(&bench, row->words, row->count);
	status = kernel ? pb_render_km(&bench.arguments) : pb_render(&bench.arguments);
	if (row->status != OK) {
		render_expect_nothing(row->name, &bench, status, row->status);
		assert_int_equal(bench.arguments.multipass_offset, 0);
		return;
	}
	render_expect(row->name, status, OK);
	assert_int_equal(bench.arguments.multipass_offset, bench.arguments.command_length);
	render_bench_written(row->name, &bench);
}

static void test_commands(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((rows[i].who & USER) != 0)
			run_row(&rows[i], false);
		if ((rows[i].who & KERNEL) != 0)
			run_row(&rows[i], true);
	}
}

UNIT_SUITE(test_render_commands)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
