/* SPDX-License-Identifier: MIT */
#include "tests/wddm/os/machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTACH_US 1000000u
/* A broken engine loses its packets one by one; each reset may take a second. */
#define PATIENCE_US 60000000u
#define HURRY_US    200000u
#define TDR_US      4000u
/** Clients of a card, of which each has an equal part of host memory. */
#define HOST_CLIENTS 8u

void os_say(const struct os_machine *m, const char *format, ...)
{
	va_list arguments;

	if (!m->talk)
		return;
	printf("%8" PRIu64 " us  ", pb_sim_now(m->sim));
	va_start(arguments, format);
	(void)vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

/** A rule of the test itself: the machine cannot be used. */
static void must(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "the machine of the test: %s\n", what);
	abort();
}

/* ---- buffers ---- */

struct os_buffer *os_buffer_of(struct os_machine *m, const struct os_packet *packet)
{
	return packet->tag != 0 ? &m->buffers[packet->tag - 1] : NULL;
}

struct os_buffer *os_buffer_take(struct os_machine *m, struct os_context *context)
{
	struct os_buffer *buffer;

	if (m->free_count == 0)
		return NULL;
	buffer = &m->buffers[m->free_buffers[--m->free_count]];
	buffer->context = context;
	buffer->process = context != NULL ? context->process : NULL;
	buffer->patched_until = 0;
	buffer->reserved = true;
	return buffer;
}

void os_buffer_free(struct os_machine *m, struct os_buffer *buffer)
{
	buffer->reserved = false;
	m->free_buffers[m->free_count++] = (uint32_t)(buffer - m->buffers);
}

/* ---- start and end of a life ---- */

/** Creates a segment; segment 0 in host memory, if there is any. */
static enum pb_error create_segment(struct os_machine *m, uint32_t s,
				    const struct pb_segment_request *request)
{
	const struct pb_host_pages pages = {.address = 0};
	struct pb_segment_request host = *request;

	if (s != 0 || !m->host)
		return pb_segment_create(&m->segments[s], &m->channel, request);
	host.kind = PB_SEGMENT_HOST;
	return pb_segment_create_host(&m->segments[s], &m->channel, &host, &pages);
}

static void start_card(struct os_machine *m)
{
	static const struct pb_segment_request requests[3] = {
		{PB_SEGMENT_SYSTEM, OS_SYSTEM_OS, OS_SYSTEM_GPU, OS_SYSTEM_BYTES, OS_SYSTEM_BYTES,
		 PB_SEGMENT_LINEAR},
		{OS_VIDEO, OS_VIDEO_OS, OS_VIDEO_GPU, OS_VIDEO_PAGES * OS_PAGE_BYTES,
		 OS_VIDEO_PAGES * OS_PAGE_BYTES, PB_SEGMENT_LINEAR},
		{OS_EDGE, OS_EDGE_OS, OS_EDGE_GPU, OS_EDGE_PAGES * OS_PAGE_BYTES,
		 OS_EDGE_PAGES * OS_PAGE_BYTES, PB_SEGMENT_LINEAR},
	};
	const uint32_t aperture[PB_COMMAND_ARGUMENTS] = {OS_APERTURE,
							 PB_SEGMENT_APERTURE,
							 (uint32_t)OS_APERTURE_OS,
							 0,
							 (uint32_t)OS_APERTURE_GPU,
							 (uint32_t)(OS_APERTURE_GPU >> 32),
							 OS_APERTURE_PAGES * OS_PAGE_BYTES};
	struct pb_link *link = NULL;

	m->host = os_one_in(&m->chance, 2);
	m->sim = pb_sim_create_with_host(m->host ? HOST_CLIENTS * OS_SYSTEM_BYTES : 0);
	must(m->sim != NULL && pb_link_open_sim(m->sim, 1, &link) == PB_ERROR_OK &&
		     pb_channel_attach(&m->channel, link, ATTACH_US) == PB_ERROR_OK,
	     "no channel");
	must(pb_link_open_sim(m->sim, PB_CHANNEL_ADMIN, &link) == PB_ERROR_OK &&
		     pb_channel_attach(&m->admin, link, ATTACH_US) == PB_ERROR_OK,
	     "no admin");
	for (uint32_t s = 0; s < 3; s++)
		must(create_segment(m, s, &requests[s]) == PB_ERROR_OK, "no segment");
	m->has_aperture = !os_one_in(&m->chance, 4);
	if (!m->has_aperture)
		return;
	must(pb_channel_command(&m->channel, PB_COMMAND_SEGMENT_CREATE, aperture, NULL) == PB_ERROR_OK,
	     "no aperture");
	m->segments[3] =
		(struct pb_segment){.channel = &m->channel,
				    .request = {OS_APERTURE, OS_APERTURE_OS, OS_APERTURE_GPU,
						OS_APERTURE_PAGES * OS_PAGE_BYTES, 0, PB_SEGMENT_APERTURE}};
}

