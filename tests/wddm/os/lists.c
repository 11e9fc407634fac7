/* SPDX-License-Identifier: MIT */
/* Allocation and patch lists: what Render returns is checked, and Patch gets what the range needs beside garbage. */
#include <string.h>

#include "tests/wddm/os/machine.h"

void os_vidmm_list(const struct os_machine *m, const struct os_process *process,
		   struct pb_dxgk_allocationlist *list)
{
	(void)m;
	memset(list, 0, OS_LIST * sizeof(*list));
	for (uint32_t a = 0; a < OS_ALLOCATIONS; a++) {
		const struct os_allocation *allocation = &process->allocations[a];

		list[a + 1].hDeviceSpecificAllocation = (void *)(uintptr_t)&allocation->object;
		list[a + 1].Value = 1u | allocation->segment << PB_DXGK_ALLOCATION_SEGMENT_SHIFT;
		if (allocation->segment != 0)
			list[a + 1].PhysicalAddress = os_vidmm_base(allocation->segment) +
						      (uint64_t)allocation->first * OS_PAGE_BYTES;
	}
}

void os_vidmm_check_render(struct os_machine *m, const struct os_buffer *buffer)
{
	uint32_t split_offset = 0;

	for (uint32_t p = 0; p < buffer->patch_count; p++) {
		const struct pb_patch_location *patch = &buffer->patches[p];

		if (patch->allocation_index >= OS_LIST || patch->slot > PB_RENDER_SLOT_VERTICES ||
		    patch->split_offset < split_offset || patch->split_offset >= buffer->bytes ||
		    patch->patch_offset >= buffer->bytes)
			os_break(&m->os, OS_RULE_REFERENCE, p);
		split_offset = patch->split_offset;
	}
}

uint32_t os_vidmm_needed(const struct os_buffer *buffer, const struct os_packet *packet)
{
	const uint32_t start = packet->patch.PatchLocationListSubmissionStart;
	uint32_t needed = 0;

	for (uint32_t p = start; p < start + packet->patch.PatchLocationListSubmissionLength; p++)
		needed |= 1u << buffer->patches[p].allocation_index;
	return needed;
}

/** What the range does not name may hold anything: wild handles, absent segments, stale addresses. */
static void spoil_the_rest(struct os_machine *m, const struct os_packet *packet, uint32_t needed)
{
	const uint32_t start = packet->patch.PatchLocationListSubmissionStart;
	const uint32_t end = start + packet->patch.PatchLocationListSubmissionLength;

	for (uint32_t i = 0; i < OS_LIST; i++) {
		if ((needed >> i & 1u) == 0)
			os_garbage(&m->chance, &m->list[i], sizeof(m->list[i]));
		else /* padding */
			os_garbage(&m->chance, (uint8_t *)&m->list[i].Value + 4,
				   offsetof(struct pb_dxgk_allocationlist, PhysicalAddress) -
					   offsetof(struct pb_dxgk_allocationlist, Value) - 4);
	}
	os_garbage(&m->chance, m->patches, start * sizeof(m->patches[0]));
	os_garbage(&m->chance, &m->patches[end], (OS_PATCHES - end) * sizeof(m->patches[0]));
}

/** Whether Patch may be left out: nothing that the range needs has moved since Render. */
static bool is_patched(struct os_machine *m, const struct os_buffer *buffer, const struct os_packet *packet,
		       uint32_t needed)
{
	if (packet->patch.DmaBufferSubmissionStartOffset < buffer->patched_until)
		return false;
	for (uint32_t i = 1; i < OS_LIST; i++) {
		if ((needed >> i & 1u) != 0 &&
		    (m->list[i].Value != buffer->rendered[i].Value ||
		     m->list[i].PhysicalAddress != buffer->rendered[i].PhysicalAddress))
			return false;
	}
	return !os_one_in(&m->chance, 4);
}

