/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/tool/image.h"

static void pack_row(const uint32_t *pixels, uint32_t width, png_byte *row)
{
	for (uint32_t x = 0; x < width; x++) {
		row[3 * x] = (png_byte)(pixels[x] >> 16 & 0xffu);
		row[3 * x + 1] = (png_byte)(pixels[x] >> 8 & 0xffu);
		row[3 * x + 2] = (png_byte)(pixels[x] & 0xffu);
	}
}

/* libpng reports errors by longjmp(): no variable that changes after setjmp() is used behind it. */
static int write_rows(png_structp png, png_infop info, FILE *file, const struct pb_image *image,
		      png_byte *row)
{
	if (setjmp(png_jmpbuf(png)) != 0)
		return errno != 0 ? errno : EIO;
	png_init_io(png, file);
	png_set_IHDR(png, info, image->width, image->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	/* Drawn pictures have runs of equal pixels: fast, and smaller than with libpng's filters at its default level. */
	png_set_compression_level(png, 1);
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
	png_write_info(png, info);
	for (uint32_t y = 0; y < image->height; y++) {
		pack_row(image->pixels + (size_t)y * image->width, image->width, row);
		png_write_row(png, row);
	}
	png_write_end(png, info);
	return 0;
}

static int write_file(FILE *file, const struct pb_image *image)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
	png_byte *row = malloc((size_t)image->width * 3u);
	int error = info != NULL && row != NULL ? write_rows(png, info, file, image, row) : ENOMEM;

	free(row);
	png_destroy_write_struct(&png, &info);
	return error;
}

int pb_image_write_png(const struct pb_image *image, const char *path)
{
	FILE *file = fopen(path, "wb");
	int error;

	if (file == NULL)
		return errno;
	errno = 0;
	error = write_file(file, image);
	if (fclose(file) != 0 && error == 0)
		error = errno;
	return error;
}
