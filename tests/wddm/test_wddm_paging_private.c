/* SPDX-License-Identifier: MIT */
/*
 * The private data of paging buffers: what BuildPagingBuffer leaves there, and what SubmitCommand makes of it. The OS
 * maps the buffer at an alias: no address of the card follows from it.
 */
#include <string.h>

#include "tests/wddm/wddm_world.h"

static struct vm vm;

static uint32_t *system_page(uint32_t page)
{
	return (uint32_t *)(void *)(vm.away.bytes_host + page * VM_BYTES);
}

static struct pb_dxgkarg_buildpagingbuffer empty_buffer(void)
{
	return (struct pb_dxgkarg_buildpagingbuffer){
		.pDmaBuffer = vm.aliases[0],
		.pDmaBufferPrivateData = vm.buffers[0].private_data,
	};
}

/** Appends an operation to the paging buffer 0. */
static void append(struct pb_dxgkarg_buildpagingbuffer *room, struct pb_dxgkarg_buildpagingbuffer build)
{
	build.pDmaBuffer = room->pDmaBuffer;
	build.DmaSize = 1000;
	build.pDmaBufferPrivateData = room->pDmaBufferPrivateData;
	build.DmaBufferPrivateDataSize = 320;
	assert_int_equal(pb_wddm_build_paging_buffer(&vm.adapter, &build), PB_STATUS_SUCCESS);
	*room = build;
}

/** The packet of what was appended since `from`, at a block of its own in the private data. */
static struct os_packet packet_since(const struct pb_dxgkarg_buildpagingbuffer *from,
				     const struct pb_dxgkarg_buildpagingbuffer *to)
{
	struct vm_buffer *buffer = &vm.buffers[0];
	const uint8_t *private_data = (const uint8_t *)buffer->private_data;
	struct os_packet packet = {.submit = {.Flags = PB_FLAG_PAGING}};

	packet.patch = (struct pb_dxgkarg_patch){
		.DmaBufferPhysicalAddress = buffer->memory.os_address,
		.pDmaBuffer = vm.aliases[0],
		.DmaBufferSize = VM_BUFFER,
		.DmaBufferSubmissionStartOffset = (uint32_t)((uint8_t *)from->pDmaBuffer - vm.aliases[0]),
		.DmaBufferSubmissionEndOffset = (uint32_t)((uint8_t *)to->pDmaBuffer - vm.aliases[0]),
		.pDmaBufferPrivateData = buffer->private_data,
		.DmaBufferPrivateDataSize = sizeof(buffer->private_data),
		.DmaBufferPrivateDataSubmissionStartOffset =
			(uint32_t)((const uint8_t *)from->pDmaBufferPrivateData - private_data),
		.DmaBufferPrivateDataSubmissionEndOffset =
			(uint32_t)((const uint8_t *)to->pDmaBufferPrivateData - private_data),
		.Flags = PB_FLAG_PAGING,
	};
	return packet;
}

/** Makes segment 0 look like host memory that the host has mapped by itself: the link does not map it. */
static void map_elsewhere(void)
{
	struct pb_segment *system = &vm.segments[0];

	system->host_memory = vm.card.link->memory + system->memory_offset;
	system->memory_offset = vm.card.link->memory_bytes;
}

/** @param elsewhere see map_elsewhere() */
static void submit_page_lists(bool elsewhere)
{
	static struct pb_segment aperture;
	static struct vm_mdl away;
	const struct pb_dxgkarg_buildpagingbuffer fill = {
		.Operation = PB_DXGK_OPERATION_FILL,
		.Fill = {.FillSize = 8,
			 .FillPattern = 0x99,
			 .Destination = {VM_APERTURE, VM_APERTURE_OS + 0x1ffc}},
	};
	struct pb_dxgkarg_buildpagingbuffer map = {
		.Operation = PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT,
		.MapApertureSegment = {NULL, NULL, VM_APERTURE, 1, 1, &away.mdl, 0, 6},
	};
	struct pb_dxgkarg_buildpagingbuffer room;
	struct pb_dxgkarg_buildpagingbuffer start;
	struct os_packet packets[2];
	const uint32_t *words;

	vm_start_with_aperture(&vm, &aperture);
	if (elsewhere)
		map_elsewhere();
	memcpy(away.frames, vm.away_frames, sizeof(away.frames));
	memset(system_page(6), 0, 3u * VM_BYTES);
	room = empty_buffer();
	start = room;
	append(&room, map);
	map.MapApertureSegment.OffsetInPages = 2;
	map.MapApertureSegment.MdlOffset = 8;
	append(&room, map);
	packets[0] = packet_since(&start, &room);
	start = room;
	append(&room, fill);
	map.MapApertureSegment.MdlOffset = 7;
	append(&room, map);
	append(&room, fill);
	packets[1] = packet_since(&start, &room);
	vm.buffers[0].reserved = true;
	for (uint32_t i = 0; i < 2; i++)
		vm_queue(&vm, &packets[i]);
	vm_finish(&vm);
	assert_int_equal(system_page(6)[VM_BYTES / 4 - 1], 0x99);
	assert_int_equal(system_page(8)[0], 0x99);
	assert_int_equal(system_page(7)[0], 0x99);
	/* Two maps of 10 words, a fill of 5, one word of alignment: the third list is word 26. */
	words = (const uint32_t *)(const void *)vm.buffers[0].memory.bytes_host;
	assert_int_equal(words[32], CARD_SYSTEM_GPU + vm.buffers[0].memory.offset + 26 * 4);
	assert_int_equal(words[33], 0);
	vm_stop(&vm);
}

