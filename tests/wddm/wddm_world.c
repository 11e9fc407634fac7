/* SPDX-License-Identifier: MIT */
#include "tests/wddm/wddm_world.h"

#include <string.h>

#define PATIENCE_US   60000000u
#define QUEUE_ENTRIES OS_HARDWARE_MAX
#define DEPTH         4u
#define VIDEO_PAGES   32u
#define GARBAGE       0xa5
#define VM_SLOTS      5u /**< DXGK_DRIVERCAPS.MaxAllocationListSlotId + 1 */

static const struct pb_segment_request requests[3] = {
	{0, CARD_SYSTEM_OS, CARD_SYSTEM_GPU, CARD_SYSTEM_BYTES, CARD_SYSTEM_BYTES, PB_SEGMENT_LINEAR},
	{VM_VIDEO, VM_VIDEO_OS, VM_VIDEO_GPU, VIDEO_PAGES *VM_BYTES, VIDEO_PAGES *VM_BYTES,
	 PB_SEGMENT_LINEAR},
	{VM_EDGE, VM_EDGE_OS, VM_EDGE_GPU, VM_EDGE_BYTES, VM_EDGE_BYTES, PB_SEGMENT_LINEAR},
};

uint32_t vm_random(struct vm *vm, uint32_t bound)
{
	vm->seed ^= vm->seed << 13;
	vm->seed ^= vm->seed >> 17;
	vm->seed ^= vm->seed << 5;
	return vm->seed % bound;
}

/* ---- the memory manager ---- */

static uint32_t *page_memory(const struct vm *vm, uint32_t page)
{
	const struct pb_segment *segment = &vm->segments[page < VIDEO_PAGES ? 1 : 2];
	const uint32_t in_segment = page < VIDEO_PAGES ? page : page - VIDEO_PAGES;

	return (uint32_t *)(void *)(vm->card.link->memory + segment->memory_offset + in_segment * VM_BYTES);
}

uint32_t *vm_memory(const struct vm *vm, const struct vm_allocation *allocation)
{
	assert_int_not_equal(allocation->segment, 0);
	return page_memory(vm, allocation->page);
}

void vm_settle(struct vm *vm, struct vm_allocation *allocation)
{
	uint32_t page = vm_random(vm, VM_HOME_PAGES);

	for (uint32_t tries = 0; vm->used_pages[page]; tries++) {
		assert_true(tries < VM_HOME_PAGES);
		page = (page + 1) % VM_HOME_PAGES;
	}
	vm->used_pages[page] = true;
	allocation->page = page;
	allocation->segment = page < VIDEO_PAGES ? VM_VIDEO : VM_EDGE;
	allocation->address = page < VIDEO_PAGES ? VM_VIDEO_OS + page * VM_BYTES
						 : VM_EDGE_OS + (page - VIDEO_PAGES) * VM_BYTES;
}

static void clean(const struct vm *vm, uint32_t page)
{
	uint32_t *memory = page_memory(vm, page);

	for (uint32_t i = 0; i < VM_BYTES / 4; i++)
		memory[i] = VM_OLD_PATTERN;
}

static void leave(struct vm *vm, struct vm_allocation *allocation)
{
	clean(vm, allocation->page);
	vm->used_pages[allocation->page] = false;
	allocation->segment = 0;
	allocation->address = 0;
}

void vm_move(struct vm *vm, struct vm_allocation *allocation)
{
	struct vm_allocation before = *allocation;

	vm_settle(vm, allocation);
	memcpy(vm_memory(vm, allocation), vm_memory(vm, &before), VM_BYTES);
	leave(vm, &before);
	vm->moved++;
}

void vm_page_out(struct vm *vm, struct vm_allocation *allocation)
{
	leave(vm, allocation);
}

void vm_page_in(struct vm *vm, struct vm_allocation *allocation)
{
	vm_settle(vm, allocation);
	memcpy(vm_memory(vm, allocation), allocation->model, VM_BYTES);
}

