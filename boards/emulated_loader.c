/* SPDX-License-Identifier: MIT */
#include "boards/emulated_loader.h"

#include "hal/halt.h"
#include "hal/shared.h"
#include "loader/start.h"
#include "patchbay/abi/boot.h"
#include "qemu/mcu/flash.h"
#include "qemu/mcu/layout.h"
#include "qemu/mcu/loader_flash.h"

static struct pb_loader_flash flash_window = {.window = (uint32_t *)PB_LOADER_FLASH};
static const struct pb_flash flash = {
	.ops = &pb_loader_flash_ops, .context = &flash_window, .sector_bytes = PB_CARD_FLASH_SECTOR_BYTES};
static const struct pb_fuses fuses = {.ops = &pb_loader_fuses_ops, .context = &flash_window};
static const struct pb_slots slots = {.flash = &flash,
				      .offset = {PB_CARD_SLOT_A_OFFSET, PB_CARD_SLOT_B_OFFSET},
				      .bytes = PB_CARD_SLOT_BYTES};
static struct pb_verify_rules rules = {
	.fuses = &fuses, .board = pb_emulated_loader_board, .image_bytes = PB_LOADER_STAGE_BYTES};
static struct pb_staged_image image = {.words = (uint32_t *)PB_LOADER_STAGE};

static struct pb_boot_block *boot_block(void)
{
	return (struct pb_boot_block *)(PB_CARD_MEMORY + PB_BOOT_OFFSET);
}

/** On the UART and in the boot block. */
static void report(uint32_t slot, enum pb_loader_reason reason)
{
	struct pb_boot_block *boot = boot_block();

	pb_loader_flash_report(slot, reason);
	pb_shared_write32(&boot->loader_reasons[slot], reason);
	if (reason == PB_LOADER_STARTED)
		pb_shared_write32(&boot->loader_slot, slot + 1u);
}

static const struct pb_loader_ops ops = {.report = report, .lock = pb_loader_flash_lock};
static const struct pb_loader loader = {.slots = &slots, .rules = &rules, .ops = &ops, .image = &image};

const struct pb_loader *pb_loader_board(void)
{
	struct pb_boot_block *boot = boot_block();

	pb_emulated_loader_start();
	rules.load_address = pb_emulated_loader_load;
	pb_shared_write32(&boot->loader_slot, 0);
	for (uint32_t slot = 0; slot < PB_SLOTS; slot++)
		pb_shared_write32(&boot->loader_reasons[slot], PB_LOADER_NONE);
	return &loader;
}

_Noreturn void pb_loader_refuse(void)
{
	struct pb_boot_block *boot = boot_block();
	const uint32_t reasons =
		pb_shared_read32(&boot->loader_reasons[0]) | pb_shared_read32(&boot->loader_reasons[1]) << 8;

	pb_shared_write32(&boot->fatal.valid, 0);
	pb_shared_write32(&boot->abi_version, PB_ABI_VERSION);
	pb_shared_write32(&boot->block_bytes, sizeof(*boot));
	pb_shared_write32(&boot->memory_bytes, PB_CARD_MEMORY_BYTES);
	pb_shared_write32(&boot->fatal.kind, PB_FATAL_REFUSED);
	pb_shared_write32(&boot->fatal.status, reasons);
	pb_shared_release();
	pb_shared_write32(&boot->fatal.valid, 1);
	pb_shared_write32(&boot->incarnation, pb_shared_read32(&boot->incarnation) + 1u);
	pb_shared_write32(&boot->magic, PB_BOOT_MAGIC);
	pb_shared_release();
	pb_shared_write32(&boot->boot_stage, PB_BOOT_STAGE_FATAL);
	pb_hal_halt();
}
