/* SPDX-License-Identifier: MIT */
/* Processes: they render and present, and the OS checks what the driver makes of it. */
#include <string.h>

#include "hal/engine/packets.h"
#include "tests/wddm/os/machine.h"

#define PRIVATE_GUARD 64u
#define SMALL_BUFFER  64u /**< least size of a DMA buffer that takes any command */
#define PASSES_MAX    16u
#define BUSY_US_MAX   600u
#define APPENDED_MAX  6u /**< packets */

/* Headers of commands: as packets of the engine, with an index of the allocation list instead of an address. */
#define FILL PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS)
#define COPY PB_PACKET(PB_PACKET_COPY, PB_PACKET_COPY_WORDS)

/* ---- life ---- */

void os_client_start(struct os_machine *m, struct os_process *process, uint32_t number)
{
	memset(process, 0, sizeof(*process));
	if (pb_wddm_context_create(&m->adapter, &process->shim, number % m->os.node_count, process->staging,
				   sizeof(process->staging)) != PB_ERROR_OK)
		return;
	process->alive = true;
	for (uint32_t a = 0; a < OS_ALLOCATIONS; a++) {
		struct os_allocation *allocation = &process->allocations[a];

		allocation->pages = 1 + os_below(&m->chance, 2) + os_one_in(&m->chance, 6);
		os_vidmm_frames(m, allocation);
		allocation->object = (struct pb_wddm_allocation){
			.size = (uint64_t)allocation->pages * OS_PAGE_BYTES, .pitch = OS_PITCH};
		os_garbage(&m->chance, allocation->words, allocation->pages * OS_PAGE_BYTES);
		for (uint32_t page = 0; page < allocation->pages; page++)
			os_memory_load(&m->memory, allocation->frames[page],
				       &allocation->words[page * OS_PAGE_WORDS]);
	}
}

void os_client_stop(struct os_machine *m, struct os_process *process)
{
	if (!process->alive)
		return;
	(void)pb_wddm_context_destroy(&process->shim);
	for (uint32_t a = 0; a < OS_ALLOCATIONS; a++)
		os_vidmm_release(m, &process->allocations[a]);
	process->alive = false;
}

/* ---- commands ---- */

struct command {
	uint32_t words[OS_COMMANDS];
	uint32_t count;
};

static void add(struct command *command, uint32_t word)
{
	command->words[command->count++] = word;
}

static uint32_t some_offset(struct os_machine *m, const struct os_allocation *allocation, uint32_t bytes)
{
	const uint32_t size = allocation->pages * OS_PAGE_BYTES;
	/* An operand must lie in its allocation even if it is empty. */
	const uint32_t last = size - (bytes != 0 ? bytes : 4u);

	/* The end, the beginning, across a page boundary, or anywhere. */
	switch (os_below(&m->chance, 6)) {
	case 0:
		return last;
	case 1:
		return 0;
	case 2:
		return allocation->pages > 1 ? OS_PAGE_BYTES - bytes / 8 * 4 : 0;
	default:
		return 4 * os_below(&m->chance, last / 4 + 1);
	}
}

static void add_something(struct os_machine *m, const struct os_process *process, struct command *command)
{
	const uint32_t to = os_below(&m->chance, OS_ALLOCATIONS);
	/* An empty command needs no address: it does not fault where an allocation is absent. */
	const uint32_t bytes = 4 * (m->wrongness != 0 ? 1 + os_below(&m->chance, OS_FILL_MAX)
						      : os_below(&m->chance, OS_FILL_MAX + 1));
	const uint32_t offset = some_offset(m, &process->allocations[to], bytes);

	if (os_one_in(&m->chance, 2)) {
		add(command, FILL);
		add(command, to + 1);
		add(command, offset);
		add(command, bytes);
		add(command, os_word(&m->chance));
	} else {
		const uint32_t from = os_below(&m->chance, OS_ALLOCATIONS);

		add(command, COPY);
		add(command, from + 1);
		add(command, some_offset(m, &process->allocations[from], bytes));
		add(command, to + 1);
		add(command, offset);
		add(command, bytes);
	}
}

static void make_commands(struct os_machine *m, const struct os_process *process, struct command *command)
{
	command->count = 0;
	for (uint32_t i = 1 + os_below(&m->chance, 7); i != 0; i--)
		add_something(m, process, command);
}

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

/* ---- Render ---- */

