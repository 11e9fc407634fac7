/* SPDX-License-Identifier: MIT */
#include "host/tool/scene.h"

#include "host/tool/scene_shapes.h"

#define BORDER       4 /* pixels of the screen's clear colour around the picture */
#define LEFT         BORDER
#define TOP          BORDER
#define WIDTH        (320 - 2 * BORDER)
#define FLOOR_TOP    168
#define FLOOR_BOTTOM (240 - BORDER)
#define FLOOR_STEP   4
#define FLOOR_SHRUNK 17 /* FLOOR of a shrunk scene */
#define FLOOR_PARTS  8
#define BANNER_PARTS 18
#define BANNER_STEP  6   /* parts joined in one in a shrunk scene */
#define FLOOR_EYE    120 /* row of the horizon, hidden by the wall */
#define JACK_COLUMNS 7
#define CABLES       6u

const struct pb_scene_image_info pb_scene_images[PB_SCENE_IMAGES] = {
#define PB_SCENE_IMAGE_ROW(image, columns, rows)                                                             \
	[PB_SCENE_##image] = {.name = #image,                                                                \
			      .width = (columns),                                                            \
			      .height = (rows),                                                              \
			      .source = PB_SCENE_##image == PB_SCENE_INNER ||                                \
							PB_SCENE_##image == PB_SCENE_SCREEN                  \
						? PB_SCENE_DRAWN                                             \
					: PB_SCENE_##image == PB_SCENE_SCOPE ? PB_SCENE_CHANGES              \
									     : PB_SCENE_FIXED},
	PB_SCENE_IMAGES_LIST(PB_SCENE_IMAGE_ROW)
#undef PB_SCENE_IMAGE_ROW
};

/* Returns the angle at a frame for `turns` whole turns in a period, so that the animation is periodic. */
static uint32_t turn(uint32_t frame, uint32_t turns)
{
	return (uint32_t)((uint64_t)(frame % PB_SCENE_PERIOD) * turns * 0x10000u / PB_SCENE_PERIOD);
}

/* Returns a sine of amplitude `range` with `turns` oscillations in a period. */
static int32_t swing(uint32_t frame, uint32_t turns, uint32_t phase, int32_t range)
{
	return pb_scene_scale(range, pb_scene_sine(turn(frame, turns) + phase));
}

static struct pb_texel_area whole(enum pb_scene_image image)
{
	const struct pb_scene_image_info *info = &pb_scene_images[image];

	return (struct pb_texel_area){.width = PB_TEXELS((int32_t)info->width),
				      .height = PB_TEXELS((int32_t)info->height)};
}

static void add_wall(struct pb_scene *scene)
{
	const int32_t height = FLOOR_TOP - TOP;
	const struct pb_texel_area panel = {0, 0, PB_TEXELS(WIDTH), PB_TEXELS(height)};
	const struct pb_texel_area plank = {0, 0, PB_TEXELS(14), PB_TEXELS(height)};
	const struct pb_texel_area skirting = {0, PB_TEXELS(9), PB_TEXELS(WIDTH), PB_TEXELS(7)};

	pb_scene_batch_begin(scene, PB_SCENE_PANEL);
	pb_scene_add_rectangle(scene, PB_PIXELS(LEFT), PB_PIXELS(TOP), PB_PIXELS(WIDTH), PB_PIXELS(height),
			       &panel);
	pb_scene_batch_begin(scene, PB_SCENE_WOOD);
	pb_scene_add_rectangle(scene, PB_PIXELS(LEFT), PB_PIXELS(TOP), PB_PIXELS(14), PB_PIXELS(height),
			       &plank);
	pb_scene_add_rectangle(scene, PB_PIXELS(LEFT + WIDTH - 14), PB_PIXELS(TOP), PB_PIXELS(14),
			       PB_PIXELS(height), &plank);
	pb_scene_add_rectangle(scene, PB_PIXELS(LEFT), PB_PIXELS(FLOOR_TOP - 5), PB_PIXELS(WIDTH),
			       PB_PIXELS(5), &skirting);
}

static struct pb_vertex floor_point(int32_t x, int32_t y, int32_t scroll)
{
	return (struct pb_vertex){
		.x = PB_PIXELS(x),
		.y = PB_PIXELS(y),
		.u = PB_TEXELS(80) * (x - 160) / (y - FLOOR_EYE),
		.v = PB_TEXELS(80) * 120 / (y - FLOOR_EYE) + scroll,
	};
}

