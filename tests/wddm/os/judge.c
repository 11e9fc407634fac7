/* SPDX-License-Identifier: MIT */
/*
 * What memory must hold: the effect of each packet is computed here a second time, word by word, when the OS learns that
 * the packet has completed: in the process's own allocations, and in the cells that the OS had assigned to them when it
 * submitted the packet. Each process is judged alone.
 */
#include <string.h>

#include "hal/engine/packets.h"
#include "tests/wddm/os/machine.h"

/* ---- effects ---- */

/** A word of an allocation: in it, and in its cell. */
static void store(struct os_machine *m, const struct os_packet *packet, struct os_process *process,
		  uint32_t a, uint32_t word, uint32_t value)
{
	const uint32_t at = packet->note[OS_NOTE_PLACES + a];
	const uint32_t cell = os_vidmm_cell(m, at >> 16, (at & 0xffff) + word / OS_PAGE_WORDS);

	process->allocations[a].words[word] = value;
	if (cell != OS_NO_CELL)
		os_memory_write(&m->memory, cell, word % OS_PAGE_WORDS, value);
}

static void carry_out(struct os_machine *m, const struct os_packet *packet, struct os_process *process,
		      const uint32_t *command)
{
	uint32_t words[OS_FILL_MAX];

	if (PB_PACKET_OPCODE(command[0]) == PB_PACKET_FILL) {
		for (uint32_t i = 0; i < command[3] / 4; i++)
			store(m, packet, process, command[1] - 1, command[2] / 4 + i, command[4]);
	} else if (PB_PACKET_OPCODE(command[0]) == PB_PACKET_COPY) {
		memcpy(words, &process->allocations[command[1] - 1].words[command[2] / 4], command[5]);
		for (uint32_t i = 0; i < command[5] / 4; i++)
			store(m, packet, process, command[3] - 1, command[4] / 4 + i, words[i]);
	}
}

/** A part of a drawing. */
static void carry_out_part(struct os_machine *m, const struct os_packet *packet, struct os_process *process,
			   const uint32_t *words, const uint32_t part[4])
{
	const uint32_t row = OS_PITCH / sizeof(uint32_t);

	for (uint32_t y = part[1]; y < part[1] + part[3]; y++) {
		for (uint32_t x = part[0]; x < part[0] + part[2]; x++) {
			const uint32_t from = (words[OS_FROM_Y] + y) * row + words[OS_FROM_X] + x;
			const uint32_t value = words[OS_FROM] == OS_ALLOCATIONS
						       ? words[OS_COLOR]
						       : process->allocations[words[OS_FROM]].words[from];

			store(m, packet, process, words[OS_TO],
			      (words[OS_TO_Y] + y) * row + words[OS_TO_X] + x, value);
		}
	}
}

static void carry_out_drawing(struct os_machine *m, const struct os_packet *packet,
			      struct os_process *process, const uint32_t *words)
{
	const uint32_t all[4] = {0, 0, words[OS_WIDTH], words[OS_HEIGHT]};

	if (words[OS_PARTS] == 0)
		carry_out_part(m, packet, process, words, all);
	for (uint32_t part = 0; part < words[OS_PARTS]; part++)
		carry_out_part(m, packet, process, words, &words[OS_PART + 4u * part]);
}

/** Where an allocation was when a packet was submitted, memory may hold anything. */
static void forget_allocation(struct os_machine *m, const struct os_packet *packet,
			      const struct os_process *process, uint32_t a)
{
	const uint32_t at = packet->note[OS_NOTE_PLACES + a];

	for (uint32_t page = 0; page < process->allocations[a].pages; page++) {
		const uint32_t cell = os_vidmm_cell(m, at >> 16, (at & 0xffff) + page);

		if (cell != OS_NO_CELL)
			os_memory_forget(&m->memory, cell);
	}
}

/** Carries out the commands of the packet's bytes. */
static void carry_out_all(struct os_machine *m, const struct os_packet *packet,
			  const struct os_buffer *buffer)
{
	const uint32_t start = packet->patch.DmaBufferSubmissionStartOffset / 4;
	const uint32_t end = packet->patch.DmaBufferSubmissionEndOffset == buffer->bytes
				     ? buffer->command_words
				     : packet->patch.DmaBufferSubmissionEndOffset / 4;

	/* The driver chooses what a part of a drawing does. All is known at its end. */
	if (buffer->drawing &&
	    (buffer->unfinished || packet->patch.DmaBufferSubmissionEndOffset != buffer->bytes)) {
		forget_allocation(m, packet, buffer->process, buffer->commands[OS_TO]);
		return;
	}
	if (buffer->drawing) {
		carry_out_drawing(m, packet, buffer->process, buffer->commands);
		return;
	}
	for (uint32_t at = 0; at < end; at += PB_PACKET_WORDS(buffer->commands[at])) {
		if (at >= start)
			carry_out(m, packet, buffer->process, &buffer->commands[at]);
	}
}

/** The allocations that a packet names may hold anything. */
static void forget(struct os_machine *m, const struct os_packet *packet, struct os_process *process)
{
	process->tainted = true;
	for (uint32_t a = 0; a < OS_ALLOCATIONS; a++) {
		if ((packet->note[OS_NOTE_NEEDED] >> a & 1u) != 0)
			forget_allocation(m, packet, process, a);
	}
}

