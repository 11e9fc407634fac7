/* SPDX-License-Identifier: MIT */
/*
 * Arm MPS3 with the AN547 FPGA image (Cortex-M55), as QEMU's mps3-an547 has it:
 * card memory is the start of the DDR4. Addresses, as Secure code sees them,
 * and interrupt numbers: Arm application note AN547, sections 3 and 4.
 */
#include "boards/cmsdk.h"
#include "boards/emulated_card.h"
#include "boards/image.h"
#include "qemu/mcu/layout.h"

#define RECEIVE_INTERRUPT  33u
#define TRANSMIT_INTERRUPT 34u

const char pb_emulated_card_name[] = "mps3_an547";
const struct pb_cmsdk pb_cmsdk = {
	.core_hertz = 32000000u,
	.uart = 0x59303000u,
	.receive_interrupt = RECEIVE_INTERRUPT,
	.transmit_interrupt = TRANSMIT_INTERRUPT,
};

PB_BOARD_IMAGE("mps3_an547", PB_CARD_MEMORY, PB_CARD_MEMORY_BYTES);

PB_CMSDK_VECTORS(RECEIVE_INTERRUPT, TRANSMIT_INTERRUPT);
