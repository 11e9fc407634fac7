/* SPDX-License-Identifier: MIT */
/* Drivers that break rules of the memory manager, or run what they should not. */
#include <string.h>

#include "tests/wddm/os/broken.h"

#define FAR_INDEX  77u
#define FAR_SLOT   0x80u
#define WRONG_MASK 0x2fu /**< WriteOperation, and SegmentId as the public header misprints it */
#define BAD_VALUE  0xbad0bad0u
#define EACH       9u /**< calls until a puppet does its worst */

/* ---- Render ---- */

static uint32_t far_index(struct os_machine *m, struct pb_wddm_context *context,
			  struct pb_dxgkarg_render *render)
{
	struct pb_patch_location *first = render->pPatchLocationListOut;
	const uint32_t status = os_puppet_shim()->render(m, context, render);

	if (render->pPatchLocationListOut != first)
		first->allocation_index = FAR_INDEX;
	return status;
}

/** As a driver that keeps a type in SlotId. */
static uint32_t far_slot(struct os_machine *m, struct pb_wddm_context *context,
			 struct pb_dxgkarg_render *render)
{
	struct pb_patch_location *first = render->pPatchLocationListOut;
	const uint32_t status = os_puppet_shim()->render(m, context, render);

	for (; first != render->pPatchLocationListOut; first++)
		first->slot |= FAR_SLOT;
	return status;
}

static uint32_t splits_backwards(struct os_machine *m, struct pb_wddm_context *context,
				 struct pb_dxgkarg_render *render)
{
	struct pb_patch_location *first = render->pPatchLocationListOut;
	const uint32_t status = os_puppet_shim()->render(m, context, render);

	for (; first + 1 < render->pPatchLocationListOut; first++) {
		if (first->split_offset != 0)
			first[1].split_offset = first->split_offset - 4;
	}
	return status;
}

/** Leaves out the entries that unbind slots. */
static uint32_t unbinds_nothing(struct os_machine *m, struct pb_wddm_context *context,
				struct pb_dxgkarg_render *render)
{
	struct pb_patch_location *from = render->pPatchLocationListOut;
	struct pb_patch_location *to = from;
	const uint32_t status = os_puppet_shim()->render(m, context, render);

	for (; from != render->pPatchLocationListOut; from++) {
		if (from->allocation_index != 0)
			*to++ = *from;
	}
	render->pPatchLocationListOut = to;
	return status;
}

static uint32_t past_the_buffer(struct os_machine *m, struct pb_wddm_context *context,
				struct pb_dxgkarg_render *render)
{
	uint8_t *end = (uint8_t *)render->pDmaBuffer + render->DmaSize;
	const uint32_t status = os_puppet_shim()->render(m, context, render);

	*end ^= 0xff;
	return status;
}

static uint32_t past_the_private_data(struct os_machine *m, struct pb_wddm_context *context,
				      struct pb_dxgkarg_render *render)
{
	uint8_t *end = (uint8_t *)render->pDmaBufferPrivateData + render->DmaBufferPrivateDataSize;
	const uint32_t status = os_puppet_shim()->render(m, context, render);

	*end ^= 0xff;
	return status;
}

static uint32_t render_never(struct os_machine *m, struct pb_wddm_context *context,
			     struct pb_dxgkarg_render *render)
{
	(void)m;
	(void)context;
	(void)render;
	return PB_STATUS_INSUFFICIENT_DMA_BUFFER;
}

static uint32_t present_never(struct os_machine *m, struct pb_wddm_context *context,
			      struct pb_dxgkarg_present *present)
{
	(void)m;
	(void)context;
	(void)present;
	return PB_STATUS_INSUFFICIENT_DMA_BUFFER;
}

/** Leaves out one sub-rectangle of several. */
static uint32_t skips_a_rectangle(struct os_machine *m, struct pb_wddm_context *context,
				  struct pb_dxgkarg_present *present)
{
	if (present->SubRectCnt > 1 && present->MultipassOffset == 0)
		present->MultipassOffset = 1;
	return os_puppet_shim()->present(m, context, present);
}

