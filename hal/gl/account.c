/* SPDX-License-Identifier: MIT */
/* The account of a virgl context: follows its commands. */
#include "hal/gl/account.h"

#include <stddef.h>

#define NOWHERE UINT32_MAX
/* Bits of CLEAR's buffers: depth, stencil, and from bit 2 on the color buffers. */
#define CLEAR_DEPTH 3u
#define CLEAR_COLOR 2u
/* Bits of a shader image's access. */
#define IMAGE_READ  1u
#define IMAGE_WRITE 2u

/** One command on its way through the account. */
struct step {
	struct pb_gl_account *account;
	struct pb_gl_sub_context *sub; /**< the current sub-context */
	const uint32_t *words;         /**< of the command, with the header */
	uint32_t count;                /**< of these */
	uint32_t kind;                 /**< of the object that the header names */
	pb_gl_reach *reach;            /**< never NULL */
	void *context;                 /**< for `reach` */
};

typedef enum pb_gl_status handler(const struct step *step);

static bool reach_nothing(void *context, uint32_t resource, uint32_t access)
{
	(void)context;
	(void)resource;
	(void)access;
	return true;
}

static enum pb_gl_status unless_stopped(bool going)
{
	return going ? PB_GL_STATUS_OK : PB_GL_STATUS_STOPPED;
}

static const struct pb_gl_object *find(const struct step *step, uint32_t handle)
{
	return pb_gl_objects_find(&step->account->objects, step->sub->number, handle);
}

/** A surface is a surface, with samples of its own or without. */
static uint32_t family(uint32_t kind)
{
	return kind == PB_GL_KIND_MSAA_SURFACE ? PB_GL_KIND_SURFACE : kind;
}

/**
 * Finds an object that a command must name.
 * @param resource set to its resource; to 0 if the handle is 0, which stands for none
 */
static enum pb_gl_status resource_of(const struct step *step, uint32_t handle, uint32_t kind,
				     uint32_t *resource)
{
	const struct pb_gl_object *object = handle != 0 ? find(step, handle) : NULL;

	*resource = object ? object->resource : 0;
	if (handle == 0)
		return PB_GL_STATUS_OK;
	if (!object)
		return PB_GL_STATUS_OBJECT;
	return family(object->kind) == kind ? PB_GL_STATUS_OK : PB_GL_STATUS_KIND;
}

static enum pb_gl_status create_object(const struct step *step)
{
	struct pb_gl_object object = {
		.sub_context = step->sub->number, .handle = step->words[1], .kind = step->kind};

	if (step->kind == PB_GL_KIND_QUERY)
		object.resource = step->words[4];
	else if (step->kind == PB_GL_KIND_SAMPLER_VIEW || step->kind == PB_GL_KIND_STREAMOUT_TARGET ||
		 family(step->kind) == PB_GL_KIND_SURFACE)
		object.resource = step->words[2];
	return pb_gl_objects_add(&step->account->objects, &object) ? PB_GL_STATUS_OK : PB_GL_STATUS_FULL;
}

static enum pb_gl_status bind_object(const struct step *step)
{
	uint32_t resource;

	return resource_of(step, step->words[1], step->kind, &resource);
}

static enum pb_gl_status destroy_object(const struct step *step)
{
	pb_gl_objects_remove(&step->account->objects, step->sub->number, step->words[1]);
	return PB_GL_STATUS_OK;
}

/**
 * Binds a list of objects to the slots from `first` on.
 * @param word index of the first handle; the list runs to the command's end
 */
static enum pb_gl_status bind_list(const struct step *step, struct pb_gl_slots *slots, uint32_t first,
				   uint32_t word, uint32_t kind)
{
	for (uint32_t slot = first; word < step->count; word++, slot++) {
		uint32_t resource;
		const enum pb_gl_status status = resource_of(step, step->words[word], kind, &resource);

		if (status != PB_GL_STATUS_OK)
			return status;
		pb_gl_slots_set(slots, slot, resource);
	}
	return PB_GL_STATUS_OK;
}