void vm_compare(const struct vm *vm, const char *row)
{
	for (uint32_t i = 0; i < VM_CONTEXTS * VM_ALLOCATIONS; i++) {
		const struct vm_context *context = &vm->contexts[i / VM_ALLOCATIONS];
		const struct vm_allocation *allocation = &context->allocations[i % VM_ALLOCATIONS];

		if (context->tainted || allocation->segment == 0)
			continue;
		for (uint32_t w = 0; w < VM_BYTES / 4; w++) {
			if (vm_memory(vm, allocation)[w] != allocation->model[w])
				fail_msg("%s: word %u of allocation %u of context %u is 0x%x, not 0x%x", row,
					 w, i % VM_ALLOCATIONS + 1, i / VM_ALLOCATIONS,
					 vm_memory(vm, allocation)[w], allocation->model[w]);
		}
	}
	for (uint32_t page = 0; page < VM_HOME_PAGES; page++) {
		for (uint32_t w = 0; !vm->used_pages[page] && w < VM_BYTES / 4; w++) {
			if (page_memory(vm, page)[w] != VM_OLD_PATTERN)
				fail_msg("%s: word %u of the free page %u was written", row, w, page);
		}
	}
}

void vm_list(const struct vm *vm, const struct vm_context *context, struct pb_dxgk_allocationlist *list)
{
	(void)vm;
	memset(list, 0, VM_LIST * sizeof(*list));
	for (uint32_t a = 0; a < VM_ALLOCATIONS; a++) {
		const struct vm_allocation *allocation = &context->allocations[a];

		list[a + 1].hDeviceSpecificAllocation = (void *)(uintptr_t)&allocation->object;
		list[a + 1].Value = 1u | allocation->segment << 1;
		list[a + 1].PhysicalAddress = allocation->address;
	}
}

/* ---- DMA buffers and packets ---- */

struct vm_buffer *vm_buffer(struct vm *vm, struct vm_context *context)
{
	for (uint32_t b = 0; b < VM_BUFFERS; b++) {
		struct vm_buffer *buffer = &vm->buffers[b];

		if (buffer->reserved || buffer->parts != 0)
			continue;
		buffer->reserved = true;
		buffer->patched = false;
		buffer->private_start = 0;
		buffer->private_end = sizeof(buffer->private_data);
		buffer->context = context;
		return buffer;
	}
	return NULL;
}

struct os_packet vm_packet(const struct vm_buffer *buffer, uint32_t flags, uint32_t start, uint32_t end)
{
	struct os_packet packet = {
		.patch =
			{
				.hContext = (void *)(uintptr_t)&buffer->context->shim,
				.DmaBufferPhysicalAddress = buffer->memory.os_address,
				.pDmaBuffer = buffer->memory.bytes_host,
				.DmaBufferSize = VM_BUFFER,
				.DmaBufferSubmissionStartOffset = start,
				.DmaBufferSubmissionEndOffset = end,
				.pDmaBufferPrivateData = (void *)(uintptr_t)buffer->private_data,
				.DmaBufferPrivateDataSize = sizeof(buffer->private_data),
				.DmaBufferPrivateDataSubmissionStartOffset = buffer->private_start,
				.DmaBufferPrivateDataSubmissionEndOffset = buffer->private_end,
				.AllocationListSize = VM_LIST,
				.PatchLocationListSize = buffer->patch_count,
				.Flags = flags & 0xf,
			},
		.submit = {.Flags = flags, .NodeOrdinal = buffer->context->shim.node},
		.tag = (uint32_t)(buffer->memory.offset),
	};
	uint32_t first = 0;
	uint32_t last;

	while (first < buffer->patch_count && buffer->patches[first].patch_offset < start)
		first++;
	for (last = first; last < buffer->patch_count && buffer->patches[last].patch_offset < end;)
		last++;
	packet.patch.PatchLocationListSubmissionStart = first;
	packet.patch.PatchLocationListSubmissionLength = last - first;
	return packet;
}