/** Fills with the colour of a source that a fill does not have. */
static uint32_t fills_with_garbage(struct os_machine *m, struct pb_wddm_context *context,
				   struct pb_dxgkarg_present *present)
{
	if (present->Flags == PB_DXGK_PRESENT_COLOR_FILL)
		present->Color = (uint32_t)present->SrcRect.left;
	return os_puppet_shim()->present(m, context, present);
}

/** Patches only the first part of a drawing that the OS has split. */
static uint32_t first_part(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	return patch->DmaBufferSubmissionStartOffset != 0 ? PB_STATUS_SUCCESS
							  : os_puppet_shim()->patch(m, patch);
}

/** Marks the first context of the process as lost in place of the one that has faulted. */
static uint32_t loses_the_first(struct os_machine *m, struct pb_wddm_context *context,
				struct pb_dxgkarg_render *render)
{
	struct os_process *process = os_client_context(m, context)->process;

	if (context->lost && context != &process->contexts[0].shim) {
		context->lost = false;
		process->contexts[0].shim.lost = true;
	}
	return os_puppet_shim()->render(m, context, render);
}

static uint32_t render_fails(struct os_machine *m, struct pb_wddm_context *context,
			     struct pb_dxgkarg_render *render)
{
	(void)m;
	(void)context;
	(void)render;
	return PB_STATUS_UNSUCCESSFUL;
}

/** Loses the last command, with success. */
static uint32_t loses_a_command(struct os_machine *m, struct pb_wddm_context *context,
				struct pb_dxgkarg_render *render)
{
	uint32_t *first = render->pDmaBuffer;
	const uint32_t status = os_puppet_shim()->render(m, context, render);
	uint32_t *end = render->pDmaBuffer;

	if (status == PB_STATUS_SUCCESS && end - first >= 5 && end[-5] == 0x01000005)
		end[-2] = 0; /* bytes of a fill */
	return status;
}

/** Refuses a context for nothing, now and then. */
static uint32_t refuses_for_nothing(struct os_machine *m, struct pb_wddm_context *context,
				    struct pb_dxgkarg_render *render)
{
	return ++m->puppet.calls % EACH == 0 ? PB_STATUS_GPU_EXCEPTION_ON_DEVICE
					     : os_puppet_shim()->render(m, context, render);
}

/** Returns success for a drawing command that it does not translate. */
static uint32_t draws_nothing(struct os_machine *m, struct pb_wddm_context *context,
			      struct pb_dxgkarg_render *render)
{
	uint32_t *first = render->pDmaBuffer;
	const uint32_t status = os_puppet_shim()->render_km(m, context, render);
	const uint32_t *end = render->pDmaBuffer;

	for (uint32_t *word = first; word < end; word += *word & 0xffffff)
		*word &= 0xffffff; /* NOP */
	return status;
}

static uint32_t forgets_faults(struct os_machine *m, struct pb_wddm_context *context,
			       struct pb_dxgkarg_render *render)
{
	context->lost = false;
	return os_puppet_shim()->render(m, context, render);
}

static uint32_t keeps_the_mapping(struct os_machine *m, struct pb_wddm_context *context,
				  struct pb_dxgkarg_render *render)
{
	m->puppet.mapped = render->pDmaBuffer;
	return os_puppet_shim()->render(m, context, render);
}

static uint32_t writes_through_it(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	if (m->puppet.mapped != NULL)
		*m->puppet.mapped = submit->SubmissionFenceId;
	return os_puppet_shim()->submit_command(m, submit);
}

static uint32_t reports_too_much(struct os_machine *m, const struct pb_dxgkarg_collectdbginfo *collect)
{
	(void)m;
	((uint8_t *)collect->pBuffer)[collect->BufferSize] ^= 0xff;
	return PB_STATUS_SUCCESS;
}

