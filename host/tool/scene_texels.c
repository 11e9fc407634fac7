/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "host/tool/scene.h"
#include "host/tool/scene_shapes.h"

/** Position of a texel, and the frame. */
struct place {
	int32_t x;
	int32_t y;
	uint32_t frame;
};

static uint32_t clamp(int32_t level)
{
	return level < 0 ? 0u : level > 255 ? 255u : (uint32_t)level;
}

static uint32_t rgb(int32_t red, int32_t green, int32_t blue)
{
	return 0xff000000u | clamp(red) << 16 | clamp(green) << 8 | clamp(blue);
}

/* Returns pseudo-random values 0..255 without a visible pattern. */
static int32_t noise(int32_t x, int32_t y)
{
	uint32_t value = (uint32_t)x * 0x9e3779b1u + (uint32_t)y * 0x85ebca77u;

	value = (value ^ value >> 15) * 0x2c1b3c6du;
	value = (value ^ value >> 12) * 0x297a2d39u;
	return (int32_t)(value >> 24);
}

/* Returns a value from -range to range. */
static int32_t wave(int32_t angle, int32_t range)
{
	return pb_scene_scale(range, pb_scene_sine((uint32_t)angle));
}

static uint32_t panel(const struct place *at)
{
	int32_t grain = noise(0, at->y) / 20 + noise(at->x, at->y) / 40;
	int32_t seam = at->x == 0 || at->y == 0 ? -16 : at->x == 1 || at->y == 1 ? 14 : 0;
	int32_t from_screw = (at->x - 8) * (at->x - 8) + (at->y - 8) * (at->y - 8);

	if (from_screw <= 6)
		return at->x == at->y ? rgb(40, 42, 46) : rgb(150, 154, 160);
	return rgb(44 + grain + seam, 56 + grain + seam, 74 + grain + seam);
}

static uint32_t floor_tile(const struct place *at)
{
	int32_t grain = noise(at->x, at->y) / 12;

	if (((at->x / 16) ^ (at->y / 16)) & 1)
		return rgb(196 + grain, 188 + grain, 168 + grain);
	return rgb(92 + grain, 34 + grain, 40 + grain);
}

static uint32_t wood(const struct place *at)
{
	int32_t bend = wave(at->y * 1024, 3);
	int32_t ring = wave((at->x + bend) * 9000 + noise(at->x / 8, 3) * 64, 18);
	int32_t grain = noise(at->x, at->y / 6) / 14;
	int32_t edge = at->x % 32 == 31 ? -44 : 0;

	return rgb(150 + ring + grain + edge, 92 + ring + grain + edge, 44 + ring / 2 + grain + edge);
}

static uint32_t jack(const struct place *at)
{
	int32_t x = 2 * at->x - 31;
	int32_t y = 2 * at->y - 31;
	int32_t square = x * x + y * y;
	int32_t light = -(x + y) * 2;

	if (square < 180)
		return rgb(8, 8, 10);
	if (square < 420)
		return rgb(120 - light, 92 - light, 30 - light);
	return rgb(200 + light, 170 + light, 90 + light);
}

static uint32_t cable(const struct place *at)
{
	static const uint8_t strands[8][3] = {{226, 58, 46},  {244, 190, 44},  {60, 190, 92},
					      {58, 140, 236}, {236, 110, 200}, {238, 238, 232},
					      {250, 140, 40}, {120, 220, 220}};
	static const int16_t round[8] = {-90, -40, 0, 40, 20, -20, -60, -110};
	const uint8_t *colour = strands[at->y / 8];
	int32_t shade = round[at->y % 8] + (at->x / 2 % 4 == 0 ? -24 : 0);
	int32_t pulse = at->x > 25 ? 90 : 0;

	return rgb(colour[0] + shade + pulse, colour[1] + shade + pulse, colour[2] + shade + pulse);
}

/* The letters of PATCHBAY, 8 rows each, leftmost column in the high bit. */
static const uint8_t letters[8][8] = {
	{0x7c, 0x66, 0x66, 0x7c, 0x60, 0x60, 0x60, 0x00}, /* P */
	{0x18, 0x3c, 0x66, 0x66, 0x7e, 0x66, 0x66, 0x00}, /* A */
	{0x7e, 0x18, 0x18, 0x18, 0x18, 0x18, 0x18, 0x00}, /* T */
	{0x3c, 0x66, 0x60, 0x60, 0x60, 0x66, 0x3c, 0x00}, /* C */
	{0x66, 0x66, 0x66, 0x7e, 0x66, 0x66, 0x66, 0x00}, /* H */
	{0x7c, 0x66, 0x66, 0x7c, 0x66, 0x66, 0x7c, 0x00}, /* B */
	{0x18, 0x3c, 0x66, 0x66, 0x7e, 0x66, 0x66, 0x00}, /* A */
	{0x66, 0x66, 0x66, 0x3c, 0x18, 0x18, 0x18, 0x00}, /* Y */
};

