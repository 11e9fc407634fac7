/* SPDX-License-Identifier: MIT */
/* Command lines of the emulators, and files of host memory that are shortened. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hal/shared.h"
#include "qemu/card_host_memory.h"
#include "qemu/machines.h"
#include "tests/unit/unit.h"

static const struct pb_machine_files files = {
	"/run/a,b/memory", "/run/a,b/lines", "/run/a,b/monitor", "im,age.elf", NULL, NULL};

static void boards_are_found_by_name(void **unused)
{
	(void)unused;
	assert_non_null(pb_machine_find("mps2_an500"));
	assert_null(pb_machine_find("mps2"));
	assert_null(pb_machine_find(""));
}

/* What all boards have of the card. */
#define CARD_ARGUMENTS                                                                                       \
	"-display", "none", "-monitor", "none", "-chardev",                                                  \
		"socket,id=lines,path=/run/a,,b/lines,server=off", "-serial", "chardev:lines", "-chardev",   \
		"socket,id=monitor,path=/run/a,,b/monitor,server=off", "-mon",                               \
		"chardev=monitor,mode=control", "-kernel", "im,age.elf"
#define CARD_MEMORY "memory-backend-file,id=vram,share=on,mem-path=/run/a,,b/memory,size=16M"

static const struct {
	const char *board;
	const char *package;
	const char *expected[PB_MACHINE_ARGUMENTS + 1u];
} rows[] = {
	{"mps2_an500",
	 "qemu-system-arm",
	 {"qemu-system-arm", "-M", "mps2-an500,memory-backend=vram", "-object", CARD_MEMORY, CARD_ARGUMENTS}},
	{"qemu_virt_rv32",
	 "qemu-system-misc",
	 {"qemu-system-riscv32", "-M", "virt", "-m", "8M", "-bios", "none", "-object", CARD_MEMORY, "-device",
	  "ivshmem-plain,memdev=vram", CARD_ARGUMENTS}},
	{"qemu_virt_rv64",
	 "qemu-system-misc",
	 {"qemu-system-riscv64", "-M", "virt", "-m", "8M", "-bios", "none", "-object", CARD_MEMORY, "-device",
	  "ivshmem-plain,memdev=vram", CARD_ARGUMENTS}},
};

static void every_board_has_its_command_line(void **unused)
{
	(void)unused;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		const struct pb_machine *machine = pb_machine_find(rows[row].board);
		struct pb_machine_command command;
		size_t i;

		assert_non_null(machine);
		assert_string_equal(machine->board, rows[row].board);
		assert_string_equal(machine->package, rows[row].package);
		assert_true(pb_machine_command(&command, machine, &files));
		for (i = 0; rows[row].expected[i] != NULL; i++)
			assert_string_equal(command.argv[i], rows[row].expected[i]);
		assert_null(command.argv[i]);
	}
}

static void placeholders_become_paths(void **unused)
{
	static const char *const arguments[] = {"{image}{image}", "a{memory}b", "{monitor}", "{",
						"{unknown}",      "",           NULL};
	const struct pb_machine machine = {
		.board = "b", .program = "p", .package = "k", .arguments = arguments};
	struct pb_machine_command command;

	(void)unused;
	assert_true(pb_machine_command(&command, &machine, &files));
	assert_string_equal(command.argv[1], "im,age.elfim,age.elf");
	assert_string_equal(command.argv[2], "a/run/a,,b/memoryb");
	assert_string_equal(command.argv[3], "/run/a,,b/monitor");
	assert_string_equal(command.argv[4], "{");
	assert_string_equal(command.argv[5], "{unknown}");
	assert_string_equal(command.argv[6], "");
	assert_null(command.argv[7]);
}

static void host_memory_is_a_device_for_each_file(void **unused)
{
	static const char *const arguments[] = {"first", NULL};
	static const struct pb_card_host_memory host = {
		.files = {{.channel = 1, .path = "/a,b", .file = 3, .bytes = 0x100000},
			  {.channel = 7, .path = "/c", .file = 4, .bytes = 0x10000000, .offset = 0x10000000}},
		.count = 2};
	static const char *const expected[] = {
		"first",
		"-object",
		"memory-backend-file,id=host0,share=on,size=1048576,mem-path=/a,,b",
		"-device",
		"ivshmem-plain,memdev=host0,addr=0x10",
		"-object",
		"memory-backend-file,id=host1,share=on,size=268435456,mem-path=/c",
		"-device",
		"ivshmem-plain,memdev=host1,addr=0x11"};
	const struct pb_machine machine = {
		.board = "b", .program = "p", .package = "k", .arguments = arguments};
	struct pb_machine_files with_host = files;
	struct pb_machine_command command;

	(void)unused;
	with_host.host = &host;
	assert_true(pb_machine_command(&command, &machine, &with_host));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(command.argv[1 + i], expected[i]);
	assert_null(command.argv[1 + sizeof(expected) / sizeof(expected[0])]);
}

