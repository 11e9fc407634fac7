/* SPDX-License-Identifier: MIT */
#include "host/gl/binding.h"

#include <string.h>

#include "hal/engine/gl_packets.h"
#include "hal/engine/packets.h"
#include "hal/shared.h"

#define PAGE_SHIFT 12u

/** Appends a packet. */
static enum pb_render_status append(struct pb_paging_buffer *buffer, const uint32_t *packet, uint32_t words)
{
	const uint32_t bytes = words * (uint32_t)sizeof(*packet);

	if (buffer->dma_size < bytes)
		return PB_RENDER_INSUFFICIENT_DMA_BUFFER;
	for (uint32_t i = 0; i < words; i++)
		pb_shared_write32(&buffer->dma_buffer[i], packet[i]);
	buffer->dma_buffer += words;
	buffer->dma_size -= bytes;
	buffer->gpu_address += bytes;
	return PB_RENDER_SUCCESS;
}

static enum pb_render_status bind(void *context, uint32_t handle, uint64_t gpu_address,
				  struct pb_paging_buffer *buffer)
{
	const struct pb_gl_binding *binding = context;
	const struct pb_gl_resource *resource =
		pb_gl_resources_at(binding->resources, binding->ids[handle - 1]);
	uint32_t packet[PB_PACKET_GL_BIND_WORDS] = {PB_PACKET(PB_PACKET_GL_BIND, PB_PACKET_GL_BIND_WORDS)};

	if (resource == NULL)
		return PB_RENDER_INVALID_PARAMETER;
	packet[PB_GL_BIND_OWNER] = binding->owner;
	packet[PB_GL_BIND_RESOURCE] = resource->id;
	packet[PB_GL_BIND_PAGE] = (uint32_t)(gpu_address >> PAGE_SHIFT);
	packet[PB_GL_BIND_PAGES] = (uint32_t)(resource->bytes >> PAGE_SHIFT);
	memcpy(&packet[PB_GL_BIND_TEMPLATE], resource->template_words, sizeof(resource->template_words));
	return append(buffer, packet, PB_PACKET_GL_BIND_WORDS);
}

static enum pb_render_status put_unbind(const struct pb_gl_binding *binding, uint32_t handle, uint32_t flags,
					struct pb_paging_buffer *buffer)
{
	const uint32_t packet[PB_PACKET_GL_UNBIND_WORDS] = {
		[0] = PB_PACKET(PB_PACKET_GL_UNBIND, PB_PACKET_GL_UNBIND_WORDS),
		[PB_GL_UNBIND_OWNER] = binding->owner,
		[PB_GL_UNBIND_RESOURCE] = binding->ids[handle - 1],
		[PB_GL_UNBIND_FLAGS] = flags,
	};

	return append(buffer, packet, PB_PACKET_GL_UNBIND_WORDS);
}

static enum pb_render_status unbind(void *context, uint32_t handle, struct pb_paging_buffer *buffer)
{
	return put_unbind(context, handle, 0, buffer);
}

static enum pb_render_status forget(void *context, uint32_t handle, struct pb_paging_buffer *buffer)
{
	return put_unbind(context, handle, PB_GL_UNBIND_DESTROY, buffer);
}

struct pb_residency_bindings pb_gl_bindings(struct pb_gl_binding *binding)
{
	return (struct pb_residency_bindings){
		.context = binding, .bind = bind, .unbind = unbind, .forget = forget};
}

static enum pb_render_status bind_nothing(void *context, uint32_t handle, uint64_t gpu_address,
					  struct pb_paging_buffer *buffer)
{
	(void)context, (void)handle, (void)gpu_address, (void)buffer;
	return PB_RENDER_SUCCESS;
}

static enum pb_render_status unbind_nothing(void *context, uint32_t handle, struct pb_paging_buffer *buffer)
{
	(void)context, (void)handle, (void)buffer;
	return PB_RENDER_SUCCESS;
}

struct pb_residency_bindings pb_gl_no_bindings(void)
{
	return (struct pb_residency_bindings){
		.bind = bind_nothing, .unbind = unbind_nothing, .forget = unbind_nothing};
}
