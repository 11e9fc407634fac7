/* SPDX-License-Identifier: MIT */
/* Paging buffers of a test's card. */
#include <string.h>

#include "tests/wddm/wddm_world.h"

/** Private data in front of a packet's own: the OS gives several packets parts of one block. */
#define OTHERS_BYTES 48u

uint32_t vm_page(struct vm *vm, uint32_t node, struct pb_dxgkarg_buildpagingbuffer build, uint32_t room)
{
	uint32_t status;
	uint32_t buffers = 0;

	do {
		struct vm_buffer *buffer = vm_buffer(vm, NULL);
		uint8_t *alias;
		struct os_packet packet;

		assert_non_null(buffer);
		alias = vm->aliases[buffer - vm->buffers];
		memset(buffer->private_data, 0xa5, sizeof(buffer->private_data));
		build.pDmaBuffer = alias;
		build.DmaSize = room;
		build.pDmaBufferPrivateData = (uint8_t *)buffer->private_data + OTHERS_BYTES;
		build.DmaBufferPrivateDataSize = sizeof(buffer->private_data) - OTHERS_BYTES;
		status = pb_wddm_build_paging_buffer(&vm->adapter, &build);
		packet = (struct os_packet){.submit = {.Flags = PB_FLAG_PAGING, .NodeOrdinal = node},
					    .skip_patch = vm_random(vm, 2) != 0};
		packet.patch = (struct pb_dxgkarg_patch){
			.DmaBufferPhysicalAddress = buffer->memory.os_address,
			.pDmaBuffer = alias,
			.DmaBufferSize = VM_BUFFER,
			.DmaBufferSubmissionEndOffset = (uint32_t)((uint8_t *)build.pDmaBuffer - alias),
			.pDmaBufferPrivateData = buffer->private_data,
			.DmaBufferPrivateDataSize = sizeof(buffer->private_data),
			.DmaBufferPrivateDataSubmissionStartOffset = OTHERS_BYTES,
			.DmaBufferPrivateDataSubmissionEndOffset =
				(uint32_t)((uint8_t *)build.pDmaBufferPrivateData -
					   (uint8_t *)buffer->private_data),
			.Flags = PB_FLAG_PAGING,
		};
		vm_queue(vm, &packet);
		buffers++;
	} while (status == PB_STATUS_INSUFFICIENT_DMA_BUFFER);
	assert_int_equal(status, PB_STATUS_SUCCESS);
	return buffers;
}

void vm_start_with_aperture(struct vm *vm, struct pb_segment *segment)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		VM_APERTURE, PB_SEGMENT_APERTURE,       (uint32_t)VM_APERTURE_OS,
		0,           (uint32_t)VM_APERTURE_GPU, (uint32_t)(VM_APERTURE_GPU >> 32),
		0x10000};

	vm_start(vm, 100);
	assert_int_equal(pb_channel_command(&vm->card.channel, PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			 PB_ERROR_OK);
	*segment = (struct pb_segment){
		.channel = &vm->card.channel,
		.request = {VM_APERTURE, VM_APERTURE_OS, VM_APERTURE_GPU, 0x10000, 0, PB_SEGMENT_APERTURE}};
	vm->adapter.config.segments[VM_APERTURE] = segment;
}

void vm_move_in_order(struct vm *vm, struct vm_allocation *allocation, uint32_t node)
{
	const struct vm_allocation before = *allocation;
	const struct vm_mdl list = {.frames = {vm->away_frames[before.page]}};
	struct pb_dxgkarg_buildpagingbuffer transfer = {
		.Operation = PB_DXGK_OPERATION_TRANSFER,
		.Transfer = {.hAllocation = &allocation->object,
			     .TransferSize = VM_BYTES,
			     .Source = {.SegmentId = before.segment, .SegmentAddress = before.address},
			     .Destination = {.pMdl = &list.mdl}},
	};
	const struct pb_dxgkarg_buildpagingbuffer fill = {
		.Operation = PB_DXGK_OPERATION_FILL,
		.Fill = {.FillSize = VM_BYTES,
			 .FillPattern = VM_OLD_PATTERN,
			 .Destination = {.SegmentId = before.segment, .SegmentAddress = before.address}},
	};

	assert_int_equal(vm->os.nodes[node].software.count, 0);
	(void)vm_page(vm, node, transfer, VM_BUFFER);
	(void)vm_page(vm, node, fill, VM_BUFFER);
	vm_settle(vm, allocation);
	vm->leaving[before.page] = true;
	transfer.Transfer.Source = (struct pb_dxgk_location){.pMdl = &list.mdl};
	transfer.Transfer.Destination = (struct pb_dxgk_location){.SegmentId = allocation->segment,
								  .SegmentAddress = allocation->address};
	(void)vm_page(vm, node, transfer, VM_BUFFER);
	vm->moved++;
}
