/* SPDX-License-Identifier: MIT */
/*
 * User command buffers: what Render refuses has written nothing; what it takes
 * are packets of known length with one patch location for each address, none
 * of them outside its allocation; several calls get to the end.
 *
 * Aims at: host/render.c host/render_commands.c
 */
#include <stdlib.h>
#include <string.h>

#include "hal/engine/packets.h"
#include "patchbay/abi/boot.h"
#include "patchbay/render.h"
#include "tests/fuzz/fuzz.h"

#define WORDS_MAX     256u
#define LOCATIONS_MAX 32u
#define LIST_MAX      8u
#define CALLS_MAX     64u
#define UNTOUCHED     0xa5u

/** Inputs and outputs are blocks of their own, exactly as long as Render is told. */
static struct {
	uint32_t words[WORDS_MAX];
	uint32_t count;
	struct pb_render_user_allocation list[LIST_MAX];
	uint32_t list_count;
	struct pb_patch_location locations[LOCATIONS_MAX];
	uint32_t location_count;
	bool kernel;
	struct pb_render_output before;
	struct pb_render_arguments arguments;
} call;

/* ---- the device ---- */

/** Allocation n has n * n * 64 bytes; number 3 is paged out, number 5 does not exist. */
static bool find(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	(void)context;
	if (handle > LIST_MAX || handle == 5u)
		return false;
	*allocation = (struct pb_render_allocation){
		.size = (uint64_t)handle * handle * 64u,
		.os_address = UINT64_C(0x800000000) + handle * 0x10000u,
		.gpu_address = UINT64_C(0x1f0000000) + handle * 0x10000u,
		.segment = handle == 3u ? 0 : 1u,
	};
	return true;
}

/* ---- inputs ---- */

/** Words of an address in a packet, by opcode; 0 ends the row. */
static const struct {
	uint8_t opcode;
	uint8_t words;
	uint8_t addresses[3];
} packets[] = {
	{PB_PACKET_FILL, PB_PACKET_FILL_WORDS, {1}},
	{PB_PACKET_COPY, PB_PACKET_COPY_WORDS, {1, 3}},
	{PB_PACKET_COPY_RECT, PB_PACKET_COPY_RECT_WORDS, {1, 4}},
	{PB_PACKET_TARGET, PB_PACKET_TARGET_WORDS, {1}},
	{PB_PACKET_TEXTURE, PB_PACKET_TEXTURE_WORDS, {1}},
	{PB_PACKET_DRAW, PB_PACKET_DRAW_WORDS, {1}},
	{PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_WORDS, {1}},
	{PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS, {0}},
	{PB_PACKET_HANG, PB_PACKET_HANG_WORDS, {0}},
	{PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS, {0}},
	{PB_PACKET_NOP, 3, {0}},
};
#define PACKETS (sizeof(packets) / sizeof(packets[0]))

static void add_location(struct fuzz_input *input, uint32_t word)
{
	if (call.location_count == LOCATIONS_MAX || fuzz_byte(input) < 0x80)
		return;
	call.locations[call.location_count++] = (struct pb_patch_location){
		.allocation_index = call.words[word],
		.driver_id = 1u + fuzz_below(input, 2) * 2u,
		.allocation_offset = call.words[word + 1u],
		.patch_offset = 4u * word,
	};
}

static void add_packet(struct fuzz_input *input)
{
	const uint32_t p = fuzz_below(input, PACKETS);
	const uint32_t at = call.count;

	if (at + packets[p].words > WORDS_MAX)
		return;
	call.words[at] = PB_PACKET(packets[p].opcode, packets[p].words);
	for (uint32_t i = 1; i < packets[p].words; i++)
		call.words[at + i] = fuzz_number(input);
	for (const uint8_t *place = packets[p].addresses; *place != 0; place++) {
		call.words[at + *place] = fuzz_below(input, LIST_MAX + 1u);
		add_location(input, at + *place);
	}
	call.count += packets[p].words;
}

static void spoil(struct fuzz_input *input)
{
	uint32_t *words = (uint32_t *)(void *)call.locations;

	if (call.location_count != 0 && fuzz_below(input, 2) == 0)
		words[fuzz_below(input, 6u * call.location_count)] = fuzz_number(input);
	else if (call.count != 0)
		call.words[fuzz_below(input, call.count < 256u ? call.count : 256u)] = fuzz_number(input);
}

