/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hal/engine_model/gl_internal.h"

/* Whether the first binding of a resource has these words. */
static bool is_equal(const struct pb_engine_gl_resource *resource, const uint32_t *words)
{
	return memcmp(resource->words, words, sizeof(resource->words)) == 0;
}

static enum pb_model_status create(struct pb_engine_gl_node *node, const uint32_t *words)
{
	struct pb_engine_gl_resource *resource =
		pb_gl_resource_new(node->gl, node->owner, words[PB_GL_BIND_RESOURCE]);

	/* One that asks for more than the card keeps has lost its renderer; the paging queue goes on. */
	if (resource == NULL) {
		pb_gl_owner_lose(node->gl, node->owner);
		return PB_MODEL_DONE;
	}
	memcpy(resource->words, &words[PB_GL_BIND_TEMPLATE], sizeof(resource->words));
	pb_gl_resource_bind(node->owner, resource, words[PB_GL_BIND_PAGE], words[PB_GL_BIND_PAGES]);
	node->request = (struct pb_engine_gl_request){.kind = PB_ENGINE_GL_CREATE,
						      .resource = resource->handle,
						      .words = resource->words,
						      .count = PB_GL_TEMPLATE_WORDS};
	return PB_MODEL_MORE;
}

enum pb_model_status pb_gl_bind(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const uint32_t *words = node->words;
	const uint32_t page = words[PB_GL_BIND_PAGE];
	const uint32_t pages = words[PB_GL_BIND_PAGES];
	struct pb_engine_gl_resource *resource = pb_gl_resource_find(node->owner, words[PB_GL_BIND_RESOURCE]);

	if (words[PB_GL_BIND_RESOURCE] == 0 || page == 0 || pages == 0 ||
	    (resource != NULL && !is_equal(resource, &words[PB_GL_BIND_TEMPLATE])))
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	if (!pb_gl_pages_lie(model, page, pages))
		return pb_model_fault(model, PB_ENGINE_FAULT_ADDRESS, (uint64_t)page * PB_PAGE_BYTES);
	if (pb_gl_resource_overlaps(node->owner, page, pages, resource))
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	if (resource == NULL)
		return create(node, words);
	pb_gl_resource_unbind(node->owner, resource);
	pb_gl_resource_bind(node->owner, resource, page, pages);
	return PB_MODEL_DONE;
}

enum pb_model_status pb_gl_unbind(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;
	const uint32_t flags = node->words[PB_GL_UNBIND_FLAGS];
	struct pb_engine_gl_resource *resource =
		pb_gl_resource_find(node->owner, node->words[PB_GL_UNBIND_RESOURCE]);

	if ((flags & ~PB_GL_UNBIND_DESTROY) != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	if (resource == NULL || node->words[PB_GL_UNBIND_RESOURCE] == 0)
		return PB_MODEL_DONE;
	pb_gl_resource_unbind(node->owner, resource);
	if ((flags & PB_GL_UNBIND_DESTROY) == 0)
		return PB_MODEL_DONE;
	node->request =
		(struct pb_engine_gl_request){.kind = PB_ENGINE_GL_DESTROY, .resource = resource->handle};
	pb_gl_resource_free(node->owner, resource);
	return PB_MODEL_MORE;
}

enum pb_model_status pb_gl_end(struct pb_engine_model *model)
{
	struct pb_engine_gl_node *node = model->config.gl;

	pb_gl_owner_forget(node->gl, node->owner);
	return PB_MODEL_DONE;
}
