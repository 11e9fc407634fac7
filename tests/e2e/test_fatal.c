/* SPDX-License-Identifier: MIT */
/*
 * The firmware takes a CPU fault: its hosts are told at once, the record says
 * where, and the card starts it again as often as it may.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/card.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

/* How soon a waiting host must know, from the submission to its return. */
#define NOTICE_US 1000000u
/* Far longer than it takes to say that nobody starts the firmware again. */
#define ATTACH_US 30000000u
/* UDF #0, undefined on every Thumb processor. */
#define UNDEFINED_INSTRUCTION 0xde00u
/* UFSR.UNDEFINSTR, as CFSR shows it. */
#define STATUS_UNDEFINED 0x00010000u

/* ---- an image that faults ---- */

struct image {
	uint8_t *bytes;
	size_t size;
};

/* Copies out of the image; whatever lies there has no alignment. */
static void take(const struct image *image, size_t offset, void *to, size_t bytes)
{
	assert_true(offset <= image->size && bytes <= image->size - offset);
	memcpy(to, image->bytes + offset, bytes);
}

static Elf32_Shdr section(const struct image *image, const Elf32_Ehdr *header, uint32_t index)
{
	Elf32_Shdr found;

	assert_true(index < header->e_shnum);
	take(image, header->e_shoff + index * sizeof(found), &found, sizeof(found));
	return found;
}

static bool is_name(const struct image *image, size_t offset, const char *name)
{
	const size_t bytes = strlen(name) + 1;

	return offset <= image->size && bytes <= image->size - offset &&
	       memcmp(image->bytes + offset, name, bytes) == 0;
}

/* Where a function's code is in the MCU's memory. */
static uint32_t function_address(const struct image *image, const Elf32_Ehdr *header, const char *name)
{
	for (uint32_t s = 0; s < header->e_shnum; s++) {
		const Elf32_Shdr table = section(image, header, s);

		if (table.sh_type != SHT_SYMTAB)
			continue;
		for (uint32_t i = 0; i < table.sh_size / sizeof(Elf32_Sym); i++) {
			Elf32_Sym symbol;

			take(image, table.sh_offset + i * sizeof(symbol), &symbol, sizeof(symbol));
			if (ELF32_ST_TYPE(symbol.st_info) == STT_FUNC &&
			    is_name(image, section(image, header, table.sh_link).sh_offset + symbol.st_name,
				    name))
				return symbol.st_value & ~1u; /* bit 0 says Thumb */
		}
	}
	fail_msg("the image has no function %s", name);
	return 0;
}

static size_t file_offset(const struct image *image, const Elf32_Ehdr *header, uint32_t address)
{
	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf32_Phdr part;

		take(image, header->e_phoff + i * sizeof(part), &part, sizeof(part));
		if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
		    address - part.p_vaddr < part.p_filesz)
			return part.p_offset + (address - part.p_vaddr);
	}
	fail_msg("the image does not load 0x%08x", (unsigned)address);
	return 0;
}

/* Writes an image whose pb_core_admit starts with an undefined instruction. @return that address */
static uint32_t write_broken_image(const char *path)
{
	const uint8_t code[] = {UNDEFINED_INSTRUCTION & 0xffu, UNDEFINED_INSTRUCTION >> 8};
	struct image image;
	Elf32_Ehdr header;
	uint32_t address;
	size_t offset;

	image.bytes = e2e_read_file(E2E_IMAGE, &image.size);
	take(&image, 0, &header, sizeof(header));
	assert_memory_equal(header.e_ident, ELFMAG "\x01\x01", SELFMAG + 2); /* 32 bits, little-endian */
	address = function_address(&image, &header, "pb_core_admit");
	offset = file_offset(&image, &header, address);
	assert_true(offset + sizeof(code) <= image.size);
	memcpy(image.bytes + offset, code, sizeof(code));
	e2e_write_file(path, image.bytes, image.size);
	free(image.bytes);
	return address;
}

