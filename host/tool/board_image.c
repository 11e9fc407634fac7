/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/board_image.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "qemu/machines.h"

/* From the folder of the installed program, as CMake knows them. */
#ifndef PB_TO_IMAGES
#define PB_TO_IMAGES  "../share/patchbay/images"
#define PB_TO_LIBEXEC "../libexec/patchbay"
#endif

/** Writes the path of this program. @return false: it is not known */
static bool own_path(char path[PATH_MAX])
{
	const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1u);

	if (length >= 0) {
		path[length] = '\0';
		return true;
	}
	/* A new root need not have /proc: what the program was started by is next best. */
	return realpath((const char *)getauxval(AT_EXECFN), path) !=
	       NULL; /* NOLINT(performance-no-int-to-ptr) */
}

/** Finds a folder from this program's path. @param up folders above the program @return false: it is not known */
static bool folder_above(int up, char path[PATH_MAX])
{
	if (!own_path(path))
		return false;
	for (int i = 0; i <= up; i++) {
		char *slash = strrchr(path, '/');

		if (slash == NULL)
			return false;
		*slash = '\0';
	}
	return true;
}

/** Writes the path of a file below a folder above this program. @return false: it is not known, or too long */
static bool path_below(int up, const char *below, const char *name, char *path, size_t bytes)
{
	char folder[PATH_MAX];
	int length;

	if (!folder_above(up, folder))
		return false;
	length = snprintf(path, bytes, "%s/%s/%s", folder, below, name);
	return length > 0 && (size_t)length < bytes;
}

/** As path_below(). @return false: there is no such file */
static bool find(int up, const char *below, const char *name, char *path, size_t bytes)
{
	return path_below(up, below, name, path, bytes) && access(path, R_OK) == 0;
}

char *pb_board_name(char *text)
{
	size_t length = strlen(text);
	char *slash;

	while (length > 1 && text[length - 1u] == '/')
		text[--length] = '\0';
	slash = strrchr(text, '/');
	return slash != NULL && slash[1] != '\0' ? slash + 1 : text;
}

/** Finds an image by the beginning of its name. */
static bool find_image(const char *prefix, const char *board, char *path, size_t bytes)
{
	char name[PATH_MAX];
	const int length = snprintf(name, sizeof(name), "%s%s.elf", prefix, board);

	/* In a build this program is build/PRESET/host/patchbay. */
	return length > 0 && (size_t)length < sizeof(name) &&
	       (find(0, PB_TO_IMAGES, name, path, bytes) || find(2, board, name, path, bytes));
}

bool pb_board_loader(const char *board, char *path, size_t bytes)
{
	const struct pb_machine *machine = pb_machine_find(board);

	if (machine != NULL && machine->flash_address == 0) {
		fprintf(stderr, "patchbay: board %s has no loader\n", board);
		return false;
	}
	if (find_image("patchbay-loader-", board, path, bytes))
		return true;
	fprintf(stderr,
		"patchbay: no loader for board %s\n"
		"Build it: scripts/bearssl && cmake -B build/%s -G Ninja -DPB_BOARD=%s && cmake --build "
		"build/%s\n",
		board, board, board, board);
	return false;
}

bool pb_board_image(const char *board, char *path, size_t bytes)
{
	if (find_image("patchbay-", board, path, bytes))
		return true;
	fprintf(stderr,
		"patchbay: no firmware image for board %s (%s)\n"
		"Install the package patchbay-firmware, or build it: cmake -B build/%s -G Ninja "
		"-DPB_BOARD=%s && cmake --build build/%s\n",
		board, path, board, board, board);
	return false;
}

bool pb_renderer_program(char *path, size_t bytes)
{
	return find(0, PB_TO_LIBEXEC, "patchbay-renderer", path, bytes) ||
	       path_below(1, "qemu", "patchbay-renderer", path, bytes);
}
