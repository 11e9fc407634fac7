/* SPDX-License-Identifier: MIT */
/* Images with one defect each, raw and ELF: each is found, and named. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/firmware_image.h"
#include "tests/unit/unit.h"

#define BYTES      0x300u
#define HEADER     0x200u
#define LOAD       0x08000000u
#define FIELD(f)   (HEADER + (uint32_t)offsetof(struct pb_image_header, f))
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define ELF_CODE   0x200u /* where the parts lie in the file */
#define ELF_DATA   0x500u
#define CODE_BYTES 0x2f0u

static uint8_t raw[BYTES + 4];
static uint8_t elf[0x600];

static void put32(uint8_t *at, uint32_t value)
{
	for (uint32_t i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

/* Bit by bit, as the standard defines it. */
static uint32_t crc_of(const uint8_t *data, uint32_t bytes)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < bytes * 8; i++) {
		const uint32_t bit = (crc ^ (uint32_t)data[i / 8] >> i % 8) & 1;

		crc = crc >> 1 ^ (bit != 0 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void seal(uint32_t bytes)
{
	put32(raw + FIELD(image_bytes), bytes);
	put32(raw + FIELD(crc), 0);
	put32(raw + FIELD(crc), crc_of(raw, bytes));
}

static void make_raw(void)
{
	memset(raw, 0, sizeof(raw));
	for (uint32_t i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t)(i * 7u + i / 256u);
	memset(raw + HEADER, 0, sizeof(struct pb_image_header));
	put32(raw + FIELD(magic), 0x4d494250);
	put32(raw + FIELD(version), 1);
	put32(raw + FIELD(load_address), LOAD);
	put32(raw + FIELD(abi_oldest), 0x00010000);
	put32(raw + FIELD(abi_newest), 0x0001ffff);
	put32(raw + FIELD(card_memory), 0x60000000);
	put32(raw + FIELD(card_memory_bytes), 0x01000000);
	memcpy(raw + FIELD(board), "a_board", 8);
	memcpy(raw + FIELD(release), "0.1.0", 6);
	seal(BYTES);
}

/* @return whether it is good; text says why not */
static bool check(const uint8_t *data, size_t bytes, const char *board, char *text)
{
	struct pb_firmware_image image;
	struct pb_image_header header;
	uint8_t *exact = malloc(bytes + 1); /* reading past its end is found */
	bool good;

	assert_non_null(exact);
	exact = realloc(exact, bytes != 0 ? bytes : 1);
	memcpy(exact, data, bytes);
	text[0] = '\0';
	good = pb_firmware_image_parse(exact, bytes, &image, text) &&
	       pb_firmware_image_header(&image, &header, text) &&
	       pb_firmware_image_check(&image, &header, board, text);
	pb_firmware_image_free(&image);
	free(exact);
	return good;
}

static void refuse(const char *what, const uint8_t *data, size_t bytes, const char *board,
		   const char *expected)
{
	char text[PB_FIRMWARE_IMAGE_TEXT_BYTES];

	print_message("%s\n", what);
	assert_false(check(data, bytes, board, text));
	assert_string_equal(text, expected);
}

static void accept(const uint8_t *data, size_t bytes, const char *board)
{
	char text[PB_FIRMWARE_IMAGE_TEXT_BYTES];

	assert_true(check(data, bytes, board, text));
	assert_string_equal(text, "");
}

static void a_sound_image_is_accepted(void **state)
{
	struct pb_firmware_image image;
	struct pb_image_header header;
	char text[PB_FIRMWARE_IMAGE_TEXT_BYTES] = "";

	(void)state;
	make_raw();
	accept(raw, BYTES, NULL);
	accept(raw, BYTES, "a_board");
	assert_true(pb_firmware_image_parse(raw, BYTES, &image, text));
	assert_true(pb_firmware_image_header(&image, &header, text));
	assert_false(image.addressed);
	assert_int_equal(image.size, BYTES);
	assert_memory_equal(image.bytes, raw, BYTES);
	assert_memory_equal(&header, raw + HEADER, sizeof(header));
	pb_firmware_image_free(&image);
}

/* A word of the header that is wrong; `sealed`: the CRC is right all the same. */
static void every_wrong_word_of_the_header_is_named(void **state)
{
	static const struct {
		const char *what;
		uint32_t place;
		uint32_t value;
		bool sealed;
		const char *text;
	} cases[] = {
		{"magic", FIELD(magic), 0x4d494251, true,
		 "the file is no Patchbay image: 0x4d494251 at 0x200 instead of 0x4d494250"},
		{"older version", FIELD(version), 0, true,
		 "the header has version 0, this program knows version 1"},
		{"newer version", FIELD(version), 2, true,
		 "the header has version 2, this program knows version 1"},
		{"not sealed", FIELD(image_bytes), 0, false,
		 "the image is not sealed; run scripts/seal after linking"},
		{"longer", FIELD(image_bytes), BYTES + 4, false,
		 "the header has size 772 bytes, the image has 768"},
		{"shorter", FIELD(image_bytes), BYTES - 4, false,
		 "the header has size 764 bytes, the image has 768"},
		{"absurd", FIELD(image_bytes), 0xffffffff, false,
		 "the header has size 4294967295 bytes, the image has 768"},
		{"nameless", FIELD(board), 0, true, "the header names no board"},
		{"board of no text", FIELD(board), 0x0a0a0a0a, true, "the header names no board"},
		{"no release", FIELD(release), 0, true, "the header names no release"},
		{"turned", FIELD(abi_oldest), 0x00020000, true,
		 "the header has the interface range 2.0 to 1.65535"},
		{"too old", FIELD(abi_oldest), 0x0001ffff, true,
		 "the image serves interface 1.65535 to 1.65535, this program uses 1.3"},
		{"none newer than ours", FIELD(abi_newest), PB_ABI_VERSION, true, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make_raw();
		put32(raw + cases[i].place, cases[i].value);
		if (cases[i].sealed)
			seal(BYTES);
		if (cases[i].text != NULL)
			refuse(cases[i].what, raw, BYTES, NULL, cases[i].text);
		else
			accept(raw, BYTES, NULL);
	}
	make_raw();
	put32(raw + FIELD(abi_oldest), 0x00000000);
	put32(raw + FIELD(abi_newest), 0x0000ffff);
	seal(BYTES);
	refuse("of an older major", raw, BYTES, NULL,
	       "the image serves interface 0.0 to 0.65535, this program uses 1.3");
}

/* A name that fills its field has no end. */
static void names_without_an_end_are_refused(void **state)
{
	(void)state;
	make_raw();
	memset(raw + FIELD(board), 'b', 32);
	seal(BYTES);
	refuse("board", raw, BYTES, NULL, "the header names no board");
	raw[FIELD(board) + 31] = '\0';
	seal(BYTES);
	accept(raw, BYTES, NULL);
	memset(raw + FIELD(release), 'r', 32);
	seal(BYTES);
	refuse("release", raw, BYTES, NULL, "the header names no release");
}

static void every_flipped_bit_is_found(void **state)
{
	char expected[PB_FIRMWARE_IMAGE_TEXT_BYTES];

	(void)state;
	for (uint32_t place = 0; place < BYTES; place += 4) {
		uint8_t copy[BYTES];

		/* Those of the header that are looked at before are other tests' matter. */
		if (place >= FIELD(magic) && place < FIELD(load_address))
			continue;
		if (place == FIELD(image_bytes) || place == FIELD(crc))
			continue;
		make_raw();
		raw[place] ^= 1;
		memcpy(copy, raw, BYTES);
		put32(copy + FIELD(crc), 0);
		snprintf(expected, sizeof(expected),
			 "the image is damaged: its CRC-32 is 0x%08x, the header has 0x%08x",
			 (unsigned)crc_of(copy, BYTES),
			 (unsigned)(raw[FIELD(crc)] | (uint32_t)raw[FIELD(crc) + 1] << 8 |
				    (uint32_t)raw[FIELD(crc) + 2] << 16 |
				    (uint32_t)raw[FIELD(crc) + 3] << 24));
		refuse("a bit", raw, BYTES, NULL, expected);
	}
}

static void every_wrong_length_is_refused(void **state)
{
	(void)state;
	make_raw();
	refuse("empty", raw, 0, NULL, "the file is empty");
	refuse("cut before the header", raw, 0x200, NULL, "the image has 512 bytes, too few for a header");
	refuse("cut in the header", raw, 0x27f, NULL, "the image has 639 bytes, too few for a header");
	refuse("cut behind it", raw, 0x280, NULL, "the header has size 768 bytes, the image has 640");
	refuse("a byte more", raw, BYTES + 1, NULL, "the header has size 768 bytes, the image has 769");
	seal(BYTES + 1);
	refuse("no whole words", raw, BYTES + 1, NULL, "the size, 769 bytes, is no multiple of 4");
	make_raw();
	refuse("another board", raw, BYTES, "other", "the image is for board a_board, not other");
	refuse("part of its name", raw, BYTES, "a_boar", "the image is for board a_board, not a_boar");
}

static void test_too_long(void **state)
{
	const size_t bytes = PB_FIRMWARE_IMAGE_BYTES_MAX + 1u;
	uint8_t *data = calloc(1, bytes);

	(void)state;
	assert_non_null(data);
	refuse("16 MiB and a byte", data, bytes, NULL, "the file is longer than 16 MiB");
	refuse("16 MiB", data, bytes - 1, NULL,
	       "the file is no Patchbay image: 0x00000000 at 0x200 instead of 0x4d494250");
	free(data);
}

/* ---- ELF ---- */

#define PART(n)        (52u + 32u * (n))
#define PART_OFFSET(n) (PART(n) + 4u)
#define PART_LOAD(n)   (PART(n) + 12u)
#define PART_BYTES(n)  (PART(n) + 16u)

static void put_part(uint32_t n, uint32_t type, uint32_t offset, uint32_t at, uint32_t load, uint32_t bytes)
{
	const uint32_t words[8] = {type, offset, at, load, bytes, bytes, 5, 4};

	for (uint32_t i = 0; i < 8; i++)
		put32(elf + PART(n) + 4 * i, words[i]);
}

/* Two parts that lie apart in the file, the second one first; and one that takes memory only. */
static void make_elf(void)
{
	make_raw();
	memset(elf, 0, sizeof(elf));
	memcpy(elf,
	       "\x7f"
	       "ELF\x01\x01\x01",
	       7);
	put16(elf + 16, 2);
	put32(elf + 28, 52);
	put16(elf + 42, 32);
	put16(elf + 44, 3);
	put_part(0, PT_LOAD, ELF_DATA, 0x20000000, LOAD + CODE_BYTES, BYTES - CODE_BYTES);
	put_part(1, PT_LOAD, ELF_CODE, LOAD, LOAD, CODE_BYTES);
	put_part(2, PT_LOAD, 0, 0x20001000, 0x20001000, 0);
	memcpy(elf + ELF_CODE, raw, CODE_BYTES);
	memcpy(elf + ELF_DATA, raw + CODE_BYTES, BYTES - CODE_BYTES);
}

static void an_elf_file_is_its_loaded_bytes(void **state)
{
	struct pb_firmware_image image;
	char text[PB_FIRMWARE_IMAGE_TEXT_BYTES];

	(void)state;
	make_elf();
	accept(elf, sizeof(elf), "a_board");
	assert_true(pb_firmware_image_parse(elf, sizeof(elf), &image, text));
	assert_true(image.addressed);
	assert_int_equal(image.load_address, LOAD);
	assert_int_equal(image.size, BYTES);
	assert_memory_equal(image.bytes, raw, BYTES);
	pb_firmware_image_free(&image);
}

/* The same for 64 bits. */
static uint8_t wide[64 + 2 * 56 + BYTES];

static void put_wide_part(uint32_t index, uint32_t offset, uint32_t load, uint32_t bytes)
{
	uint8_t *part = wide + 64 + 56u * index;

	put32(part, PT_LOAD);
	put32(part + 8, offset);
	put32(part + 16, 0x20000000);
	put32(part + 24, load);
	put32(part + 32, bytes);
}

static void make_wide(void)
{
	memset(wide, 0, sizeof(wide));
	memcpy(wide,
	       "\x7f"
	       "ELF\x02\x01\x01",
	       7);
	put32(wide + 32, 64);
	put16(wide + 54, 56);
	put16(wide + 56, 2);
	put_wide_part(0, 64 + 2 * 56 + CODE_BYTES, LOAD + CODE_BYTES, BYTES - CODE_BYTES);
	put_wide_part(1, 64 + 2 * 56, LOAD, CODE_BYTES);
	memcpy(wide + 64 + 2 * 56, raw, BYTES);
}

static void a_64_bit_elf_file_is_read(void **state)
{
	(void)state;
	make_wide();
	accept(wide, sizeof(wide), "a_board");
	refuse("a cut header", wide, 63, NULL, "the file is no complete little-endian ELF file");
	put32(wide + 64 + 28, 1);
	refuse("a high address", wide, sizeof(wide), NULL, "the ELF file has a part beyond 4 GiB");
	make_wide();
	put32(wide + 64 + 36, 1);
	refuse("a long part", wide, sizeof(wide), NULL,
	       "the ELF file is cut off: part 0 lies outside the file");
	make_wide();
	put32(wide + 36, 1);
	refuse("headers far away", wide, sizeof(wide), NULL,
	       "the ELF file's program headers lie outside the file");
}

static void every_elf_defect_is_named(void **state)
{
	static const struct {
		const char *what;
		uint32_t place;
		uint32_t value;
		const char *text;
	} cases[] = {
		{"64 bits, and is not", 4, 0x00010102, "the ELF file's program headers lie outside the file"},
		{"neither 32 nor 64 bits", 4, 0x00010103, "the file is no complete little-endian ELF file"},
		{"big-endian", 4, 0x00010201, "the file is no complete little-endian ELF file"},
		{"headers of another size", 42, 0x00030038,
		 "the ELF file's program headers lie outside the file"},
		{"headers behind the end", 28, 0x5a1, "the ELF file's program headers lie outside the file"},
		{"headers far behind the end", 28, 0xfffffff0,
		 "the ELF file's program headers lie outside the file"},
		{"very many headers", 42, 0xffff0020, "the ELF file's program headers lie outside the file"},
		{"no headers", 42, 0x00000020, "the ELF file has no part to load"},
		{"a part behind the end", PART_OFFSET(1), 0x311,
		 "the ELF file is cut off: part 1 lies outside the file"},
		{"a part of absurd length", PART_BYTES(0), 0xffffffff,
		 "the ELF file is cut off: part 0 lies outside the file"},
		{"parts far apart", PART_LOAD(0), 0x20000000,
		 "the parts of the ELF file span more than 16 MiB"},
		{"a part at the end of all addresses", PART_LOAD(1), 0xffffff00,
		 "the parts of the ELF file span more than 16 MiB"},
		{"a part that is not loaded", PART(0), PT_NOTE,
		 "the header has size 768 bytes, the image has 752"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make_elf();
		put32(elf + cases[i].place, cases[i].value);
		refuse(cases[i].what, elf, sizeof(elf), NULL, cases[i].text);
	}
	make_elf();
	refuse("a cut header", elf, 51, NULL, "the file is no complete little-endian ELF file");
	/* Wholly somewhere else than its header says. */
	put32(elf + PART_LOAD(0), CODE_BYTES);
	put32(elf + PART_LOAD(1), 0);
	refuse("another address", elf, sizeof(elf), NULL,
	       "the header has load address 0x08000000, the ELF file 0x00000000");
}

static void test_files(void **state)
{
	struct pb_firmware_image image;
	char text[PB_FIRMWARE_IMAGE_TEXT_BYTES];

	(void)state;
	assert_false(pb_firmware_image_read("/nonexistent/image.bin", &image, text));
	assert_string_equal(text, "No such file or directory");
	pb_firmware_image_free(&image);
	assert_false(pb_firmware_image_read("/", &image, text));
	assert_string_equal(text, "Is a directory");
	pb_firmware_image_free(&image);
}

UNIT_SUITE(test_firmware_image)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_image_is_accepted),
		cmocka_unit_test(every_wrong_word_of_the_header_is_named),
		cmocka_unit_test(names_without_an_end_are_refused),
		cmocka_unit_test(every_flipped_bit_is_found),
		cmocka_unit_test(every_wrong_length_is_refused),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(an_elf_file_is_its_loaded_bytes),
		cmocka_unit_test(a_64_bit_elf_file_is_read),
		cmocka_unit_test(every_elf_defect_is_named),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