static enum pb_gl_status set_framebuffer(const struct step *step)
{
	struct pb_gl_slots *groups = step->sub->bindings.groups;
	uint32_t depth;
	const enum pb_gl_status status = resource_of(step, step->words[2], PB_GL_KIND_SURFACE, &depth);

	if (status != PB_GL_STATUS_OK)
		return status;
	pb_gl_slots_set(&groups[PB_GL_GROUP_DEPTH], 0, depth);
	pb_gl_slots_cut(&groups[PB_GL_GROUP_COLORS], step->words[1]);
	return bind_list(step, &groups[PB_GL_GROUP_COLORS], 0, 3, PB_GL_KIND_SURFACE);
}

/** Slots behind the list become free. */
static enum pb_gl_status set_views(const struct step *step)
{
	struct pb_gl_slots *slots = &step->sub->bindings.stages[step->words[1]][PB_GL_GROUP_VIEWS];

	pb_gl_slots_cut(slots, step->words[2] + step->count - 3u);
	return bind_list(step, slots, step->words[2], 3, PB_GL_KIND_SAMPLER_VIEW);
}

static enum pb_gl_status set_streamout(const struct step *step)
{
	struct pb_gl_slots *slots = &step->sub->bindings.groups[PB_GL_GROUP_STREAMOUT];

	pb_gl_slots_cut(slots, step->count - 2u);
	return bind_list(step, slots, 0, 2, PB_GL_KIND_STREAMOUT_TARGET);
}

static enum pb_gl_status set_vertices(const struct step *step)
{
	struct pb_gl_slots *slots = &step->sub->bindings.groups[PB_GL_GROUP_VERTICES];

	pb_gl_slots_cut(slots, (step->count - 1u) / 3u);
	for (uint32_t word = 3; word < step->count; word += 3)
		pb_gl_slots_set(slots, word / 3u - 1u, step->words[word]);
	return PB_GL_STATUS_OK;
}

static enum pb_gl_status set_index(const struct step *step)
{
	pb_gl_slots_set(&step->sub->bindings.groups[PB_GL_GROUP_INDEX], 0, step->words[1]);
	return PB_GL_STATUS_OK;
}

static enum pb_gl_status set_uniform(const struct step *step)
{
	pb_gl_slots_set(&step->sub->bindings.stages[step->words[1]][PB_GL_GROUP_UNIFORMS], step->words[2],
			step->words[5]);
	return PB_GL_STATUS_OK;
}

static enum pb_gl_status set_buffers(const struct step *step)
{
	struct pb_gl_slots *slots = &step->sub->bindings.stages[step->words[1]][PB_GL_GROUP_BUFFERS];

	for (uint32_t word = 5, slot = step->words[2]; word < step->count; word += 3, slot++)
		pb_gl_slots_set(slots, slot, step->words[word]);
	return PB_GL_STATUS_OK;
}

static enum pb_gl_status set_atomics(const struct step *step)
{
	struct pb_gl_slots *slots = &step->sub->bindings.groups[PB_GL_GROUP_ATOMICS];

	for (uint32_t word = 4, slot = step->words[1]; word < step->count; word += 3, slot++)
		pb_gl_slots_set(slots, slot, step->words[word]);
	return PB_GL_STATUS_OK;
}

static uint32_t group_of_image(uint32_t access)
{
	if ((access & (IMAGE_READ | IMAGE_WRITE)) == IMAGE_READ)
		return PB_GL_GROUP_IMAGES_READ;
	if ((access & (IMAGE_READ | IMAGE_WRITE)) == IMAGE_WRITE)
		return PB_GL_GROUP_IMAGES_WRITTEN;
	return PB_GL_GROUP_IMAGES;
}

static enum pb_gl_status set_images(const struct step *step)
{
	struct pb_gl_slots *stage = step->sub->bindings.stages[step->words[1]];

