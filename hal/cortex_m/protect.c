/* SPDX-License-Identifier: MIT */
/*
 * Faults are taken as HardFault, during which the unit is off (MPU_CTRL.HFNMIENA
 * is 0): the handler reads and writes what it likes. The system control space
 * and the fetch of a vector pass it by.
 */
#include "hal/cortex_m/barrier.h"
#include "hal/cortex_m/cortex_m.h"
#include "hal/mmio.h"

/* From linker/sections.ld. The sizes are values of symbols. */
extern uint32_t pb_code_start[], pb_code_bytes[], pb_data_memory[], pb_data_bytes[], pb_stack_bottom[];

#define MPU_TYPE            0xe000ed90u
#define MPU_CONTROL         0xe000ed94u
#define MPU_NUMBER          0xe000ed98u
#define MPU_BASE            0xe000ed9cu
#define MPU_ATTRIBUTES      0xe000eda0u
#define CONFIGURATION       0xe000ed14u /* CCR */
#define CACHE_CLEAN         0xe000ef70u /* DCCIMVAC: write one line back */
#define CACHE_LINE_BYTES    32u
#define DATA_CACHE_ENABLE   (1u << 16)
#define CONTROL_ENABLE      1u
#define CONTROL_DEFAULT_MAP 4u /* everything else as without the unit */

/** Those of start-up and the board's, and on Armv7-M one against null pointers. */
enum {
	REGION_GUARD,
	REGION_CODE,
	REGION_DATA,
	REGION_FIRST,
	REGION_NULL = REGION_FIRST + PB_REGIONS_MAX,
	REGIONS,
};

static struct pb_protection protection;

const struct pb_protection *pb_hal_protection(void)
{
	return &protection;
}

/** Regions of the unit. */
static uint32_t count_regions(void)
{
	return pb_mmio_read32(MPU_TYPE) >> 8 & 0xffu;
}

/** Notes what there is and what is needed. @param own regions beside the board's @return whether that is enough */
static bool is_enough(uint32_t own, uint32_t count)
{
	const uint32_t has = count_regions(), usable = own + PB_REGIONS_MAX;

	protection.has = has < usable ? has : usable;
	protection.needs = own + (count < PB_REGIONS_MAX ? PB_REGIONS_MAX : count);
	return protection.has >= protection.needs;
}

static void write_region(uint32_t number, uint32_t base, uint32_t attributes)
{
	pb_mmio_write32(MPU_NUMBER, number);
	pb_mmio_write32(MPU_BASE, base);
	pb_mmio_write32(MPU_ATTRIBUTES, attributes);
}

/** A region as the unit has it. */
struct range {
	uint32_t first; /**< address */
	uint32_t last;  /**< address */
	bool cached;    /**< a cache may hold it */
};

static void turn_on(uint32_t control)
{
	pb_mmio_write32(MPU_CONTROL, control);
	pb_cortex_m_synchronise();
}

#if __ARM_ARCH >= 8
#define MPU_MEMORY_KINDS 0xe000edc0u
/** Kinds 0 to 2: write-back, not cached, a device. */
#define MEMORY_KINDS    0x000444ffu
#define KIND_NOT_CACHED 0x44u
#define KIND_DEVICE     0u /* the upper half */
#define NO_EXECUTE      1u
#define READ_ONLY       4u
#define LAST_ENABLE     1u

/** Armv8-M has regions that begin and end anywhere, and must not overlap. */
static void set(uint32_t number, uintptr_t start, uint32_t bytes, uint32_t access, uint32_t kind)
{
	write_region(number, (uint32_t)start | access,
		     (((uint32_t)start + bytes - 1u) & ~31u) | kind << 1 | LAST_ENABLE);
}

/** Reads a region back. @return whether it is in use */
static bool read_region(uint32_t number, struct range *range)
{
	uint32_t end, kind;

	pb_mmio_write32(MPU_NUMBER, number);
	end = pb_mmio_read32(MPU_ATTRIBUTES);
	kind = pb_mmio_read32(MPU_MEMORY_KINDS + (end >> 3 & 1u) * 4u) >> 8u * (end >> 1 & 3u) & 0xffu;
	*range = (struct range){.first = pb_mmio_read32(MPU_BASE) & ~31u,
				.last = end | 31u,
				.cached = kind != KIND_NOT_CACHED && kind >> 4 != KIND_DEVICE};
	return (end & LAST_ENABLE) != 0;
}

/**
 * Running over the end of the stack must fault. Here the CPU compares each new stack pointer: the protection unit of
 * Armv8-M has no region that is closed to privileged code.
 */
void pb_cortex_m_guard_stack(void)
{
	pb_cortex_m_limit_stack(pb_stack_bottom);
}