struct vm_buffer *vm_buffer_of(struct vm *vm, const void *private_data)
{
	for (uint32_t b = 0; b < VM_BUFFERS; b++) {
		if (vm->buffers[b].private_data == private_data)
			return &vm->buffers[b];
	}
	return NULL;
}

static struct vm_buffer *buffer_of(struct vm *vm, const struct os_packet *packet)
{
	return vm_buffer_of(vm, packet->patch.pDmaBufferPrivateData);
}

/**
 * The memory manager's table of slots: counts those that are bound where a part begins, and that no entry of its
 * SplitOffset binds anew or unbinds. Their allocations would have to stay in memory for a part that does not name them.
 */
static uint32_t leaks_at(const struct vm_buffer *buffer, uint32_t start)
{
	bool bound[VM_SLOTS] = {false};
	uint32_t leaks = 0;

	for (uint32_t p = 0; p < buffer->patch_count && buffer->patches[p].split_offset <= start; p++) {
		const struct pb_patch_location *patch = &buffer->patches[p];

		assert_true(patch->slot < VM_SLOTS);
		bound[patch->slot] = patch->split_offset < start && patch->allocation_index != 0;
	}
	for (uint32_t slot = 0; slot < VM_SLOTS; slot++)
		leaks += bound[slot];
	return leaks;
}

void vm_queue(struct vm *vm, const struct os_packet *packet)
{
	struct vm_buffer *buffer = buffer_of(vm, packet);

	assert_true(os_queue(&vm->os, packet));
	if (buffer == NULL)
		return;
	if (buffer->context != NULL && packet->patch.DmaBufferSubmissionStartOffset != 0)
		vm->leaks += leaks_at(buffer, packet->patch.DmaBufferSubmissionStartOffset);
	buffer->reserved = false;
	buffer->parts++;
	if (buffer->context != NULL)
		buffer->context->outstanding++;
}

/** Whether the patches of a packet name an allocation. */
static bool needed(const struct vm_buffer *buffer, const struct os_packet *packet, uint32_t index)
{
	const uint32_t start = packet->patch.PatchLocationListSubmissionStart;

	for (uint32_t p = start; p < start + packet->patch.PatchLocationListSubmissionLength; p++) {
		if (buffer->patches[p].allocation_index == index)
			return true;
	}
	return false;
}

/** What the packet's range does not name may hold anything: wild handles, absent segments, stale addresses. */
static void spoil_unneeded(struct vm *vm, const struct vm_buffer *buffer, const struct os_packet *packet)
{
	const uint32_t start = packet->patch.PatchLocationListSubmissionStart;
	const uint32_t end = start + packet->patch.PatchLocationListSubmissionLength;

	for (uint32_t i = 0; i < VM_LIST; i++) {
		if (needed(buffer, packet, i))
			continue;
		vm->list[i].hDeviceSpecificAllocation = (void *)(uintptr_t)(1 + vm_random(vm, UINT32_MAX));
		vm->list[i].Value = vm_random(vm, UINT32_MAX);
		vm->list[i].PhysicalAddress = vm_random(vm, UINT32_MAX) * UINT64_C(0x100001);
	}
	for (uint32_t p = 0; p < VM_PATCHES; p++) {
		if (p < start || p >= end)
			memset(&vm->patches[p], GARBAGE, sizeof(vm->patches[p]));
	}
}

/**
 * Before a submission: refreshes the lists. Patch is skipped where nothing has changed since Render. A buffer
 * that was patched once is patched at each submission.
 */
