/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/gl.h"

#include "hal/engine_model/gl_internal.h"
#include "patchbay/abi/boot.h"

/* Bytes of data that one call moves, so that a step ends. */
#define MOVED_AT_ONCE 0x40000u

/* ---- time ---- */

static uint32_t now(const struct pb_engine_gl_node *node)
{
	return node->gl->config.renderers->now(node->gl->config.context);
}

/* Time on the card's clock has gone by. @param used what the renderer of the owner has used */
static void charge_wait(struct pb_engine_model *model, uint32_t used)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const uint32_t clock = now(node);
	const uint32_t left = PB_ENGINE_GL_PROGRESS_US - node->worked;
	uint32_t worked = node->measured ? used - node->used : 0;

	worked = worked < left ? worked : left;
	node->measured = true;
	node->used = used;
	node->worked += worked;
	model->time += clock - node->since;
	model->progress += worked;
	if (worked != 0)
		node->begun = clock;
	node->since = clock;
	model->budget = 0;
	pb_model_store(&model->registers->time, model->time);
	pb_model_store(&model->registers->progress, model->progress);
}

/* ---- a packet's way ---- */

/* The packet is left. */
static void leave(struct pb_engine_gl_node *node)
{
	if (node->owner != NULL && node->owner->holder == node)
		node->owner->holder = NULL;
	node->stage = PB_ENGINE_GL_IDLE;
	node->owner = NULL;
}

static enum pb_model_status done(struct pb_engine_gl_node *node)
{
	leave(node);
	return PB_MODEL_DONE;
}

static bool is_privileged(const struct pb_engine_gl_node *node)
{
	return PB_PACKET_OPCODE(node->words[0]) >= PB_PACKET_GL_BIND;
}

/* The renderer is of no more use. That is its owner's loss, and not that of the queue that pages. */
static enum pb_model_status lose(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;

	pb_gl_owner_lose(node->gl, node->owner);
	if (is_privileged(node))
		return done(node);
	return pb_model_fault_packet(model, PB_ENGINE_FAULT_RENDERER);
}

/* Hands the request to the renderer. */
static enum pb_model_status ask(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const struct pb_engine_gl_config *config = &node->gl->config;

	node->stage = PB_ENGINE_GL_ASKED;
	node->begun = now(node);
	node->measured = false;
	node->worked = 0;
	config->renderers->begin(config->context, pb_gl_index(node->gl, node->owner), &node->request);
	return PB_MODEL_MORE;
}

static enum pb_model_status run_begin(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const uint32_t count = PB_PACKET_WORDS(node->words[0]) - 1u;

	if (count == 0)
		return PB_MODEL_DONE;
	if (count > PB_GL_RUN_WORDS_MAX && pb_gl_length_of(node->words[1]) + 1u != count)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	if (pb_gl_run_check(model) == PB_MODEL_FAULTED)
		return PB_MODEL_FAULTED;
	node->request = (struct pb_engine_gl_request){
		.kind = PB_ENGINE_GL_RUN, .words = &node->words[1], .count = count};
	return PB_MODEL_MORE;
}

static enum pb_model_status transfer_begin(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const uint32_t *words = node->words;
	const bool put = (words[PB_GL_TRANSFER_FLAGS] & PB_GL_TRANSFER_TO_RESOURCE) != 0;
	const struct pb_engine_gl_resource *resource;
	struct pb_model_span span;

	if ((words[PB_GL_TRANSFER_FLAGS] & ~PB_GL_TRANSFER_TO_RESOURCE) != 0 ||
	    words[PB_GL_TRANSFER_BYTES] > PB_GL_TRANSFER_BYTES_MAX)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	node->address = pb_model_address(&words[PB_GL_TRANSFER_ADDRESS]);
	if (!pb_model_span(model, node->address, words[PB_GL_TRANSFER_BYTES], &span))
		return PB_MODEL_FAULTED;
	resource = pb_gl_page_check(model, words[PB_GL_TRANSFER_PAGE]);
	if (resource == NULL)
		return PB_MODEL_FAULTED;
	node->request =
		(struct pb_engine_gl_request){.kind = put ? PB_ENGINE_GL_PUT : PB_ENGINE_GL_GET,
					      .resource = resource->handle,
					      .words = &words[PB_GL_TRANSFER_LEVEL],
					      .count = PB_PACKET_GL_TRANSFER_WORDS - PB_GL_TRANSFER_LEVEL,
					      .bytes = words[PB_GL_TRANSFER_BYTES]};
	return PB_MODEL_MORE;
}

