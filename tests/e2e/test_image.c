/* SPDX-License-Identifier: MIT */
/* The command `patchbay image` on the image that is built, whole and damaged. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/image.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

/* The image as a raw file of this test's folder. */
static void copy_raw(char path[E2E_PATH_BYTES], struct pb_image_header *header, size_t damaged)
{
	char source[E2E_PATH_BYTES];
	size_t bytes;
	uint8_t *raw;

	snprintf(source, sizeof(source), "%.*sbin", (int)(strlen(e2e_image()) - strlen("elf")), e2e_image());
	raw = e2e_read_file(source, &bytes);
	memcpy(header, raw + PB_IMAGE_HEADER_OFFSET, sizeof(*header));
	if (damaged != 0)
		raw[damaged] ^= 1;
	e2e_path(path, "image.bin");
	e2e_write_file(path, raw, bytes);
	free(raw);
}

static void expect_text(char *text, size_t bytes, const struct pb_image_header *header)
{
	const uint8_t *id = (const uint8_t *)header->build_id;
	char hex[41];

	for (size_t i = 0; i < 20; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	snprintf(text, bytes,
		 "board          %s\n"
		 "release        %s\n"
		 "build id       %s\n"
		 "load address   0x%08x\n"
		 "size           %u bytes\n"
		 "CRC-32         0x%08x\n"
		 "interface      1.0 to 1.65535\n"
		 "card memory    0x%08x, %u bytes\n",
		 header->board, header->release, hex, (unsigned)header->load_address,
		 (unsigned)header->image_bytes, (unsigned)header->crc, (unsigned)header->card_memory,
		 (unsigned)header->card_memory_bytes);
}

static void a_good_image_is_described(void **state)
{
	static struct e2e_output output;
	struct pb_image_header header;
	char path[E2E_PATH_BYTES], expected[1024];

	(void)state;
	copy_raw(path, &header, 0);
	expect_text(expected, sizeof(expected), &header);
	e2e_patchbay(&output, "image", path);
	assert_int_equal(output.code, 0);
	assert_string_equal(output.out, expected);
	assert_string_equal(output.err, "");
	e2e_patchbay(&output, "image", "--board", header.board, e2e_image());
	assert_int_equal(output.code, 0);
	assert_string_equal(output.out, expected);
}

static void check_number(const cJSON *object, const char *name, uint32_t value)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_true(cJSON_IsNumber(item));
	assert_true(item->valuedouble >= value && item->valuedouble <= value);
}

static void check_string(const cJSON *object, const char *name, const char *value)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_true(cJSON_IsString(item));
	assert_string_equal(item->valuestring, value);
}

static void the_description_is_valid_json(void **state)
{
	static struct e2e_output output;
	struct pb_image_header header;
	char path[E2E_PATH_BYTES];
	cJSON *object;

	(void)state;
	copy_raw(path, &header, 0);
	e2e_patchbay(&output, "image", "--json", path);
	assert_int_equal(output.code, 0);
	object = cJSON_Parse(output.out);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "good")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, "defect")));
	check_string(object, "board", header.board);
	check_string(object, "release", header.release);
	check_number(object, "load_address", header.load_address);
	check_number(object, "image_bytes", header.image_bytes);
	check_number(object, "crc", header.crc);
	check_number(object, "abi_oldest", header.abi_oldest);
	check_number(object, "abi_newest", header.abi_newest);
	check_number(object, "card_memory", header.card_memory);
	check_number(object, "card_memory_bytes", header.card_memory_bytes);
	cJSON_Delete(object);
}

static void a_damaged_image_is_refused(void **state)
{
	static struct e2e_output output;
	struct pb_image_header header;
	char path[E2E_PATH_BYTES];
	cJSON *object;

	(void)state;
	copy_raw(path, &header, 1000);
	e2e_patchbay(&output, "image", path);
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, "image.bin: the image is damaged: its CRC-32 is 0x"));
	assert_non_null(strstr(output.out, "\nCRC-32         0x"));
	copy_raw(path, &header, PB_IMAGE_HEADER_OFFSET);
	e2e_patchbay(&output, "image", "--json", path);
	assert_int_equal(output.code, 1);
	object = cJSON_Parse(output.out);
	assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(object, "good")));
	check_string(object, "defect",
		     "the file is no Patchbay image: 0x4d494251 at 0x200 instead of 0x4d494250");
	assert_null(cJSON_GetObjectItemCaseSensitive(object, "board"));
	cJSON_Delete(object);
	e2e_patchbay(&output, "image", "--board", "other", e2e_image());
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, "the image is for board "));
	e2e_path(path, "gone");
	e2e_patchbay(&output, "image", path);
	assert_int_equal(output.code, 1);
	assert_string_equal(output.out, "");
	assert_non_null(strstr(output.err, "gone: No such file or directory"));
}

static void wrong_arguments_are_refused(void **state)
{
	static const struct {
		const char *arguments[E2E_ARGUMENTS];
		int code;
		const char *says;
	} cases[] = {
		{{"image"}, 2, "FILE is missing"},
		{{"image", "a", "b"}, 2, "give one FILE"},
		{{"image", "--fast", "a"}, 2, "unrecognized option '--fast'"},
		{{"image", "--help"}, 0, "Refuse an image for another board"},
	};
	static struct e2e_output output;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e2e_collect(e2e_spawn(E2E_PATCHBAY, cases[i].arguments, NULL), &output);
		assert_int_equal(output.code, cases[i].code);
		assert_non_null(strstr(cases[i].code == 0 ? output.out : output.err, cases[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_good_image_is_described),
		e2e_test(the_description_is_valid_json),
		e2e_test(a_damaged_image_is_refused),
		e2e_test(wrong_arguments_are_refused),
	};

	return e2e_run_tests(tests);
}