	for (uint32_t word = 7, slot = step->words[2]; word < step->count; word += 5, slot++) {
		pb_gl_slots_set(&stage[PB_GL_GROUP_IMAGES], slot, 0);
		pb_gl_slots_set(&stage[PB_GL_GROUP_IMAGES_READ], slot, 0);
		pb_gl_slots_set(&stage[PB_GL_GROUP_IMAGES_WRITTEN], slot, 0);
		pb_gl_slots_set(&stage[group_of_image(step->words[word - 3u])], slot, step->words[word]);
	}
	return PB_GL_STATUS_OK;
}

/** Without blending: only what is cleared is written. */
static enum pb_gl_status clear(const struct step *step)
{
	struct pb_gl_slots *groups = step->sub->bindings.groups;
	const uint32_t access = (uint32_t)PB_GL_READ | (uint32_t)PB_GL_WRITE;
	const uint32_t depth = (step->words[1] & CLEAR_DEPTH) != 0 ? 1u : 0;

	return unless_stopped(
		pb_gl_slots_tell(&groups[PB_GL_GROUP_COLORS], step->words[1] >> CLEAR_COLOR, access,
				 step->reach, step->context) &&
		pb_gl_slots_tell(&groups[PB_GL_GROUP_DEPTH], depth, access, step->reach, step->context));
}

/** The count of vertices may be that of a stream-out target. */
static enum pb_gl_status draw(const struct step *step)
{
	const struct pb_gl_object *counted = step->words[12] != 0 ? find(step, step->words[12]) : NULL;

	if (counted && counted->kind == PB_GL_KIND_STREAMOUT_TARGET &&
	    !step->reach(step->context, counted->resource, PB_GL_READ))
		return PB_GL_STATUS_STOPPED;
	return unless_stopped(
		pb_gl_bindings_draw(&step->sub->bindings, step->words[4] != 0, step->reach, step->context));
}

static enum pb_gl_status dispatch(const struct step *step)
{
	return unless_stopped(pb_gl_bindings_dispatch(&step->sub->bindings, step->reach, step->context));
}

static enum pb_gl_status use_query(const struct step *step)
{
	uint32_t resource;

	return step->words[1] != 0 ? resource_of(step, step->words[1], PB_GL_KIND_QUERY, &resource)
				   : PB_GL_STATUS_OBJECT;
}

/** The renderer writes the result where the query was created, now or when the result is there. */
static enum pb_gl_status get_query(const struct step *step)
{
	const struct pb_gl_object *query = find(step, step->words[1]);

	if (!query || query->kind != PB_GL_KIND_QUERY)
		return PB_GL_STATUS_OK;
	return unless_stopped(step->reach(step->context, query->resource,
					  (uint32_t)PB_GL_WRITE | (uint32_t)PB_GL_BACKING_WRITE));
}

static uint32_t find_sub_context(const struct pb_gl_account *account, uint32_t number)
{
	for (uint32_t n = 0; n < account->sub_context_count; n++)
		if (account->sub_contexts[n].used && account->sub_contexts[n].number == number)
			return n;
	return NOWHERE;
}

static void start_sub_context(struct pb_gl_sub_context *sub, uint32_t number)
{
	sub->used = true;
	sub->number = number;
	pb_gl_bindings_start(&sub->bindings);
}

static enum pb_gl_status set_sub_context(const struct step *step)
{
	const uint32_t found = find_sub_context(step->account, step->words[1]);

	if (found == NOWHERE)
		return PB_GL_STATUS_SUB_CONTEXT;
	step->account->current_sub = found;
	return PB_GL_STATUS_OK;
}

/** A sub-context that is new becomes current; one that exists stays as it is. */
static enum pb_gl_status create_sub_context(const struct step *step)
{
	struct pb_gl_account *account = step->account;

	if (find_sub_context(account, step->words[1]) != NOWHERE)
		return PB_GL_STATUS_OK;
	for (uint32_t n = 0; n < account->sub_context_count; n++) {
		if (account->sub_contexts[n].used)
			continue;
		start_sub_context(&account->sub_contexts[n], step->words[1]);
		account->current_sub = n;
		return PB_GL_STATUS_OK;
	}
	return PB_GL_STATUS_FULL;
}