static void a_flash_is_copied_to_its_window(void **unused)
{
	static const char *const arguments[] = {"first", NULL};
	const struct pb_machine machine = {.board = "b",
					   .program = "p",
					   .package = "k",
					   .arguments = arguments,
					   .flash_address = 0x123000};
	struct pb_machine_files with_flash = files;
	struct pb_machine_command command;

	(void)unused;
	with_flash.flash = "/a,b";
	assert_true(pb_machine_command(&command, &machine, &with_flash));
	assert_string_equal(command.argv[1], "first");
	assert_string_equal(command.argv[2], "-device");
	assert_string_equal(command.argv[3], "loader,addr=0x123000,force-raw=on,file=/a,,b");
	assert_null(command.argv[4]);
}

static void command_lines_that_are_too_long_are_refused(void **unused)
{
	static const char *most[PB_MACHINE_ARGUMENTS + 1];
	static char path[PB_MACHINE_TEXT_BYTES];
	static const char *const image[] = {"{image}", NULL};
	struct pb_machine machine = {.board = "b", .program = "p", .package = "k", .arguments = most};
	struct pb_machine_files long_files = {"", "", "", path, NULL, NULL};
	struct pb_machine_command command;

	(void)unused;
	for (size_t i = 0; i < PB_MACHINE_ARGUMENTS - 1; i++)
		most[i] = "x";
	assert_true(pb_machine_command(&command, &machine, &files));
	assert_null(command.argv[PB_MACHINE_ARGUMENTS]);
	most[PB_MACHINE_ARGUMENTS - 1] = "x";
	assert_false(pb_machine_command(&command, &machine, &files));

	/* The text holds "p", the path, and a zero behind each. */
	machine.arguments = image;
	memset(path, 'y', PB_MACHINE_TEXT_BYTES - 3);
	assert_true(pb_machine_command(&command, &machine, &long_files));
	path[PB_MACHINE_TEXT_BYTES - 3] = 'y';
	assert_false(pb_machine_command(&command, &machine, &long_files));
}

/* An access to a page that a file has lost finds zeros; the other file stays. */
static void a_shortened_file_is_replaced(void **unused)
{
	static const struct pb_machine machine = {.board = "x", .window_bytes = 0x400000u};
	char paths[2][32];
	struct pb_card_host_option options[2];
	static struct pb_card_host_memory host;
	uint8_t *window;

	(void)unused;
	for (uint32_t i = 0; i < 2; i++) {
		int file;

		strcpy(paths[i], "/tmp/patchbay-host-XXXXXX");
		file = mkstemp(paths[i]);
		assert_true(file >= 0 && ftruncate(file, 0x100000) == 0);
		close(file);
		options[i] = (struct pb_card_host_option){.channel = 3 + i, .path = paths[i]};
	}
	assert_true(pb_card_host_memory_open(&host, &machine, options, 2));
	window = mmap(NULL, 0x200000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(window != MAP_FAILED && pb_card_host_memory_map(&host, window));
	window[0x100000] = 7;
	assert_int_equal(pb_card_host_memory_check(&host), 0);
	assert_int_equal(truncate(paths[0], 0), 0);
	/* Before anything has noticed. */
	assert_int_equal(pb_shared_read32((const uint32_t *)(void *)&window[0xff000]), 0);
	assert_int_equal(pb_card_host_memory_check(&host), 1u << 3);
	assert_int_equal(pb_card_host_memory_check(&host), 0);
	window[5] = 1;
	assert_int_equal(host.shares.bytes[3], 0);
	assert_int_equal(host.shares.bytes[4], 0x100000);
	assert_int_equal(window[0x100000], 7);
	/* Also without an access. What is there instead has the size that the emulator asks for. */
	assert_int_equal(truncate(paths[1], 0x80000), 0);
	assert_int_equal(pb_card_host_memory_check(&host), 1u << 4);
	assert_int_equal(truncate(host.files[1].path, 0x100000), 0);
	assert_int_equal(window[0x100000], 0);
	pb_card_host_memory_close(&host);
	munmap(window, 0x200000);
	for (uint32_t i = 0; i < 2; i++)
		unlink(paths[i]);
}

UNIT_SUITE(test_card_machines)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boards_are_found_by_name),
		cmocka_unit_test(every_board_has_its_command_line),
		cmocka_unit_test(placeholders_become_paths),
		cmocka_unit_test(host_memory_is_a_device_for_each_file),
		cmocka_unit_test(a_shortened_file_is_replaced),
		cmocka_unit_test(a_flash_is_copied_to_its_window),
		cmocka_unit_test(command_lines_that_are_too_long_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
