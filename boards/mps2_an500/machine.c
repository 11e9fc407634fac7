/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "qemu/machines.h"

/* clang-format off */
static const char *const arguments[] = {
	"-M", "mps2-an500,memory-backend=vram",
	"-object", "memory-backend-file,id=vram,share=on,mem-path={memory},size=16M",
	PB_MACHINE_CONNECTIONS,
	NULL,
};
/* clang-format on */

const struct pb_machine pb_machine_mps2_an500 = {
	.board = "mps2_an500",
	.program = "qemu-system-arm",
	.package = "qemu-system-arm",
	.arguments = arguments,
	.host_offset = PB_CARD_HOST_OFFSET,
	.host_bytes = PB_CARD_HOST_BYTES,
	.outer_offset = 0x1000000u,
	.flash_address = 0x00200000u,
	.load_address = 0,
};