/* @return where its firmware will fault */
static uint32_t start_broken_card(struct e2e_card *card, uint32_t restarts)
{
	struct pb_card_options options = PB_CARD_OPTIONS_DEFAULT;
	char image[E2E_PATH_BYTES];
	uint32_t address;

	e2e_path(image, "broken.elf");
	e2e_path(card->socket, "card");
	address = write_broken_image(image);
	options.image = image;
	options.socket = card->socket;
	options.restarts = restarts;
	options.quiet = true;
	assert_int_equal(pb_card_start(&options, &card->pid), 0);
	return address;
}

/* ---- its hosts ---- */

/* A submission is all it takes. */
static void make_it_fault(struct e2e_host *host)
{
	struct pb_dma *dma = &host->work[0];
	const uint64_t start = e2e_now();
	struct pb_fence fence;

	e2e_host_fill(host, 0, 1);
	assert_int_equal(pb_dma_submit(dma, 1), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(dma->queue, dma->timeline, E2E_PATIENCE_US, &fence),
			 PB_ERROR_FIRMWARE_DEAD);
	assert_true(e2e_now() - start < NOTICE_US);
}

/* Waits for what the card and an incarnation make of a death by then. */
static void await_state(const struct e2e_host *host, uint32_t deaths, uint32_t incarnation,
			enum pb_mcu_state state, struct pb_card_info *now)
{
	const uint64_t start = e2e_now();

	do {
		assert_true(e2e_patience(start));
		assert_int_equal(pb_channel_check(&host->channel, now), PB_ERROR_FIRMWARE_DEAD);
	} while (now->incarnation != incarnation || now->mcu_state != (uint32_t)state);
	assert_int_equal(now->mcu_deaths, deaths);
	assert_int_equal(now->dead_stage, PB_BOOT_STAGE_FATAL);
	assert_int_equal(now->dead_waypoint, PB_WAYPOINT_ADMIT);
}

static void check_record(const struct pb_fatal_record *fatal, uint32_t address)
{
	assert_int_equal(fatal->valid, 1);
	assert_int_equal(fatal->kind, PB_FATAL_CPU_FAULT);
	assert_int_equal(fatal->pc, address);
	assert_int_equal(fatal->status, STATUS_UNDEFINED);
	assert_int_equal(fatal->waypoint, PB_WAYPOINT_ADMIT);
}

/* Nobody starts it again: whoever comes is told at once, and finds out why. */
static void check_dead_for_good(const char *socket, uint32_t address)
{
	const uint64_t start = e2e_now();
	static struct e2e_output output;
	struct pb_channel channel;
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(socket, &link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&channel, link, ATTACH_US), PB_ERROR_FIRMWARE_DEAD);
	assert_true(e2e_now() - start < ATTACH_US / 2);
	check_record(&channel.card.fatal, address);
	link->ops->close(link);
	e2e_patchbay(&output, "info", "--card", socket);
	assert_non_null(strstr(output.out, "boot stage     FATAL\n"));
	assert_non_null(strstr(output.out, "MCU            dead, died "));
	assert_non_null(strstr(output.out, "waypoint ADMIT\n"));
}

static void test_record(void **state)
{
	struct pb_card_info now;
	struct e2e_card card;
	struct e2e_host host;
	uint32_t address;

	(void)state;
	address = start_broken_card(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	make_it_fault(&host);
	await_state(&host, 1, 1, PB_MCU_DEAD, &now);
	check_record(&now.fatal, address);
	check_dead_for_good(card.socket, address);
	host.link->ops->close(host.link);
	e2e_card_stop(&card);
}

static void test_restart(void **state)
{
	struct pb_card_info now;
	struct e2e_card card;
	struct e2e_host host;
	uint32_t address;

	(void)state;
	address = start_broken_card(&card, 1);
	assert_true(e2e_host_open(&host, card.socket));
	make_it_fault(&host);
	await_state(&host, 1, 2, PB_MCU_RUNNING, &now);
	assert_int_equal(now.fatal.valid, 0);
	host.link->ops->close(host.link);
	/* Its successor serves, until it gets to the same place. */
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(host.channel.card.incarnation, 2);
	make_it_fault(&host);
	await_state(&host, 2, 2, PB_MCU_DEAD, &now);
	check_dead_for_good(card.socket, address);
	host.link->ops->close(host.link);
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(test_record),
		e2e_test(test_restart),
	};

	return e2e_run_tests(tests);
}
