/* SPDX-License-Identifier: MIT */
/* Calls of Render, RenderKm and Present: what the OS gives the driver, and what it checks behind it. */
#include "tests/wddm/os/call.h"

#include <string.h>

#include "hal/engine/packets.h"

#define SMALL_BUFFER 64u /**< least size of a DMA buffer that takes any command */
#define BUSY_US_MAX  600u
#define APPENDED_MAX 6u /**< packets */

/**
 * Appends what no process may render to a buffer: engine time, so that preemptions and resets find it running, a fault or
 * a hang.
 */
static void append(struct os_machine *m, struct os_buffer *buffer)
{
	for (uint32_t i = os_below(&m->chance, APPENDED_MAX + 1); i != 0; i--) {
		const bool faults = m->wrongness != 0 && os_one_in(&m->chance, m->wrongness);
		uint32_t words[PB_PACKET_BUSY_WORDS] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS),
							1 + os_below(&m->chance, BUSY_US_MAX)};

		if (faults)
			words[0] = os_one_in(&m->chance, 2)
					   ? PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS)
					   : PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS);
		memcpy(buffer->memory.bytes_host + buffer->bytes, words, 4 * PB_PACKET_WORDS(words[0]));
		memcpy(&buffer->commands[buffer->command_words], words, 4 * PB_PACKET_WORDS(words[0]));
		buffer->bytes += 4 * PB_PACKET_WORDS(words[0]);
		buffer->command_words += PB_PACKET_WORDS(words[0]);
	}
}

/** A packet of a context that the node has beyond those of lower priority: the OS preempts these at once, now and then. */
static void maybe_preempt(struct os_machine *m, uint32_t node, uint32_t priority)
{
	const struct os_queue *hardware = &m->os.nodes[node].hardware;

	for (uint32_t i = 0; i < hardware->count; i++) {
		if (os_is_paging(&hardware->packets[i]) || hardware->packets[i].priority >= priority)
			return;
	}
	if (hardware->count == 0 || !os_one_in(&m->chance, 3))
		return;
	m->counts.overtaken += hardware->count;
	os_preempt(&m->os, node);
}

void os_call_queue_packet(struct os_machine *m, struct os_context *context, struct os_packet *packet)
{
	packet->submit.NodeOrdinal = context->shim.node;
	packet->priority = context->priority;
	packet->note[OS_NOTE_NUMBER] = context->process->queued++;
	context->process->outstanding++;
	(void)os_queue(&m->os, packet);
	maybe_preempt(m, context->shim.node, context->priority);
}

void os_call_queue(struct os_machine *m, struct os_buffer *buffer, uint32_t flags)
{
	struct os_packet packet = {
		.patch =
			{
				.hContext = &buffer->context->shim,
				.DmaBufferPhysicalAddress = buffer->memory.os_address,
				.DmaBufferSize = OS_MAP_BYTES,
				.DmaBufferSubmissionEndOffset = buffer->bytes,
				.pDmaBufferPrivateData = buffer->private_data,
				.DmaBufferPrivateDataSize = buffer->private_size,
				.DmaBufferPrivateDataSubmissionEndOffset = buffer->private_end,
				.AllocationListSize = OS_LIST,
				.PatchLocationListSize = buffer->patch_count,
				.PatchLocationListSubmissionLength = buffer->patch_count,
				.Flags = flags & 0xf,
			},
		.submit = {.Flags = flags},
		.tag = (uint32_t)(buffer - m->buffers) + 1,
	};

	buffer->reserved = false;
	buffer->parts = 1;
	os_call_queue_packet(m, buffer->context, &packet);
}

/** Checks the status of Render or Present. @return whether a buffer was built */
static bool check_status(struct os_machine *m, const struct os_context *context, uint32_t status)
{
	struct os_process *process = context->process;

	if (status == PB_STATUS_GPU_EXCEPTION_ON_DEVICE) {
		/* The driver may know of a fault before the scheduler knows of its fence. */
		if (!process->tainted && process->doomed == 0 && !m->rough)
			os_break(&m->os, OS_RULE_LOST, context->shim.handle);
		process->tainted = true;
		return false;
	}
	if (status != PB_STATUS_SUCCESS && status != PB_STATUS_INSUFFICIENT_DMA_BUFFER)
		os_break(&m->os, OS_RULE_RENDER_STATUS, status);
	else if (context->faulted)
		os_break(&m->os, OS_RULE_FAULT_HIDDEN, context->shim.handle);
	return !os_has_stopped(&m->os);
}

