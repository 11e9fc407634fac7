/* SPDX-License-Identifier: MIT */
#include "boards/emulated_card.h"
#include "boards/image.h"
#include "qemu/mcu/layout.h"

const char pb_emulated_card_name[] = "qemu_virt_rv32";

PB_BOARD_IMAGE("qemu_virt_rv32", PB_CARD_MEMORY, PB_CARD_MEMORY_BYTES);
