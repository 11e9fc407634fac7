/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "qemu/machines.h"

/* clang-format off */
static const char *const arguments[] = {
	"-M", "mps3-an547,memory-backend=vram",
	"-object", "memory-backend-file,id=vram,share=on,mem-path={memory},size=2G",
	PB_MACHINE_CONNECTIONS,
	NULL,
};
/* clang-format on */

const struct pb_machine pb_machine_mps3_an547 = {
	.board = "mps3_an547",
	.program = "qemu-system-arm",
	.package = "qemu-system-arm",
	.arguments = arguments,
	.memory_file_bytes = 0x80000000u, /* all of its DDR4 */
	.host_offset = 0x1000000u,
	.host_bytes = 0x1000000u,
	.outer_offset = 0x2000000u,
};
