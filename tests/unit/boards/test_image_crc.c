/* SPDX-License-Identifier: MIT */
/* What the image checks of itself, against zlib. */
#include <string.h>
#include <zlib.h>

#include "boards/image.h"
#include "tests/unit/unit.h"

#define WORDS    1000u
#define CRC_WORD 132u /* 0x210 bytes */

static uint32_t words[WORDS];

static void fill(void)
{
	uint32_t seed = 12345;

	for (uint32_t i = 0; i < WORDS; i++) {
		seed = seed * 1664525u + 1013904223u;
		words[i] = seed ^ seed >> 13;
	}
}

static uint32_t zlib_crc(uint32_t count)
{
	return (uint32_t)crc32(0, (const Bytef *)words, count * (uInt)sizeof(words[0]));
}

static void the_crc_is_that_of_zlib(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 3, 16, 255, WORDS};

	(void)state;
	fill();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		assert_int_equal(pb_image_crc(words, counts[i], WORDS), zlib_crc(counts[i]));
	/* The check value that the standard's readers publish is of nine digits; of the first eight it is this. */
	memcpy(words, "12345678", 8);
	assert_int_equal(pb_image_crc(words, 2, WORDS), 0x9ae0daafu);
}

/* Whatever stands in the word that is left out, it is as if 0 stood there. */
static void the_word_left_out_counts_as_zero(void **state)
{
	static const uint32_t places[] = {0, 1, CRC_WORD, WORDS - 1u};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint32_t found;

		fill();
		found = pb_image_crc(words, WORDS, places[i]);
		assert_int_not_equal(found, zlib_crc(WORDS));
		words[places[i]] = 0;
		assert_int_equal(found, zlib_crc(WORDS));
	}
}

static void seal(void)
{
	fill();
	words[CRC_WORD] = 0;
	words[CRC_WORD] = zlib_crc(WORDS);
}

/* Every single bit counts, those of the CRC too; and so do the bounds. */
static void every_bit_counts(void **state)
{
	uint32_t sound, crc;

	(void)state;
	seal();
	assert_true(pb_image_whole(words, words + WORDS, &sound));
	assert_int_equal(sound, words[CRC_WORD]);
	for (uint32_t i = 0; i < WORDS; i++) {
		const uint32_t bit = 1u << i % 32u;

		words[i] ^= bit;
		assert_false(pb_image_whole(words, words + WORDS, &crc));
		assert_int_equal(crc == sound, i == CRC_WORD);
		words[i] ^= bit;
	}
	assert_false(pb_image_whole(words, words + WORDS - 1, &crc));
	assert_false(pb_image_whole(words + 1, words + WORDS, &crc));
	assert_true(pb_image_whole(words, words + WORDS, &crc));
}

UNIT_SUITE(test_image_crc)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_crc_is_that_of_zlib),
		cmocka_unit_test(the_word_left_out_counts_as_zero),
		cmocka_unit_test(every_bit_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
