/* SPDX-License-Identifier: MIT */
/*
 * `patchbay crash`: its report of firmware that died is compared with the compiler's tools and the sources,
 * and survives a restart.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_image.h"

static struct e2e_output output;

static void await(const struct e2e_card *card, uint32_t incarnation, enum pb_mcu_state mcu,
		  struct pb_crash_record *record)
{
	const uint64_t begin = e2e_now();
	struct pb_card_info info = {0};
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(card->socket, &link), PB_ERROR_OK);
	do {
		assert_true(e2e_patience(begin));
		(void)pb_card_read(link, &info);
	} while (info.mcu_state != (uint32_t)mcu || info.incarnation != incarnation);
	assert_int_equal(pb_crash_read(link, record), PB_ERROR_OK);
	link->ops->close(link);
}

static void expect(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void expect(const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (strstr(output.out, text) == NULL)
		fail_msg("\"%s\" is missing in:\n%s%s", text, output.out, output.err);
}

/* "file:line" of an address from the tools of the image's compiler, as "firmware/FOLDER/FILE.c:LINE". Valid until the next call. */
static const char *ask_addr2line(const char *image, uint32_t address)
{
	static struct e2e_output printed;
	const char *tool = e2e_image_cpu() == E2E_IMAGE_ARM ? "arm-none-eabi-addr2line"
							    : "riscv64-unknown-elf-addr2line";
	const char *place;
	char text[16];

	snprintf(text, sizeof(text), "0x%x", address);
	e2e_collect(e2e_spawn("/usr/bin/env", E2E_ARGUMENT_LIST(tool, "-e", image, text), NULL), &printed);
	assert_int_equal(printed.code, 0);
	printed.out[strcspn(printed.out, " \n")] = '\0';
	place = strstr(printed.out, "firmware/");
	assert_non_null(place);
	return place;
}

/* Checks that the text names what is in the record, its place in the source, and the callers. */
static void check_fault(const char *image, uint32_t address, const struct pb_crash_record *record)
{
	assert_int_equal(record->pc, address);
	expect("crash          CPU_FAULT: an instruction that this CPU does not have\n");
	expect("pc             0x%08x  pb_core_admit  %s\n", address, ask_addr2line(image, address));
	expect("waypoint       ADMIT\n");
	expect("  main  boards/main.c:");
	expect("pb_firmware_pass");
	expect("channel 1 sent command QUEUE_CREATE\n");
	assert_in_range(record->stack_words, 8, PB_CRASH_STACK_WORDS);
	assert_in_range(record->stack_address, record->stack_bottom, record->stack_top);
}

/* The report from a saved copy of card memory; an incomplete copy is refused. */
static void check_file(const struct e2e_card *card, const char *image, const char *dump)
{
	static struct e2e_output saved;
	struct pb_link *link;
	uint32_t bytes;

	assert_int_equal(pb_link_open_socket(card->socket, &link), PB_ERROR_OK);
	/* Behind what the firmware uses there may be host memory. */
	bytes = pb_shared_read32(&((const struct pb_boot_block *)(const void *)link->memory)->memory_bytes);
	e2e_write_file(dump, link->memory, bytes);
	link->ops->close(link);
	e2e_patchbay(&saved, "crash", "--image", image, dump);
	assert_int_equal(saved.code, 0);
	assert_string_equal(saved.out, output.out);
	assert_int_equal(truncate(dump, bytes - 1), 0);
	e2e_patchbay(&saved, "crash", "--image", image, dump);
	assert_int_equal(saved.code, 1);
	assert_non_null(strstr(saved.err, "PROTOCOL"));
}

