/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Access to memory that another processor writes or reads: card memory seen by
 * the firmware, by the host library and by the engine model alike. The only
 * place with `volatile`, so that a read happens once, where it stands.
 *
 * Callers may assume: an aligned 32-bit access is one bus transaction; stores
 * become visible in any order until a barrier. A board must map card memory as
 * Normal non-cacheable (Arm) or coherent memory; behind PCI (RISC-V) it may be
 * a device's.
 */
#ifndef PB_HAL_SHARED_H
#define PB_HAL_SHARED_H

#include <stdint.h>

/** Reads one word in exactly one access. @param address 4-byte aligned */
static inline uint32_t pb_shared_read32(const uint32_t *address)
{
	return *(const volatile uint32_t *)address;
}

/** Writes one word in exactly one access. @param address 4-byte aligned */
static inline void pb_shared_write32(uint32_t *address, uint32_t value)
{
	*(volatile uint32_t *)address = value;
}

/** Writes four adjacent words, in any order: all are visible after the next release barrier. */
static inline void pb_shared_write_four(uint32_t *address, uint32_t first, uint32_t second, uint32_t third,
					uint32_t fourth)
{
	struct four {
		uint32_t words[4];
	};

	*(struct four *)(void *)address = (struct four){{first, second, third, fourth}};
}

/** Reads one byte in exactly one access: for words that may stand at any address. */
static inline uint8_t pb_shared_read8(const uint8_t *address)
{
	return *(const volatile uint8_t *)address;
}

/** Writes one byte in exactly one access. */
static inline void pb_shared_write8(uint8_t *address, uint8_t value)
{
	*(volatile uint8_t *)address = value;
}

/**
 * Writes one word of many that no other processor reads before the next
 * barrier: the compiler may merge and reorder such writes.
 */
static inline void pb_shared_put32(uint32_t *address, uint32_t value)
{
	*address = value;
}

/** Adds to a word that several engines count in, atomically, with release order. The word must not lie behind a bus. */
static inline void pb_shared_add32(uint32_t *address, uint32_t value)
{
	__atomic_fetch_add(address, value, __ATOMIC_RELEASE);
}

/**
 * A fence of the CPU. Callers may treat the three barriers below as fences of ordinary memory. On RISC-V a
 * window behind PCI is a device, whose accesses a fence orders only if its operands name them.
 */
#ifdef __riscv
#define PB_SHARED_FENCE(riscv, order) __asm__ volatile("fence " riscv ::: "memory")
#else
#define PB_SHARED_FENCE(riscv, order) __atomic_thread_fence(order)
#endif

/** Acquire barrier: completes earlier reads before later reads and writes. */
static inline void pb_shared_acquire(void)
{
	PB_SHARED_FENCE("ir, iorw", __ATOMIC_ACQUIRE);
}

/** Release barrier: makes earlier reads and writes visible before later writes. */
static inline void pb_shared_release(void)
{
	PB_SHARED_FENCE("iorw, ow", __ATOMIC_RELEASE);
}

/** Full barrier: orders all earlier accesses before all later ones, also a store before a later read. */
static inline void pb_shared_barrier(void)
{
	PB_SHARED_FENCE("iorw, iorw", __ATOMIC_SEQ_CST);
}

#endif
