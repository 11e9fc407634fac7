/* SPDX-License-Identifier: MIT */
/* Command lines of the emulators. */
#include <string.h>

#include "qemu/machines.h"
#include "tests/unit/unit.h"

static const struct pb_machine_files files = {"/run/a,b/memory", "/run/a,b/lines", "/run/a,b/monitor",
					      "im,age.elf"};

static void test_find(void **unused)
{
	(void)unused;
	assert_non_null(pb_machine_find("mps2_an500"));
	assert_null(pb_machine_find("mps2"));
	assert_null(pb_machine_find(""));
}

static void test_mps2_an500(void **unused)
{
	static const char *const expected[] = {
		"qemu-system-arm",
		"-M",
		"mps2-an500,memory-backend=vram",
		"-object",
		"memory-backend-file,id=vram,share=on,mem-path=/run/a,,b/memory,size=16M",
		"-display",
		"none",
		"-monitor",
		"none",
		"-chardev",
		"socket,id=lines,path=/run/a,,b/lines,server=off",
		"-serial",
		"chardev:lines",
		"-chardev",
		"socket,id=monitor,path=/run/a,,b/monitor,server=off",
		"-mon",
		"chardev=monitor,mode=control",
		"-kernel",
		"im,age.elf",
	};
	struct pb_machine_command command;
	size_t i;

	(void)unused;
	assert_true(pb_machine_command(&command, pb_machine_find("mps2_an500"), &files));
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(command.argv[i], expected[i]);
	assert_null(command.argv[i]);
}

static void test_placeholders(void **unused)
{
	static const char *const arguments[] = {"{image}{image}", "a{memory}b", "{monitor}", "{",
						"{unknown}",      "",           NULL};
	const struct pb_machine machine = {"b", "p", "k", arguments, 0};
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

static void test_too_long(void **unused)
{
	static const char *most[PB_MACHINE_ARGUMENTS + 1];
	static char path[PB_MACHINE_TEXT_BYTES];
	static const char *const image[] = {"{image}", NULL};
	struct pb_machine machine = {"b", "p", "k", most, 0};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_mps2_an500),
		cmocka_unit_test(test_placeholders),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
