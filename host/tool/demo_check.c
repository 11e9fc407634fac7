/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/tool/demo_state.h"
#include "host/tool/painter.h"

static bool make_image(const struct pb_demo *demo, struct pb_image *image, enum pb_scene_image like)
{
	image->width = pb_scene_side(pb_scene_images[like].width, demo->scene.shrink);
	image->height = pb_scene_side(pb_scene_images[like].height, demo->scene.shrink);
	image->pixels = calloc((size_t)image->width * image->height, sizeof(uint32_t));
	return image->pixels != NULL;
}

bool pb_demo_make_images(struct pb_demo *demo)
{
	bool made = make_image(demo, &demo->found, PB_SCENE_SCREEN);

	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		enum pb_scene_image image = pb_demo_image_of(i);

		if (i == PB_DEMO_VERTICES)
			continue;
		if (!make_image(demo, &demo->expected[i], image))
			made = false;
		else if (pb_scene_images[image].source == PB_SCENE_DRAWN)
			pb_paint_clear(&demo->expected[i], PB_DEMO_POISON);
		else
			pb_scene_texels(image, 0, demo->scene.shrink, demo->expected[i].pixels);
	}
	made = made && pb_demo_sheet_make(demo);
	return made || pb_demo_fail(demo, "images", PB_ERROR_HOST_MEMORY);
}

void pb_demo_free_images(struct pb_demo *demo)
{
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++)
		free(demo->expected[i].pixels);
	free(demo->found.pixels);
	free(demo->sheet.pixels);
}

static bool fail_file(const char *path, int error)
{
	fprintf(stderr, "patchbay demo: %s: %s\n", path, strerror(error));
	return false;
}

/* Creates all folders of the path, as mkdir -p does. */
bool pb_demo_make_folder(const struct pb_demo *demo)
{
	char path[PATH_MAX];
	size_t length = strlen(demo->options->output);

	if (length == 0 || length >= sizeof(path))
		return fail_file(demo->options->output, length == 0 ? ENOENT : ENAMETOOLONG);
	memcpy(path, demo->options->output, length + 1);
	for (size_t i = 1; i <= length; i++) {
		char end = path[i];

		if (end != '/' && end != '\0')
			continue;
		path[i] = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST)
			return fail_file(path, errno);
		path[i] = end;
	}
	return true;
}

static bool write_picture(const struct pb_demo *demo, uint32_t frame, const struct pb_image *image,
			  const char *suffix)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/frame-%04u%s.png", demo->options->output,
			      (unsigned)frame, suffix);
	int error = length < (int)sizeof(path) ? pb_image_write_png(image, path) : ENAMETOOLONG;

	return error == 0 || fail_file(path, error);
}

void pb_demo_paint(struct pb_demo *demo, uint32_t number)
{
	const struct pb_scene_pass *pass = &demo->scene.passes[number];
	struct pb_image *target = &demo->expected[pb_demo_resource_of(demo, pass->target)];

	pb_paint_clear(target, pass->clear);
	for (uint32_t i = 0; i < pass->count; i++) {
		const struct pb_scene_batch *batch = &demo->scene.batches[pass->first + i];

		pb_paint_triangles(target, &demo->expected[batch->texture],
				   &demo->scene.vertices[batch->first], batch->count);
	}
}

bool pb_demo_keep(struct pb_demo *demo)
{
	if (!demo->unkept)
		return true;
	demo->unkept = false;
	pb_demo_sheet_add(demo, demo->found_frame);
	return write_picture(demo, demo->found_frame, &demo->found, "");
}

bool pb_demo_check(struct pb_demo *demo)
{
	const uint32_t screen = pb_demo_resource_of(demo, PB_SCENE_SCREEN);
	const struct pb_image *expected = &demo->expected[screen];
	uint32_t pixels = expected->width * expected->height;
	uint32_t first = 0;

	pb_demo_read(demo, screen, demo->resources[screen].inset, demo->found.pixels, pixels);
	demo->found_frame = demo->frame;
	demo->unkept = true;
	while (first < pixels && demo->found.pixels[first] == expected->pixels[first])
		first++;
	if (first == pixels)
		return true;
	fprintf(stderr, "patchbay demo: frame %u: pixel (%u, %u): expected 0x%08x, found 0x%08x\n",
		(unsigned)demo->frame, (unsigned)(first % expected->width),
		(unsigned)(first / expected->width), (unsigned)expected->pixels[first],
		(unsigned)demo->found.pixels[first]);
	(void)write_picture(demo, demo->frame, expected, "-expected");
	return false;
}