/** DxgkCbNotifyInterrupt. */
static void notify_interrupt(void *machine, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct os_machine *m = machine;

	if (m->quiet)
		os_break(&m->os, OS_RULE_LEVEL, data->InterruptType);
	m->ddi.notify(m, data);
}

static void queue_dpc(void *machine)
{
	struct os_machine *m = machine;

	os_queue_dpc(&m->os);
}

static void notify_dpc(void *machine)
{
	struct os_machine *m = machine;

	os_notify_dpc(&m->os);
}

static void start_adapter(struct os_machine *m, uint32_t version, uint32_t nodes)
{
	struct pb_wddm_config config = {
		.channel = &m->channel,
		.segments = {[PB_SEGMENT_SYSTEM] = &m->segments[0],
			     [OS_VIDEO] = &m->segments[1],
			     [OS_APERTURE] = m->has_aperture ? &m->segments[3] : NULL,
			     [OS_EDGE] = &m->segments[2]},
		.interface_version = version,
		.node_count = nodes,
		.paging_node = m->paging_node,
		.queue_entries = 4u << os_below(&m->chance, 4),
		.allocations = OS_LIST,
		.patches = OS_PATCHES,
		.callbacks = {.notify_interrupt = notify_interrupt,
			      .queue_dpc = queue_dpc,
			      .notify_dpc = notify_dpc,
			      .context = m},
	};

	must(pb_wddm_start(&m->adapter, &config) == PB_ERROR_OK, "no adapter");
}

static void start_memory(struct os_machine *m)
{
	uint8_t *memory = m->channel.link->memory;

	must(pb_memory_allocate(&m->segments[0], OS_FRAMES * OS_PAGE_BYTES, OS_PAGE_BYTES, &m->frames) ==
		     PB_ERROR_OK,
	     "no frames");
	for (uint32_t cell = 0; cell < OS_CELLS; cell++) {
		const uint32_t page = cell < OS_CELL_EDGE    ? cell
				      : cell < OS_CELL_FRAME ? cell - OS_CELL_EDGE
							     : cell - OS_CELL_FRAME;
		uint8_t *start = cell < OS_CELL_EDGE    ? memory + m->segments[1].memory_offset
				 : cell < OS_CELL_FRAME ? memory + m->segments[2].memory_offset
							: m->frames.bytes_host;

		m->memory.real[cell] = (uint32_t *)(void *)(start + page * OS_PAGE_BYTES);
	}
	os_memory_start(&m->memory);
	os_map_start(&m->map);
	m->free_count = 0;
	for (uint32_t b = 0; b < OS_BUFFERS; b++) {
		must(pb_memory_allocate(&m->segments[0], OS_MAP_BYTES, OS_MAP_BYTES, &m->buffers[b].memory) ==
			     PB_ERROR_OK,
		     "no buffer");
		m->free_buffers[m->free_count++] = b;
	}
}

/** What the OS asks and calls once, when it starts the adapter. */
static void start_os(struct os_machine *m, uint32_t version, uint32_t nodes)
{
	static const uint32_t first_fences[] = {0, 1, 100, 0xffffff80, 0x7fffff80, 0xfffffff0};
	struct pb_dxgk_drivercaps caps = {.MaxQueuedFlipOnVSync = 0};
	struct os_miniport miniport;

	os_driver_miniport(m, &miniport);
	os_init(&m->os, &miniport, nodes, first_fences[os_below(&m->chance, 6)], 1);
	m->os.version = version;
	m->os.strict = true;
	m->os.chance = &m->chance;
	m->os.unlimited = !m->limited;
	m->os.tdr_delay = TDR_US;
	m->os.ready = os_vidmm_ready;
	m->os.waits = os_client_waits;
	m->os.prepare = os_vidmm_prepare;
	m->os.recalled = os_vidmm_recalled;
	m->os.retired = os_client_retired;
	m->os.between = os_vidmm_between;
	m->os.context = m;
	m->ddi.caps(m, &caps);
	if (caps.MaxQueuedFlipOnVSync != 0)
		os_break(&m->os, OS_RULE_FLIP_QUEUE, caps.MaxQueuedFlipOnVSync);
	if (m->ddi.set_overlay != NULL && m->ddi.set_overlay(m) != PB_STATUS_SUCCESS)
		os_break(&m->os, OS_RULE_OVERLAY, 0);
}

/** Replaces the functions that a puppet has. */
static void override(struct os_ddi *ddi, const struct os_ddi *puppet)
{
	static const struct os_ddi none;
	const size_t size = sizeof(puppet->render);

	for (size_t at = 0; at < sizeof(*ddi); at += size) {
		if (memcmp((const uint8_t *)puppet + at, (const uint8_t *)&none + at, size) != 0)
			memcpy((uint8_t *)ddi + at, (const uint8_t *)puppet + at, size);
	}
}

