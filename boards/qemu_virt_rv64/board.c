/* SPDX-License-Identifier: MIT */
#include "boards/qemu_virt.h"

const char pb_qemu_virt_name[] = "qemu_virt_rv64";