bool os_client_faults(const struct os_packet *packet, const struct os_buffer *buffer)
{
	const uint32_t start = packet->patch.DmaBufferSubmissionStartOffset / 4;
	const uint32_t end = packet->patch.DmaBufferSubmissionEndOffset / 4;

	if (buffer->wrong != OS_RIGHT && packet->patch.PatchLocationListSubmissionLength != 0)
		return true;
	for (uint32_t at = 0; at < end && buffer->faults; at += PB_PACKET_WORDS(buffer->commands[at])) {
		const uint32_t opcode = PB_PACKET_OPCODE(buffer->commands[at]);

		if (at >= start && (opcode == PB_PACKET_HANG || opcode == PB_PACKET_FAULT))
			return true;
	}
	return false;
}

static void completed(struct os_machine *m, const struct os_packet *packet, struct os_buffer *buffer)
{
	struct os_process *process = buffer->process;

	if (process->tainted || (m->rough && os_client_lost(process))) {
		forget(m, packet, process);
	} else if (os_client_faults(packet, buffer)) {
		os_say(m, "fault in context %u", (uint32_t)(process - m->processes));
		forget(m, packet, process);
		buffer->context->faulted = true;
		m->counts.faults++;
	} else if ((packet->submit.Flags & PB_FLAG_NULL_RENDERING) == 0) {
		carry_out_all(m, packet, buffer);
	}
}

void os_client_retired(void *machine, const struct os_packet *packet, enum os_outcome outcome)
{
	struct os_machine *m = machine;
	struct os_buffer *buffer = os_buffer_of(m, packet);
	/* The OS's own device is not a process. */
	struct os_process *process = NULL;

	os_say(m, "%s: fence %u of node %u", outcome == OS_COMPLETED ? "completed" : "aborted",
	       packet->fence_id, packet->submit.NodeOrdinal);
	m->counts.packets++;
	if (buffer == NULL) {
		process = os_client_context(m, packet->patch.hContext)->process;
		process->outstanding--;
		process->tainted = process->tainted || outcome != OS_COMPLETED;
		return;
	}
	process = buffer->process;
	if (process == NULL) {
		os_paging_done(m, packet, outcome == OS_COMPLETED);
	} else {
		if (packet->submitted)
			os_vidmm_left(m, packet);
		process->outstanding--;
		if (outcome == OS_COMPLETED)
			completed(m, packet, buffer);
		else if (packet->submitted)
			forget(m, packet, process);
		else
			process->tainted = true;
	}
	if (--buffer->parts == 0 && !buffer->reserved)
		os_buffer_free(m, buffer);
}

/* ---- the judge ---- */

/** The process that a cell belongs to; NULL: none. */
static const struct os_process *owner_of(const struct os_machine *m, uint32_t cell)
{
	for (uint32_t p = 0; p < m->process_count; p++) {
		for (uint32_t a = 0; a < OS_ALLOCATIONS && m->processes[p].alive; a++) {
			const struct os_allocation *allocation = &m->processes[p].allocations[a];

			for (uint32_t page = 0; page < allocation->pages; page++) {
				if (allocation->frames[page] == cell ||
				    (allocation->segment != 0 &&
				     os_vidmm_cell(m, allocation->segment, allocation->first + page) == cell))
					return &m->processes[p];
			}
		}
	}
	return NULL;
}

/** What a wrong cell means. */
static enum os_rule rule_of(const struct os_machine *m, uint32_t cell)
{
	if (owner_of(m, cell) == NULL)
		return OS_RULE_FREE_PAGE;
	return m->memory.touched[cell] ? OS_RULE_CONTENTS : OS_RULE_OTHER_PROCESS;
}

/** Of several wrong cells the one counts that a process can see, and that it has written. */
static void judge_memory(struct os_machine *m)
{
	enum os_rule rule = OS_RULE_NONE;
	uint32_t wrong = 0;
	uint32_t word;

	for (uint32_t cell = os_memory_wrong(&m->memory, 0, &word); cell != OS_NO_CELL;
	     cell = os_memory_wrong(&m->memory, cell + 1, &word)) {
		os_say(m, "cell %u, word %u: 0x%x, expected 0x%x", cell, word, m->memory.real[cell][word],
		       m->memory.words[cell][word]);
		if (rule_of(m, cell) > rule) {
			rule = rule_of(m, cell);
			wrong = cell;
		}
	}
	if (rule != OS_RULE_NONE)
		os_break(&m->os, rule, wrong);
}

/** A process's memory alone, wherever it is. */
static void judge_process(struct os_machine *m, const struct os_process *process)
{
	for (uint32_t a = 0; a < OS_ALLOCATIONS; a++) {
		const struct os_allocation *allocation = &process->allocations[a];

		for (uint32_t page = 0; page < allocation->pages; page++) {
			const uint32_t cell =
				allocation->segment != 0
					? os_vidmm_cell(m, allocation->segment, allocation->first + page)
					: allocation->frames[page];

			if (cell == OS_NO_CELL ||
			    memcmp(m->memory.real[cell], &allocation->words[page * OS_PAGE_WORDS],
				   OS_PAGE_BYTES) != 0)
				os_break(&m->os, OS_RULE_CONTENTS, cell);
		}
	}
}

void os_client_judge(struct os_machine *m)
{
	judge_memory(m);
	for (uint32_t p = 0; p < m->process_count && !os_has_stopped(&m->os); p++) {
		if (m->processes[p].alive && !m->processes[p].tainted &&
		    !(m->rough && os_client_lost(&m->processes[p])))
			judge_process(m, &m->processes[p]);
	}
	os_memory_learn(&m->memory);
}