static enum pb_model_status caps_begin(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const uint32_t *words = node->words;
	struct pb_model_span span;

	if (words[PB_GL_CAPS_BYTES] > PB_GL_CAPS_BYTES_MAX)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	node->address = pb_model_address(&words[PB_GL_CAPS_ADDRESS]);
	if (!pb_model_span(model, node->address, words[PB_GL_CAPS_BYTES], &span))
		return PB_MODEL_FAULTED;
	node->request = (struct pb_engine_gl_request){.kind = PB_ENGINE_GL_CAPS,
						      .words = &words[PB_GL_CAPS_SET],
						      .count = 2,
						      .bytes = words[PB_GL_CAPS_BYTES]};
	return PB_MODEL_MORE;
}

/* Moves a part of the data between memory and the renderer. @return DONE: all is moved */
static enum pb_model_status move(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const struct pb_engine_gl_config *config = &node->gl->config;
	const uint32_t renderer = pb_gl_index(node->gl, node->owner);
	const uint32_t left = node->request.bytes - node->moved;
	struct pb_model_piece piece;
	struct pb_model_span span;

	if (left == 0)
		return PB_MODEL_DONE;
	if (!pb_model_span(model, node->address, node->request.bytes, &span))
		return PB_MODEL_FAULTED;
	piece = pb_model_piece(model, &span, node->moved, left < MOVED_AT_ONCE ? left : MOVED_AT_ONCE);
	if (node->stage == PB_ENGINE_GL_LOADS)
		config->renderers->get(config->context, renderer, node->moved, piece.words, piece.bytes);
	else if (piece.mapped)
		config->renderers->put(config->context, renderer, node->moved, piece.words, piece.bytes);
	if (!piece.mapped)
		return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, node->address + node->moved);
	model->statistics.bytes_moved += piece.bytes;
	pb_model_touch(model, piece.bytes / 4);
	node->moved += piece.bytes;
	return PB_MODEL_MORE;
}

static enum pb_model_status store(struct pb_engine_model *model)
{
	enum pb_model_status status = move(model);

	return status == PB_MODEL_DONE ? ask(model) : status;
}

static enum pb_model_status load(struct pb_engine_model *model)
{
	enum pb_model_status status = move(model);

	return status == PB_MODEL_DONE ? done(model->config.gl) : status;
}

static enum pb_model_status poll(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const struct pb_engine_gl_config *config = &node->gl->config;
	uint32_t used = node->used;
	enum pb_engine_gl_answer answer =
		config->renderers->poll(config->context, pb_gl_index(node->gl, node->owner), &used);

	charge_wait(model, used);
	switch (answer) {
	case PB_ENGINE_GL_WORKS:
		if (is_privileged(node) && node->since - node->begun > PB_ENGINE_GL_PATIENCE_US)
			return lose(model);
		return PB_MODEL_MORE;
	case PB_ENGINE_GL_DONE:
		model->progress++;
		pb_model_store(&model->registers->progress, model->progress);
		if (node->request.kind != PB_ENGINE_GL_GET && node->request.kind != PB_ENGINE_GL_CAPS)
			return done(node);
		node->stage = PB_ENGINE_GL_LOADS;
		return PB_MODEL_MORE;
	case PB_ENGINE_GL_REFUSED:
	case PB_ENGINE_GL_LOST:
		break;
	}
	return lose(model);
}

/* ---- the packets ---- */