static void prepare(void *context, struct os_packet *packet)
{
	struct vm *vm = context;
	struct vm_buffer *buffer = buffer_of(vm, packet);

	if (buffer == NULL || buffer->context == NULL)
		return;
	vm_list(vm, buffer->context, vm->list);
	packet->skip_patch = !buffer->patched && memcmp(vm->list, buffer->rendered, sizeof(vm->list)) == 0 &&
			     vm_random(vm, 4) != 0;
	for (uint32_t i = 1; i < VM_LIST; i++) {
		if (vm->list[i].Value >> 1 == 0)
			packet->skip_patch = false;
		if (vm->hide && !needed(buffer, packet, i)) {
			vm->list[i].Value &= 1u;
			vm->list[i].PhysicalAddress = 0;
		}
	}
	memcpy(vm->patches, buffer->patches, sizeof(vm->patches));
	spoil_unneeded(vm, buffer, packet);
	packet->patch.pAllocationList = vm->list;
	packet->patch.pPatchLocationList = vm->patches;
	if (vm->spoil != NULL)
		vm->spoil(vm, packet);
	buffer->patched = buffer->patched || !packet->skip_patch;
	vm->skipped += packet->skip_patch;
}

static void retired(void *context, const struct os_packet *packet, enum os_outcome outcome)
{
	struct vm *vm = context;
	struct vm_buffer *buffer = buffer_of(vm, packet);

	if (buffer == NULL)
		return;
	buffer->parts--;
	if (buffer->context != NULL) {
		buffer->context->outstanding--;
		buffer->context->tainted = buffer->context->tainted || outcome != OS_COMPLETED;
	} else if (outcome != OS_COMPLETED) {
		vm->paging_aborted = true;
	}
}

void vm_draw(struct vm *vm, uint32_t number)
{
	struct vm_context *context = &vm->contexts[number];
	struct vm_buffer *buffer = vm_buffer(vm, context);
	struct os_packet packet;

	if (buffer == NULL) {
		fail_msg("no DMA buffer is free");
		return;
	}
	assert_int_equal(vm_render(vm, context, buffer), PB_STATUS_SUCCESS);
	packet = vm_packet(buffer, 0, 0, buffer->bytes);
	vm_queue(vm, &packet);
	vm_model(vm, context);
}

/* ---- start and end ---- */

void vm_context_start(struct vm *vm, uint32_t number)
{
	struct vm_context *context = &vm->contexts[number];

	memset(context, 0, sizeof(*context));
	assert_int_equal(pb_wddm_context_create(&vm->adapter, &context->shim, number == 2, context->staging,
						sizeof(context->staging)),
			 PB_ERROR_OK);
	for (uint32_t a = 0; a < VM_ALLOCATIONS; a++) {
		struct vm_allocation *allocation = &context->allocations[a];

		allocation->object = (struct pb_wddm_allocation){.size = VM_BYTES, .pitch = VM_PITCH};
		for (uint32_t i = 0; i < VM_BYTES / 4; i++)
			allocation->model[i] = vm_random(vm, UINT32_MAX);
		vm_page_in(vm, allocation);
	}
}

void vm_context_stop(struct vm *vm, uint32_t number)
{
	struct vm_context *context = &vm->contexts[number];

	assert_int_equal(pb_wddm_context_destroy(&context->shim), PB_ERROR_OK);
	for (uint32_t a = 0; a < VM_ALLOCATIONS; a++) {
		if (context->allocations[a].segment != 0)
			vm_page_out(vm, &context->allocations[a]);
	}
}

static void start_adapter(struct vm *vm, uint32_t version, uint32_t paging_node)
{
	struct pb_wddm_config config = {
		.channel = &vm->card.channel,
		.segments = {[PB_SEGMENT_SYSTEM] = &vm->segments[0],
			     [VM_VIDEO] = &vm->segments[1],
			     [VM_EDGE] = &vm->segments[2]},
		.interface_version = version,
		.node_count = 2,
		.paging_node = paging_node,
		.queue_entries = QUEUE_ENTRIES,
		.allocations = VM_LIST,
		.patches = VM_PATCHES,
		.callbacks = {.notify_interrupt = os_notify_interrupt,
			      .queue_dpc = os_queue_dpc,
			      .notify_dpc = os_notify_dpc,
			      .context = &vm->os},
	};

	assert_int_equal(pb_wddm_start(&vm->adapter, &config), PB_ERROR_OK);
}

