/* SPDX-License-Identifier: MIT */
#include "hal/pci/window.h"

#include "hal/mmio.h"

#define DEVICES        32u
#define DEVICE_SHIFT   15u
#define IDENTITY       0x00u
#define COMMAND        0x04u
#define BARS           0x10u
#define COMMAND_MEMORY 2u

#define BAR_FLAGS 15u

static uintptr_t registers_of(const struct pb_pci_window *window, uintptr_t device)
{
	return window->configuration + (device << DEVICE_SHIFT);
}

static bool is_there(const struct pb_pci_window *window, uintptr_t device)
{
	return pb_mmio_read32(registers_of(window, device) + IDENTITY) == window->identity;
}

static uintptr_t bar_of(const struct pb_pci_window *window, uintptr_t device)
{
	return registers_of(window, device) + BARS + 4u * window->bar;
}

static void place(const struct pb_pci_window *window, uintptr_t device, uint32_t address)
{
	const uintptr_t command = registers_of(window, device) + COMMAND;

	pb_mmio_write32(bar_of(window, device), address);
	pb_mmio_write32(bar_of(window, device) + 4u, 0);
	pb_mmio_write32(command, pb_mmio_read32(command) | COMMAND_MEMORY);
}

bool pb_pci_window_open(const struct pb_pci_window *window)
{
	for (uintptr_t device = 0; device < DEVICES; device++) {
		if (!is_there(window, device))
			continue;
		place(window, device, window->address);
		return true;
	}
	return false;
}

uint32_t pb_pci_windows_place(const struct pb_pci_window *window, uint32_t first, uint32_t start,
			      uint32_t end)
{
	uint32_t at = start;

	for (uintptr_t device = first; device < DEVICES; device++) {
		uint32_t mask;

		if (!is_there(window, device))
			continue;
		/* Address bits that a window decodes stay as they are written. */
		pb_mmio_write32(bar_of(window, device), UINT32_MAX);
		mask = ~(pb_mmio_read32(bar_of(window, device)) & ~BAR_FLAGS);
		if (mask >= end - start || ((at + mask) & ~mask) > end - (mask + 1u))
			continue;
		at = (at + mask) & ~mask;
		place(window, device, at);
		at += mask + 1u;
	}
	return at;
}
