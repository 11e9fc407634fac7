/* SPDX-License-Identifier: MIT */
/* Values that a command must have: the last that is right, and the first that is wrong. */
#include <string.h>

#include "hal/gl/stream.h"
#include "tests/unit/unit.h"

#define OK     PB_GL_STATUS_OK
#define VALUE  PB_GL_STATUS_VALUE
#define LENGTH PB_GL_STATUS_LENGTH
#define OBJECT PB_GL_STATUS_OBJECT

struct row {
	const char *name;
	uint32_t header;
	enum pb_gl_status status;
	struct {
		uint32_t word; /**< 0: no more */
		uint32_t value;
	} set[3];
};

#define H(number, kind, length) ((number) | (kind) << 8 | (length##u) << 16)

static const struct row rows[] = {
	{"object with handle 0", H(1, 1, 11), OBJECT, {{0}}},
	{"shader of the last stage", H(1, 4, 5), OK, {{1, 7}, {2, 5}}},
	{"shader of no stage", H(1, 4, 5), VALUE, {{1, 7}, {2, 6}}},
	{"shader of stage 2^32 - 1", H(1, 4, 5), VALUE, {{1, 7}, {2, UINT32_MAX}}},
	{"one stream-out output", H(1, 4, 11), OK, {{1, 7}, {5, 1}}},
	{"one stream-out output, cut", H(1, 4, 10), LENGTH, {{1, 7}, {5, 1}}},
	{"64 stream-out outputs", H(1, 4, 137), OK, {{1, 7}, {5, 64}}},
	{"64 stream-out outputs, cut", H(1, 4, 136), LENGTH, {{1, 7}, {5, 64}}},
	{"65 stream-out outputs", H(1, 4, 200), VALUE, {{1, 7}, {5, 65}}},
	{"2^32 - 1 stream-out outputs", H(1, 4, 200), VALUE, {{1, 7}, {5, UINT32_MAX}}},
	{"local memory of a compute shader", H(1, 4, 5), OK, {{1, 7}, {2, 5}, {5, 65536}}},
	{"element of the last vertex buffer", H(1, 5, 9), OK, {{1, 7}, {4, 31}, {8, 31}}},
	{"element of no vertex buffer", H(1, 5, 9), VALUE, {{1, 7}, {8, 32}}},
	{"last viewport", H(4, 0, 7), OK, {{1, 15}}},
	{"viewport behind the last", H(4, 0, 7), VALUE, {{1, 16}}},
	{"no viewport, behind the last", H(4, 0, 1), OK, {{1, 16}}},
	{"viewport 2^32 - 1", H(4, 0, 7), VALUE, {{1, UINT32_MAX}}},
	{"last two viewports", H(4, 0, 13), OK, {{1, 14}}},
	{"two viewports, one too far", H(4, 0, 13), VALUE, {{1, 15}}},
	{"17 viewports", H(4, 0, 103), LENGTH, {{0}}},
	{"framebuffer of another count", H(5, 0, 3), LENGTH, {{1, 2}}},
	{"framebuffer of 2^32 - 1 colors", H(5, 0, 3), LENGTH, {{1, UINT32_MAX}}},
	{"framebuffer of 2^32 - 2 colors in no words", H(5, 0, 2), LENGTH, {{1, UINT32_MAX - 1u}}},
	{"framebuffer of 9 colors", H(5, 0, 11), LENGTH, {{1, 9}}},
	{"33 vertex buffers", H(6, 0, 99), LENGTH, {{0}}},
	{"last sampler view", H(10, 0, 3), OK, {{2, 31}}},
	{"sampler view behind the last", H(10, 0, 3), VALUE, {{2, 32}}},
	{"sampler view 2^32 - 1", H(10, 0, 3), VALUE, {{2, UINT32_MAX}}},
	{"sampler view of no stage", H(10, 0, 3), VALUE, {{1, 6}}},
	{"constants of no stage", H(12, 0, 2), VALUE, {{1, 6}}},
	{"constants of any index", H(12, 0, 2), OK, {{2, UINT32_MAX}}},
	{"last scissor", H(15, 0, 3), OK, {{1, 15}}},
	{"scissor behind the last", H(15, 0, 3), VALUE, {{1, 16}}},
	{"last sampler state", H(18, 0, 3), OK, {{2, 31}}},
	{"sampler state behind the last", H(18, 0, 3), VALUE, {{2, 32}}},
	{"sampler state of no stage", H(18, 0, 3), VALUE, {{1, 6}}},
	{"17 stream-out targets", H(25, 0, 18), LENGTH, {{0}}},
	{"uniform buffer of no stage", H(27, 0, 5), VALUE, {{1, 6}}},
	{"uniform buffer behind the last", H(27, 0, 5), VALUE, {{2, 32}}},
	{"shader bound to no stage", H(31, 0, 2), VALUE, {{2, 6}}},
	{"last shader buffer", H(34, 0, 5), OK, {{2, 31}}},
	{"shader buffer behind the last", H(34, 0, 5), VALUE, {{2, 32}}},
	{"no shader buffer, behind the last", H(34, 0, 2), OK, {{2, 99}}},
	{"shader buffer of no stage", H(34, 0, 5), VALUE, {{1, 6}}},
	{"last shader image", H(35, 0, 7), OK, {{2, 31}}},
	{"shader image behind the last", H(35, 0, 7), VALUE, {{2, 32}}},
	{"shader image of no stage", H(35, 0, 7), VALUE, {{1, 6}}},
	{"last atomic buffer", H(40, 0, 4), OK, {{1, 31}}},
	{"atomic buffer behind the last", H(40, 0, 4), VALUE, {{1, 32}}},
	{"atomic buffer 2^32 - 1", H(40, 0, 4), VALUE, {{1, UINT32_MAX}}},
	{"transfer in no direction", H(43, 0, 13), VALUE, {{1, 9}}},
	{"transfer in both directions", H(43, 0, 13), VALUE, {{1, 9}, {13, 3}}},
	{"marker as long as its words", H(51, 0, 3), OK, {{1, 8}}},
	{"marker longer than its words", H(51, 0, 3), VALUE, {{1, 9}}},
	{"marker of 2^32 - 1 bytes", H(51, 0, 3), VALUE, {{1, UINT32_MAX}}},
};

static void values_are_checked(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const struct row *row = &rows[n];
		uint32_t words[256] = {row->header};
		struct pb_gl_command command;

		for (uint32_t set = 0; set < 3 && row->set[set].word != 0; set++)
			words[row->set[set].word] = row->set[set].value;
		if (pb_gl_read(words, 256, 0, &command) != row->status)
			fail_msg("%s: %s", row->name, pb_gl_status_text(pb_gl_read(words, 256, 0, &command)));
	}
}

UNIT_SUITE(test_gl_values)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
