/* SPDX-License-Identifier: MIT */
#include "tests/unit/host/peer_kernels.h"

uint32_t peer_get32(const uint8_t *from)
{
	uint32_t value = 0;

	for (uint32_t b = 4; b-- > 0;)
		value = value << 8 | from[b];
	return value;
}

void peer_put32(uint8_t *to, uint32_t value)
{
	for (uint32_t b = 0; b < 4; b++, value >>= 8)
		to[b] = (uint8_t)value;
}

static void radeon_base(uint8_t *at, const struct peer_target *target)
{
	peer_put32(at, peer_get32(at) + (uint32_t)(target->address >> 8));
}

/** The lower 40 bits of two words. */
static uint64_t radeon_pair(const uint8_t *at)
{
	return peer_get32(at) | (uint64_t)(peer_get32(at + 4) & 0xff) << 32;
}

static void radeon_put_high(uint8_t *at, uint64_t sum)
{
	peer_put32(at + 4, (peer_get32(at + 4) & 0xffffff00) | ((uint32_t)(sum >> 32) & 0xff));
}

static void radeon_event(uint8_t *at, const struct peer_target *target)
{
	const uint64_t sum = target->address + (radeon_pair(at) & ~UINT64_C(3));

	peer_put32(at, (uint32_t)sum & 0xfffffffc);
	radeon_put_high(at, sum);
}

static void radeon_cp_dma(uint8_t *at, const struct peer_target *target)
{
	const uint64_t sum = target->address + radeon_pair(at);

	peer_put32(at, (uint32_t)sum);
	radeon_put_high(at, sum);
}

static void radeon_wait_reg_mem(uint8_t *at, const struct peer_target *target)
{
	const uint64_t sum = target->address + (radeon_pair(at) & ~UINT64_C(3));

	peer_put32(at, (peer_get32(at) & 3) | ((uint32_t)sum & 0xfffffffc));
	radeon_put_high(at, sum);
}

static void vc4(uint8_t *at, const struct peer_target *target)
{
	peer_put32(at, (uint32_t)target->address + peer_get32(at));
}

static void vmwgfx_pointer(uint8_t *at, const struct peer_target *target)
{
	peer_put32(at, target->id);
	peer_put32(at + 4, peer_get32(at + 4) + (uint32_t)target->address);
}

const struct peer_kernel peer_kernels[PEER_KERNELS] = {
	{"radeon base", PB_LIFT_RADEON_BASE, 4, UINT64_C(1) << 40, 256, radeon_base},
	{"radeon EVENT_WRITE_EOP", PB_LIFT_RADEON_EVENT, 8, UINT64_C(1) << 40, 256, radeon_event},
	{"radeon CP_DMA", PB_LIFT_RADEON_SPLIT, 8, UINT64_C(1) << 40, 256, radeon_cp_dma},
	{"radeon WAIT_REG_MEM", PB_LIFT_RADEON_SPLIT, 8, UINT64_C(1) << 40, 256, radeon_wait_reg_mem},
	{"vc4", PB_LIFT_VC4, 4, UINT64_C(1) << 32, 4096, vc4},
	{"vmwgfx", PB_LIFT_VMWGFX_POINTER, 8, UINT64_C(1) << 32, 4096, vmwgfx_pointer},
};
