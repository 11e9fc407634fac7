/* SPDX-License-Identifier: MIT */
#include "boards/image.h"
#include "boards/qemu_virt.h"
#include "hal/card/layout.h"

const char pb_qemu_virt_name[] = "qemu_virt_rv64";

PB_BOARD_IMAGE("qemu_virt_rv64", PB_QEMU_VIRT_CARD_MEMORY, PB_CARD_MEMORY_BYTES);
