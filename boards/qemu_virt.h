/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where QEMU's RISC-V machine `virt` has what firmware and loader use. Addresses and interrupt numbers: the device tree
 * that the machine makes.
 */
#ifndef PB_BOARDS_QEMU_VIRT_H
#define PB_BOARDS_QEMU_VIRT_H

#define PB_QEMU_VIRT_UART           0x10000000u
#define PB_QEMU_VIRT_UART_BYTES     0x1000u
#define PB_QEMU_VIRT_UART_INTERRUPT 10u

/** A struct pb_pci_window: card memory is BAR 2 of an ivshmem device. */
#define PB_QEMU_VIRT_CARD_MEMORY                                                                             \
	{                                                                                                    \
		.configuration = 0x30000000u, .identity = 0x11101af4u, .bar = 2u, .address = PB_CARD_MEMORY, \
	}

#endif
