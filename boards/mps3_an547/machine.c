/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "qemu/machines.h"

/* clang-format off */
static const char *const arguments[] = {
	"-M", "mps3-an547,memory-backend=vram",
	"-object", "memory-backend-file,id=vram,share=on,mem-path={memory},size=2G",
	"-display", "none", "-monitor", "none",
	"-chardev", "socket,id=lines,path={lines},server=off", "-serial", "chardev:lines",
	"-chardev", "socket,id=monitor,path={monitor},server=off", "-mon", "chardev=monitor,mode=control",
	"-kernel", "{image}",
	NULL,
};
/* clang-format on */

const struct pb_machine pb_machine_mps3_an547 = {
	.board = "mps3_an547",
	.program = "qemu-system-arm",
	.package = "qemu-system-arm",
	.arguments = arguments,
	.memory_file_bytes = 0x80000000u, /* all of its DDR4 */
};
