/* SPDX-License-Identifier: MIT */
#include "qemu/machines.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "qemu/card_host_memory.h"
#include "qemu/machine_list.h"

#define DECLARE(name) extern const struct pb_machine pb_machine_##name;
#define ROW(name)     &pb_machine_##name,
PB_MACHINE_LIST(DECLARE)

static const struct pb_machine *const machines[] = {PB_MACHINE_LIST(ROW)};

const struct pb_machine *pb_machine_find(const char *board)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(machines[i]->board, board) == 0)
			return machines[i];
	}
	return NULL;
}

/* Room left for text, and where. */
struct writer {
	char *at;
	size_t left;
};

static bool put(struct writer *writer, char c)
{
	if (writer->left == 0)
		return false;
	*writer->at++ = c;
	writer->left--;
	return true;
}

static bool put_path(struct writer *writer, const char *path, bool double_commas)
{
	for (; *path != '\0'; path++) {
		if (!put(writer, *path) || (*path == ',' && double_commas && !put(writer, ',')))
			return false;
	}
	return true;
}

/* Writes one argument with its placeholders filled in. */
static bool put_argument(struct writer *writer, const char *text, const struct pb_machine_files *files)
{
	const struct {
		const char *name;
		const char *path;
		bool double_commas;
	} places[] = {{"{memory}", files->memory, true},
		      {"{lines}", files->lines, true},
		      {"{monitor}", files->monitor, true},
		      {"{image}", files->image, false}};

	while (*text != '\0') {
		const char *path = NULL;

		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && path == NULL; i++) {
			if (strncmp(text, places[i].name, strlen(places[i].name)) != 0)
				continue;
			path = places[i].path;
			text += strlen(places[i].name);
			if (!put_path(writer, path, places[i].double_commas))
				return false;
		}
		if (path == NULL && !put(writer, *text++))
			return false;
	}
	return put(writer, '\0');
}

/* Behind the PCI addresses that the emulator gives out by itself. */
#define FIRST_HOST_DEVICE 16u

/* Writes an argument of a beginning and a path, whose commas are doubled. */
static bool put_text(struct pb_machine_command *command, struct writer *writer, size_t *count,
		     const char *text, const char *path)
{
	if (*count == PB_MACHINE_ARGUMENTS)
		return false;
	command->argv[(*count)++] = writer->at;
	return put_path(writer, text, false) && put_path(writer, path, true) && put(writer, '\0');
}

/* Writes the devices of host memory. */
static bool put_host(struct pb_machine_command *command, struct writer *writer,
		     const struct pb_card_host_memory *host, size_t *count)
{
	for (uint32_t i = 0; i < host->count; i++) {
		char backend[96], device[64];

		snprintf(backend, sizeof(backend),
			 "memory-backend-file,id=host%u,share=on,size=%u,mem-path=", (unsigned)i,
			 (unsigned)host->files[i].bytes);
		snprintf(device, sizeof(device), "ivshmem-plain,memdev=host%u,addr=0x%x", (unsigned)i,
			 (unsigned)(FIRST_HOST_DEVICE + i));
		if (!put_text(command, writer, count, "-object", "") ||
		    !put_text(command, writer, count, backend, host->files[i].path) ||
		    !put_text(command, writer, count, "-device", "") ||
		    !put_text(command, writer, count, device, ""))
			return false;
	}
	return true;
}

/* Has the emulator copy the flash to its window. */
static bool put_flash(struct pb_machine_command *command, struct writer *writer, uint32_t address,
		      const char *path, size_t *count)
{
	char device[64];

	snprintf(device, sizeof(device), "loader,addr=0x%x,force-raw=on,file=", (unsigned)address);
	return put_text(command, writer, count, "-device", "") &&
	       put_text(command, writer, count, device, path);
}

bool pb_machine_command(struct pb_machine_command *command, const struct pb_machine *machine,
			const struct pb_machine_files *files)
{
	struct writer writer = {command->text, sizeof(command->text)};
	size_t count = 0;

	command->argv[count++] = writer.at;
	if (!put_argument(&writer, machine->program, files))
		return false;
	for (const char *const *argument = machine->arguments; *argument != NULL; argument++) {
		if (count == PB_MACHINE_ARGUMENTS)
			return false;
		command->argv[count++] = writer.at;
		if (!put_argument(&writer, *argument, files))
			return false;
	}
	if (files->host != NULL && !put_host(command, &writer, files->host, &count))
		return false;
	if (files->flash != NULL &&
	    !put_flash(command, &writer, machine->flash_address, files->flash, &count))
		return false;
	command->argv[count] = NULL;
	return true;
}
