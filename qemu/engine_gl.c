/* SPDX-License-Identifier: MIT */
#include "qemu/engine_gl.h"

#include <stdlib.h>

struct pb_engine_gl *pb_engine_gl_create(const struct pb_engine_gl_renderers *renderers, void *context,
					 const struct pb_engine_gl_sizes *sizes)
{
	struct pb_engine_gl *gl = calloc(1, sizeof(*gl));
	const size_t owners = sizes->owners;
	const struct pb_engine_gl_config config = {
		.renderers = renderers,
		.context = context,
		.owners = calloc(owners, sizeof(struct pb_engine_gl_owner)),
		.owner_count = sizes->owners,
		.resources = calloc(owners * sizes->resources, sizeof(struct pb_engine_gl_resource)),
		.resource_count = sizes->resources,
		.objects = calloc(owners * sizes->objects, sizeof(struct pb_gl_object)),
		.object_count = sizes->objects,
		.sub_contexts = calloc(owners * sizes->sub_contexts, sizeof(struct pb_gl_sub_context)),
		.sub_context_count = sizes->sub_contexts,
	};

	if (gl == NULL || config.owners == NULL || config.resources == NULL || config.objects == NULL ||
	    config.sub_contexts == NULL) {
		free(config.owners);
		free(config.resources);
		free(config.objects);
		free(config.sub_contexts);
		free(gl);
		return NULL;
	}
	pb_engine_gl_init(gl, &config);
	return gl;
}

void pb_engine_gl_destroy(struct pb_engine_gl *gl)
{
	if (gl == NULL)
		return;
	pb_engine_gl_close_all(gl);
	free(gl->config.owners);
	free(gl->config.resources);
	free(gl->config.objects);
	free(gl->config.sub_contexts);
	free(gl);
}

struct pb_engine_gl_node *pb_engine_gl_node_create(struct pb_engine_gl *gl)
{
	struct pb_engine_gl_node *node = calloc(1, sizeof(*node));

	if (node != NULL)
		pb_engine_gl_node_init(node, gl);
	return node;
}