/* ---- BuildPagingBuffer ---- */

static uint32_t build_fails(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	(void)m;
	(void)build;
	return PB_STATUS_UNSUCCESSFUL;
}

static uint32_t build_never(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	(void)m;
	(void)build;
	return PB_STATUS_INSUFFICIENT_DMA_BUFFER;
}

static uint32_t build_too_much(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	const uint32_t room = build->DmaSize;
	uint8_t *end = (uint8_t *)build->pDmaBuffer + room;
	const uint32_t status = os_puppet_shim()->build_paging_buffer(m, build);

	*end ^= 0xff;
	return status;
}

static uint32_t build_over_others(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	uint8_t *end = (uint8_t *)build->pDmaBufferPrivateData + build->DmaBufferPrivateDataSize;
	const uint32_t status = os_puppet_shim()->build_paging_buffer(m, build);

	*end ^= 0xff;
	return status;
}

/** As a driver that adds TransferOffset to both sides. */
static uint32_t offset_twice(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	if (build->Operation == PB_DXGK_OPERATION_TRANSFER && build->Transfer.TransferOffset != 0 &&
	    build->Transfer.TransferSize != 0)
		build->Transfer.MdlOffset -= build->Transfer.TransferOffset / OS_PAGE_BYTES;
	return os_puppet_shim()->build_paging_buffer(m, build);
}

static uint32_t fills_nothing(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	return build->Operation == PB_DXGK_OPERATION_FILL ? PB_STATUS_SUCCESS
							  : os_puppet_shim()->build_paging_buffer(m, build);
}

/** Carries out an eviction that is only a note, by the CPU. */
static uint32_t touches(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	if (m->adapter.stopped)
		m->memory.real[OS_CELL_FRAME][0]++;
	return os_puppet_shim()->build_paging_buffer(m, build);
}

/* ---- Patch and SubmitCommand ---- */

static uint32_t patches_the_tail(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	if (patch->pDmaBuffer != NULL && (patch->Flags & PB_FLAG_PAGING) == 0)
		memcpy((uint8_t *)patch->pDmaBuffer + patch->DmaBufferSubmissionEndOffset,
		       &(const uint32_t){patch->SubmissionFenceId ^ BAD_VALUE}, sizeof(uint32_t));
	return os_puppet_shim()->patch(m, patch);
}

/** Patches each buffer once, as if nothing ever moved again. */
static uint32_t never_again(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	return ++m->puppet.calls % 2 == 0 ? PB_STATUS_SUCCESS : os_puppet_shim()->patch(m, patch);
}

static uint32_t with_entries(struct os_machine *m, const struct pb_dxgkarg_patch *patch,
			     void (*change)(struct pb_dxgk_allocationlist *entry))
{
	struct pb_dxgk_allocationlist list[OS_LIST];
	struct pb_dxgkarg_patch copy = *patch;

	if (patch->pAllocationList == NULL)
		return os_puppet_shim()->patch(m, patch);
	memcpy(list, patch->pAllocationList, sizeof(list));
	for (uint32_t i = 0; i < OS_LIST; i++)
		change(&list[i]);
	copy.pAllocationList = list;
	return os_puppet_shim()->patch(m, &copy);
}

static void misprint(struct pb_dxgk_allocationlist *entry)
{
	entry->Value &= WRONG_MASK;
}

static uint32_t misprinted_mask(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	return with_entries(m, patch, misprint);
}

static void add_base(struct pb_dxgk_allocationlist *entry)
{
	if (entry->Value >> 1 == OS_EDGE)
		entry->PhysicalAddress += OS_EDGE_OS;
}

static uint32_t base_twice(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	return with_entries(m, patch, add_base);
}

/** The first page of what the OS assigned, wherever the allocation is in the segment. */
static void drop_page(struct pb_dxgk_allocationlist *entry)
{
	if (entry->Value >> 1 == OS_VIDEO && entry->PhysicalAddress >= OS_PAGE_BYTES)
		entry->PhysicalAddress -= OS_PAGE_BYTES;
}

