/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "qemu/machines.h"

/* clang-format off */
static const char *const arguments[] = {
	"-M", "virt", "-m", "8M", "-bios", "none",
	"-object", "memory-backend-file,id=vram,share=on,mem-path={memory},size=16M",
	"-device", "ivshmem-plain,memdev=vram",
	PB_MACHINE_CONNECTIONS,
	NULL,
};
/* clang-format on */

const struct pb_machine pb_machine_qemu_virt_rv32 = {
	.board = "qemu_virt_rv32",
	.program = "qemu-system-riscv32",
	.package = "qemu-system-misc",
	.arguments = arguments,
	.window_offset = 0x1f000000u, /* at 0x60000000: the upper half of what PCI has below 2 GiB */
	.window_bytes = 0x20000000u,
	.outer_offset = 0x1000000u,
	.flash_address = 0x80300000u,
	.load_address = 0x80000000u,
};