static void start_life(struct os_machine *m, uint64_t life, const struct os_ddi *puppet)
{
	static const uint32_t versions[] = {PB_DXGKDDI_VISTA, PB_DXGKDDI_WIN7, PB_DXGKDDI_WIN8,
					    PB_DXGKDDI_WDDM1_3};
	const uint32_t version = versions[life % 4];
	const uint32_t nodes = 1 + (uint32_t)(life / 4 % OS_NODES);

	os_chance_start(&m->chance, ~life);
	os_driver(&m->ddi);
	if (puppet != NULL)
		override(&m->ddi, puppet);
	memset(&m->puppet, 0, sizeof(m->puppet));
	m->paging_node = os_below(&m->chance, nodes);
	start_card(m);
	for (uint32_t n = 0; n < nodes; n++)
		os_faults_times(m, n, OS_PATIENT_US);
	os_vidmm_start(m);
	m->pager = 0;
	m->paging = NULL;
	m->operation_count = m->operation_queued = 0;
	start_adapter(m, version, nodes);
	start_memory(m);
	start_os(m, version, nodes);
	m->resets = 0;
	m->deaf = m->asleep = false;
	m->rough = m->was_rough = false;
	m->process_count = 1 + os_below(&m->chance, OS_PROCESSES);
	memset(m->processes, 0, sizeof(m->processes));
	for (uint32_t p = 0; p < m->process_count; p++)
		os_client_start(m, &m->processes[p], p);
	m->counts.versions[life % 4] += OS_LIFE;
	m->counts.nodes[nodes] += OS_LIFE;
	m->counts.hosts += m->host ? OS_LIFE : 0;
}

static void end_life(struct os_machine *m)
{
	m->counts.preemptions += m->os.preemptions;
	m->counts.recalled += m->os.preempted;
	m->counts.engine_resets += m->os.engine_resets;
	m->counts.adapter_resets += m->os.adapter_resets;
	m->counts.aborted += m->os.aborted;
	m->admin.link->ops->close(m->admin.link);
	m->channel.link->ops->close(m->channel.link);
	pb_sim_destroy(m->sim);
	m->sim = NULL;
}

/* ---- a schedule ---- */

/** After a reset of the adapter all devices are gone, and what was in memory with them. */
static void after_reset(struct os_machine *m)
{
	if (m->resets == m->os.adapter_resets)
		return;
	m->resets = m->os.adapter_resets;
	os_drop(&m->os, NULL);
	os_paging_reset(m);
	m->pager = 0;
	for (uint32_t cell = 0; cell < OS_CELLS; cell++)
		os_memory_forget(&m->memory, cell);
	for (uint32_t p = 0; p < m->process_count; p++) {
		os_client_stop(m, &m->processes[p]);
		os_client_start(m, &m->processes[p], p);
	}
}

static void step(struct os_machine *m, uint64_t microseconds)
{
	os_step(&m->os, microseconds);
	after_reset(m);
}

void os_run_until(struct os_machine *m, bool (*done)(const struct os_model *os))
{
	const uint64_t start = pb_sim_now(m->sim);

	while (!os_has_stopped(&m->os) && !done(&m->os)) {
		const uint64_t passed = pb_sim_now(m->sim) - start;

		step(m, passed < HURRY_US ? 50 : 1000);
		if (passed > PATIENCE_US)
			os_break(&m->os, OS_RULE_NEVER_ENDS, m->os.nodes[0].hardware.count);
	}
}

/** Runs until nothing is left to do. */
static void finish(struct os_machine *m)
{
	os_run_until(m, os_is_idle);
}

static void judge(struct os_machine *m)
{
	finish(m);
	if (!os_has_stopped(&m->os))
		os_client_judge(m);
}

static void set_up(struct os_machine *m)
{
	const uint32_t depth = m->adapter.config.queue_entries;
	const bool patient = os_one_in(&m->chance, 2);

	m->rough = !m->limited && os_one_in(&m->chance, 4);
	m->wrongness = m->limited || os_one_in(&m->chance, 2) ? 0 : 4 + os_below(&m->chance, 8);
	for (uint32_t n = 0; n < m->os.node_count; n++) {
		if (m->rough || m->was_rough)
			os_faults_times(m, n, !m->rough || patient ? OS_PATIENT_US : OS_HANG_US);
		if (m->rough && os_one_in(&m->chance, 3))
			os_faults_inject(m, n);
	}
	m->was_rough = m->rough;
	m->os.depth = os_one_in(&m->chance, 3) ? depth : 1 + os_below(&m->chance, depth < 6 ? depth : 6);
	m->os.fence_step = os_one_in(&m->chance, 2) ? 1 : 1 + os_below(&m->chance, 1000);
	m->os.eager = os_one_in(&m->chance, 2);
}

