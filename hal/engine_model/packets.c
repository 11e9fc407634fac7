/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/internal.h"
#include "patchbay/abi/boot.h"

static enum pb_model_status run_nop(struct pb_engine_model *model, const uint32_t *words)
{
	(void)model;
	(void)words;
	return PB_MODEL_DONE;
}

static enum pb_model_status run_indirect(struct pb_engine_model *model, const uint32_t *words)
{
	return pb_model_enter(model, pb_model_address(&words[1]), words[3]);
}

static enum pb_model_status run_hang(struct pb_engine_model *model, const uint32_t *words)
{
	(void)words;
	pb_model_stall(model);
	return PB_MODEL_MORE;
}

static enum pb_model_status run_fault(struct pb_engine_model *model, const uint32_t *words)
{
	(void)words;
	return pb_model_fault_packet(model, PB_ENGINE_FAULT_ASKED);
}

static enum pb_model_status run_busy(struct pb_engine_model *model, const uint32_t *words)
{
	uint64_t asked = words[1] == 0 ? 1 : words[1];
	uint64_t left = asked - model->cursor;
	uint64_t now = left < (uint64_t)model->budget ? left : (uint64_t)model->budget;

	pb_model_charge(model, (uint32_t)now);
	model->cursor += now;
	return now < left ? PB_MODEL_MORE : PB_MODEL_DONE;
}

#define ONLY_3D    (1u << PB_NODE_3D)
#define EVERY_NODE (1u << PB_NODE_3D | 1u << PB_NODE_COPY)
#define ANYONE     false
#define PAGING     true

/* By opcode. FENCE is none: it belongs to the ring, in a buffer it is unknown. */
static const struct pb_model_operation operations[] = {
	[PB_PACKET_NOP] = {run_nop, 0, EVERY_NODE, 1, ANYONE},
	[PB_PACKET_FILL] = {pb_model_fill, PB_PACKET_FILL_WORDS, EVERY_NODE, 1, ANYONE},
	[PB_PACKET_COPY] = {pb_model_copy, PB_PACKET_COPY_WORDS, EVERY_NODE, 1, ANYONE},
	[PB_PACKET_COPY_RECT] = {pb_model_copy_rect, PB_PACKET_COPY_RECT_WORDS, EVERY_NODE, 1, ANYONE},
	[PB_PACKET_DISCARD] = {pb_model_discard, PB_PACKET_DISCARD_WORDS, EVERY_NODE, 1, PAGING},
	[PB_PACKET_MAP_APERTURE] = {pb_model_map, PB_PACKET_MAP_APERTURE_WORDS, EVERY_NODE, 1, PAGING},
	[PB_PACKET_UNMAP_APERTURE] = {pb_model_unmap, PB_PACKET_UNMAP_APERTURE_WORDS, EVERY_NODE, 1, PAGING},
	[PB_PACKET_TARGET] = {pb_model_target, PB_PACKET_TARGET_WORDS, ONLY_3D, 1, ANYONE},
	[PB_PACKET_TEXTURE] = {pb_model_texture, PB_PACKET_TEXTURE_WORDS, ONLY_3D, 1, ANYONE},
	[PB_PACKET_DRAW] = {pb_model_draw, PB_PACKET_DRAW_WORDS, ONLY_3D, 1, ANYONE},
	[PB_PACKET_INDIRECT] = {run_indirect, PB_PACKET_INDIRECT_WORDS, EVERY_NODE, 1, ANYONE},
	[PB_PACKET_HANG] = {run_hang, PB_PACKET_HANG_WORDS, EVERY_NODE, 0, ANYONE},
	[PB_PACKET_FAULT] = {run_fault, PB_PACKET_FAULT_WORDS, EVERY_NODE, 1, ANYONE},
	[PB_PACKET_BUSY] = {run_busy, PB_PACKET_BUSY_WORDS, EVERY_NODE, 0, ANYONE},
};

