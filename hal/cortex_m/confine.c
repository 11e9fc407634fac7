/* SPDX-License-Identifier: MIT */
#include "hal/cortex_m/confine.h"

#include "hal/cortex_m/barrier.h"
#include "hal/mmio.h"

#if __ARM_ARCH >= 8
#error "confine.c is for Armv7-M: regions of Armv8-M must not overlap"
#endif

#define MPU_CONTROL         0xe000ed94u
#define MPU_NUMBER          0xe000ed98u
#define MPU_BASE            0xe000ed9cu
#define MPU_ATTRIBUTES      0xe000eda0u
#define ENABLE              1u
#define CONTROL_DEFAULT_MAP 4u
#define NO_EXECUTE          (1u << 28)
#define ACCESS_READ_WRITE   (3u << 24)
#define ACCESS_READ_ONLY    (6u << 24)
#define MEMORY_NOT_CACHED   (1u << 19)
#define MEMORY_DEVICE       (1u << 18 | 1u << 16)
#define DEVICES             0x40000000u
#define DEVICES_BYTES       0x20000000u

/** Of overlapping regions, the one with the highest number decides; 0 is the guard of the stack, from start-up. */
enum {
	REGION_START_UP,
	REGION_EVERYTHING,
	REGION_DEVICES,
	REGION_GUARD,
	REGION_CODE,
	REGIONS,
};
_Static_assert(REGIONS == PB_CORTEX_M_LOADER_REGIONS, "all of them are turned off before an image starts");

/** Returns the size field of a region of so many bytes; 0 stands for 4 GiB. */
static uint32_t size_field(uint32_t bytes)
{
	return (bytes != 0 ? 30u - (uint32_t)__builtin_clz(bytes) : 31u) << 1;
}

static void write_region(uint32_t number, uint32_t base, uint32_t attributes)
{
	pb_mmio_write32(MPU_NUMBER, number);
	pb_mmio_write32(MPU_BASE, base);
	pb_mmio_write32(MPU_ATTRIBUTES, attributes);
}

/** Gives the guard of the stack a higher number than the region that covers everything. */
static void move_guard(void)
{
	uint32_t base, attributes;

	pb_mmio_write32(MPU_NUMBER, REGION_START_UP);
	base = pb_mmio_read32(MPU_BASE) & ~31u;
	attributes = pb_mmio_read32(MPU_ATTRIBUTES);
	write_region(REGION_GUARD, base, attributes);
}

void pb_cortex_m_confine(uintptr_t start, uint32_t bytes)
{
	pb_mmio_write32(MPU_CONTROL, 0);
	move_guard();
	write_region(REGION_EVERYTHING, 0,
		     NO_EXECUTE | ACCESS_READ_WRITE | MEMORY_NOT_CACHED | size_field(0) | ENABLE);
	write_region(REGION_DEVICES, DEVICES,
		     NO_EXECUTE | ACCESS_READ_WRITE | MEMORY_DEVICE | size_field(DEVICES_BYTES) | ENABLE);
	write_region(REGION_CODE, (uint32_t)start,
		     ACCESS_READ_ONLY | MEMORY_NOT_CACHED | size_field(bytes) | ENABLE);
	pb_mmio_write32(MPU_CONTROL, ENABLE | CONTROL_DEFAULT_MAP);
	pb_cortex_m_synchronise();
}