/** A device ends while its packets wait: what is submitted completes. */
static void kill_device(struct os_machine *m, struct os_process *process)
{
	if (!process->alive || m->pager != 0)
		return;
	os_say(m, "process %u ends", (uint32_t)(process - m->processes));
	process->tainted = true;
	for (uint32_t c = 0; c < process->context_count; c++)
		os_drop(&m->os, &process->contexts[c].shim);
}

static void act(struct os_machine *m)
{
	struct os_process *process = &m->processes[os_below(&m->chance, m->process_count)];
	const uint32_t node = os_below(&m->chance, m->os.node_count);
	const void *stray;

	switch (os_below(&m->chance, 24)) {
	case 0:
	case 1:
	case 2:
		os_preempt(&m->os, node);
		break;
	case 3:
		if (!m->limited && os_one_in(&m->chance, 4))
			os_recover(&m->os, node);
		break;
	case 4:
		if (!m->limited && os_one_in(&m->chance, 24))
			os_reset_adapter(&m->os);
		break;
	case 5:
		m->deaf = os_one_in(&m->chance, 4);
		m->counts.deaf += m->deaf;
		break;
	case 6:
	case 7:
		if (m->pager == 0 && process->alive && m->free_count > OS_PAGING_BUFFERS)
			(void)os_vidmm_evict(m, &process->allocations[os_below(&m->chance, OS_ALLOCATIONS)]);
		os_paging_flush(m);
		break;
	case 8:
		if (os_one_in(&m->chance, 12))
			os_power_cycle(m);
		else if (os_one_in(&m->chance, 4))
			os_power_child(m);
		break;
	case 9:
		if (os_one_in(&m->chance, 6))
			judge(m);
		else if (os_one_in(&m->chance, 6))
			kill_device(m, process);
		else
			os_faults_collect(m);
		break;
	case 10:
	case 11:
	case 12:
	case 13:
	case 14:
	case 15:
	case 16:
		os_client_draw(m, process);
		break;
	default:
		step(m, 10 * (1 + os_below(&m->chance, 8)));
		break;
	}
	after_reset(m);
	stray = os_map_stray(&m->map);
	if (stray != NULL)
		os_break(&m->os, OS_RULE_MAPPING, (uintptr_t)stray);
}

/** Processes of which something has failed end, and others begin. */
static void replace(struct os_machine *m)
{
	for (uint32_t p = 0; p < m->process_count; p++) {
		struct os_process *process = &m->processes[p];

		/* The driver refuses a context of which something has faulted. */
		if (process->alive && process->tainted)
			os_client_draw(m, process);
		if (os_has_stopped(&m->os) ||
		    (process->alive && !process->tainted && !os_client_lost(process)))
			continue;
		finish(m);
		os_client_stop(m, process);
		os_client_start(m, process, p);
	}
}

static void one_schedule(struct os_machine *m, uint64_t seed)
{
	uint32_t steps;

	os_chance_start(&m->chance, seed);
	m->seed = seed;
	steps = 8 + os_below(&m->chance, 24);
	os_say(m, "schedule %" PRIu64 ": version 0x%x, %u nodes, %u processes, paging on node %u", seed,
	       m->os.version, m->os.node_count, m->process_count, m->paging_node);
	set_up(m);
	for (uint32_t i = 0; i < steps && !os_has_stopped(&m->os); i++)
		act(m);
	os_faults_mend(m);
	judge(m);
	if (m->adapter.error != PB_ERROR_OK)
		os_break(&m->os, OS_RULE_NEVER_ENDS, m->adapter.error);
	if (!os_has_stopped(&m->os))
		replace(m);
	m->counts.schedules++;
}

void os_run(struct os_machine *m, uint64_t seed, bool talk, const struct os_ddi *puppet)
{
	const uint64_t life = seed / OS_LIFE;

	m->talk = false;
	start_life(m, life, puppet);
	for (uint64_t s = life * OS_LIFE; s <= seed && !os_has_stopped(&m->os); s++) {
		m->talk = talk && s == seed;
		one_schedule(m, s);
	}
	end_life(m);
}

bool os_run_many(struct os_machine *m, uint64_t first, uint64_t count, const struct os_ddi *puppet)
{
	for (uint64_t life = first / OS_LIFE; life * OS_LIFE < first + count; life++) {
		start_life(m, life, puppet);
		for (uint64_t s = 0; s < OS_LIFE && !os_has_stopped(&m->os); s++)
			one_schedule(m, life * OS_LIFE + s);
		end_life(m);
		if (os_has_stopped(&m->os))
			return false;
	}
	return true;
}