/** Two submissions of one buffer, with page lists: their addresses are those of the buffer, not of its alias. */
static void page_lists_are_found_where_the_buffer_lies(void **state)
{
	(void)state;
	submit_page_lists(false);
	submit_page_lists(true);
}

/** Private data that BuildPagingBuffer cannot have left: memory is not as the OS expects, and no fence comes. */
static void bad_private_data_ends_the_adapter(void **state)
{
	const struct pb_dxgkarg_buildpagingbuffer small = {
		.Operation = PB_DXGK_OPERATION_FILL,
		.Fill = {.FillSize = 12, .Destination = {VM_VIDEO, VM_VIDEO_OS}},
	};

	(void)state;
	for (uint32_t i = 0; i < 11; i++) {
		struct pb_dxgkarg_buildpagingbuffer room;
		struct pb_dxgkarg_buildpagingbuffer start;
		struct pb_dxgkarg_submitcommand submit;
		struct os_packet packet;

		vm_start(&vm, 100);
		room = empty_buffer();
		start = room;
		append(&room, small);
		append(&room, small);
		packet = packet_since(&start, &room);
		submit = (struct pb_dxgkarg_submitcommand){
			.DmaBufferPhysicalAddress =
				packet.patch.DmaBufferPhysicalAddress - (i == 1 ? 0x10000000 : 0),
			.DmaBufferSize = VM_BUFFER,
			.DmaBufferSubmissionEndOffset =
				packet.patch.DmaBufferSubmissionEndOffset - (i == 2 ? 4 : 0),
			.pDmaBufferPrivateData = i == 3 ? NULL : packet.patch.pDmaBufferPrivateData,
			.DmaBufferPrivateDataSize = i == 4 ? 63 : packet.patch.DmaBufferPrivateDataSize,
			.DmaBufferPrivateDataSubmissionStartOffset = i == 5 ? 65 : 0,
			.DmaBufferPrivateDataSubmissionEndOffset = i == 6   ? 96
								   : i == 7 ? 60
									    : 64,
			.Flags = PB_FLAG_PAGING,
		};
		if (i == 8)
			vm.buffers[0].private_data[4] ^= 1;
		/* A page list in packets of 20 bytes; bytes that are no words. */
		if (i == 9)
			((uint32_t *)vm.buffers[0].private_data)[2] = 8;
		if (i == 10) {
			((uint32_t *)vm.buffers[0].private_data)[1]--;
			((uint32_t *)vm.buffers[0].private_data)[9]++;
		}
		assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
		assert_int_equal(vm.adapter.error, i == 0 ? PB_ERROR_OK : PB_ERROR_BAD_ARGUMENT);
		vm_stop(&vm);
	}
}

/** A call without room for its record builds nothing, as one without room for packets. */
static void a_call_without_room_for_its_record_builds_nothing(void **state)
{
	struct pb_dxgkarg_buildpagingbuffer build;

	(void)state;
	vm_start(&vm, 100);
	build = empty_buffer();
	build.Operation = PB_DXGK_OPERATION_FILL;
	build.Fill.FillSize = 8;
	build.Fill.Destination.SegmentId = VM_VIDEO;
	build.DmaSize = VM_BUFFER;
	build.DmaBufferPrivateDataSize = PB_WDDM_PAGING_RECORD_BYTES - 1;
	assert_int_equal(pb_wddm_build_paging_buffer(&vm.adapter, &build), PB_STATUS_INSUFFICIENT_DMA_BUFFER);
	assert_ptr_equal(build.pDmaBuffer, vm.aliases[0]);
	assert_ptr_equal(build.pDmaBufferPrivateData, vm.buffers[0].private_data);
	assert_int_equal(build.MultipassOffset, 0);
	build.DmaBufferPrivateDataSize++;
	assert_int_equal(pb_wddm_build_paging_buffer(&vm.adapter, &build), PB_STATUS_SUCCESS);
	assert_ptr_equal(build.pDmaBuffer, vm.aliases[0] + 20);
	assert_ptr_equal(build.pDmaBufferPrivateData, vm.buffers[0].private_data + 4);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_paging_private)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_lists_are_found_where_the_buffer_lies),
		cmocka_unit_test(bad_private_data_ends_the_adapter),
		cmocka_unit_test(a_call_without_room_for_its_record_builds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