static void queue(struct os_machine *m, struct os_buffer *buffer, uint32_t flags)
{
	const struct os_packet packet = {
		.patch =
			{
				.hContext = &buffer->process->shim,
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
		.submit = {.Flags = flags, .NodeOrdinal = buffer->process->shim.node},
		.tag = (uint32_t)(buffer - m->buffers) + 1,
	};

	buffer->reserved = false;
	buffer->parts = 1;
	buffer->process->outstanding++;
	(void)os_queue(&m->os, &packet);
}

/** Checks the status of Render or Present. @return whether a buffer was built */
static bool check_status(struct os_machine *m, struct os_process *process, uint32_t status)
{
	if (status == PB_STATUS_GPU_EXCEPTION_ON_DEVICE) {
		/* The driver may know of a fault before the scheduler knows of its fence. */
		if (!process->tainted && process->doomed == 0 && !m->rough)
			os_break(&m->os, OS_RULE_LOST, process->shim.handle);
		process->tainted = true;
		return false;
	}
	if (status != PB_STATUS_SUCCESS && status != PB_STATUS_INSUFFICIENT_DMA_BUFFER)
		os_break(&m->os, OS_RULE_RENDER_STATUS, status);
	else if (process->faulted)
		os_break(&m->os, OS_RULE_FAULT_HIDDEN, process->shim.handle);
	return !os_has_stopped(&m->os);
}

/** A call of Render or Present, from the OS's view: outputs, their sizes, and what it wrote of them. */
struct call {
	struct os_window *window;
	uint32_t dma_size;
	uint32_t patch_room;
	void *dma_end;
	void *private_end;
	struct pb_patch_location *patch_end;
	uint8_t private_behind[PRIVATE_GUARD];
};

static void begin_call(struct os_machine *m, struct os_buffer *buffer, struct call *call)
{
	uint8_t *private_data = (uint8_t *)buffer->private_data;

	buffer->private_size = OS_PRIVATE - os_below(&m->chance, 400);
	call->dma_size = os_one_in(&m->chance, 4) ? SMALL_BUFFER + os_below(&m->chance, 64) : OS_MAP_BYTES;
	call->patch_room = os_one_in(&m->chance, 6) ? 6 : OS_PATCHES;
	os_garbage(&m->chance, buffer->memory.bytes_host, call->dma_size < 256 ? 512 : 64);
	os_garbage(&m->chance, buffer->patches, sizeof(buffer->patches[0]) * 4);
	os_vidmm_list(m, buffer->process, buffer->rendered);
	memcpy(call->private_behind, private_data + buffer->private_size, PRIVATE_GUARD);
	call->window = os_map_open(&m->map, buffer->memory.bytes_host);
}

/** Checks what the driver wrote. @return whether it built something */
static bool end_call(struct os_machine *m, struct os_buffer *buffer, struct call *call, uint32_t status)
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
		 memcmp(call->private_behind, private_data + buffer->private_size, PRIVATE_GUARD) != 0)
		os_break(&m->os, OS_RULE_PRIVATE_OVERFLOW, (uint32_t)private_bytes);
	else if (patches < 0 || patches > (ptrdiff_t)call->patch_room)
		os_break(&m->os, OS_RULE_REFERENCE, (uint32_t)patches);
	if (os_has_stopped(&m->os) || !check_status(m, buffer->process, status) || bytes == 0)
		return false;
	buffer->bytes = (uint32_t)bytes;
	buffer->private_end = (uint32_t)private_bytes;
	buffer->patch_count = (uint32_t)patches;
	os_vidmm_check_render(m, buffer);
	return !os_has_stopped(&m->os);
}

static uint32_t some_flags(struct os_machine *m, uint32_t flags)
{
	return os_one_in(&m->chance, 10) ? flags | PB_FLAG_NULL_RENDERING : flags;
}

