/* SPDX-License-Identifier: MIT */
/*
 * What a debugger reads back from a board that has booted: the image lies at the address that its header
 * names. The board is in QEMU, with QEMU's gdb stub as the debug probe, started from the ELF file and from
 * the raw file.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patchbay/abi/image.h"
#include "qemu/card_files.h"
#include "qemu/machines.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

#define SKIPPED 77

static const char *board;

static void image_path(char path[E2E_PATH_BYTES], const char *kind)
{
	assert_true((size_t)snprintf(path, E2E_PATH_BYTES, "%s/%s/patchbay-%s.%s", E2E_BUILDS, board, board,
				     kind) < E2E_PATH_BYTES);
}

/* Started as by the card, but halted, and with a debug probe. */
static pid_t start_board(const struct pb_card_files *files, const char *image, const char *probe)
{
	const struct pb_machine_files machine_files = {.memory = files->memory_path,
						       .lines = files->lines_path,
						       .monitor = files->monitor_path,
						       .image = image};
	static struct pb_machine_command command;
	static char text[PB_MACHINE_TEXT_BYTES + 1024];
	size_t length = 0;

	assert_true(pb_machine_command(&command, pb_machine_find(board), &machine_files));
	length += (size_t)snprintf(text, sizeof(text), "exec");
	for (char **word = command.argv; *word != NULL; word++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, " '%s'", *word);
	snprintf(text + length, sizeof(text) - length, " -S -gdb 'unix:%s,server=on,wait=off'", probe);
	return e2e_spawn("/bin/sh", E2E_ARGUMENT_LIST("-c", text), NULL);
}

/* Reads the image back, and runs it until the core starts, after the check of its CRC. */
static void write_script(const char *path, const char *probe, const struct pb_image_header *header,
			 const char *memory)
{
	char text[1024];
	const int length = snprintf(text, sizeof(text),
				    "set pagination off\n"
				    "target remote %s\n"
				    "dump binary memory %s 0x%08x 0x%08x\n"
				    "break *pb_firmware_init\n"
				    "continue\n"
				    "disconnect\n",
				    probe, memory, (unsigned)header->load_address,
				    (unsigned)(header->load_address + header->image_bytes));

	assert_in_range(length, 1, sizeof(text) - 1);
	e2e_write_file(path, text, (size_t)length);
}

/* @param memory file that receives the bytes read */
static void debug(const struct pb_image_header *header, const char *probe, const char *memory)
{
	static struct e2e_output output;
	char script[E2E_PATH_BYTES], symbols[E2E_PATH_BYTES];
	const char *stop;

	e2e_path(script, "script");
	image_path(symbols, "elf");
	write_script(script, probe, header, memory);
	e2e_await_listener(probe);
	e2e_collect(e2e_spawn("/usr/bin/env",
			      E2E_ARGUMENT_LIST("gdb-multiarch", "-nx", "-batch", "-x", script, symbols),
			      NULL),
		    &output);
	print_message("%s", output.err);
	assert_int_equal(output.code, 0);
	stop = strstr(output.out, "Breakpoint 1, ");
	assert_non_null(stop);
	assert_non_null(strstr(stop, "pb_firmware_init ("));
}

static void read_back(const char *kind)
{
	char image[E2E_PATH_BYTES], probe[E2E_PATH_BYTES], memory[E2E_PATH_BYTES], socket[E2E_PATH_BYTES];
	struct pb_image_header header;
	struct pb_card_options options = PB_CARD_OPTIONS_DEFAULT;
	struct pb_card_files files;
	size_t bytes, found_bytes;
	uint8_t *raw, *found;
	int status;
	pid_t mcu;

	image_path(image, "bin");
	raw = e2e_read_file(image, &bytes);
	assert_true(bytes >= PB_IMAGE_HEADER_OFFSET + sizeof(header));
	memcpy(&header, raw + PB_IMAGE_HEADER_OFFSET, sizeof(header));
	assert_int_equal(header.image_bytes, bytes);
	e2e_path(probe, "probe");
	e2e_path(memory, "memory");
	e2e_path(socket, "socket");
	options.socket = socket;
	assert_true(pb_card_files_make(&files, pb_machine_find(board), &options));
	image_path(image, kind);
	mcu = start_board(&files, image, probe);
	debug(&header, probe, memory);
	assert_int_equal(kill(mcu, SIGKILL), 0);
	assert_int_equal(waitpid(mcu, &status, 0), mcu);
	pb_card_files_remove(&files);
	found = e2e_read_file(memory, &found_bytes);
	assert_int_equal(found_bytes, bytes);
	assert_memory_equal(found, raw, bytes);
	free(found);
	free(raw);
	(void)unlink(probe);
}

static void an_image_from_elf_reads_back(void **state)
{
	(void)state;
	read_back("elf");
}

static void a_raw_image_reads_back(void **state)
{
	(void)state;
	read_back("bin");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		e2e_test(an_image_from_elf_reads_back),
		e2e_test(a_raw_image_reads_back),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s BOARD\n", argv[0]);
		return 2;
	}
	board = argv[1];
	if (pb_machine_find(board) == NULL) {
		fprintf(stderr, "QEMU has no machine for board %s\n", board);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