static uint32_t a_page_before(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	return with_entries(m, patch, drop_page);
}

static bool is_owned(const struct os_machine *m, const struct os_process *process, uint32_t cell)
{
	for (uint32_t a = 0; a < OS_ALLOCATIONS && process->alive; a++) {
		const struct os_allocation *allocation = &process->allocations[a];

		for (uint32_t page = 0; page < allocation->pages; page++) {
			if (allocation->frames[page] == cell ||
			    (allocation->segment != 0 &&
			     os_vidmm_cell(m, allocation->segment, allocation->first + page) == cell))
				return true;
		}
	}
	return false;
}

static uint32_t writes_to_free_memory(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	uint32_t cell = OS_CELL_FRAME;
	bool owned = true;

	while (owned && ++m->puppet.calls % EACH == 0 && cell < OS_CELLS) {
		owned = false;
		for (uint32_t p = 0; p < m->process_count; p++)
			owned = owned || is_owned(m, &m->processes[p], cell);
		if (!owned)
			m->memory.real[cell][3] ^= BAD_VALUE;
		cell++;
		m->puppet.calls--;
	}
	return os_puppet_shim()->submit_command(m, submit);
}

/** Whether a context is one of a process. */
static bool is_of(const void *handle, const struct os_process *process)
{
	for (uint32_t c = 0; c < process->context_count; c++) {
		if (handle == &process->contexts[c].shim)
			return true;
	}
	return false;
}

/** Frames of another process's allocations, while these are in a segment. */
static uint32_t writes_to_another(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	for (uint32_t p = 0; p < m->process_count && submit->hContext != NULL; p++) {
		const struct os_process *other = &m->processes[p];

		for (uint32_t a = 0; a < OS_ALLOCATIONS && other->alive && !is_of(submit->hContext, other);
		     a++) {
			const struct os_allocation *allocation = &other->allocations[a];

			if ((allocation->segment == OS_VIDEO || allocation->segment == OS_EDGE) &&
			    allocation->moving == 0 && !m->memory.touched[allocation->frames[0]])
				m->memory.real[allocation->frames[0]][7] ^= BAD_VALUE;
		}
	}
	return os_puppet_shim()->submit_command(m, submit);
}

/** Marks the context of another process as lost. */
static uint32_t loses_another(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	for (uint32_t p = 0; p < m->process_count; p++) {
		if (submit->hContext != NULL && !is_of(submit->hContext, &m->processes[p]))
			m->processes[p].contexts[0].shim.lost = true;
	}
	return os_puppet_shim()->submit_command(m, submit);
}

