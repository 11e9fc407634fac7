/* SPDX-License-Identifier: MIT */
/* Command lines of the emulators. */
#include <string.h>

#include "qemu/machines.h"
#include "tests/unit/unit.h"

static const struct pb_machine_files files = {"/run/a,b/memory", "/run/a,b/lines", "/run/a,b/monitor",
					      "im,age.elf"};

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

static void command_lines_that_are_too_long_are_refused(void **unused)
{
	static const char *most[PB_MACHINE_ARGUMENTS + 1];
	static char path[PB_MACHINE_TEXT_BYTES];
	static const char *const image[] = {"{image}", NULL};
	struct pb_machine machine = {.board = "b", .program = "p", .package = "k", .arguments = most};
	struct pb_machine_files long_files = {"", "", "", path};
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

UNIT_SUITE(test_card_machines)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boards_are_found_by_name),
		cmocka_unit_test(every_board_has_its_command_line),
		cmocka_unit_test(placeholders_become_paths),
		cmocka_unit_test(command_lines_that_are_too_long_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