static void *exactly(const void *from, size_t bytes)
{
	void *memory = malloc(bytes + (bytes == 0));

	FUZZ_CHECK(memory != NULL);
	if (from != NULL && bytes != 0)
		memcpy(memory, from, bytes);
	else
		memset(memory, UNTOUCHED, bytes + (bytes == 0));
	return memory;
}

/* ---- outputs ---- */

static void new_outputs(struct fuzz_input *input)
{
	struct pb_render_output *output = &call.arguments.output;
	const uint32_t size = fuzz_byte(input);

	*output = (struct pb_render_output){
		.dma_size = size < 0x80 ? 4u * WORDS_MAX + PB_RENDER_DMA_BYTES_MIN : size,
		.private_data_size = (uint32_t)sizeof(struct pb_render_record) - (size == 0xff),
		.allocations_size = call.list_count - (size == 0xfe && call.list_count != 0),
		.locations_size = size < 0xc0 ? WORDS_MAX : size % 8u,
	};
	output->dma_buffer = exactly(NULL, output->dma_size);
	output->private_data = exactly(NULL, output->private_data_size);
	output->allocations = exactly(NULL, output->allocations_size * sizeof(*output->allocations));
	output->locations = exactly(NULL, output->locations_size * sizeof(*output->locations));
	call.before = *output;
}

static void free_outputs(void)
{
	free(call.before.dma_buffer);
	free(call.before.private_data);
	free(call.before.allocations);
	free(call.before.locations);
}

static bool untouched(const void *memory, size_t bytes)
{
	const uint8_t *at = memory;

	for (size_t i = 0; i < bytes; i++) {
		if (at[i] != UNTOUCHED)
			return false;
	}
	return true;
}

static void check_nothing_written(void)
{
	const struct pb_render_output *before = &call.before;

	FUZZ_CHECK(untouched(before->dma_buffer, before->dma_size));
	FUZZ_CHECK(untouched(before->private_data, before->private_data_size));
	FUZZ_CHECK(untouched(before->allocations, before->allocations_size * sizeof(*before->allocations)));
	FUZZ_CHECK(untouched(before->locations, before->locations_size * sizeof(*before->locations)));
	FUZZ_CHECK(call.arguments.output.dma_buffer == before->dma_buffer &&
		   call.arguments.output.locations == before->locations);
}

static const uint8_t *addresses_of(uint32_t header)
{
	for (uint32_t p = 0; p < PACKETS; p++) {
		if (packets[p].opcode == PB_PACKET_OPCODE(header))
			return packets[p].addresses;
	}
	FUZZ_CHECK(false);
	return NULL;
}

static void check_location(const struct pb_patch_location *location, uint32_t place)
{
	const struct pb_render_user_allocation *user;
	struct pb_render_allocation known;

	FUZZ_CHECK(location->patch_offset == 4u * place && location->slot < PB_RENDER_SLOTS);
	FUZZ_CHECK(location->allocation_index < call.list_count);
	user = &call.list[location->allocation_index];
	FUZZ_CHECK(user->handle != 0 && find(NULL, user->handle, &known));
	FUZZ_CHECK(location->allocation_offset < known.size);
	FUZZ_CHECK(location->driver_id == PB_PATCH_FORMAT_ADDRESS64 ||
		   (location->driver_id == PB_PATCH_FORMAT_ADDRESS64_WRITE &&
		    user->flags == PB_RENDER_USER_WRITE));
}

static void check_written(void)
{
	const struct pb_render_record *record = &call.arguments.output.record;
	const uint32_t *words = call.before.dma_buffer;
	uint32_t location = 0, at = 0;

	FUZZ_CHECK(record->dma_bytes <= call.before.dma_size &&
		   record->patch_count <= call.before.locations_size);
	FUZZ_CHECK(record->allocation_count == call.list_count);
	while (at < record->dma_bytes / 4u) {
		for (const uint8_t *place = addresses_of(words[at]); *place != 0; place++) {
			FUZZ_CHECK(location < record->patch_count);
			check_location(&call.before.locations[location++], at + *place);
		}
		at += PB_PACKET_WORDS(words[at]);
	}
	FUZZ_CHECK(at == record->dma_bytes / 4u && location == record->patch_count);
}

/* ---- calls ---- */