/* A row of the table. */
struct packet {
	struct pb_model_operation operation;
	enum pb_model_status (*begin)(struct pb_engine_model *model);
	uint32_t words; /* 0: any */
};

static enum pb_model_status run_packet(struct pb_engine_model *model, const uint32_t *words);

#define PACKET(begin, words, paging)                                                                         \
	{                                                                                                    \
		{run_packet, 0, 1u << PB_NODE_3D, 1, paging}, begin, words                                   \
	}

/* By opcode, from PB_PACKET_GL on. The words of a packet are read by run_packet(). */
static const struct packet packets[] = {
	PACKET(run_begin, 0, false),
	PACKET(transfer_begin, PB_PACKET_GL_TRANSFER_WORDS, false),
	PACKET(caps_begin, PB_PACKET_GL_CAPS_WORDS, false),
	PACKET(pb_gl_bind, PB_PACKET_GL_BIND_WORDS, true),
	PACKET(pb_gl_unbind, PB_PACKET_GL_UNBIND_WORDS, true),
	PACKET(pb_gl_end, PB_PACKET_GL_END_WORDS, true),
};

static const struct pb_model_operation *find(uint32_t header)
{
	const uint32_t index = PB_PACKET_OPCODE(header) - PB_PACKET_GL;
	const uint32_t words = PB_PACKET_WORDS(header);

	if (index >= sizeof(packets) / sizeof(packets[0]) || words > PB_GL_PACKET_WORDS_MAX + 1u)
		return NULL;
	return packets[index].words == 0 || packets[index].words == words ? &packets[index].operation : NULL;
}

/* Reads the packet into the node: the words behind the header, which the model has. */
static enum pb_model_status read_words(struct pb_engine_model *model, struct pb_engine_gl_node *node,
				       uint32_t header)
{
	const struct pb_model_frame *frame = &model->frames[model->depth - 1];
	const uint32_t count = PB_PACKET_WORDS(header) - 1u;
	const uint32_t offset = frame->done - 4u * count;
	uint32_t got = 0;

	node->words[0] = header;
	if (count != 0)
		got = pb_model_read(model, &frame->span, offset, &node->words[1], count);
	if (got < count)
		return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, frame->span.address + offset + 4 * got);
	pb_model_touch(model, count);
	return PB_MODEL_DONE;
}

/* Finds the packet's owner. @return DONE: there is nothing to do; MORE: it is the node's */
static enum pb_model_status find_owner(struct pb_engine_model *model, struct pb_engine_gl_node *node)
{
	const uint32_t opcode = PB_PACKET_OPCODE(node->words[0]);
	const uint32_t name = is_privileged(node) ? node->words[1] : model->owner;
	const bool creates = opcode != PB_PACKET_GL_UNBIND && opcode != PB_PACKET_GL_END;

	if ((name & 0xffffu) != (model->owner & 0xffu))
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	node->owner = creates ? pb_gl_owner_get(node->gl, name) : pb_gl_owner_find(node->gl, name);
	if (is_privileged(node)) {
		if (node->owner == NULL || (node->owner->lost && opcode != PB_PACKET_GL_END))
			return PB_MODEL_DONE;
	} else if (node->owner == NULL || node->owner->lost) {
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_RENDERER);
	}
	return PB_MODEL_MORE;
}

static enum pb_model_status enter(struct pb_engine_model *model, uint32_t header)
{
	struct pb_engine_gl_node *node = model->config.gl;
	enum pb_model_status status = read_words(model, node, header);

	if (status == PB_MODEL_DONE)
		status = find_owner(model, node);
	if (status != PB_MODEL_MORE)
		return status;
	node->stage = PB_ENGINE_GL_WAITS;
	node->since = now(node);
	node->moved = 0;
	node->worked = 0;
	node->measured = false;
	return PB_MODEL_MORE;
}

/* Another node works with the owner: its renderer's progress is this node's, which would hang else. */
static void wait_for(struct pb_engine_model *model, const struct pb_engine_gl_node *holder)
{
	struct pb_engine_gl_node *node = model->config.gl;

	node->measured = node->measured && holder->measured;
	charge_wait(model, holder->used);
	node->measured = holder->measured;
}

