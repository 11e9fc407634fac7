/* SPDX-License-Identifier: MIT */
/* The demo's scene: inside the engine's limits, the same everywhere, and worth looking at. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/painter.h"
#include "host/tool/scene.h"
#include "tests/unit/unit.h"

#define TEXELS_MAX (320u * 240u)

static struct pb_scene scene;
static uint32_t texels[PB_SCENE_IMAGES][TEXELS_MAX];

/* What eight zeros behind each value of the low byte make of a CRC. */
static uint32_t crc_of_byte(uint32_t byte)
{
	for (uint32_t bit = 0; bit < 8; bit++)
		byte = (byte >> 1) ^ ((byte & 1u) != 0 ? 0xedb88320u : 0u);
	return byte;
}

/* The CRC of Ethernet and zip, of words as little-endian bytes. */
static uint32_t crc_words(const uint32_t *words, size_t count)
{
	uint32_t table[256];
	uint32_t crc = 0xffffffffu;

	for (uint32_t byte = 0; byte < 256; byte++)
		table[byte] = crc_of_byte(byte);
	for (size_t i = 0; i < 4 * count; i++)
		crc = crc >> 8 ^ table[(crc ^ words[i / 4] >> i % 4 * 8) & 0xffu];
	return ~crc;
}

/* Paints a frame. @param flat PB_SCENE_IMAGES, or an image whose texels all become one colour first */
static const uint32_t *paint(uint32_t frame, uint32_t flat)
{
	struct pb_image images[PB_SCENE_IMAGES];

	pb_scene_make(&scene, frame);
	for (uint32_t i = 0; i < PB_SCENE_IMAGES; i++) {
		images[i] = (struct pb_image){pb_scene_images[i].width, pb_scene_images[i].height, texels[i]};
		pb_scene_texels((enum pb_scene_image)i, frame, 0, texels[i]);
		if (i == flat)
			pb_paint_clear(&images[i], 0xff123456u);
	}
	for (uint32_t i = 0; i < PB_SCENE_PASSES; i++) {
		const struct pb_scene_pass *pass = &scene.passes[i];

		pb_paint_clear(&images[pass->target], pass->clear);
		for (uint32_t j = pass->first; j < pass->first + pass->count; j++)
			pb_paint_triangles(&images[pass->target], &images[scene.batches[j].texture],
					   &scene.vertices[scene.batches[j].first], scene.batches[j].count);
	}
	return texels[PB_SCENE_SCREEN];
}

static void check_vertices(void)
{
	for (uint32_t i = 0; i < scene.vertex_count; i++) {
		const struct pb_vertex *v = &scene.vertices[i];

		assert_true(abs(v->x) <= PB_ENGINE_POSITION_MAX && abs(v->y) <= PB_ENGINE_POSITION_MAX);
		assert_true(abs(v->u) <= PB_ENGINE_TEXEL_MAX && abs(v->v) <= PB_ENGINE_TEXEL_MAX);
	}
}

/* Batches follow each other without a gap, and sample nothing that is not there yet. */
static void check_passes(void)
{
	uint32_t drawn = 0;
	uint32_t batch = 0;
	uint32_t vertex = 0;

	for (uint32_t i = 0; i < PB_SCENE_PASSES; i++) {
		const struct pb_scene_pass *pass = &scene.passes[i];

		assert_int_equal(pass->first, batch);
		assert_true(pass->count > 0);
		assert_int_equal(pb_scene_images[pass->target].source, PB_SCENE_DRAWN);
		for (; batch < pass->first + pass->count; batch++) {
			enum pb_scene_image texture = scene.batches[batch].texture;

			assert_true(pb_scene_images[texture].source != PB_SCENE_DRAWN ||
				    (drawn >> texture & 1u));
			assert_true(pb_scene_uses(&scene, i, texture));
			assert_int_equal(scene.batches[batch].first, vertex);
			assert_int_equal(scene.batches[batch].count % 3, 0);
			vertex += scene.batches[batch].count;
		}
		drawn |= 1u << pass->target;
	}
	assert_int_equal(batch, scene.batch_count);
	assert_int_equal(vertex, scene.vertex_count);
	assert_int_equal(scene.passes[PB_SCENE_PASSES - 1].target, PB_SCENE_SCREEN);
}

static void test_frames_are_well_formed(void **state)
{
	(void)state;
	for (uint32_t frame = 0; frame < PB_SCENE_PERIOD; frame++) {
		pb_scene_make(&scene, frame);
		check_vertices();
		check_passes();
	}
}

static void test_uses(void **state)
{
	(void)state;
	pb_scene_make(&scene, 0);
	assert_true(pb_scene_uses(&scene, 0, PB_SCENE_INNER));
	assert_true(pb_scene_uses(&scene, 0, PB_SCENE_PLASMA));
	assert_false(pb_scene_uses(&scene, 0, PB_SCENE_SCREEN));
	assert_false(pb_scene_uses(&scene, 0, PB_SCENE_PANEL));
	assert_true(pb_scene_uses(&scene, 1, PB_SCENE_SCREEN));
	assert_true(pb_scene_uses(&scene, 1, PB_SCENE_INNER));
	assert_false(pb_scene_uses(&scene, 1, PB_SCENE_PLASMA));
}

