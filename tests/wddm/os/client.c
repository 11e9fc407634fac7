/* SPDX-License-Identifier: MIT */
/*
 * Processes: their contexts, on several nodes, share allocations. The OS orders what their packets do there, as
 * synchronization objects would.
 */
#include <string.h>

#include "hal/engine/packets.h"
#include "tests/wddm/os/call.h"

/* Headers of commands: as packets of the engine, with an index of the allocation list instead of an address. */
#define FILL PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS)
#define COPY PB_PACKET(PB_PACKET_COPY, PB_PACKET_COPY_WORDS)

/* ---- life ---- */

/** Creates the contexts of a process, on any nodes. @return false: there are no more */
static bool create_contexts(struct os_machine *m, struct os_process *process, uint32_t number)
{
	const uint32_t count = os_one_in(&m->chance, 3) ? 1 : 1 + os_below(&m->chance, OS_CONTEXTS);

	while (process->context_count < count) {
		struct os_context *context = &process->contexts[process->context_count];
		const uint32_t node = process->context_count == 0 ? number % m->os.node_count
								  : os_below(&m->chance, m->os.node_count);

		if (pb_wddm_context_create(&m->adapter, &context->shim, node, context->staging,
					   sizeof(context->staging)) != PB_ERROR_OK)
			return false;
		context->process = process;
		context->priority = os_below(&m->chance, OS_PRIORITIES);
		process->context_count++;
	}
	return true;
}

static void destroy_contexts(struct os_process *process)
{
	while (process->context_count != 0)
		(void)pb_wddm_context_destroy(&process->contexts[--process->context_count].shim);
}

void os_client_start(struct os_machine *m, struct os_process *process, uint32_t number)
{
	memset(process, 0, sizeof(*process));
	if (!create_contexts(m, process, number)) {
		destroy_contexts(process);
		return;
	}
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
	destroy_contexts(process);
	for (uint32_t a = 0; a < OS_ALLOCATIONS; a++)
		os_vidmm_release(m, &process->allocations[a]);
	process->alive = false;
}

struct os_context *os_client_context(struct os_machine *m, const void *handle)
{
	for (uint32_t p = 0; p < m->process_count; p++) {
		for (uint32_t c = 0; c < m->processes[p].context_count; c++) {
			if (&m->processes[p].contexts[c].shim == handle)
				return &m->processes[p].contexts[c];
		}
	}
	return NULL;
}

bool os_client_lost(const struct os_process *process)
{
	for (uint32_t c = 0; c < process->context_count; c++) {
		if (process->contexts[c].shim.lost)
			return true;
	}
	return false;
}

/* ---- order ---- */

/** Allocations that a packet names. */
static uint32_t needs(struct os_machine *m, const struct os_packet *packet)
{
	const struct os_buffer *buffer = os_buffer_of(m, packet);

	/* Entry 0 is no allocation. */
	return buffer != NULL && buffer->process != NULL ? os_vidmm_needed(buffer, packet) & ~1u : 0;
}

/** Whether a queue has a packet of the process that names one of its allocations, and was queued before a packet. */
static bool has_earlier(struct os_machine *m, const struct os_queue *queue, const struct os_process *process,
			const struct os_packet *packet, uint32_t needed)
{
	for (uint32_t i = 0; i < queue->count; i++) {
		const struct os_packet *other = &queue->packets[i];
		const struct os_buffer *buffer = os_buffer_of(m, other);

		if (buffer != NULL && buffer->process == process &&
		    other->patch.hContext != packet->patch.hContext &&
		    (int32_t)(other->note[OS_NOTE_NUMBER] - packet->note[OS_NOTE_NUMBER]) < 0 &&
		    (needs(m, other) & needed) != 0)
			return true;
	}
	return false;
}

