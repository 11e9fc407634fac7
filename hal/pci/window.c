/* SPDX-License-Identifier: MIT */
#include "hal/pci/window.h"

#include "hal/mmio.h"

#define DEVICES        32u
#define DEVICE_SHIFT   15u
#define IDENTITY       0x00u
#define COMMAND        0x04u
#define BARS           0x10u
#define COMMAND_MEMORY 2u

bool pb_pci_window_open(const struct pb_pci_window *window)
{
	for (uintptr_t device = 0; device < DEVICES; device++) {
		const uintptr_t registers = window->configuration + (device << DEVICE_SHIFT);
		const uintptr_t bar = registers + BARS + 4u * window->bar;

		if (pb_mmio_read32(registers + IDENTITY) != window->identity)
			continue;
		pb_mmio_write32(bar, window->address);
		pb_mmio_write32(bar + 4u, 0);
		pb_mmio_write32(registers + COMMAND, pb_mmio_read32(registers + COMMAND) | COMMAND_MEMORY);
		return true;
	}
	return false;
}
