/* SPDX-License-Identifier: MIT */
/* An adapter and its contexts. */
#include <string.h>

#include "host/wddm/internal.h"
#include "patchbay/render.h"

/* GPU address of the trap segment, for allocations without a segment. No card uses addresses from here on. */
#define TRAP_GPU_BASE UINT64_C(0xdeadbeef00000000)
/* Size of the trap segment: larger than any allocation. */
#define TRAP_BYTES UINT64_C(0x10000000000)

static bool config_is_bad(const struct pb_wddm_config *config)
{
	const uint32_t *capabilities = config->channel->card.capabilities;

	return config->segments[PB_SEGMENT_SYSTEM] == NULL ||
	       config->segments[PB_WDDM_TRAP_SEGMENT] != NULL ||
	       (config->lock != NULL) != (config->channel->link->locks != NULL) ||
	       config->interface_version < PB_DXGKDDI_VISTA || config->node_count == 0 ||
	       config->node_count > PB_WDDM_NODES || config->paging_node >= config->node_count ||
	       !pb_is_power_of_two(config->queue_entries) || config->queue_entries > PB_WDDM_PACKETS ||
	       config->allocations == 0 ||
	       config->allocations > capabilities[PB_CAPABILITY_ALLOCATIONS_MAX] || config->patches == 0 ||
	       config->patches > capabilities[PB_CAPABILITY_PATCHES_MAX];
}

/** Creates a node's queue and the memory for its lists. */
static enum pb_error create_node(struct pb_wddm_adapter *adapter, uint32_t n)
{
	struct pb_wddm_node *node = &adapter->nodes[n];
	const struct pb_wddm_config *config = &adapter->config;
	struct pb_segment *system = config->segments[PB_SEGMENT_SYSTEM];
	const uint64_t bytes = (uint64_t)pb_wddm_list_bytes(adapter) * config->queue_entries;
	const struct pb_channel_locks *locks = config->channel->link->locks;
	struct pb_queue_request request = {
		.node = n, .entries = config->queue_entries, .priority = PB_PRIORITY_NORMAL};
	enum pb_error error;

	if (bytes > system->request.backing_bytes)
		return PB_ERROR_NO_SPACE;
	error = pb_memory_allocate(system, (uint32_t)bytes, PB_LINE_BYTES, &node->lists);
	if (error != PB_ERROR_OK)
		return error;
	request.lock = locks != NULL ? locks->kicks : NULL;
	return pb_queue_create_with(&node->queue, config->channel, system, &request);
}

enum pb_error pb_wddm_start(struct pb_wddm_adapter *adapter, const struct pb_wddm_config *config)
{
	const struct pb_segment_request trap = {
		.id = PB_WDDM_TRAP_SEGMENT, .gpu_base = TRAP_GPU_BASE, .size = TRAP_BYTES};
	enum pb_error error;

	memset(adapter, 0, sizeof(*adapter));
	adapter->config = *config;
	if (config_is_bad(config))
		return PB_ERROR_BAD_ARGUMENT;
	adapter->events_dropped = pb_shared_read32(&config->channel->entry->events_dropped);
	error = pb_segment_create(&adapter->trap, config->channel, &trap);
	for (uint32_t n = 0; n < config->node_count && error == PB_ERROR_OK; n++)
		error = create_node(adapter, n);
	if (error != PB_ERROR_OK)
		(void)pb_wddm_stop(adapter);
	return error;
}

enum pb_error pb_wddm_stop(struct pb_wddm_adapter *adapter)
{
	enum pb_error first = PB_ERROR_OK;

	for (uint32_t n = 0; n < adapter->config.node_count && n < PB_WDDM_NODES; n++) {
		struct pb_wddm_node *node = &adapter->nodes[n];
		const enum pb_error error =
			node->queue.handle != 0 ? pb_queue_destroy(&node->queue) : PB_ERROR_OK;

		/* Unless the queue is destroyed, the firmware may still read its lists. */
		if (error == PB_ERROR_OK)
			pb_memory_free(&node->lists);
		else if (first == PB_ERROR_OK)
			first = error;
	}
	if (first == PB_ERROR_OK && adapter->trap.channel != NULL)
		first = pb_segment_destroy(&adapter->trap);
	return first;
}

uint64_t pb_wddm_private_bytes(uint32_t allocation_count, uint32_t patch_count)
{
	return sizeof(struct pb_render_record) + pb_wddm_block_bytes(allocation_count, patch_count);
}

bool pb_wddm_gpu_address(const struct pb_wddm_adapter *adapter, uint32_t id, uint64_t address, uint64_t bytes,
			 uint64_t *gpu_address)
{
	const struct pb_segment *segment = id < PB_WDDM_TRAP_SEGMENT ? adapter->config.segments[id] : NULL;

	/* An address below the base wraps to a value above any size. */
	if (segment == NULL || bytes > segment->request.size ||
	    address - segment->request.os_base > segment->request.size - bytes)
		return false;
	*gpu_address = segment->request.gpu_base + (address - segment->request.os_base);
	return true;
}

uint64_t pb_wddm_staging_bytes(uint32_t command_length, uint32_t allocation_count, uint32_t location_count)
{
	return (uint64_t)allocation_count *
		       (sizeof(struct pb_allocation) + sizeof(struct pb_render_user_allocation)) +
	       pb_render_staging_bytes(command_length, allocation_count, location_count);
}

enum pb_error pb_wddm_context_create(struct pb_wddm_adapter *adapter, struct pb_wddm_context *context,
				     uint32_t node, void *staging, uint32_t staging_size)
{
	*context = (struct pb_wddm_context){
		.adapter = adapter, .node = node, .staging = staging, .staging_size = staging_size};
	if (node >= adapter->config.node_count)
		return PB_ERROR_BAD_ARGUMENT;
	return pb_context_create(adapter->config.channel, &context->handle);
}

/** Returns whether the end of a submission of the context was not reported. Pre: the caller holds the adapter's lock. */
static bool is_outstanding(struct pb_wddm_adapter *adapter, const struct pb_wddm_context *context)
{
	struct pb_wddm_node *node = &adapter->nodes[context->node];

	for (uint32_t p = node->reported; p != node->submitted; p++) {
		if (pb_wddm_packet(adapter, node, p)->context == context)
			return true;
	}
	return false;
}

enum pb_error pb_wddm_context_destroy(struct pb_wddm_context *context)
{
	struct pb_wddm_adapter *adapter = context->adapter;
	bool busy;

	pb_wddm_lock(adapter);
	busy = is_outstanding(adapter, context);
	pb_wddm_unlock(adapter);
	if (busy)
		return PB_ERROR_BUSY;
	return pb_context_destroy(adapter->config.channel, context->handle);
}