void os_call_begin(struct os_machine *m, struct os_buffer *buffer, uint32_t pass, struct os_call *call)
{
	uint8_t *private_data = (uint8_t *)buffer->private_data;
	const bool small = pass < OS_SMALL_PASSES;

	buffer->private_size = OS_PRIVATE - os_below(&m->chance, 400);
	call->dma_size =
		small && os_one_in(&m->chance, 4) ? SMALL_BUFFER + os_below(&m->chance, 64) : OS_MAP_BYTES;
	call->patch_room = small && os_one_in(&m->chance, 6) ? 6 : OS_PATCHES;
	os_garbage(&m->chance, buffer->memory.bytes_host, call->dma_size < 256 ? 512 : 64);
	os_garbage(&m->chance, buffer->patches, sizeof(buffer->patches[0]) * 4);
	os_vidmm_list(m, buffer->process, buffer->rendered);
	memcpy(call->private_behind, private_data + buffer->private_size, OS_CALL_GUARD);
	call->window = os_map_open(&m->map, buffer->memory.bytes_host);
}

bool os_call_end(struct os_machine *m, struct os_buffer *buffer, struct os_call *call, uint32_t status)
{
	uint8_t *private_data = (uint8_t *)buffer->private_data;
	const ptrdiff_t bytes = (uint8_t *)call->dma_end - call->window->bytes;
	const ptrdiff_t private_bytes = (uint8_t *)call->private_end - private_data;
	const ptrdiff_t patches = call->patch_end - buffer->patches;
	const bool sound = os_map_untouched(call->window, call->dma_size, OS_MAP_BYTES + OS_MAP_GUARD);

	os_map_close(call->window);
	if (!sound || bytes < 0 || bytes > (ptrdiff_t)call->dma_size)
		os_break(&m->os, OS_RULE_DMA_OVERFLOW, (uint32_t)bytes);
	else if (private_bytes < 0 || private_bytes > (ptrdiff_t)buffer->private_size ||
		 memcmp(call->private_behind, private_data + buffer->private_size, OS_CALL_GUARD) != 0)
		os_break(&m->os, OS_RULE_PRIVATE_OVERFLOW, (uint32_t)private_bytes);
	else if (patches < 0 || patches > (ptrdiff_t)call->patch_room)
		os_break(&m->os, OS_RULE_REFERENCE, (uint32_t)patches);
	if (os_has_stopped(&m->os) || !check_status(m, buffer->context, status) || bytes == 0)
		return false;
	buffer->bytes = (uint32_t)bytes;
	buffer->private_end = (uint32_t)private_bytes;
	buffer->patch_count = (uint32_t)patches;
	os_vidmm_check_render(m, buffer);
	return !os_has_stopped(&m->os);
}

uint32_t os_call_flags(struct os_machine *m, uint32_t flags)
{
	return os_one_in(&m->chance, 10) ? flags | PB_FLAG_NULL_RENDERING : flags;
}

void os_call_remember(struct os_machine *m, struct os_buffer *buffer, const uint32_t *words, uint32_t count,
		      bool drawing, uint32_t flags)
{
	buffer->drawing = drawing;
	buffer->unfinished = false;
	buffer->command_words = count;
	memcpy(buffer->commands, words, count * sizeof(*words));
	if (!buffer->drawing && os_one_in(&m->chance, 3))
		append(m, buffer);
	buffer->wrong = OS_RIGHT;
	buffer->faults = false;
	for (uint32_t at = 0; at < buffer->command_words && !buffer->drawing;
	     at += PB_PACKET_WORDS(buffer->commands[at])) {
		const uint32_t opcode = PB_PACKET_OPCODE(buffer->commands[at]);

		buffer->faults = buffer->faults || opcode == PB_PACKET_HANG || opcode == PB_PACKET_FAULT;
	}
	if ((flags & PB_FLAG_NULL_RENDERING) != 0)
		buffer->faults = false;
	else if (m->wrongness != 0 && buffer->patch_count != 0 && os_one_in(&m->chance, 4 * m->wrongness))
		buffer->wrong = (enum os_wrong)(1 + os_below(&m->chance, OS_WRONGS - 1));
	os_say(m, "render: buffer %u, %u bytes, %u patches, context %u%s%s", (uint32_t)(buffer - m->buffers),
	       buffer->bytes, buffer->patch_count, (uint32_t)(buffer->process - m->processes),
	       buffer->faults ? ", faults" : "", buffer->wrong != OS_RIGHT ? ", wrong" : "");
}

void os_call_fill_in(struct pb_dxgkarg_render *render, struct os_buffer *buffer, const struct os_call *call)
{
	render->pDmaBuffer = call->window->bytes;
	render->DmaSize = call->dma_size;
	render->pDmaBufferPrivateData = buffer->private_data;
	render->DmaBufferPrivateDataSize = buffer->private_size;
	render->pAllocationList = buffer->rendered;
	render->AllocationListSize = OS_LIST;
	render->PatchLocationListInSize = 0;
	render->pPatchLocationListOut = buffer->patches;
	render->PatchLocationListOutSize = call->patch_room;
}

void os_call_take_out(const struct pb_dxgkarg_render *render, struct os_call *call)
{
	call->dma_end = render->pDmaBuffer;
	call->private_end = render->pDmaBufferPrivateData;
	call->patch_end = render->pPatchLocationListOut;
}
