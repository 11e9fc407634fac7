/* SPDX-License-Identifier: MIT */
/* The loader of qemu_virt_rv32: it decides in user mode, where it reaches the ranges below and nothing else. */
#include "boards/emulated_loader.h"
#include "boards/qemu_virt.h"
#include "hal/halt.h"
#include "hal/pci/window.h"
#include "hal/riscv/confine.h"
#include "patchbay/abi/boot.h"
#include "qemu/mcu/layout.h"
#include "qemu/mcu/loader_16550.h"

/** As boards/qemu_virt_rv32/loader/memory.ld has it. */
#define CODE       0x80380000u
#define CODE_BYTES 0x4000u
#define DATA       0x803a0000u
#define DATA_BYTES 0x8000u
/** Powers of two that cover what boards/qemu_virt_rv32/loader/loader.cmake names. */
#define FLASH_BYTES 0x80000u
#define STAGE_BYTES 0x20000u
#define BOOT_BYTES  0x1000u
_Static_assert(sizeof(struct pb_boot_block) <= BOOT_BYTES, "the loader reaches the boot block");

const char pb_emulated_loader_board[] = "qemu_virt_rv32";
const uint32_t pb_emulated_loader_load = 0x80000000u;

static const struct pb_pci_window window = PB_QEMU_VIRT_CARD_MEMORY;

static const struct pb_region regions[] = {
	{DATA, DATA_BYTES, PB_REGION_SHARED},
	{PB_LOADER_STAGE, STAGE_BYTES, PB_REGION_SHARED},
	{PB_LOADER_FLASH, FLASH_BYTES, PB_REGION_SHARED},
	{PB_CARD_MEMORY + PB_BOOT_OFFSET, BOOT_BYTES, PB_REGION_SHARED},
	{PB_QEMU_VIRT_UART, PB_QEMU_VIRT_UART_BYTES, PB_REGION_DEVICE},
};

void pb_emulated_loader_start(void)
{
	/* Without card memory there is no place for a reason. */
	if (!pb_pci_window_open(&window))
		pb_hal_halt();
	pb_loader_16550_start(PB_QEMU_VIRT_UART);
	pb_riscv_confine(CODE, CODE_BYTES, regions, sizeof(regions) / sizeof(regions[0]));
}