/* What gdb says of the core: its registers are the record's, and the calls lead from where the image was broken up to main. */
static void check_core(const struct e2e_card *card, const char *image, const struct pb_crash_record *record)
{
	static const struct {
		const char *arm, *riscv; /* gdb's names */
		uint32_t arm_number, riscv_number;
	} registers[] = {{"$pc", "$pc", 15, 0}, {"$sp", "$sp", 13, 2}, {"$lr", "$ra", 14, 1},
			 {"$r0", "$a0", 0, 10}, {"$r4", "$s1", 4, 9},  {"$r11", "$s11", 11, 27}};
	const bool arm = e2e_image_cpu() == E2E_IMAGE_ARM;
	static struct e2e_output said;
	char core[E2E_PATH_BYTES], script[E2E_PATH_BYTES], commands[1024] = "backtrace\n", line[64];
	const char *calls;

	e2e_path(core, "core");
	e2e_path(script, "commands");
	e2e_patchbay(&said, "crash", "--card", card->socket, "--core", "/dev/full");
	assert_int_equal(said.code, 1);
	assert_string_equal(said.err, "patchbay crash: /dev/full: No space left on device\n");
	e2e_patchbay(&said, "crash", "--card", card->socket, "--core", core);
	assert_int_equal(said.code, 0);
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		snprintf(line, sizeof(line), "printf \"%zu=%%x\\n\", %s\n", i,
			 arm ? registers[i].arm : registers[i].riscv);
		strcat(commands, line);
	}
	e2e_write_file(script, commands, strlen(commands));
	e2e_collect(e2e_spawn("/usr/bin/env",
			      E2E_ARGUMENT_LIST("gdb-multiarch", "-nx", "-batch", "-x", script, image, core),
			      NULL),
		    &said);
	if (said.code != 0 || (calls = strstr(said.out, "#0 ")) == NULL)
		fail_msg("gdb-multiarch: %s%s", said.out, said.err);
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		const uint32_t number = arm ? registers[i].arm_number : registers[i].riscv_number;

		snprintf(line, sizeof(line), "\n%zu=%x\n", i, record->registers[number]);
		if (strstr(said.out, line) == NULL)
			fail_msg("no line %s in %s", line + 1, said.out);
	}
	for (size_t i = 0; i < 3; i++) {
		static const char *const functions[] = {"pb_core_admit ", "pb_firmware_pass ", "main "};

		calls = strstr(calls, functions[i]);
		if (calls == NULL)
			fail_msg("%sis not in its place: %s%s", functions[i], said.out, said.err);
	}
}

static void a_fault_is_explained(void **state)
{
	char image[E2E_PATH_BYTES], dump[E2E_PATH_BYTES];
	struct pb_crash_record record;
	struct e2e_card card;
	uint32_t address;

	(void)state;
	e2e_path(image, "broken.elf");
	e2e_path(dump, "memory.bin");
	address = e2e_image_write(image, "pb_core_admit", E2E_IMAGE_FAULTS);
	e2e_card_start_image(&card, image, 0);
	e2e_host_meets_fault(card.socket);
	await(&card, 1, PB_MCU_DEAD, &record);
	e2e_patchbay(&output, "crash", "--card", card.socket, "--image", image);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	check_fault(image, address, &record);
	check_core(&card, image, &record);
	check_file(&card, image, dump);
	e2e_card_stop(&card);
}

/* ---- a failed assertion ---- */

/* The source lines of an assertion. */
static void find_assertion(const char *file, const char *text, uint32_t *first, uint32_t *last)
{
	size_t bytes;
	char *source = (char *)e2e_read_file(file, &bytes);
	const char *found = strstr(source, text);

	assert_non_null(found);
	*first = 1;
	for (const char *at = source; at < found; at++)
		*first += *at == '\n';
	*last = *first;
	for (; *found != ';'; found++)
		*last += *found == '\n';
	free(source);
}

static void an_assertion_is_explained(void **state)
{
	char good[E2E_PATH_BYTES], bad[E2E_PATH_BYTES];
	struct pb_crash_record record;
	uint32_t first, last;
	struct e2e_card card;
	uint8_t *image;
	size_t bytes;

	(void)state;
	e2e_path(good, "image.elf");
	e2e_path(bad, "bad.elf");
	image = e2e_read_file(e2e_image(), &bytes);
	e2e_write_file(good, image, bytes);
	free(image);
	e2e_card_start_image(&card, good, 1);
	e2e_patchbay(&output, "crash", "--card", card.socket);
	assert_int_equal(output.code, 1);
	assert_string_equal(output.err, "patchbay crash: there is no crash record\n");
	e2e_image_write_asserting(bad);
	image = e2e_read_file(bad, &bytes);
	e2e_write_file(good, image, bytes);
	free(image);
	assert_int_equal(kill(e2e_card_mcu(&card), SIGKILL), 0);
	await(&card, 2, PB_MCU_DEAD, &record);
	find_assertion(E2E_SOURCES "/firmware/channel/endpoint.c", "PB_ASSERT(config->channels_offset",
		       &first, &last);
	assert_int_equal(record.kind, PB_FATAL_ASSERT);
	assert_in_range(record.status, first, last);
	e2e_patchbay(&output, "crash", "--card", card.socket, "--image", bad);
	assert_int_equal(output.code, 0);
	expect("crash          ASSERT\n");
	expect("firmware/channel/endpoint.c:%u\n", record.status);
	expect("boot stage     ENGINES_RESET\n");
	expect("  main  boards/main.c:");
	e2e_card_stop(&card);
}

