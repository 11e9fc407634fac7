/* SPDX-License-Identifier: MIT */
/* Segments, and a first-fit allocator over the backing memory of each. */
#include <string.h>

#include "host/internal.h"

/* Allocations start and end on line borders, so that no two of them share a line. */
#define GRANULE PB_LINE_BYTES

static uint32_t low(uint64_t value)
{
	return (uint32_t)value;
}

static uint32_t high(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

/* Whether the firmware has named backing memory, and the host can see it. */
static bool is_visible(const struct pb_segment *segment, const struct pb_link *link)
{
	return segment->request.backing_bytes == 0 ||
	       (segment->memory_offset % PB_PAGE_BYTES == 0 &&
		(segment->host_memory != NULL ||
		 pb_inside(link, segment->memory_offset, segment->request.backing_bytes)));
}

static enum pb_error create(struct pb_segment *segment, struct pb_channel *channel,
			    const struct pb_segment_request *request, const struct pb_host_pages *pages)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		request->id,
		request->kind,
		low(request->os_base),
		high(request->os_base),
		low(request->gpu_base),
		high(request->gpu_base),
		low(request->size),
		high(request->size),
		request->backing_bytes,
		low(pages->address),
		high(pages->address),
	};
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error;

	memset(segment, 0, sizeof(*segment));
	error = pb_channel_command(channel, PB_COMMAND_SEGMENT_CREATE, arguments, results);
	if (error != PB_ERROR_OK)
		return error;
	segment->request = *request;
	segment->memory_offset = results[0];
	segment->host_memory = pages->memory;
	if (!is_visible(segment, channel->link)) {
		memset(segment, 0, sizeof(*segment));
		return pb_diagnose(channel, PB_ERROR_PROTOCOL);
	}
	segment->channel = channel;
	return PB_ERROR_OK;
}

enum pb_error pb_segment_create(struct pb_segment *segment, struct pb_channel *channel,
				const struct pb_segment_request *request)
{
	const struct pb_host_pages none = {0};

	return create(segment, channel, request, &none);
}

enum pb_error pb_segment_create_host(struct pb_segment *segment, struct pb_channel *channel,
				     const struct pb_segment_request *request,
				     const struct pb_host_pages *pages)
{
	if (request->kind != PB_SEGMENT_HOST)
		return PB_ERROR_BAD_ARGUMENT;
	return create(segment, channel, request, pages);
}

enum pb_error pb_host_grant_query(struct pb_channel *channel, uint32_t owner, uint32_t index,
				  struct pb_host_grant *grant)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_HOST, owner, index};
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error = pb_channel_command(channel, PB_COMMAND_QUERY, arguments, results);

	if (error != PB_ERROR_OK)
		return error;
	*grant = (struct pb_host_grant){
		.count = results[0],
		.address = (uint64_t)results[2] << 32 | results[1],
		.bytes = results[3],
		.offset = results[4],
	};
	return PB_ERROR_OK;
}

enum pb_error pb_host_grant(struct pb_channel *channel, uint32_t owner, uint64_t address, uint32_t bytes,
			    uint32_t window_offset)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {owner, bytes, low(address), high(address),
							  window_offset};

	return pb_channel_command(channel, PB_COMMAND_HOST_GRANT, arguments, NULL);
}

enum pb_error pb_host_revoke(struct pb_channel *channel, uint32_t owner, uint64_t address, uint32_t bytes)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {owner, bytes, low(address), high(address)};

	return pb_channel_command(channel, PB_COMMAND_HOST_REVOKE, arguments, NULL);
}

enum pb_error pb_segment_destroy(struct pb_segment *segment)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {segment->request.id};
	enum pb_error error =
		pb_channel_command(segment->channel, PB_COMMAND_SEGMENT_DESTROY, arguments, NULL);

	if (error == PB_ERROR_OK)
		memset(segment, 0, sizeof(*segment));
	return error;
}

static uint64_t align_up(uint64_t value, uint32_t alignment)
{
	return (value + alignment - 1) & ~((uint64_t)alignment - 1);
}

/* Finds the first gap of at least `bytes`. @return index of the extent behind the gap, or -1: there is none */
static int32_t find_gap(const struct pb_segment *segment, uint64_t bytes, uint32_t alignment, uint64_t *start)
{
	*start = 0;
	for (uint32_t i = 0; i <= segment->extent_count; i++) {
		bool last = i == segment->extent_count;
		uint64_t end = last ? segment->request.backing_bytes : segment->extents[i].offset;

		if (*start + bytes <= end)
			return (int32_t)i;
		if (!last)
			*start = align_up((uint64_t)segment->extents[i].offset + segment->extents[i].bytes,
					  alignment);
	}
	return -1;
}

enum pb_error pb_memory_allocate(struct pb_segment *segment, uint32_t bytes, uint32_t alignment,
				 struct pb_memory *memory)
{
	uint64_t rounded = align_up(bytes, GRANULE);
	uint64_t start;
	int32_t index;

	memset(memory, 0, sizeof(*memory));
	if (bytes == 0 || alignment < GRANULE || !pb_is_power_of_two(alignment))
		return PB_ERROR_BAD_ARGUMENT;
	index = find_gap(segment, rounded, alignment, &start);
	if (index < 0 || segment->extent_count == PB_SEGMENT_EXTENTS)
		return PB_ERROR_NO_SPACE;
	memmove(&segment->extents[index + 1], &segment->extents[index],
		(segment->extent_count - (uint32_t)index) * sizeof(segment->extents[0]));
	segment->extent_count++;
	segment->extents[index].offset = (uint32_t)start;
	segment->extents[index].bytes = (uint32_t)rounded;
	*memory = (struct pb_memory){
		.segment = segment,
		.offset = (uint32_t)start,
		.bytes = bytes,
		.os_address = segment->request.os_base + start,
		.bytes_host = pb_segment_byte(segment, (uint32_t)start),
	};
	return PB_ERROR_OK;
}

void pb_memory_free(struct pb_memory *memory)
{
	struct pb_segment *segment = memory->segment;
	uint32_t index = 0;

	if (segment == NULL)
		return;
	while (index < segment->extent_count && segment->extents[index].offset != memory->offset)
		index++;
	memset(memory, 0, sizeof(*memory));
	if (index == segment->extent_count)
		return;
	segment->extent_count--;
	memmove(&segment->extents[index], &segment->extents[index + 1],
		(segment->extent_count - index) * sizeof(segment->extents[0]));
}