void pb_model_packets_clear(struct pb_engine_model *model)
{
	model->depth = 0;
	model->operation = NULL;
	model->packet_address = 0;
	model->target = (struct pb_model_surface){.width = 0};
	model->texture = (struct pb_model_surface){.width = 0};
}

enum pb_model_status pb_model_enter(struct pb_engine_model *model, uint64_t address, uint32_t bytes)
{
	struct pb_model_span span;

	if (model->depth == PB_ENGINE_NESTING_MAX)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_NESTING);
	if (!pb_model_span(model, address, bytes, &span))
		return PB_MODEL_FAULTED;
	if (bytes != 0)
		model->frames[model->depth++] = (struct pb_model_frame){.span = span};
	return PB_MODEL_DONE;
}

/* NULL: no such packet, or of another length. */
static const struct pb_model_operation *find_operation(const struct pb_engine_model *model, uint32_t header)
{
	uint32_t opcode = PB_PACKET_OPCODE(header);
	const struct pb_model_operation *operation = &operations[0];

	if (opcode >= sizeof(operations) / sizeof(operations[0]))
		return model->config.gl_ops != NULL ? model->config.gl_ops->find(header) : NULL;
	operation = &operations[opcode];
	if (operation->run == NULL)
		return NULL;
	return operation->words == 0 || operation->words == PB_PACKET_WORDS(header) ? operation : NULL;
}

/* Reads the rest of a packet into the model; the header is there. */
static enum pb_model_status read_packet(struct pb_engine_model *model, const struct pb_model_frame *frame,
					uint32_t words)
{
	uint32_t got = 1;

	if (words > 1)
		got += pb_model_read(model, &frame->span, frame->done + 4, &model->words[1], words - 1);
	if (got < words)
		return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, model->packet_address + 4 * got);
	return PB_MODEL_DONE;
}

/* Reads the next packet of a frame that has one. */
static enum pb_model_status decode(struct pb_engine_model *model, struct pb_model_frame *frame)
{
	bool there = pb_model_read(model, &frame->span, frame->done, &model->words[0], 1) == 1;
	uint32_t words = there ? PB_PACKET_WORDS(model->words[0]) : 0;
	const struct pb_model_operation *operation = there ? find_operation(model, model->words[0]) : NULL;
	bool good = operation != NULL && words != 0 && words <= (frame->span.bytes - frame->done) / 4;

	model->packet_address = frame->span.address + frame->done;
	model->cursor = 0;
	model->touched = 0;
	model->statistics.packets++;
	pb_model_charge(model, good ? operation->cost : 1);
	if (!there)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_PAGE);
	if (!good)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_PACKET);
	if ((operation->kinds & 1u << model->config.kind) == 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_NODE);
	if (operation->paging && !model->privileged)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_PRIVILEGE);
	if (read_packet(model, frame, operation->words) == PB_MODEL_FAULTED)
		return PB_MODEL_FAULTED;
	frame->done += 4 * words;
	model->operation = operation;
	return PB_MODEL_DONE;
}

static bool frame_ends(const struct pb_model_frame *frame)
{
	return frame->done == frame->span.bytes;
}

/* Leaves the buffers that have ended. Between two packets. */
static void leave(struct pb_engine_model *model)
{
	while (model->depth != 0 && frame_ends(&model->frames[model->depth - 1]))
		model->depth--;
}

bool pb_model_between_packets(struct pb_engine_model *model)
{
	if (model->operation != NULL)
		return false;
	leave(model);
	return model->depth == 1;
}

bool pb_model_packets_run(struct pb_engine_model *model)
{
	enum pb_model_status status = PB_MODEL_DONE;

	if (model->operation == NULL)
		leave(model);
	if (model->operation == NULL && model->depth == 0)
		return false;
	if (model->operation == NULL) {
		pb_model_pages_check(model);
		status = decode(model, &model->frames[model->depth - 1]);
	}
	if (status != PB_MODEL_FAULTED)
		status = model->operation->run(model, model->words);
	if (status != PB_MODEL_MORE)
		model->operation = NULL;
	return status != PB_MODEL_FAULTED;
}
