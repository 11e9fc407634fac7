/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/board_image.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** Finds the folder build, from this program's path build/PRESET/host/patchbay. @return false: it is not known */
static bool build_folder(char *path, size_t bytes)
{
	const ssize_t length = readlink("/proc/self/exe", path, bytes - 1u);

	if (length < 0)
		return false;
	path[length] = '\0';
	for (int i = 0; i < 3; i++) {
		char *slash = strrchr(path, '/');

		if (slash == NULL)
			return false;
		*slash = '\0';
	}
	return true;
}

bool pb_board_image(const char *board, char *path, size_t bytes)
{
	char folder[PATH_MAX];

	if (build_folder(folder, sizeof(folder))) {
		const int length = snprintf(path, bytes, "%s/%s/patchbay-%s.elf", folder, board, board);

		if (length > 0 && (size_t)length < bytes && access(path, R_OK) == 0)
			return true;
	}
	fprintf(stderr,
		"patchbay: no firmware image for board %s (%s)\n"
		"Build it with: cmake -B build/%s -G Ninja -DPB_BOARD=%s && cmake --build build/%s\n",
		board, path, board, board, board);
	return false;
}

bool pb_renderer_program(char *path, size_t bytes)
{
	char folder[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1u);
	char *slash;
	int wrote;

	if (length < 0)
		return false;
	folder[length] = '\0';
	for (int i = 0; i < 2; i++) {
		slash = strrchr(folder, '/');
		if (slash == NULL)
			return false;
		*slash = '\0';
	}
	wrote = snprintf(path, bytes, "%s/qemu/patchbay-renderer", folder);
	return wrote > 0 && (size_t)wrote < bytes;
}
