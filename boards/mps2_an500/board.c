/* SPDX-License-Identifier: MIT */
/*
 * Arm MPS2 with the AN500 FPGA image (Cortex-M7), as QEMU's mps2-an500 has it:
 * card memory is the PSRAM. Addresses and interrupt numbers: Arm application
 * note AN500, sections 3 and 4.
 */
#include "boards/cmsdk.h"
#include "boards/emulated_card.h"
#include "boards/image.h"
#include "qemu/mcu/layout.h"

#define RECEIVE_INTERRUPT  0u
#define TRANSMIT_INTERRUPT 1u

const char pb_emulated_card_name[] = "mps2_an500";
const struct pb_cmsdk pb_cmsdk = {
	.core_hertz = 25000000u,
	.uart = 0x40004000u,
	.receive_interrupt = RECEIVE_INTERRUPT,
	.transmit_interrupt = TRANSMIT_INTERRUPT,
};

PB_BOARD_IMAGE("mps2_an500", PB_CARD_MEMORY, PB_CARD_MEMORY_BYTES);

PB_CMSDK_VECTORS(RECEIVE_INTERRUPT, TRANSMIT_INTERRUPT);