/* Draws thin bands, because perspective is affine along one row only. */
static void add_floor(struct pb_scene *scene, uint32_t frame)
{
	const int32_t step = scene->shrink == 0 ? FLOOR_STEP : FLOOR_SHRUNK;
	const int32_t parts = scene->shrink == 0 ? FLOOR_PARTS : 1;
	int32_t scroll = (int32_t)turn(frame, 1) / 4; /* 64 texels a period */

	pb_scene_batch_begin(scene, PB_SCENE_FLOOR);
	for (int32_t y = FLOOR_TOP; y < FLOOR_BOTTOM; y += step) {
		for (int32_t i = 0; i < parts; i++) {
			int32_t left = LEFT + WIDTH / parts * i;
			int32_t right = left + WIDTH / parts;
			struct pb_vertex corners[4] = {
				floor_point(left, y, scroll),
				floor_point(right, y, scroll),
				floor_point(right, y + step, scroll),
				floor_point(left, y + step, scroll),
			};

			pb_scene_add_quad(scene, corners);
		}
	}
}

static int32_t jack_x(uint32_t jack)
{
	return PB_PIXELS(40 + 40 * (int32_t)(jack % JACK_COLUMNS));
}

static int32_t jack_y(uint32_t jack)
{
	return PB_PIXELS(76 + 30 * (int32_t)(jack / JACK_COLUMNS));
}

static void add_jacks(struct pb_scene *scene)
{
	struct pb_texel_area jack = whole(PB_SCENE_JACK);

	pb_scene_batch_begin(scene, PB_SCENE_JACK);
	for (uint32_t i = 0; i < 2 * JACK_COLUMNS; i++)
		pb_scene_add_disc(scene, jack_x(i), jack_y(i), PB_PIXELS(10), &jack, 0x2000);
}

/* Draws a flag in the wind, fixed at the top left. */
static struct pb_vertex banner_point(uint32_t frame, int32_t column, int32_t row)
{
	int32_t lift = swing(frame, 2, 0u - (uint32_t)column * 0x0e00u, PB_PIXELS(column) / 5 + PB_PIXELS(1));

	return (struct pb_vertex){
		.x = PB_PIXELS(25 + 15 * column),
		.y = PB_PIXELS(9 + 46 * row) + lift,
		.u = PB_TEXELS(8) * column,
		.v = PB_TEXELS(24) * row,
	};
}

static void add_banner(struct pb_scene *scene, uint32_t frame)
{
	const int32_t step = scene->shrink == 0 ? 1 : BANNER_STEP;

	pb_scene_batch_begin(scene, PB_SCENE_BANNER);
	for (int32_t i = 0; i < BANNER_PARTS; i += step) {
		pb_scene_add_quad(scene, (const struct pb_vertex[]){banner_point(frame, i, 0),
								    banner_point(frame, i + step, 0),
								    banner_point(frame, i + step, 1),
								    banner_point(frame, i, 1)});
	}
}

static void add_cables(struct pb_scene *scene, uint32_t frame)
{
	/* first jack, second jack, sag in pixels */
	static const uint8_t cables[CABLES][3] = {{0, 9, 34},  {2, 12, 44}, {4, 7, 30},
						  {5, 10, 50}, {1, 6, 62},  {8, 13, 26}};

	pb_scene_batch_begin(scene, PB_SCENE_CABLE);
	for (uint32_t i = 0; i < CABLES; i++) {
		uint32_t phase = i * 0x2b00u;
		struct pb_scene_cable cable = {
			.from_x = jack_x(cables[i][0]),
			.from_y = jack_y(cables[i][0]),
			.to_x = jack_x(cables[i][1]),
			.to_y = jack_y(cables[i][1]),
			.sag = PB_PIXELS(cables[i][2]) + swing(frame, 2, 2 * phase, PB_PIXELS(3)),
			.sway = swing(frame, 1 + i % 2, phase, PB_PIXELS(9)),
			.strand = i,
			.flow = (int32_t)turn(frame, 2) / 2048, /* 32 texels a turn */
		};
		struct pb_texel_area plug = {PB_TEXELS(4), PB_TEXELS(8 * (int32_t)i), PB_TEXELS(8),
					     PB_TEXELS(8) - 1};

		pb_scene_add_cable(scene, &cable);
		pb_scene_add_disc(scene, cable.from_x, cable.from_y, PB_PIXELS(5), &plug, 0);
		pb_scene_add_disc(scene, cable.to_x, cable.to_y, PB_PIXELS(5), &plug, 0);
	}
}

static void add_scope(struct pb_scene *scene)
{
	const struct pb_texel_area box = {0, 0, PB_TEXELS(64), PB_TEXELS(48)};
	struct pb_texel_area face = whole(PB_SCENE_SCOPE);

	pb_scene_batch_begin(scene, PB_SCENE_WOOD);
	pb_scene_add_rectangle(scene, PB_PIXELS(208), PB_PIXELS(140), PB_PIXELS(92), PB_PIXELS(68), &box);
	pb_scene_batch_begin(scene, PB_SCENE_SCOPE);
	pb_scene_add_rectangle(scene, PB_PIXELS(214), PB_PIXELS(146), PB_PIXELS(80), PB_PIXELS(56), &face);
}