/* Begins once no other node works with the owner. */
static enum pb_model_status begin(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const uint32_t index = PB_PACKET_OPCODE(node->words[0]) - PB_PACKET_GL;
	enum pb_model_status status;

	/* Another node may have lost or ended it meanwhile. */
	status = find_owner(model, node);
	if (status == PB_MODEL_MORE && node->owner->holder != NULL) {
		wait_for(model, node->owner->holder);
		return PB_MODEL_MORE;
	}
	if (status == PB_MODEL_MORE) {
		node->owner->holder = node;
		status = packets[index].begin(model);
	}
	if (status == PB_MODEL_DONE)
		return done(node);
	if (status == PB_MODEL_FAULTED)
		return status;
	if (node->request.kind != PB_ENGINE_GL_PUT)
		return ask(model);
	node->stage = PB_ENGINE_GL_STORES;
	return PB_MODEL_MORE;
}

static enum pb_model_status advance(struct pb_engine_model *model, uint32_t header)
{
	switch (model->config.gl->stage) {
	case PB_ENGINE_GL_WAITS:
		return begin(model);
	case PB_ENGINE_GL_STORES:
		return store(model);
	case PB_ENGINE_GL_ASKED:
		return poll(model);
	case PB_ENGINE_GL_LOADS:
		return load(model);
	case PB_ENGINE_GL_IDLE:
	default:
		return enter(model, header);
	}
}

/* A packet that faults has lost its owner's renderer, unless it was one that pages. */
static enum pb_model_status run_packet(struct pb_engine_model *model, const uint32_t *words)
{
	struct pb_engine_gl_node *node = model->config.gl;
	enum pb_model_status status = advance(model, words[0]);
	struct pb_engine_gl_owner *owner;

	if (status != PB_MODEL_FAULTED)
		return status;
	leave(node);
	owner = is_privileged(node) ? NULL : pb_gl_owner_find(node->gl, model->owner);
	if (owner != NULL && owner->holder == NULL)
		pb_gl_owner_lose(node->gl, owner);
	return status;
}

/* ---- the engine around it ---- */

static void reset(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;

	if (node->owner != NULL && node->owner->holder == node)
		pb_gl_owner_lose(node->gl, node->owner);
	leave(node);
}

const struct pb_engine_gl_ops pb_engine_gl_ops = {.find = find, .reset = reset};

void pb_engine_gl_init(struct pb_engine_gl *gl, const struct pb_engine_gl_config *config)
{
	gl->config = *config;
	for (uint32_t i = 0; i < config->owner_count; i++)
		config->owners[i].used = false;
}

void pb_engine_gl_node_init(struct pb_engine_gl_node *node, struct pb_engine_gl *gl)
{
	node->gl = gl;
	node->stage = PB_ENGINE_GL_IDLE;
	node->owner = NULL;
}

bool pb_engine_gl_waits(const struct pb_engine_gl_node *node)
{
	return node->stage == PB_ENGINE_GL_ASKED || node->stage == PB_ENGINE_GL_WAITS;
}

static void close_owners(struct pb_engine_gl *gl, uint32_t channels, uint32_t channel)
{
	for (uint32_t i = 0; i < gl->config.owner_count; i++) {
		struct pb_engine_gl_owner *owner = &gl->config.owners[i];

		if (!owner->used || (owner->owner & channels) != channel)
			continue;
		/* A node that still works with it finds it lost. */
		if (owner->holder != NULL)
			pb_gl_owner_lose(gl, owner);
		else
			pb_gl_owner_forget(gl, owner);
	}
}

void pb_engine_gl_close(struct pb_engine_gl *gl, uint32_t channel)
{
	close_owners(gl, 0xffu, channel);
}

void pb_engine_gl_close_all(struct pb_engine_gl *gl)
{
	close_owners(gl, 0, 0);
}