/** What a process or its driver could not have done, or the OS: see enum os_wrong. */
static void spoil(struct os_machine *m, const struct os_buffer *buffer, struct os_packet *packet,
		  uint32_t needed)
{
	const uint32_t first = packet->patch.PatchLocationListSubmissionStart;
	const uint32_t bad_packet = 0x7f000001;

	if (buffer->wrong == OS_RIGHT || packet->patch.PatchLocationListSubmissionLength == 0)
		return;
	packet->skip_patch = false;
	if (buffer->wrong == OS_WRONG_LIST)
		m->patches[first].allocation_index = OS_LIST;
	if (buffer->wrong == OS_WRONG_PACKET)
		memcpy(buffer->memory.bytes_host + packet->patch.DmaBufferSubmissionStartOffset, &bad_packet,
		       sizeof(bad_packet));
	for (uint32_t i = 1; i < OS_LIST && buffer->wrong == OS_WRONG_ABSENT; i++) {
		if ((needed >> i & 1u) == 0)
			continue;
		m->list[i].Value &= 1u;
		m->list[i].PhysicalAddress = 0;
	}
}

void os_vidmm_prepare(void *machine, struct os_packet *packet)
{
	struct os_machine *m = machine;
	struct os_buffer *buffer = os_buffer_of(m, packet);
	uint32_t needed;

	if (buffer == NULL || buffer->process == NULL)
		return;
	needed = os_vidmm_needed(buffer, packet);
	os_vidmm_list(m, buffer->process, m->list);
	packet->skip_patch = is_patched(m, buffer, packet, needed);
	memcpy(m->patches, buffer->patches, sizeof(m->patches));
	spoil_the_rest(m, packet, needed);
	packet->patch.pAllocationList = m->list;
	packet->patch.pPatchLocationList = m->patches;
	spoil(m, buffer, packet, needed);
	m->counts.patched += !packet->skip_patch;
	m->counts.unpatched += packet->skip_patch;
	if (!packet->skip_patch && packet->patch.DmaBufferSubmissionEndOffset > buffer->patched_until)
		buffer->patched_until = packet->patch.DmaBufferSubmissionEndOffset;
	packet->note[OS_NOTE_NEEDED] = needed >> 1;
	packet->note[OS_NOTE_DOOMED] = os_client_faults(packet, buffer);
	buffer->process->doomed += packet->note[OS_NOTE_DOOMED];
	for (uint32_t a = 0; a < OS_ALLOCATIONS; a++) {
		struct os_allocation *allocation = &buffer->process->allocations[a];

		packet->note[OS_NOTE_PLACES + a] = OS_PLACE(allocation->segment, allocation->first);
		allocation->in_flight[packet->submit.NodeOrdinal] += needed >> (a + 1) & 1u;
	}
	os_say(m, "node %u: packet %u, allocations 0x%x, bytes %u to %u of buffer %u%s",
	       packet->submit.NodeOrdinal, packet->note[OS_NOTE_NUMBER], needed >> 1,
	       packet->patch.DmaBufferSubmissionStartOffset, packet->patch.DmaBufferSubmissionEndOffset,
	       packet->tag - 1, packet->skip_patch ? ", not patched" : "");
}

void os_vidmm_left(struct os_machine *m, const struct os_packet *packet)
{
	const struct os_buffer *buffer = os_buffer_of(m, packet);

	if (buffer == NULL || buffer->process == NULL)
		return;
	buffer->process->doomed -= packet->note[OS_NOTE_DOOMED];
	for (uint32_t a = 0; a < OS_ALLOCATIONS; a++)
		buffer->process->allocations[a].in_flight[packet->submit.NodeOrdinal] -=
			packet->note[OS_NOTE_NEEDED] >> a & 1u;
}

void os_vidmm_recalled(void *machine, const struct os_packet *packet)
{
	struct os_machine *m = machine;

	os_say(m, "recalled: fence %u of node %u", packet->fence_id, packet->submit.NodeOrdinal);
	os_vidmm_left(m, packet);
}