void vm_start(struct vm *vm, uint32_t first_fence)
{
	vm_start_version(vm, first_fence, PB_DXGKDDI_WDDM1_3, 0);
}

bool vm_can_page(const struct vm *vm, const struct vm_context *context)
{
	return vm->os.version >= PB_DXGKDDI_WIN8 || context->shim.node == vm->adapter.config.paging_node;
}

void vm_start_version(struct vm *vm, uint32_t first_fence, uint32_t version, uint32_t paging_node)
{
	struct os_miniport miniport;

	memset(vm, 0, sizeof(*vm));
	vm->seed = 0x2545f491;
	card_attach(&vm->card);
	card_join(&vm->card, &vm->admin, PB_CHANNEL_ADMIN);
	for (uint32_t n = 0; n < 2; n++)
		vm_node_times(vm, n, 0, 0);
	for (uint32_t s = 0; s < 3; s++)
		assert_int_equal(pb_segment_create(&vm->segments[s], &vm->card.channel, &requests[s]),
				 PB_ERROR_OK);
	for (uint32_t page = 0; page < VM_HOME_PAGES; page++)
		clean(vm, page);
	start_adapter(vm, version, paging_node);
	assert_int_equal(pb_memory_allocate(&vm->segments[0], VM_HOME_PAGES * VM_BYTES, VM_BYTES, &vm->away),
			 PB_ERROR_OK);
	for (uint32_t page = 0; page < VM_HOME_PAGES; page++)
		vm->away_frames[page] = (uintptr_t)((CARD_SYSTEM_OS + vm->away.offset) / VM_BYTES + page);
	for (uint32_t b = 0; b < VM_BUFFERS; b++)
		assert_int_equal(
			pb_memory_allocate(&vm->segments[0], VM_BUFFER, VM_BUFFER, &vm->buffers[b].memory),
			PB_ERROR_OK);
	for (uint32_t c = 0; c < VM_CONTEXTS; c++)
		vm_context_start(vm, c);
	vm_miniport(vm, &miniport);
	os_init(&vm->os, &miniport, 2, first_fence, DEPTH);
	vm->os.version = version;
	vm->os.prepare = prepare;
	vm->os.retired = retired;
	vm->os.context = vm;
}

void vm_stop(struct vm *vm)
{
	card_leave(&vm->admin);
	card_stop(&vm->card);
}

void vm_alive(const struct vm *vm, const char *row)
{
	if (vm->os.bugcheck != 0)
		fail_msg("%s: bugcheck 0x%x, 0x%x", row, vm->os.bugcheck, vm->os.parameter);
}

void vm_finish(struct vm *vm)
{
	const uint64_t end = pb_sim_now(vm->card.sim) + PATIENCE_US;

	while (!os_is_idle(&vm->os)) {
		os_step(&vm->os, 100);
		vm_alive(vm, "finish");
		if (pb_sim_now(vm->card.sim) > end)
			fail_msg("%u packets have not ended",
				 vm->os.nodes[0].hardware.count + vm->os.nodes[1].hardware.count);
	}
	for (uint32_t page = 0; page < VM_HOME_PAGES; page++) {
		vm->used_pages[page] = vm->used_pages[page] && !vm->leaving[page];
		vm->leaving[page] = false;
	}
}

void vm_repair(struct vm *vm)
{
	for (uint32_t c = 0; c < VM_CONTEXTS; c++) {
		if (!vm->contexts[c].tainted && !vm->paging_aborted)
			continue;
		vm_context_stop(vm, c);
		vm_context_start(vm, c);
	}
	for (uint32_t page = 0; page < VM_HOME_PAGES && vm->paging_aborted; page++) {
		if (!vm->used_pages[page])
			clean(vm, page);
	}
	vm->paging_aborted = false;
}
