/* SPDX-License-Identifier: MIT */
/*
 * Memory protection: images that, on a submission, do what no program should. Each is stopped by a fault,
 * with a record that names the place.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/tool/firmware_image.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_image.h"

/* The MCU must not run code from the shared window. */
#define POOL_OFFSET 0x20000u
/* An address without memory or device, on each board. */
#define NOWHERE 0x98765430u

/* Statuses: CFSR of Arm, mcause of RISC-V. */
#define ARM_DATA     0x82u
#define ARM_RUN      0x01u
#define ARM_STACKING 0x10u
#define ARM_LIMIT    0x100000u
#define RISCV_RUN    1u
#define RISCV_LOAD   5u
#define RISCV_STORE  7u

static uint32_t card_memory(void)
{
	char text[PB_FIRMWARE_IMAGE_TEXT_BYTES];
	struct pb_firmware_image image;
	struct pb_image_header header;

	assert_true(pb_firmware_image_read(e2e_image(), &image, text));
	assert_true(pb_firmware_image_header(&image, &header, text));
	pb_firmware_image_free(&image);
	return header.card_memory;
}

/* ---- a card whose firmware goes wrong ---- */

/* One submission. Then the firmware is dead. */
static void make_it_fault(const struct e2e_card *card, struct pb_card_info *info,
			  struct pb_crash_record *crash)
{
	const uint64_t begin = e2e_now();
	struct pb_fence fence;
	struct e2e_host host;

	assert_true(e2e_host_open(&host, card->socket));
	e2e_host_fill(&host, 0, 1);
	assert_int_equal(pb_dma_submit(&host.builders[0], 1), PB_ERROR_OK);
	assert_int_equal(
		pb_queue_wait(host.builders[0].queue, host.builders[0].timeline, E2E_PATIENCE_US, &fence),
		PB_ERROR_FIRMWARE_DEAD);
	do {
		assert_true(e2e_patience(begin));
		assert_int_equal(pb_card_read(host.link, info), PB_ERROR_OK);
	} while (info->mcu_state != PB_MCU_DEAD);
	assert_int_equal(pb_crash_read(host.link, crash), PB_ERROR_OK);
	host.link->ops->close(host.link);
}

struct expected {
	uint32_t status;
	uint32_t address;
	uint32_t pc;
};

/* Makes the image's pb_core_admit use an address wrongly. @return the address of the failing instruction */
static uint32_t violate(enum e2e_stray stray, uint32_t address, struct pb_card_info *info,
			struct pb_crash_record *crash)
{
	uint8_t code[E2E_STRAY_BYTES];
	char image[E2E_PATH_BYTES];
	struct e2e_card card;
	uint32_t at, function;
	size_t bytes;

	/* Addresses of Thumb code are odd. */
	bytes = e2e_stray_code(stray, address | (stray == E2E_STRAY_JUMP && e2e_image_cpu() == E2E_IMAGE_ARM),
			       code, &at);
	e2e_path(image, "stray.elf");
	function = e2e_image_write_at(image, "pb_core_admit", 0, code, bytes);
	e2e_card_start_image(&card, image, 0);
	make_it_fault(&card, info, crash);
	e2e_card_stop(&card);
	return function + at;
}

static void check(const struct pb_card_info *info, const struct pb_crash_record *crash,
		  const struct expected *expected)
{
	assert_int_equal(info->fatal.valid, 1);
	assert_int_equal(info->fatal.kind, PB_FATAL_CPU_FAULT);
	assert_int_equal(info->fatal.status, expected->status);
	assert_int_equal(info->fatal.address, expected->address);
	assert_int_equal(info->fatal.pc, expected->pc);
	assert_int_equal(info->fatal.waypoint, PB_WAYPOINT_ADMIT);
	assert_int_equal(crash->magic, PB_CRASH_MAGIC);
	assert_memory_equal(&crash->kind, &info->fatal.kind, 7 * sizeof(uint32_t));
}

/* ---- code, constants, data, the shared window, nothing ---- */

static const struct violation {
	const char *what;
	enum e2e_stray stray;
	const char *symbol; /* NULL: address as it is */
	uint32_t offset;
	uint32_t riscv; /* status */
} violations[] = {
	{"store to code", E2E_STRAY_STORE, "pb_core_run_busy", 0, RISCV_STORE},
	{"store to a constant", E2E_STRAY_STORE, "pb_emulated_card_config", 0, RISCV_STORE},
	{"run data", E2E_STRAY_JUMP, "the_firmware", 64, RISCV_RUN},
	{"run the stack", E2E_STRAY_JUMP, "pb_stack_bottom", 0x200, RISCV_RUN},
	{"run the shared window", E2E_STRAY_JUMP, NULL, 0, RISCV_RUN},
	{"call a null pointer", E2E_STRAY_JUMP, NULL, 0, RISCV_RUN},
	{"load through a null pointer", E2E_STRAY_LOAD, NULL, 0, RISCV_LOAD},
	{"store through a null pointer", E2E_STRAY_STORE, NULL, 0x80, RISCV_STORE},
	{"load from nowhere", E2E_STRAY_LOAD, NULL, NOWHERE, RISCV_LOAD},
	{"store to nowhere", E2E_STRAY_STORE, NULL, NOWHERE, RISCV_STORE},
};