static void pictures_have_known_sums(void **state)
{
	(void)state;
	assert_int_equal(crc_words(paint(0, PB_SCENE_IMAGES), TEXELS_MAX), 0x4ddf2ec9);
	assert_int_equal(crc_words(paint(40, PB_SCENE_IMAGES), TEXELS_MAX), 0xed353035);
}

static void test_frames_differ_and_repeat(void **state)
{
	uint32_t seen[PB_SCENE_PERIOD];

	(void)state;
	for (uint32_t frame = 0; frame < PB_SCENE_PERIOD; frame++) {
		seen[frame] = crc_words(paint(frame, PB_SCENE_IMAGES), TEXELS_MAX);
		for (uint32_t earlier = 0; earlier < frame; earlier++)
			assert_true(seen[earlier] != seen[frame]);
	}
	assert_int_equal(crc_words(paint(PB_SCENE_PERIOD, PB_SCENE_IMAGES), TEXELS_MAX), seen[0]);
}

static void test_every_texture_shows(void **state)
{
	(void)state;
	for (uint32_t frame = 0; frame < PB_SCENE_PERIOD; frame += 12) {
		static uint32_t picture[TEXELS_MAX];

		memcpy(picture, paint(frame, PB_SCENE_IMAGES), sizeof(picture));
		for (uint32_t i = 0; i < PB_SCENE_IMAGES; i++) {
			if (pb_scene_images[i].source == PB_SCENE_DRAWN)
				continue;
			assert_memory_not_equal(picture, paint(frame, i), sizeof(picture));
		}
	}
}

/* These magentas stand for memory that something moved away from: the scene itself must not have them. */
static void test_no_poison_in_the_picture(void **state)
{
	(void)state;
	for (uint32_t frame = 0; frame < PB_SCENE_PERIOD; frame += 12) {
		const uint32_t *picture = paint(frame, PB_SCENE_IMAGES);

		for (uint32_t i = 0; i < TEXELS_MAX; i++) {
			assert_true(picture[i] < 0xffff0080u || picture[i] > 0xffff00ffu);
			assert_int_equal(picture[i] >> 24, 0xff);
		}
	}
}

/* ---- shrunk ---- */

/* The same pictures in small: fewer vertices, every so-many-th texel, everything inside smaller limits. */
static void small_scenes_show_the_same_pictures(void **state)
{
	static struct pb_scene full;
	static uint32_t texel[TEXELS_MAX], small[TEXELS_MAX];

	(void)state;
	for (uint32_t shrink = 1; shrink <= PB_SCENE_SHRINK_MAX; shrink++) {
		for (uint32_t frame = 0; frame < PB_SCENE_PERIOD; frame++) {
			full.shrink = 0;
			pb_scene_make(&full, frame);
			scene.shrink = shrink;
			pb_scene_make(&scene, frame);
			check_vertices();
			check_passes();
			assert_true(scene.vertex_count <= PB_SCENE_VERTICES_SHRUNK);
			/* The wall's first corner and its opposite one, behind the inner scene. */
			for (uint32_t i = 0; i < 3; i += 2) {
				const struct pb_vertex *a =
					&full.vertices[full.batches[full.passes[1].first].first + i];
				const struct pb_vertex *b =
					&scene.vertices[scene.batches[scene.passes[1].first].first + i];

				assert_int_equal(b->x, a->x / (1 << shrink));
				assert_int_equal(b->y, a->y / (1 << shrink));
				assert_int_equal(b->u, a->u / (1 << shrink));
				assert_int_equal(b->v, a->v / (1 << shrink));
			}
		}
		for (uint32_t i = 0; i < PB_SCENE_IMAGES; i++) {
			const uint32_t columns = pb_scene_side(pb_scene_images[i].width, shrink);
			const uint32_t rows = pb_scene_side(pb_scene_images[i].height, shrink);

			if (pb_scene_images[i].source == PB_SCENE_DRAWN)
				continue;
			pb_scene_texels((enum pb_scene_image)i, 5, 0, texel);
			small[columns * rows] = 0x12345678;
			pb_scene_texels((enum pb_scene_image)i, 5, shrink, small);
			for (uint32_t k = 0; k < columns * rows; k++)
				assert_int_equal(small[k],
						 texel[(k / columns << shrink) * pb_scene_images[i].width +
						       (k % columns << shrink)]);
			assert_int_equal(small[columns * rows], 0x12345678);
		}
	}
	scene.shrink = 0;
	assert_int_equal(pb_scene_side(24, 4), 1);
	assert_int_equal(pb_scene_side(8, 4), 1);
	assert_int_equal(pb_scene_side(320, 3), 40);
}

UNIT_SUITE(test_scene)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_are_well_formed),
		cmocka_unit_test(test_uses),
		cmocka_unit_test(pictures_have_known_sums),
		cmocka_unit_test(test_frames_differ_and_repeat),
		cmocka_unit_test(test_every_texture_shows),
		cmocka_unit_test(test_no_poison_in_the_picture),
		cmocka_unit_test(small_scenes_show_the_same_pictures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