/* Letters are 16 texels wide and high, from (8, 5). */
static bool in_letter(int32_t x, int32_t y)
{
	int32_t column = (x - 8) / 2;
	int32_t row = (y - 5) / 2;

	if (x < 8 || y < 5 || column >= 64 || row >= 8)
		return false;
	return (letters[column / 8][row] >> (7 - column % 8) & 1) != 0;
}

static uint32_t banner(const struct place *at)
{
	int32_t down = at->y * 4;

	if (at->y == 0 || at->y == 23 || at->x == 0 || at->x == 143)
		return rgb(250, 226, 150);
	if (in_letter(at->x, at->y))
		return rgb(255, 246 - down / 2, 214 - down);
	if (in_letter(at->x - 1, at->y - 1))
		return rgb(40, 4, 20);
	return rgb(196 - down + at->x / 4, 30 + at->x / 3, 56 + down / 2);
}

static uint32_t stripes(const struct place *at)
{
	int32_t x = 2 * at->x - 47;
	int32_t y = 2 * at->y - 47;
	int32_t square = x * x + y * y;
	/* One of eight sectors, by the signs and by the longer axis. */
	int32_t sector = (x > 0) ^ (y > 0) ^ (x * x > y * y);

	if (square < 60)
		return rgb(30, 30, 36);
	if (square < 150 || square > 1900)
		return rgb(226, 226, 218);
	return sector != 0 ? rgb(244, 176, 40) : rgb(28, 120 + square / 24, 150);
}

static uint32_t plasma(const struct place *at)
{
	int32_t level = wave(at->x * 1024, 50) + wave(at->y * 2048 + wave(at->x * 1024, 8000), 40) +
			wave((at->x + at->y) * 1024, 37);

	return rgb(110 + level, 40 + level / 3, 150 - level / 2);
}

/* Returns the beam's height at a column, from the middle. */
static int32_t beam(int32_t x, uint32_t frame)
{
	int32_t angle = (int32_t)((frame % PB_SCENE_PERIOD) * 0x10000u / PB_SCENE_PERIOD);

	return wave(x * 1638 + 2 * angle, 12) + wave(x * 4096 - 3 * angle, wave(angle, 9));
}

static uint32_t scope(const struct place *at)
{
	int32_t from = at->y - 28 - beam(at->x, at->frame);
	int32_t next = at->y - 28 - beam(at->x + 1, at->frame);
	int32_t distance = from < 0 ? -from : from;

	if (distance <= 1 || (from < 0) != (next < 0))
		return rgb(190, 255, 200);
	if (distance <= 4)
		return rgb(20, 150 - 24 * distance, 60);
	if (at->x % 10 == 0 || at->y % 8 == 4)
		return rgb(14, 66, 40);
	return rgb(6, 30, 20);
}

void pb_scene_texels(enum pb_scene_image image, uint32_t frame, uint32_t shrink, uint32_t *texels)
{
	static uint32_t (*const makers[PB_SCENE_IMAGES])(const struct place *at) = {
		[PB_SCENE_PANEL] = panel,     [PB_SCENE_FLOOR] = floor_tile, [PB_SCENE_WOOD] = wood,
		[PB_SCENE_JACK] = jack,       [PB_SCENE_CABLE] = cable,      [PB_SCENE_BANNER] = banner,
		[PB_SCENE_STRIPES] = stripes, [PB_SCENE_PLASMA] = plasma,    [PB_SCENE_SCOPE] = scope,
	};
	const struct pb_scene_image_info *info = &pb_scene_images[image];
	const uint32_t width = pb_scene_side(info->width, shrink);
	const uint32_t height = pb_scene_side(info->height, shrink);
	struct place at = {.frame = frame};

	if (makers[image] == NULL)
		return;
	for (uint32_t i = 0; i < width * height; i++) {
		at.x = (int32_t)(i % width << shrink);
		at.y = (int32_t)(i / width << shrink);
		*texels++ = makers[image](&at);
	}
}