static void remember(struct os_machine *m, struct os_buffer *buffer, const uint32_t *words, uint32_t count,
		     uint32_t flags)
{
	buffer->command_words = count;
	memcpy(buffer->commands, words, count * sizeof(*words));
	if (!buffer->present && os_one_in(&m->chance, 3))
		append(m, buffer);
	buffer->wrong = OS_RIGHT;
	buffer->faults = false;
	for (uint32_t at = 0; at < buffer->command_words && !buffer->present;
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

/** The outputs of Render. */
static void fill_in(struct pb_dxgkarg_render *render, struct os_buffer *buffer, const struct call *call)
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

static void take_out(const struct pb_dxgkarg_render *render, struct call *call)
{
	call->dma_end = render->pDmaBuffer;
	call->private_end = render->pDmaBufferPrivateData;
	call->patch_end = render->pPatchLocationListOut;
}

static void render(struct os_machine *m, struct os_process *process)
{
	struct command command;
	uint32_t status = PB_STATUS_INSUFFICIENT_DMA_BUFFER;
	uint32_t multipass = 0;

	make_commands(m, process, &command);
	for (uint32_t pass = 0; pass < PASSES_MAX && status == PB_STATUS_INSUFFICIENT_DMA_BUFFER; pass++) {
		struct os_buffer *buffer = os_buffer_take(m, process);
		const uint32_t flags = some_flags(m, 0);
		const uint32_t before = multipass;
		struct call call;
		struct pb_dxgkarg_render arguments;

		if (buffer == NULL)
			return;
		begin_call(m, buffer, &call);
		os_garbage(&m->chance, &arguments, sizeof(arguments));
		arguments.pCommand = command.words;
		arguments.CommandLength = command.count * 4;
		fill_in(&arguments, buffer, &call);
		arguments.MultipassOffset = multipass;
		m->quiet = true;
		status = m->ddi.render(m, &process->shim, &arguments);
		m->quiet = false;
		take_out(&arguments, &call);
		if (!end_call(m, buffer, &call, status)) {
			os_buffer_free(m, buffer);
			if (status != PB_STATUS_INSUFFICIENT_DMA_BUFFER)
				return;
			continue;
		}
		multipass = status == PB_STATUS_SUCCESS ? command.count * 4 : arguments.MultipassOffset;
		buffer->present = false;
		remember(m, buffer, &command.words[before / 4], (multipass - before) / 4, flags);
		queue(m, buffer, flags);
	}
}

/* ---- Present ---- */

static void present(struct os_machine *m, struct os_process *process)
{
	const uint32_t from = os_below(&m->chance, OS_ALLOCATIONS);
	const uint32_t to = (from + 1 + os_below(&m->chance, OS_ALLOCATIONS - 1)) % OS_ALLOCATIONS;
	const uint32_t words[OS_PRESENT_WORDS] = {from,
						  to,
						  os_below(&m->chance, 8),
						  os_below(&m->chance, 32),
						  os_below(&m->chance, 8),
						  os_below(&m->chance, 32),
						  1 + os_below(&m->chance, 8),
						  1 + os_below(&m->chance, 32)};
	struct os_buffer *buffer = os_buffer_take(m, process);
	const uint32_t flags = some_flags(m, PB_FLAG_PRESENT);
	struct pb_dxgk_allocationlist list[3];
	struct pb_dxgkarg_present arguments;
	struct call call;
	uint32_t status;

	if (buffer == NULL)
		return;
	begin_call(m, buffer, &call);
	list[0] = buffer->rendered[0];
	list[1] = buffer->rendered[from + 1];
	list[2] = buffer->rendered[to + 1];
	os_garbage(&m->chance, &arguments, sizeof(arguments));
	arguments.pDmaBuffer = call.window->bytes;
	arguments.DmaSize = call.dma_size;
	arguments.pDmaBufferPrivateData = buffer->private_data;
	arguments.DmaBufferPrivateDataSize = buffer->private_size;
	arguments.pAllocationList = list;
	arguments.pPatchLocationListOut = buffer->patches;
	arguments.PatchLocationListOutSize = call.patch_room;
	arguments.MultipassOffset = 0;
	arguments.SrcRect = (struct pb_rect){(int32_t)words[OS_FROM_X], (int32_t)words[OS_FROM_Y],
					     (int32_t)(words[OS_FROM_X] + words[OS_WIDTH]),
					     (int32_t)(words[OS_FROM_Y] + words[OS_HEIGHT])};
	arguments.DstRect = (struct pb_rect){(int32_t)words[OS_TO_X], (int32_t)words[OS_TO_Y],
					     (int32_t)(words[OS_TO_X] + words[OS_WIDTH]),
					     (int32_t)(words[OS_TO_Y] + words[OS_HEIGHT])};
	arguments.SubRectCnt = 0;
	arguments.Flags = PB_DXGK_PRESENT_BLT;
	m->quiet = true;
	status = m->ddi.present(m, &process->shim, &arguments);
	m->quiet = false;
	call.dma_end = arguments.pDmaBuffer;
	call.private_end = arguments.pDmaBufferPrivateData;
	call.patch_end = arguments.pPatchLocationListOut;
	if (!end_call(m, buffer, &call, status)) {
		os_buffer_free(m, buffer);
		return;
	}
	/* The list passed to Patch has all allocations. */
	for (uint32_t p = 0; p < buffer->patch_count; p++) {
		uint32_t *index = &buffer->patches[p].allocation_index;

		*index = *index == 1 ? from + 1 : *index == 2 ? to + 1 : *index;
	}
	buffer->present = true;
	remember(m, buffer, words, OS_PRESENT_WORDS, flags);
	queue(m, buffer, flags);
	m->counts.presents++;
}

/** A drawing command of the kernel: a rectangle of one colour, or a copy of one. */
static void make_drawing(struct os_machine *m, const uint32_t *words,
			 struct pb_dxgk_renderkm_command *command)
{
	const struct pb_rect from = {(int32_t)words[OS_FROM_X], (int32_t)words[OS_FROM_Y],
				     (int32_t)(words[OS_FROM_X] + words[OS_WIDTH]),
				     (int32_t)(words[OS_FROM_Y] + words[OS_HEIGHT])};
	const struct pb_rect to = {(int32_t)words[OS_TO_X], (int32_t)words[OS_TO_Y],
				   (int32_t)(words[OS_TO_X] + words[OS_WIDTH]),
				   (int32_t)(words[OS_TO_Y] + words[OS_HEIGHT])};
	struct pb_dxgk_gdiarg_colorfill *fill = &command->Command.ColorFill;
	struct pb_dxgk_gdiarg_bitblt *blt = &command->Command.BitBlt;

	os_garbage(&m->chance, command, sizeof(*command));
	if (words[OS_FROM] == OS_ALLOCATIONS) {
		command->OpCode = PB_DXGK_GDIOP_COLORFILL;
		fill->DstRect = to;
		fill->DstAllocationIndex = words[OS_TO] + 1;
		fill->NumSubRects = 0;
		fill->Color = words[OS_COLOR];
		fill->Rop = PB_DXGK_GDIROPCF_PATCOPY;
	} else {
		command->OpCode = PB_DXGK_GDIOP_BITBLT;
		blt->SrcRect = from;
		blt->DstRect = to;
		blt->SrcAllocationIndex = words[OS_FROM] + 1;
		blt->DstAllocationIndex = words[OS_TO] + 1;
		blt->NumSubRects = 0;
		blt->Rop = PB_DXGK_GDIROP_SRCCOPY;
		blt->SrcPitch = blt->DstPitch = OS_PITCH;
	}
	command->CommandSize = sizeof(*command);
}

/** RenderKm, since Windows 7. */
static void draw_of_kernel(struct os_machine *m, struct os_process *process)
{
	const uint32_t to = os_below(&m->chance, OS_ALLOCATIONS);
	const uint32_t words[OS_PRESENT_WORDS] = {
		os_one_in(&m->chance, 2)
			? OS_ALLOCATIONS
			: (to + 1 + os_below(&m->chance, OS_ALLOCATIONS - 1)) % OS_ALLOCATIONS,
		to,
		os_below(&m->chance, 8),
		os_below(&m->chance, 32),
		os_below(&m->chance, 8),
		os_below(&m->chance, 32),
		1 + os_below(&m->chance, 8),
		1 + os_below(&m->chance, 32),
		os_word(&m->chance)};
	struct os_buffer *buffer = os_buffer_take(m, process);
	struct pb_dxgk_renderkm_command command;
	struct pb_dxgkarg_render arguments;
	struct call call;
	uint32_t status;

	if (buffer == NULL)
		return;
	begin_call(m, buffer, &call);
	os_garbage(&m->chance, &arguments, sizeof(arguments));
	arguments.pCommand = &command;
	arguments.CommandLength = sizeof(command);
	make_drawing(m, words, &command);
	fill_in(&arguments, buffer, &call);
	arguments.MultipassOffset = 0;
	m->quiet = true;
	status = m->ddi.render_km(m, &process->shim, &arguments);
	m->quiet = false;
	take_out(&arguments, &call);
	/* What does not fit in one buffer is not drawn. */
	if (!end_call(m, buffer, &call, status) || status != PB_STATUS_SUCCESS) {
		os_buffer_free(m, buffer);
		return;
	}
	buffer->present = true;
	remember(m, buffer, words, OS_PRESENT_WORDS, 0);
	queue(m, buffer, 0);
}

/** An empty packet: a dropped buffer, or a switch from a context. */
static void draw_nothing(struct os_machine *m, struct os_process *process)
{
	const struct os_packet packet = {
		.patch = {.hContext = &process->shim},
		.submit = {.Flags = os_one_in(&m->chance, 2) ? PB_FLAG_CONTEXT_SWITCH : 0,
			   .NodeOrdinal = process->shim.node},
		.skip_patch = os_one_in(&m->chance, 2),
	};

	process->outstanding++;
	(void)os_queue(&m->os, &packet);
}

void os_client_draw(struct os_machine *m, struct os_process *process)
{
	const uint32_t kind = os_below(&m->chance, 10);

	/* The OS ends a device whose memory may hold anything. */
	if (!process->alive || process->outstanding > 8 || m->free_count < OS_PAGING_BUFFERS + 8 ||
	    (process->tainted && !process->faulted))
		return;
	if (kind == 0)
		draw_nothing(m, process);
	else if (kind < 4)
		present(m, process);
	else if (kind < 6 && m->os.version >= PB_DXGKDDI_WIN7)
		draw_of_kernel(m, process);
	else
		render(m, process);
}