bool os_client_waits(void *machine, uint32_t node, const struct os_packet *packet)
{
	struct os_machine *m = machine;
	const struct os_buffer *buffer = os_buffer_of(m, packet);
	const uint32_t needed = needs(m, packet);

	if (needed == 0 || buffer->process->context_count == 1)
		return false;
	for (uint32_t n = 0; n < m->os.node_count; n++) {
		/* A node's packets run in their order. */
		if (has_earlier(m, &m->os.nodes[n].software, buffer->process, packet, needed) ||
		    (n != node &&
		     has_earlier(m, &m->os.nodes[n].hardware, buffer->process, packet, needed))) {
			m->counts.ordered++;
			return true;
		}
	}
	return false;
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

/* ---- Render ---- */

static void render(struct os_machine *m, struct os_context *context)
{
	struct command command;
	uint32_t status = PB_STATUS_INSUFFICIENT_DMA_BUFFER;
	uint32_t multipass = 0;

	make_commands(m, context->process, &command);
	for (uint32_t pass = 0; pass < OS_PASSES_MAX && status == PB_STATUS_INSUFFICIENT_DMA_BUFFER; pass++) {
		struct os_buffer *buffer = os_buffer_take(m, context);
		const uint32_t flags = os_call_flags(m, 0);
		const uint32_t before = multipass;
		struct os_call call;
		struct pb_dxgkarg_render arguments;

		if (buffer == NULL)
			return;
		os_call_begin(m, buffer, pass, &call);
		os_garbage(&m->chance, &arguments, sizeof(arguments));
		arguments.pCommand = command.words;
		arguments.CommandLength = command.count * 4;
		os_call_fill_in(&arguments, buffer, &call);
		arguments.MultipassOffset = multipass;
		m->quiet = true;
		status = m->ddi.render(m, &context->shim, &arguments);
		m->quiet = false;
		os_call_take_out(&arguments, &call);
		if (!os_call_end(m, buffer, &call, status)) {
			os_buffer_free(m, buffer);
			if (status != PB_STATUS_INSUFFICIENT_DMA_BUFFER)
				return;
			continue;
		}
		multipass = status == PB_STATUS_SUCCESS ? command.count * 4 : arguments.MultipassOffset;
		os_call_remember(m, buffer, &command.words[before / 4], (multipass - before) / 4, false,
				 flags);
		os_call_queue(m, buffer, flags);
	}
	if (status == PB_STATUS_INSUFFICIENT_DMA_BUFFER)
		os_break(&m->os, OS_RULE_RENDER_LOOPS, multipass);
}

/** An empty packet: a dropped buffer, or a switch from a context. */
static void draw_nothing(struct os_machine *m, struct os_context *context)
{
	struct os_packet packet = {
		.patch = {.hContext = &context->shim},
		.submit = {.Flags = os_one_in(&m->chance, 2) ? PB_FLAG_CONTEXT_SWITCH : 0},
		.skip_patch = os_one_in(&m->chance, 2),
	};

	os_call_queue_packet(m, context, &packet);
}

/** Any context; of a process whose memory may hold anything, one that has faulted. @return NULL: none */
static struct os_context *choose(struct os_machine *m, struct os_process *process)
{
	const uint32_t first = os_below(&m->chance, process->context_count);

	for (uint32_t i = 0; i < process->context_count; i++) {
		struct os_context *context = &process->contexts[(first + i) % process->context_count];

		if (!process->tainted || context->faulted)
			return context;
	}
	return NULL;
}

void os_client_draw(struct os_machine *m, struct os_process *process)
{
	const uint32_t kind = os_below(&m->chance, 10);
	struct os_context *context;

	if (!process->alive || process->outstanding > 8 || m->free_count < OS_PAGING_BUFFERS + 8)
		return;
	/* The OS ends a device whose memory may hold anything. */
	context = choose(m, process);
	if (context == NULL)
		return;
	if (kind == 0)
		draw_nothing(m, context);
	else if (kind < 4)
		os_drawing_present(m, context);
	else if (kind < 6 && m->os.version >= PB_DXGKDDI_WIN7)
		os_drawing_of_kernel(m, context);
	else
		render(m, context);
}
