/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Access to memory that another processor writes or reads: card memory seen by
 * the firmware, by the host library and by the engine model alike. The only
 * place with `volatile`, so that a read happens once, where it stands.
 *
 * The core may assume: an aligned 32-bit access is one bus transaction; stores
 * become visible in any order until a barrier. A board must map card memory as
 * Normal non-cacheable (Arm) or coherent memory; behind PCI (RISC-V) it may be
 * a device's.
 */
#ifndef PB_HAL_SHARED_H
#define PB_HAL_SHARED_H

#include <stdint.h>

/** Reads one word, exactly once. */
static inline uint32_t pb_shared_read32(const uint32_t *address)
{
	return *(const volatile uint32_t *)address;
}

/** Writes one word. */
static inline void pb_shared_write32(uint32_t *address, uint32_t value)
{
	*(volatile uint32_t *)address = value;
}

/** Writes four words side by side, in any order: all are there behind the next release. */
static inline void pb_shared_write_four(uint32_t *address, uint32_t first, uint32_t second, uint32_t third,
					uint32_t fourth)
{
	struct four {
		uint32_t words[4];
	};

	*(struct four *)(void *)address = (struct four){{first, second, third, fourth}};
}

/** The same for one byte, where a word may stand at any address. */
static inline uint8_t pb_shared_read8(const uint8_t *address)
{
	return *(const volatile uint8_t *)address;
}

/** Writes one byte, in one access. */
static inline void pb_shared_write8(uint8_t *address, uint8_t value)
{
	*(volatile uint8_t *)address = value;
}

/**
 * Writes one word of many that nobody looks at before the next barrier: the
 * compiler may join such writes, and do them in any order.
 */
static inline void pb_shared_put32(uint32_t *address, uint32_t value)
{
	*address = value;
}

/** Adds to a word that several engines count in, in one access: not across a bus. Behind all stores before it. */
static inline void pb_shared_add32(uint32_t *address, uint32_t value)
{
	__atomic_fetch_add(address, value, __ATOMIC_RELEASE);
}

/**
 * A fence of the CPU. The core may take these for orderings of ordinary memory. To RISC-V a window
 * behind PCI is a device, whose accesses its fences order only if they say so.
 */
#ifdef __riscv
#define PB_SHARED_FENCE(riscv, order) __asm__ volatile("fence " riscv ::: "memory")
#else
#define PB_SHARED_FENCE(riscv, order) __atomic_thread_fence(order)
#endif

/** Reads before it are done before reads and writes after it. */
static inline void pb_shared_acquire(void)
{
	PB_SHARED_FENCE("ir, iorw", __ATOMIC_ACQUIRE);
}

/** Reads and writes before it are visible before writes after it. */
static inline void pb_shared_release(void)
{
	PB_SHARED_FENCE("iorw, ow", __ATOMIC_RELEASE);
}

/** Everything before it is done before everything after it: "I stored, now do I see your store?" */
static inline void pb_shared_barrier(void)
{
	PB_SHARED_FENCE("iorw, iorw", __ATOMIC_SEQ_CST);
}

#endif
