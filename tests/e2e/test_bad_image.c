/* SPDX-License-Identifier: MIT */
/*
 * A damaged image reports the damage instead of running: in the fatal record, to the card and to every host.
 * The damaged bits are not needed for this report.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "patchbay/abi/image.h"
#include "patchbay/link.h"
#include "patchbay/patchbay.h"
#include "qemu/card.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

#define HEADER     PB_IMAGE_HEADER_OFFSET
#define CRC_OFFSET (HEADER + offsetof(struct pb_image_header, crc))

/* The image as a file, and as it lies in memory. */
struct image {
	uint8_t *file;
	size_t file_bytes;
	uint8_t *memory;
	size_t bytes;
	size_t start; /* offset of the memory's first byte in the file */
};

static void path_of(char *path, bool elf)
{
	const char *image = e2e_image();
	const size_t stem = strlen(image) - strlen("elf");

	assert_true((size_t)snprintf(path, E2E_PATH_BYTES, "%.*s%s", (int)stem, image, elf ? "elf" : "bin") <
		    E2E_PATH_BYTES);
}

static void read_image(struct image *image, bool elf)
{
	char path[E2E_PATH_BYTES];
	const uint8_t *header;

	path_of(path, false);
	image->memory = e2e_read_file(path, &image->bytes);
	path_of(path, elf);
	image->file = e2e_read_file(path, &image->file_bytes);
	header = memmem(image->file, image->file_bytes, image->memory + HEADER,
			sizeof(struct pb_image_header));
	assert_non_null(header);
	image->start = (size_t)(header - image->file) - HEADER;
}

static void free_image(const struct image *image)
{
	free(image->file);
	free(image->memory);
}

/* Flips a bit of the image's memory. @return the resulting CRC-32 */
static uint32_t damage(struct image *image, size_t offset)
{
	uint8_t *memory = image->memory;
	uint8_t kept[sizeof(uint32_t)];
	uint32_t crc;

	memory[offset] ^= 0x10;
	image->file[image->start + offset] ^= 0x10;
	memcpy(kept, memory + CRC_OFFSET, sizeof(kept));
	memset(memory + CRC_OFFSET, 0, sizeof(kept));
	crc = (uint32_t)crc32(0, memory, (uInt)image->bytes);
	memcpy(memory + CRC_OFFSET, kept, sizeof(kept));
	return crc;
}

static uint32_t load_address(const struct image *image)
{
	struct pb_image_header header;

	memcpy(&header, image->memory + HEADER, sizeof(header));
	return header.load_address;
}

/* ---- a card that restarts its MCU from a file damaged meanwhile ---- */

static void check_record(const struct pb_fatal_record *fatal, uint32_t start, uint32_t crc)
{
	assert_int_equal(fatal->valid, 1);
	assert_int_equal(fatal->kind, PB_FATAL_BAD_IMAGE);
	assert_int_equal(fatal->pc, start);
	assert_int_equal(fatal->lr, 0);
	assert_int_equal(fatal->status, crc);
	assert_int_equal(fatal->address, start + HEADER);
	assert_int_equal(fatal->waypoint, PB_WAYPOINT_NONE);
}

static void await_death(const char *socket, uint32_t start, uint32_t crc)
{
	const uint64_t begin = e2e_now();
	struct pb_card_info info;
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(socket, &link), PB_ERROR_OK);
	do {
		assert_true(e2e_patience(begin));
		(void)pb_card_read(link, &info);
	} while (info.mcu_state != PB_MCU_DEAD);
	assert_int_equal(info.mcu_deaths, 2);
	assert_int_equal(info.dead_stage, PB_BOOT_STAGE_FATAL);
	assert_int_equal(info.boot_stage, PB_BOOT_STAGE_FATAL);
	assert_int_equal(info.incarnation, 2);
	check_record(&info.fatal, start, crc);
	link->ops->close(link);
}

static void check_info(const char *socket, uint32_t start, uint32_t crc)
{
	static struct e2e_output output;
	char line[128];

	snprintf(line, sizeof(line),
		 "fatal record   kind BAD_IMAGE, pc 0x%08x, lr 0x00000000, status 0x%08x, address 0x%08x, ",
		 (unsigned)start, (unsigned)crc, (unsigned)start + HEADER);
	e2e_patchbay(&output, "info", "--card", socket);
	assert_non_null(strstr(output.out, "boot stage     FATAL\n"));
	assert_non_null(strstr(output.out, line));
	e2e_patchbay(&output, "info", "--json", "--card", socket);
	assert_non_null(strstr(output.out, "\"kind_name\":\t\"BAD_IMAGE\""));
}

static void try_damage(bool elf, size_t offset, bool from_end)
{
	char file[E2E_PATH_BYTES];
	struct e2e_card card;
	struct image image;
	uint32_t start, crc;

	read_image(&image, elf);
	e2e_path(file, "image");
	e2e_write_file(file, image.file, image.file_bytes);
	e2e_card_start_image(&card, file, 1);
	start = load_address(&image);
	crc = damage(&image, from_end ? image.bytes - offset : offset);
	e2e_write_file(file, image.file, image.file_bytes);
	free_image(&image);
	assert_int_equal(kill(e2e_card_mcu(&card), SIGKILL), 0);
	await_death(card.socket, start, crc);
	check_info(card.socket, start, crc);
	e2e_card_stop(&card);
}

static void every_damage_is_reported(void **state)
{
	static const struct {
		const char *what;
		bool elf;
		size_t offset;
		bool from_end;
	} cases[] = {
		{"ELF, the release's name", true, HEADER + offsetof(struct pb_image_header, release), false},
		{"raw, the size in the header", false,
		 HEADER + offsetof(struct pb_image_header, image_bytes) + 3, false},
		{"raw, the CRC itself", false, CRC_OFFSET, false},
		{"raw, the last byte of initial data", false, 1, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].what);
		try_damage(cases[i].elf, cases[i].offset, cases[i].from_end);
	}
}

/* The firmware never ran: the card ends, and reports the reason. */
static void a_card_with_a_damaged_image_ends_and_reports_it(void **state)
{
	static struct e2e_output output;
	char file[E2E_PATH_BYTES], socket[E2E_PATH_BYTES], said[128];
	struct image image;
	uint32_t start, crc;

	(void)state;
	read_image(&image, true);
	start = load_address(&image);
	crc = damage(&image, HEADER + offsetof(struct pb_image_header, build_id));
	e2e_path(file, "image");
	e2e_path(socket, "card");
	e2e_write_file(file, image.file, image.file_bytes);
	free_image(&image);
	snprintf(said, sizeof(said), "BAD_IMAGE, pc 0x%08x, status 0x%08x, at stage FATAL", (unsigned)start,
		 (unsigned)crc);
	e2e_patchbay(&output, "card", "--image", file, "--socket", socket);
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, said));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(every_damage_is_reported),
		e2e_test(a_card_with_a_damaged_image_ends_and_reports_it),
	};

	return e2e_run_tests(tests);
}