static void add_wheel(struct pb_scene *scene, uint32_t frame)
{
	struct pb_texel_area wheel = whole(PB_SCENE_STRIPES);

	pb_scene_batch_begin(scene, PB_SCENE_STRIPES);
	pb_scene_add_disc(scene, PB_PIXELS(56), PB_PIXELS(180), PB_PIXELS(32), &wheel, turn(frame, 3));
}

static void add_inner(struct pb_scene *scene, uint32_t frame)
{
	const struct pb_texel_area back = {(int32_t)turn(frame, 1) / 4, (int32_t)turn(frame, 1) / 4,
					   PB_TEXELS(96), PB_TEXELS(96)};
	const struct pb_scene_cube cube = {
		.x = PB_PIXELS(48),
		.y = PB_PIXELS(48),
		.half = PB_PIXELS(20),
		.yaw = turn(frame, 2),
		.pitch = turn(frame, 1),
		.faces = {PB_SCENE_WOOD, PB_SCENE_STRIPES, PB_SCENE_WOOD},
	};
	struct pb_texel_area rosette = whole(PB_SCENE_STRIPES);

	pb_scene_batch_begin(scene, PB_SCENE_PLASMA);
	pb_scene_add_rectangle(scene, PB_PIXELS(4), PB_PIXELS(4), PB_PIXELS(88), PB_PIXELS(88), &back);
	pb_scene_batch_begin(scene, PB_SCENE_STRIPES);
	pb_scene_add_disc(scene, PB_PIXELS(48), PB_PIXELS(48), PB_PIXELS(40), &rosette, 0u - turn(frame, 1));
	pb_scene_add_cube(scene, &cube);
}

static void add_outer(struct pb_scene *scene, uint32_t frame)
{
	const struct pb_scene_cube cube = {
		.x = PB_PIXELS(142),
		.y = PB_PIXELS(176) + swing(frame, 2, 0, PB_PIXELS(6)),
		.half = PB_PIXELS(29),
		.yaw = 0u - turn(frame, 1),
		.pitch = 0x1000u + (uint32_t)swing(frame, 1, 0, 0x0700),
		.faces = {PB_SCENE_INNER, PB_SCENE_WOOD, PB_SCENE_INNER},
	};

	add_wall(scene);
	add_floor(scene, frame);
	/* Leave out jacks and cables: they would be tiny, and most of the vertices. */
	if (scene->shrink == 0)
		add_jacks(scene);
	add_banner(scene, frame);
	add_scope(scene);
	add_wheel(scene, frame);
	if (scene->shrink == 0)
		add_cables(scene, frame);
	pb_scene_add_cube(scene, &cube);
}

/*
 * Returns a colour that differs from that of the frame before, so that pixels that were not cleared are visible.
 */
static uint32_t glow(uint32_t colour, uint32_t frame)
{
	uint32_t step = frame % PB_SCENE_PERIOD;

	return colour + 0x00010102u * (step < PB_SCENE_PERIOD / 2 ? step : PB_SCENE_PERIOD - step);
}

/* Converts from full size, in which everything is laid out. */
static void shrink_vertices(struct pb_scene *scene)
{
	const int32_t divisor = (int32_t)1 << scene->shrink;

	for (uint32_t i = 0; i < scene->vertex_count; i++) {
		struct pb_vertex *vertex = &scene->vertices[i];

		*vertex = (struct pb_vertex){vertex->x / divisor, vertex->y / divisor, vertex->u / divisor,
					     vertex->v / divisor};
	}
}

void pb_scene_make(struct pb_scene *scene, uint32_t frame)
{
	struct pb_scene_pass *inner = &scene->passes[0];
	struct pb_scene_pass *outer = &scene->passes[1];

	scene->vertex_count = 0;
	scene->batch_count = 0;
	*inner = (struct pb_scene_pass){.target = PB_SCENE_INNER, .clear = glow(0xff2a3f5f, frame)};
	add_inner(scene, frame);
	inner->count = scene->batch_count;
	*outer = (struct pb_scene_pass){
		.target = PB_SCENE_SCREEN, .clear = glow(0xff180c20, frame), .first = scene->batch_count};
	add_outer(scene, frame);
	outer->count = scene->batch_count - outer->first;
	shrink_vertices(scene);
}

bool pb_scene_uses(const struct pb_scene *scene, uint32_t pass, enum pb_scene_image image)
{
	const struct pb_scene_pass *asked = &scene->passes[pass];
	bool used = asked->target == image;

	for (uint32_t i = 0; i < asked->count; i++)
		used = used || scene->batches[asked->first + i].texture == image;
	return used;
}