static uint32_t address_of(const struct violation *violation)
{
	if (violation->symbol != NULL)
		return (e2e_image_symbol(violation->symbol) & ~3u) + violation->offset;
	return strstr(violation->what, "window") != NULL ? card_memory() + POOL_OFFSET : violation->offset;
}

static void every_violation_is_recorded(void **state)
{
	const bool arm = e2e_image_cpu() == E2E_IMAGE_ARM;

	(void)state;
	for (size_t i = 0; i < sizeof(violations) / sizeof(violations[0]); i++) {
		const uint32_t address = address_of(&violations[i]);
		const bool runs = violations[i].stray == E2E_STRAY_JUMP;
		struct expected expected = {.address = address, .status = violations[i].riscv};
		struct pb_crash_record crash;
		struct pb_card_info info;

		print_message("%s\n", violations[i].what);
		expected.pc = violate(violations[i].stray, address, &info, &crash);
		if (runs)
			expected.pc = address;
		if (arm)
			expected.status = runs ? ARM_RUN : ARM_DATA;
		/* Arm reports no address for a denied fetch. The pc has it. */
		if (arm && runs)
			expected.address = 0;
		check(&info, &crash, &expected);
	}
}

/* ---- the stack ---- */

/* Room for what the core pushes at the fault, so the fault's place is known. */
static void a_stack_overflow_is_recorded(void **state)
{
	const uint32_t bottom = e2e_image_symbol("pb_stack_bottom");
	const bool arm = e2e_image_cpu() == E2E_IMAGE_ARM;
	const uint32_t sp = arm ? bottom + 48u : bottom;
	struct expected expected = {.status = RISCV_STORE, .address = bottom - 4u};
	struct pb_crash_record crash;
	struct pb_card_info info;

	(void)state;
	expected.pc = violate(E2E_STRAY_PUSH, sp, &info, &crash);
	if (arm && info.fatal.status == ARM_LIMIT) {
		expected.status = ARM_LIMIT; /* The core compares stack pointers and reports no address. */
		expected.address = 0;
	} else if (arm) {
		expected.status = ARM_DATA;
		expected.address = bottom - 8u;
	}
	check(&info, &crash, &expected);
	assert_int_equal(crash.stack_bottom, bottom);
	assert_int_equal(crash.stack_address, sp);
	assert_int_equal(crash.stack_words, PB_CRASH_STACK_WORDS);
}

/* No room for the pushed registers either: the record reports stack overflow and the registers that show it. */
static void a_used_up_stack_is_recorded(void **state)
{
	const uint32_t bottom = e2e_image_symbol("pb_stack_bottom");
	struct pb_crash_record crash;
	struct pb_card_info info;

	(void)state;
	if (e2e_image_cpu() != E2E_IMAGE_ARM)
		return; /* RISC-V cores push nothing */
	(void)violate(E2E_STRAY_PUSH, bottom + 8u, &info, &crash);
	assert_int_equal(info.fatal.kind, PB_FATAL_CPU_FAULT);
	assert_true((info.fatal.status & (ARM_STACKING | ARM_LIMIT)) != 0);
	assert_int_equal(info.fatal.pc, 0);
	assert_int_equal(crash.magic, PB_CRASH_MAGIC);
	assert_int_equal(crash.stack_address, bottom);
}

/* ---- a CPU without enough of it ---- */

/* QEMU with another protection unit: a program of its name, which comes first in PATH. */
static void make_qemu(const char *folder, uint32_t regions)
{
	char script[E2E_PATH_BYTES * 2], file[E2E_PATH_BYTES];

	assert_int_equal(mkdir(folder, 0777), 0);
	e2e_path(file, "bin/qemu-system-arm");
	(void)snprintf(script, sizeof(script),
		       "#!/bin/sh\nPATH=${PATH#*:} exec qemu-system-arm -global "
		       "cortex-m7-arm-cpu.pmsav7-dregion=%u \"$@\"\n",
		       (unsigned)regions);
	e2e_write_file(file, script, strlen(script));
	assert_int_equal(chmod(file, 0755), 0);
}

/* The firmware never runs: the card ends, and reports how many regions there are. */
static void an_image_refuses_a_cpu_with_too_few_regions(void **state)
{
	static const char said[] = "UNPROTECTED, pc 0x00000000, status 0x00000004, at stage FATAL";
	static struct e2e_output output;
	char folder[E2E_PATH_BYTES], socket[E2E_PATH_BYTES], path[E2E_PATH_BYTES * 16];
	char *former = strdup(getenv("PATH"));

	(void)state;
	assert_non_null(former);
	if (strcmp(e2e_board(), "mps2_an500") == 0) { /* of no other CPU QEMU changes the number */
		e2e_path(folder, "bin");
		e2e_path(socket, "card");
		make_qemu(folder, 4);
		(void)snprintf(path, sizeof(path), "%s:%s", folder, former);
		assert_int_equal(setenv("PATH", path, 1), 0);
		e2e_patchbay(&output, "card", "--image", e2e_image(), "--socket", socket);
		assert_int_equal(setenv("PATH", former, 1), 0);
		assert_int_equal(output.code, 1);
		assert_non_null(strstr(output.err, said));
	}
	free(former);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(every_violation_is_recorded),
		e2e_test(a_stack_overflow_is_recorded),
		e2e_test(a_used_up_stack_is_recorded),
		e2e_test(an_image_refuses_a_cpu_with_too_few_regions),
	};

	return e2e_run_tests(tests);
}
