/* SPDX-License-Identifier: MIT */
/* Machine code that fails on purpose, for each CPU that there are images for. */
#include <assert.h>

#include "tests/e2e/e2e_image.h"

struct code {
	uint8_t *bytes;
	size_t count;
};

static void put16(struct code *code, uint32_t value)
{
	assert(code->count + 2u <= E2E_STRAY_BYTES);
	code->bytes[code->count++] = (uint8_t)value;
	code->bytes[code->count++] = (uint8_t)(value >> 8);
}

static void put32(struct code *code, uint32_t value)
{
	put16(code, value & 0xffffu);
	put16(code, value >> 16);
}

/* MOVW or MOVT of 16 bits to r0. The bits are spread over both halfwords. */
static void put_move(struct code *code, uint32_t operation, uint32_t value)
{
	put16(code, operation | (value >> 12 & 15u) | (value >> 11 & 1u) << 10);
	put16(code, (value >> 8 & 7u) << 12 | (value & 0xffu));
}

static uint32_t arm(struct code *code, enum e2e_stray stray, uint32_t address)
{
	uint32_t at;

	put_move(code, 0xf240, address & 0xffffu);
	put_move(code, 0xf2c0, address >> 16);
	if (stray == E2E_STRAY_PUSH)
		put16(code, 0x4685); /* mov sp, r0 */
	at = (uint32_t)code->count;
	if (stray == E2E_STRAY_STORE)
		put16(code, 0x6000); /* str r0, [r0] */
	else if (stray == E2E_STRAY_LOAD)
		put16(code, 0x6800); /* ldr r0, [r0] */
	else if (stray == E2E_STRAY_JUMP)
		put16(code, 0x4700); /* bx r0 */
	else
		put32(code, 0x5fffe92d); /* push {r0-r12, lr} */
	return at;
}

static uint32_t riscv(struct code *code, enum e2e_stray stray, uint32_t address, int wide)
{
	uint32_t at;

	put32(code, ((address + 0x800u) & 0xfffff000u) | 0x537u); /* lui a0 */
	put32(code, address << 20 | 0x50513u);                    /* addi a0, a0 */
	if (wide) {
		put32(code, 0x02051513u); /* slli a0, a0, 32: lui has extended the sign */
		put32(code, 0x02055513u); /* srli a0, a0, 32 */
	}
	if (stray == E2E_STRAY_PUSH)
		put32(code, 0x00050113u); /* mv sp, a0 */
	at = (uint32_t)code->count;
	if (stray == E2E_STRAY_STORE)
		put32(code, 0x00a52023u); /* sw a0, 0(a0) */
	else if (stray == E2E_STRAY_LOAD)
		put32(code, 0x00052503u); /* lw a0, 0(a0) */
	else if (stray == E2E_STRAY_JUMP)
		put32(code, 0x00050067u); /* jr a0 */
	else
		put32(code, 0xfe112e23u); /* sw ra, -4(sp) */
	return at;
}

size_t e2e_stray_code(enum e2e_stray stray, uint32_t address, uint8_t bytes[E2E_STRAY_BYTES], uint32_t *at)
{
	const enum e2e_image_cpu cpu = e2e_image_cpu();
	struct code code = {bytes, 0};

	*at = cpu == E2E_IMAGE_ARM ? arm(&code, stray, address)
				   : riscv(&code, stray, address, cpu == E2E_IMAGE_RISCV64);
	return code.count;
}
