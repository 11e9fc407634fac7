/* SPDX-License-Identifier: MIT */
#include "host/tool/demo_state.h"

static uint32_t *add(uint32_t *words, uint32_t opcode, uint32_t count)
{
	*words++ = PB_PACKET(opcode, count);
	return words;
}

static uint32_t *add_image(const struct pb_demo *demo, uint32_t *words, uint32_t opcode, uint32_t number)
{
	const struct pb_demo_resource *image = &demo->resources[number];

	words = add(words, opcode, PB_PACKET_TARGET_WORDS);
	*words++ = number;
	*words++ = image->inset;
	*words++ = image->row_bytes / 4;
	*words++ = image->rows;
	*words++ = image->row_bytes;
	return words;
}

static uint32_t *add_clear(const struct pb_demo *demo, uint32_t *words, uint32_t number, uint32_t colour)
{
	const struct pb_demo_resource *image = &demo->resources[number];

	words = add(words, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	*words++ = number;
	*words++ = image->inset;
	*words++ = image->row_bytes * image->rows;
	*words++ = colour;
	return words;
}

static uint32_t *add_batch(const struct pb_demo *demo, uint32_t *words, const struct pb_scene_batch *batch)
{
	words = add_image(demo, words, PB_PACKET_TEXTURE, pb_demo_resource_of(demo, batch->texture));
	words = add(words, PB_PACKET_DRAW, PB_PACKET_DRAW_WORDS);
	*words++ = PB_DEMO_VERTICES;
	*words++ =
		demo->resources[PB_DEMO_VERTICES].inset + batch->first * (uint32_t)sizeof(struct pb_vertex);
	*words++ = batch->count;
	return words;
}

uint32_t pb_demo_write_commands(struct pb_demo *demo, const struct pb_scene_pass *pass)
{
	const uint32_t target = pb_demo_resource_of(demo, pass->target);
	uint32_t *words = add_clear(demo, demo->commands, target, pass->clear);

	words = add_image(demo, words, PB_PACKET_TARGET, target);
	for (uint32_t i = 0; i < pass->count; i++)
		words = add_batch(demo, words, &demo->scene.batches[pass->first + i]);
	return (uint32_t)(words - demo->commands) * (uint32_t)sizeof(*words);
}

bool pb_demo_is_drawn(uint32_t resource)
{
	return resource != PB_DEMO_VERTICES &&
	       pb_scene_images[pb_demo_image_of(resource)].source == PB_SCENE_DRAWN;
}