static void make_inputs(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	memset(&call, 0, sizeof(call));
	call.kernel = kind % 4u == 3u;
	call.list_count = fuzz_below(input, LIST_MAX + 1u);
	for (uint32_t i = 0; i < call.list_count; i++) {
		call.list[i].handle = fuzz_below(input, LIST_MAX + 2u);
		call.list[i].flags = fuzz_byte(input) < 0xf0 ? PB_RENDER_USER_WRITE : fuzz_number(input);
	}
	for (uint32_t count = fuzz_below(input, 24); count != 0; count--)
		add_packet(input);
	for (uint32_t count = fuzz_below(input, 4); count != 0; count--)
		spoil(input);
	call.arguments.command_length = 4u * call.count;
	if (kind >= 0xf0)
		call.arguments.command_length = fuzz_number(input) % (4u * call.count + 1u);
	if (kind >= 0xe0)
		call.arguments.multipass_offset = fuzz_number(input);
}

static bool call_once(struct fuzz_input *input)
{
	const uint32_t offset = call.arguments.multipass_offset;
	enum pb_render_status status;

	new_outputs(input);
	status = call.kernel ? pb_render_km(&call.arguments) : pb_render(&call.arguments);
	if (status == PB_RENDER_SUCCESS ||
	    (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER && call.arguments.multipass_offset != offset)) {
		FUZZ_CHECK(call.arguments.multipass_offset >= offset);
		check_written();
	} else {
		FUZZ_CHECK(call.arguments.multipass_offset == offset);
		check_nothing_written();
	}
	if (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER && call.arguments.multipass_offset == offset)
		FUZZ_CHECK(call.before.dma_size < PB_RENDER_DMA_BYTES_MIN ||
			   call.before.locations_size < PB_RENDER_PATCHES_MIN ||
			   call.before.private_data_size < sizeof(struct pb_render_record) ||
			   call.before.allocations_size < call.list_count);
	free_outputs();
	return status == PB_RENDER_INSUFFICIENT_DMA_BUFFER;
}

static struct pb_render_surface surface(struct fuzz_input *input)
{
	return (struct pb_render_surface){.handle = 1u + fuzz_below(input, LIST_MAX + 1u),
					  .pitch = fuzz_number(input),
					  .left = fuzz_number(input),
					  .top = fuzz_number(input)};
}

/** A blit, of which nothing comes or all of one packet. */
static void present_once(struct fuzz_input *input, const struct pb_render_device *device)
{
	struct pb_render_present present = {.device = device};
	struct pb_render_output *output = &present.output;
	struct pb_descriptor descriptor = {0};

	call.list_count = 3;
	new_outputs(input);
	*output = call.before;
	present.source = surface(input);
	present.destination = surface(input);
	present.width = fuzz_number(input);
	present.height = fuzz_number(input);
	if (pb_render_present(&present) == PB_RENDER_SUCCESS) {
		FUZZ_CHECK(output->record.dma_bytes == 4u * PB_PACKET_COPY_RECT_WORDS &&
			   output->record.patch_count == 2 && output->record.allocation_count == 3);
		FUZZ_CHECK(output->dma_buffer == call.before.dma_buffer + PB_PACKET_COPY_RECT_WORDS);
		pb_render_describe(&output->record, &descriptor);
		FUZZ_CHECK(descriptor.flags == PB_FLAG_PRESENT && descriptor.patch_length <= 2u);
	} else {
		call.arguments.output = *output;
		check_nothing_written();
	}
	free_outputs();
}

void fuzz_one(struct fuzz_input *input)
{
	struct pb_render_arguments *arguments = &call.arguments;
	struct pb_render_device device = {.find = find};
	uint32_t *command;
	struct pb_render_user_allocation *list;
	struct pb_patch_location *locations;

	make_inputs(input);
	device.node = call.list_count % 2u == 0 ? PB_NODE_3D : PB_NODE_COPY;
	if (call.count == 0) {
		present_once(input, &device);
		return;
	}
	command = exactly(call.words, arguments->command_length);
	list = exactly(call.list, call.list_count * sizeof(*list));
	locations = exactly(call.locations, call.location_count * sizeof(*locations));
	arguments->device = &device;
	arguments->command = command;
	arguments->user_allocations = list;
	arguments->user_allocation_count = call.list_count;
	arguments->user_locations = locations;
	arguments->user_location_count = call.location_count;
	arguments->staging_size =
		(uint32_t)pb_render_staging_bytes(call.kernel ? 0 : arguments->command_length,
						  call.list_count, call.kernel ? 0 : call.location_count);
	arguments->staging = exactly(NULL, arguments->staging_size);
	for (uint32_t calls = 0; calls < CALLS_MAX && call_once(input); calls++)
		;
	free(arguments->staging);
	free(locations);
	free(list);
	free(command);
}
