/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How to emulate the MCU of each board: a program and its arguments, as data.
 * A board that has an emulator says so in boards/NAME/machine.c, which defines
 * `const struct pb_machine pb_machine_NAME`; boards/machines.cmake finds it.
 */
#ifndef PB_QEMU_MACHINES_H
#define PB_QEMU_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

struct pb_card_host_memory;

/** One board's emulator. */
struct pb_machine {
	const char *board;   /**< a folder of boards/ */
	const char *program; /**< looked for along PATH */
	const char *package; /**< Debian package that has it */
	/**
	 * NULL at the end, the program's name not included. {memory}, {lines},
	 * {monitor} and {image} stand for the paths of struct pb_machine_files; in
	 * all but the last, which QEMU takes apart at commas, a comma is doubled.
	 */
	const char *const *arguments;
	/**
	 * The size of the file that is card memory, for an emulator that takes no
	 * other; the firmware uses its beginning, the rest has no blocks. 0: as
	 * large as card memory.
	 */
	uint32_t memory_file_bytes;
	/** The part of that file that is host memory, as the board's definitions have it; host_bytes 0: none. */
	uint32_t host_offset;
	uint32_t host_bytes;
	/**
	 * Room for host memory in other files, from the start of card memory; window_bytes 0: none. Each file is an
	 * ivshmem device of its own, in the order of their PCI addresses, at a multiple of its size.
	 */
	uint32_t window_offset;
	uint32_t window_bytes;
	/** Where the MCU has the window of its flash (qemu/mcu/flash.h); 0: the board has no loader. */
	uint32_t flash_address;
	uint32_t load_address; /**< of a board with a loader: where its images begin */
	/** Where outer memory begins (hal/outer_memory.h), as the board's definitions have it; 0: it has no room for any. */
	uint32_t outer_offset;
};

/** Arguments of every machine: no display, the lines at the next UART, the control interface, the image. */
#define PB_MACHINE_CONNECTIONS                                                                               \
	"-display", "none", "-monitor", "none", "-chardev", "socket,id=lines,path={lines},server=off",       \
		"-serial", "chardev:lines", "-chardev", "socket,id=monitor,path={monitor},server=off",       \
		"-mon", "chardev=monitor,mode=control", "-kernel", "{image}"

/** What the MCU is started with. */
struct pb_machine_files {
	const char *memory;  /**< file that is the card's memory */
	const char *lines;   /**< Unix socket to connect the UART of the interrupt lines to */
	const char *monitor; /**< Unix socket to connect the emulator's control interface (QMP) to */
	const char *image;   /**< firmware image, ELF; or the loader, if there is a flash */
	/** Host memory in files; NULL: none. Only for a machine with a window. */
	const struct pb_card_host_memory *host;
	const char *flash; /**< file that is the card's flash; NULL: none */
};

/** Most arguments of a program, its name included. */
#define PB_MACHINE_ARGUMENTS 64u
/** Room for all of them, in bytes. */
#define PB_MACHINE_TEXT_BYTES 65536u

/** A command line as execvp takes it; argv points into text. */
struct pb_machine_command {
	char *argv[PB_MACHINE_ARGUMENTS + 1u];
	char text[PB_MACHINE_TEXT_BYTES];
};

/** The row of a board; NULL: there is none. */
const struct pb_machine *pb_machine_find(const char *board);
/** Fills in the command line. @return false: it is too long */
bool pb_machine_command(struct pb_machine_command *command, const struct pb_machine *machine,
			const struct pb_machine_files *files);

#endif
