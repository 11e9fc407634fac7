/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/gl_internal.h"

static uint64_t address_of(uint32_t page)
{
	return (uint64_t)page * PB_PAGE_BYTES;
}

bool pb_gl_pages_lie(const struct pb_engine_model *model, uint32_t page, uint32_t pages)
{
	for (uint32_t i = 0; i < model->window_count; i++) {
		if (pb_model_window_holds(&model->windows[i], address_of(page), address_of(pages)))
			return true;
	}
	return false;
}

const struct pb_engine_gl_resource *pb_gl_page_check(struct pb_engine_model *model, uint32_t page)
{
	const struct pb_engine_gl_resource *resource = pb_gl_resource_at(model->config.gl->owner, page);

	if (!pb_gl_pages_lie(model, page, resource != NULL ? resource->pages : 1u)) {
		pb_model_fault(model, PB_ENGINE_FAULT_ADDRESS, address_of(page));
		return NULL;
	}
	if (resource == NULL)
		pb_model_fault(model, PB_ENGINE_FAULT_PAGE, address_of(page));
	return resource;
}

/* A word of the run that names a resource. */
static bool replace(void *context, const struct pb_gl_use *use, uint32_t *value)
{
	struct pb_engine_model *model = context;
	const struct pb_engine_gl_resource *resource;

	/* Their data would lie in memory behind the resource, which a renderer does not have. */
	if (use->number == PB_GL_TRANSFER3D || use->number == PB_GL_COPY_TRANSFER3D) {
		pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
		return false;
	}
	resource = pb_gl_page_check(model, *value);
	if (resource == NULL)
		return false;
	*value = resource->handle;
	return true;
}

/* A resource that a command reaches by what was bound earlier. One that was destroyed stands nowhere. */
static bool reach(void *context, uint32_t handle, uint32_t access)
{
	struct pb_engine_model *model = context;
	const struct pb_engine_gl_resource *resource = pb_gl_resource_of(model->config.gl->owner, handle);

	(void)access;
	if (resource == NULL || !resource->bound) {
		pb_model_fault(model, PB_ENGINE_FAULT_PAGE,
			       resource != NULL ? address_of(resource->page) : 0);
		return false;
	}
	if (!pb_gl_pages_lie(model, resource->page, resource->pages)) {
		pb_model_fault(model, PB_ENGINE_FAULT_ADDRESS, address_of(resource->page));
		return false;
	}
	return true;
}

static enum pb_gl_status follow(void *context, const struct pb_gl_command *command)
{
	struct pb_engine_model *model = context;

	return pb_gl_account_follow(&model->config.gl->owner->account, command, reach, context);
}

enum pb_model_status pb_gl_run_check(struct pb_engine_model *model)
{
	static const struct pb_gl_walk_ops ops = {.resource = replace, .command = follow};
	struct pb_engine_gl_node *node = model->config.gl;
	struct pb_gl_error error;
	enum pb_gl_status status;

	pb_gl_account_begin(&node->owner->account);
	status = pb_gl_walk(&node->words[1], PB_PACKET_WORDS(node->words[0]) - 1u, &ops, model, &error);
	if (status == PB_GL_STATUS_OK)
		return PB_MODEL_DONE;
	/* Whoever stopped the walk has stopped the engine. */
	if (status == PB_GL_STATUS_STOPPED)
		return PB_MODEL_FAULTED;
	return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
}