/** Sub-context 0 stays. It is current when the current one is destroyed. */
static enum pb_gl_status destroy_sub_context(const struct step *step)
{
	struct pb_gl_account *account = step->account;
	const uint32_t found = find_sub_context(account, step->words[1]);

	if (found == NOWHERE || found == 0)
		return PB_GL_STATUS_OK;
	pb_gl_objects_remove_all(&account->objects, step->words[1]);
	account->sub_contexts[found].used = false;
	if (account->current_sub == found)
		account->current_sub = 0;
	return PB_GL_STATUS_OK;
}

/* Commands that are not here change and reach nothing beyond their words. */
static handler *const handlers[PB_GL_COMMAND_COUNT] = {
	[PB_GL_CREATE_OBJECT] = create_object,
	[PB_GL_BIND_OBJECT] = bind_object,
	[PB_GL_DESTROY_OBJECT] = destroy_object,
	[PB_GL_SET_FRAMEBUFFER_STATE] = set_framebuffer,
	[PB_GL_SET_VERTEX_BUFFERS] = set_vertices,
	[PB_GL_CLEAR] = clear,
	[PB_GL_DRAW_VBO] = draw,
	[PB_GL_SET_SAMPLER_VIEWS] = set_views,
	[PB_GL_SET_INDEX_BUFFER] = set_index,
	[PB_GL_BEGIN_QUERY] = use_query,
	[PB_GL_END_QUERY] = use_query,
	[PB_GL_GET_QUERY_RESULT] = get_query,
	[PB_GL_SET_STREAMOUT_TARGETS] = set_streamout,
	[PB_GL_SET_UNIFORM_BUFFER] = set_uniform,
	[PB_GL_SET_SUB_CTX] = set_sub_context,
	[PB_GL_CREATE_SUB_CTX] = create_sub_context,
	[PB_GL_DESTROY_SUB_CTX] = destroy_sub_context,
	[PB_GL_SET_SHADER_BUFFERS] = set_buffers,
	[PB_GL_SET_SHADER_IMAGES] = set_images,
	[PB_GL_LAUNCH_GRID] = dispatch,
	[PB_GL_SET_ATOMIC_BUFFERS] = set_atomics,
};

void pb_gl_account_start(struct pb_gl_account *account)
{
	for (uint32_t n = 0; n < account->sub_context_count; n++)
		account->sub_contexts[n].used = false;
	pb_gl_objects_start(&account->objects);
	start_sub_context(&account->sub_contexts[0], 0);
	account->current_sub = 0;
}

void pb_gl_account_begin(struct pb_gl_account *account)
{
	for (uint32_t n = 0; n < account->sub_context_count; n++)
		if (account->sub_contexts[n].used)
			pb_gl_bindings_begin(&account->sub_contexts[n].bindings);
}

enum pb_gl_status pb_gl_account_follow(struct pb_gl_account *account, const struct pb_gl_command *command,
				       pb_gl_reach *reach, void *context)
{
	const struct step step = {.account = account,
				  .sub = &account->sub_contexts[account->current_sub],
				  .words = command->words,
				  .count = command->count,
				  .kind = command->kind,
				  .reach = reach ? reach : reach_nothing,
				  .context = context};

	return handlers[command->number] ? handlers[command->number](&step) : PB_GL_STATUS_OK;
}

bool pb_gl_account_each(const struct pb_gl_account *account, pb_gl_reach *reach, void *context)
{
	const struct pb_gl_objects *objects = &account->objects;

	for (uint32_t n = 0; n < account->sub_context_count; n++)
		if (account->sub_contexts[n].used &&
		    !pb_gl_bindings_each(&account->sub_contexts[n].bindings, reach, context))
			return false;
	for (uint32_t n = 0; n < objects->count; n++)
		if (objects->records[n].handle != 0 && objects->records[n].resource != 0 &&
		    !reach(context, objects->records[n].resource, 0))
			return false;
	return true;
}