/* ---- the next firmware ---- */

static void a_restart_keeps_the_crash_record(void **state)
{
	char path[E2E_PATH_BYTES], echo[E2E_PATH_BYTES];
	struct pb_crash_record before, record;
	struct e2e_card card;
	struct e2e_host host;
	uint32_t address;
	uint8_t *image;
	size_t bytes;

	(void)state;
	e2e_path(path, "image.elf");
	address = e2e_image_write(path, "pb_core_admit", E2E_IMAGE_FAULTS);
	e2e_card_start_image(&card, path, 1);
	image = e2e_read_file(e2e_image(), &bytes);
	e2e_write_file(path, image, bytes);
	free(image);
	e2e_host_meets_fault(card.socket);
	await(&card, 2, PB_MCU_RUNNING, &before);
	assert_int_equal(before.incarnation, 1);
	assert_int_equal(before.pc, address);
	/* The restarted firmware serves, and does not change the record. */
	assert_true(e2e_host_open(&host, card.socket));
	for (uint32_t i = 1; i < 20u; i++)
		assert_true(e2e_host_round(&host, i));
	assert_true(e2e_host_close(&host));
	await(&card, 2, PB_MCU_RUNNING, &record);
	assert_memory_equal(&record, &before, sizeof(record));
	e2e_patchbay(&output, "crash", "--card", card.socket, "--image", path);
	assert_int_equal(output.code, 0);
	expect("  pb_core_admit  firmware/prepare/admit.c:");
	expect("incarnation    1, which is not the present one\n");
	/* Another image, and none. */
	snprintf(echo, sizeof(echo), "%s/%s/patchbay-echo-%s.elf", E2E_BUILDS, e2e_board(), e2e_board());
	e2e_patchbay(&output, "crash", "--card", card.socket, "--image", echo);
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, "its build id differs from that of the image that crashed"));
	expect("pc             0x%08x\n", address);
	e2e_patchbay(&output, "crash", "--card", card.socket, "--json");
	assert_int_equal(output.code, 0);
	expect("\"kind\":\t\"CPU_FAULT\"");
	expect("\"incarnation_now\":\t2");
	e2e_card_stop(&card);
}

static void wrong_arguments_are_refused(void **state)
{
	(void)state;
	e2e_patchbay(&output, "crash");
	assert_int_equal(output.code, 2);
	e2e_patchbay(&output, "crash", "--card", "/nowhere", "file.bin");
	assert_int_equal(output.code, 2);
	e2e_patchbay(&output, "crash", "one.bin", "two.bin");
	assert_int_equal(output.code, 2);
	e2e_patchbay(&output, "crash", "/nonexistent/file.bin");
	assert_int_equal(output.code, 1);
	assert_string_equal(output.err, "patchbay crash: /nonexistent/file.bin: No such file or directory\n");
	e2e_patchbay(&output, "crash", "/dev/null");
	assert_int_equal(output.code, 1);
	assert_string_equal(output.err, "patchbay crash: /dev/null: the file is empty\n");
	e2e_patchbay(&output, "crash", "--memory", E2E_PATCHBAY);
	assert_int_equal(output.code, 1);
	assert_string_equal(output.err,
			    "patchbay crash: " E2E_PATCHBAY ": no firmware has booted in this memory\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_fault_is_explained),
		e2e_test(an_assertion_is_explained),
		e2e_test(a_restart_keeps_the_crash_record),
		e2e_test(wrong_arguments_are_refused),
	};

	return e2e_run_tests(tests);
}