const struct os_puppet os_puppets_memory[] = {
	{"Render asks for buffers without an end", OS_RULE_RENDER_LOOPS, 0, 0x12,
	 .ddi = {.render = render_never}},
	{"Present asks for buffers without an end", OS_RULE_RENDER_LOOPS, 0, 0x12,
	 .ddi = {.present = present_never}},
	{"a sub-rectangle is left out", OS_RULE_CONTENTS, 0, 0xa, .ddi = {.present = skips_a_rectangle}},
	{"a fill of another colour", OS_RULE_CONTENTS, 0, 0xa, .ddi = {.present = fills_with_garbage}},
	{"only the first part is patched", OS_RULE_LOST, 0, 0xc, .ddi = {.patch = first_part}, .stray = true},
	{"the fault of another context", OS_RULE_FAULT_HIDDEN, 0, 0xb, .ddi = {.render = loses_the_first}},
	{"memory changes after the reset", OS_RULE_RESET_TOUCHES, 0, 0x6,
	 .ddi = {.build_paging_buffer = touches}},
	{"a patch of no allocation", OS_RULE_REFERENCE, 0x10e, 0x8, .ddi = {.render = far_index}},
	{"a type in SlotId", OS_RULE_REFERENCE, 0x10e, 0x8, .ddi = {.render = far_slot}},
	{"SplitOffset goes back", OS_RULE_REFERENCE, 0x10e, 0x8, .ddi = {.render = splits_backwards}},
	{"slots stay bound", OS_RULE_SLOT, 0x10e, 0x8, .ddi = {.render = unbinds_nothing}},
	{"BuildPagingBuffer fails", OS_RULE_BUILD_STATUS, 0x10e, 0xb,
	 .ddi = {.build_paging_buffer = build_fails}},
	{"Render past the buffer", OS_RULE_DMA_OVERFLOW, 0x10e, 0x12, .ddi = {.render = past_the_buffer}},
	{"paging past the buffer", OS_RULE_DMA_OVERFLOW, 0x10e, 0x12,
	 .ddi = {.build_paging_buffer = build_too_much}},
	{"Patch behind the range", OS_RULE_PATCH_RANGE, 0x10e, 0x12, .ddi = {.patch = patches_the_tail}},
	{"Render past the private data", OS_RULE_PRIVATE_OVERFLOW, 0x10e, 0x13,
	 .ddi = {.render = past_the_private_data}},
	{"paging past the private data", OS_RULE_PRIVATE_OVERFLOW, 0x10e, 0x13,
	 .ddi = {.build_paging_buffer = build_over_others}},
	{"one buffer after another", OS_RULE_BUILD_LOOPS, 0x10e, 0x17,
	 .ddi = {.build_paging_buffer = build_never}},
	{"a report that is too long", OS_RULE_REPORT, 0, 0xe, .ddi = {.collect_dbg_info = reports_too_much}},
	{"a mapping is kept", OS_RULE_MAPPING, 0xd1, 0x1,
	 .ddi = {.render = keeps_the_mapping, .submit_command = writes_through_it}},
	{"Render fails", OS_RULE_RENDER_STATUS, 0, 0x7, .ddi = {.render = render_fails}},
	{"memory without an owner", OS_RULE_FREE_PAGE, 0, 0x8,
	 .ddi = {.submit_command = writes_to_free_memory}},
	{"memory of another process", OS_RULE_OTHER_PROCESS, 0, 0x9,
	 .ddi = {.submit_command = writes_to_another}},
	{"patched once", OS_RULE_CONTENTS, 0, 0xa, .ddi = {.patch = never_again}, .stray = true},
	{"a page before", OS_RULE_FREE_PAGE, 0, 0x8, .ddi = {.patch = a_page_before}, .stray = true},
	{"TransferOffset of a page list", OS_RULE_CONTENTS, 0, 0xa,
	 .ddi = {.build_paging_buffer = offset_twice}, .stray = true},
	{"a fill is left out", OS_RULE_FREE_PAGE, 0, 0x8, .ddi = {.build_paging_buffer = fills_nothing}},
	{"a command is lost", OS_RULE_CONTENTS, 0, 0xa, .ddi = {.render = loses_a_command}},
	{"a drawing command is lost", OS_RULE_CONTENTS, 0, 0xa, .ddi = {.render_km = draws_nothing}},
	{"faults are forgotten", OS_RULE_FAULT_HIDDEN, 0, 0xb, .ddi = {.render = forgets_faults}},
	{"another context is lost", OS_RULE_LOST, 0, 0xc, .ddi = {.submit_command = loses_another},
	 .stray = true},
	{"a context refused for nothing", OS_RULE_LOST, 0, 0xc, .ddi = {.render = refuses_for_nothing}},
	{"the misprinted mask", OS_RULE_LOST, 0, 0xc, .ddi = {.patch = misprinted_mask}, .stray = true},
	{"the base twice", OS_RULE_LOST, 0, 0xc, .ddi = {.patch = base_twice}, .stray = true},
};
const uint32_t os_puppets_memory_count = sizeof(os_puppets_memory) / sizeof(os_puppets_memory[0]);
