/* SPDX-License-Identifier: MIT */
/* The commands of a test's card, and their effect. */
#include <string.h>

#include "tests/wddm/wddm_world.h"

void vm_begin(struct vm *vm)
{
	vm->count = 0;
}

static void word(struct vm *vm, uint32_t value)
{
	assert_true(vm->count < VM_WORDS);
	vm->words[vm->count++] = value;
}

void vm_fill(struct vm *vm, uint32_t to, uint32_t offset, uint32_t bytes, uint32_t value)
{
	word(vm, 0x01000005);
	word(vm, to);
	word(vm, offset);
	word(vm, bytes);
	word(vm, value);
}

void vm_copy(struct vm *vm, uint32_t to, uint32_t to_offset, uint32_t from, uint32_t from_offset,
	     uint32_t bytes)
{
	word(vm, 0x02000006);
	word(vm, from);
	word(vm, from_offset);
	word(vm, to);
	word(vm, to_offset);
	word(vm, bytes);
}

void vm_random_commands(struct vm *vm, uint32_t commands)
{
	vm_begin(vm);
	for (uint32_t i = 0; i < commands; i++) {
		const uint32_t to = 1 + vm_random(vm, VM_ALLOCATIONS);
		const uint32_t bytes = 4 * vm_random(vm, 32);
		const uint32_t offset = 4 * vm_random(vm, (VM_BYTES - 128) / 4);

		if (vm_random(vm, 2) == 0)
			vm_fill(vm, to, offset, bytes, vm_random(vm, UINT32_MAX));
		else
			vm_copy(vm, to, offset, 1 + vm_random(vm, VM_ALLOCATIONS),
				4 * vm_random(vm, (VM_BYTES - 128) / 4), bytes);
	}
}

void vm_model(struct vm *vm, struct vm_context *context)
{
	for (uint32_t at = 0; at < vm->count; at += vm->words[at] & 0xffffff) {
		const uint32_t *command = &vm->words[at];

		if (command[0] >> 24 == 1) {
			for (uint32_t i = 0; i < command[3] / 4; i++)
				context->allocations[command[1] - 1].model[command[2] / 4 + i] = command[4];
		} else {
			assert_int_equal(command[0] >> 24, 2);
			memmove(&context->allocations[command[3] - 1].model[command[4] / 4],
				&context->allocations[command[1] - 1].model[command[2] / 4], command[5]);
		}
	}
}

/* ---- calls of Render and Present ---- */

struct pb_dxgkarg_render vm_render_arguments(const struct vm *vm, const struct vm_context *context,
					     struct vm_buffer *buffer)
{
	vm_list(vm, context, buffer->rendered);
	return (struct pb_dxgkarg_render){
		.pCommand = vm->words,
		.CommandLength = vm->count * 4,
		.pDmaBuffer = buffer->memory.bytes_host,
		.DmaSize = VM_BUFFER,
		.pDmaBufferPrivateData = buffer->private_data,
		.DmaBufferPrivateDataSize = sizeof(buffer->private_data),
		.pAllocationList = buffer->rendered,
		.AllocationListSize = VM_LIST,
		.pPatchLocationListOut = buffer->patches,
		.PatchLocationListOutSize = VM_PATCHES,
	};
}

struct pb_dxgkarg_present vm_present_arguments(struct vm_buffer *buffer,
					       struct pb_dxgk_allocationlist list[3])
{
	return (struct pb_dxgkarg_present){
		.pDmaBuffer = buffer->memory.bytes_host,
		.DmaSize = VM_BUFFER,
		.pDmaBufferPrivateData = buffer->private_data,
		.DmaBufferPrivateDataSize = sizeof(buffer->private_data),
		.pAllocationList = list,
		.pPatchLocationListOut = buffer->patches,
		.PatchLocationListOutSize = VM_PATCHES,
	};
}

uint32_t vm_render(struct vm *vm, struct vm_context *context, struct vm_buffer *buffer)
{
	struct pb_dxgkarg_render render = vm_render_arguments(vm, context, buffer);
	const uint32_t status = pb_wddm_render(&context->shim, &render);

	buffer->bytes = (uint32_t)((uint8_t *)render.pDmaBuffer - buffer->memory.bytes_host);
	buffer->patch_count = (uint32_t)(render.pPatchLocationListOut - buffer->patches);
	buffer->private_end =
		(uint32_t)((uint8_t *)render.pDmaBufferPrivateData - (uint8_t *)buffer->private_data);
	return status;
}