void pb_cortex_m_protect(const struct pb_region *regions, uint32_t count)
{
	const uintptr_t end = (uintptr_t)pb_code_start + (uintptr_t)pb_code_bytes;
	const uintptr_t start =
		(uintptr_t)pb_code_start < PB_NULL_BYTES ? PB_NULL_BYTES : (uintptr_t)pb_code_start;

	if (!is_enough(REGION_FIRST, count))
		return;
	pb_mmio_write32(MPU_MEMORY_KINDS, MEMORY_KINDS);
	set(REGION_CODE, start, (uint32_t)(end - start), READ_ONLY, 0);
	set(REGION_DATA, (uintptr_t)pb_data_memory, (uint32_t)(uintptr_t)pb_data_bytes, NO_EXECUTE, 0);
	for (uint32_t i = 0; i < count; i++)
		set(REGION_FIRST + i, regions[i].start, regions[i].bytes, NO_EXECUTE,
		    regions[i].kind == PB_REGION_DEVICE ? 2u : 1u);
	turn_on(CONTROL_ENABLE);
}
#else
#define GUARD_BYTES       (1u << 20)
#define NO_EXECUTE        (1u << 28)
#define ACCESS_NONE       0u
#define ACCESS_READ_WRITE (3u << 24)
#define ACCESS_READ_ONLY  (6u << 24)
#define MEMORY_WRITE_BACK (1u << 19 | 3u << 16)
#define MEMORY_NOT_CACHED (1u << 19) /* nor shareable: exclusive stores would need a monitor on the bus */
#define MEMORY_DEVICE     (1u << 18 | 1u << 16)
#define MEMORY_CACHED     (1u << 21 | 1u << 17) /* any of these: some cache may hold it */
#define ENABLE            1u

/** Armv7-M has powers of two; the region with the higher number wins. */
static void set(uint32_t number, uintptr_t start, uint32_t bytes, uint32_t attributes)
{
	const uint32_t base = (uint32_t)pb_region_cover(start, &bytes);

	/* The size is 2^(n + 1) bytes. */
	write_region(number, base, attributes | (30u - (uint32_t)__builtin_clz(bytes)) << 1 | ENABLE);
}

/** Reads a region back. @return whether it is in use */
static bool read_region(uint32_t number, struct range *range)
{
	uint32_t attributes;

	pb_mmio_write32(MPU_NUMBER, number);
	attributes = pb_mmio_read32(MPU_ATTRIBUTES);
	range->first = pb_mmio_read32(MPU_BASE) & ~31u;
	range->last = range->first + ((2u << (attributes >> 1 & 31u)) - 1u);
	range->cached = (attributes & MEMORY_CACHED) != 0;
	return (attributes & ENABLE) != 0;
}

/** Running over the end of the stack must fault; what lies below it may well swallow stores. */
void pb_cortex_m_guard_stack(void)
{
	set(REGION_GUARD, (uintptr_t)pb_stack_bottom - GUARD_BYTES, GUARD_BYTES, NO_EXECUTE | ACCESS_NONE);
	turn_on(CONTROL_ENABLE | CONTROL_DEFAULT_MAP);
}

void pb_cortex_m_protect(const struct pb_region *regions, uint32_t count)
{
	if (!is_enough(REGION_FIRST + 1u, count))
		return;
	set(REGION_CODE, (uintptr_t)pb_code_start, (uint32_t)(uintptr_t)pb_code_bytes,
	    ACCESS_READ_ONLY | MEMORY_WRITE_BACK);
	set(REGION_DATA, (uintptr_t)pb_data_memory, (uint32_t)(uintptr_t)pb_data_bytes,
	    NO_EXECUTE | ACCESS_READ_WRITE | MEMORY_WRITE_BACK);
	for (uint32_t i = 0; i < count; i++)
		set(REGION_FIRST + i, regions[i].start, regions[i].bytes,
		    NO_EXECUTE | ACCESS_READ_WRITE |
			    (regions[i].kind == PB_REGION_DEVICE ? MEMORY_DEVICE : MEMORY_NOT_CACHED));
	set(REGION_NULL, 0, PB_NULL_BYTES, NO_EXECUTE | ACCESS_NONE);
	turn_on(CONTROL_ENABLE);
}
#endif

/* Of Armv7-M regions the one with the highest number decides; those of Armv8-M do not overlap. */
bool pb_hal_may_cache(uintptr_t start, uint32_t bytes)
{
	const uint32_t first = (uint32_t)start, last = first + bytes - 1u;
	struct range range;

	if ((pb_mmio_read32(CONFIGURATION) & DATA_CACHE_ENABLE) == 0)
		return false;
	for (uint32_t i = (pb_mmio_read32(MPU_CONTROL) & CONTROL_ENABLE) != 0 ? count_regions() : 0;
	     i-- != 0;) {
		if (!read_region(i, &range) || range.last < first || range.first > last)
			continue;
		if (range.cached)
			return true;
		if (range.first <= first && range.last >= last)
			return false;
	}
	return true;
}

void pb_hal_write_back(uintptr_t start, uint32_t bytes)
{
	if ((pb_mmio_read32(CONFIGURATION) & DATA_CACHE_ENABLE) == 0)
		return;
	pb_cortex_m_synchronise();
	for (uint32_t offset = 0; offset < bytes; offset += CACHE_LINE_BYTES)
		pb_mmio_write32(CACHE_CLEAN, (uint32_t)start + offset);
	pb_cortex_m_synchronise();
}
