/* SPDX-License-Identifier: MIT */
/*
 * guest-link COMMAND LINK, in a virtual machine, with the library that is linked statically:
 *
 *   interrupts  sends commands; the kernel counts an interrupt of the device for each of them, which may come behind the
 *               reading of the reply
 *   hold        attaches, prints "held", and reads until the device is gone: then exit status 0
 *   ring        rings the doorbell of a device whose server answers each ring with an interrupt: scripts/linux_links.py
 *   user        gives up root, then as "interrupts"
 *   use         sends commands, prints "used" after the first one, and goes on until one fails, whose error it prints
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "patchbay/patchbay.h"

#define COMMANDS 20u
/* Longer than a busy system keeps a card from answering. */
#define TIMEOUT_US 600000000u

static void check(enum pb_error error, const char *text)
{
	if (error == PB_ERROR_OK)
		return;
	printf("%s: %s\n", text, pb_error_name(error));
	exit(1);
}

/* Interrupts of the device that the kernel has counted, on all processors. */
static unsigned long counted(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long sum = 0;
	char line[512];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		const char *next = strchr(line, ':');
		char *end;

		if (next == NULL || strstr(line, "vfio-msix[0]") == NULL)
			continue;
		for (next++;; next = end) {
			const unsigned long count = strtoul(next, &end, 10);

			if (end == next)
				break;
			sum += count;
		}
	}
	if (file != NULL)
		fclose(file);
	return sum;
}

/* Waits for more interrupts than `before`. The next command would hide one that is late. */
static bool has_come(unsigned long before)
{
	for (unsigned int i = 0; i < TIMEOUT_US / 1000u; i++) {
		if (counted() > before)
			return true;
		usleep(1000);
	}
	return false;
}

static int interrupts(struct pb_link *link)
{
	struct pb_channel channel;
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};
	unsigned int come = 0;

	check(pb_channel_attach(&channel, link, TIMEOUT_US), "attach");
	for (unsigned i = 0; i < COMMANDS && come == i; i++) {
		const unsigned long before = counted();

		check(pb_channel_command(&channel, PB_COMMAND_PING, arguments, NULL), "ping");
		come += has_come(before);
	}
	printf("%u commands, %u interrupts\n", COMMANDS, come);
	check(pb_channel_detach(&channel), "detach");
	return come == COMMANDS ? 0 : 1;
}

static int hold(struct pb_link *link)
{
	struct pb_channel channel;
	enum pb_error error;

	check(pb_channel_attach(&channel, link, TIMEOUT_US), "attach");
	printf("held\n");
	fflush(stdout);
	do {
		error = link->ops->wait(link, TIMEOUT_US);
		if (error == PB_ERROR_OK)
			error = pb_channel_check(&channel, NULL);
	} while (error == PB_ERROR_OK || error == PB_ERROR_TIMEOUT);
	printf("%s\n", pb_error_name(error));
	return error == PB_ERROR_NO_CARD ? 0 : 1;
}

/* Memory of the server: its first word is the channel, its last one is to be that number's complement. */
static int ring(struct pb_link *link)
{
	const uint32_t answer = ~link->channel;
	uint32_t channel;

	memcpy(&channel, link->memory, sizeof(channel));
	if (channel != link->channel)
		return 1;
	memcpy(link->memory + link->memory_bytes - sizeof(answer), &answer, sizeof(answer));
	for (unsigned i = 0; i < COMMANDS; i++) {
		link->ops->doorbell(link);
		check(link->ops->wait(link, TIMEOUT_US), "wait");
	}
	return 0;
}

static int use(struct pb_link *link)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};
	struct pb_channel channel;
	enum pb_error error;

	check(pb_channel_attach(&channel, link, TIMEOUT_US), "attach");
	check(pb_channel_command(&channel, PB_COMMAND_PING, arguments, NULL), "ping");
	printf("used\n");
	fflush(stdout);
	do {
		error = pb_channel_command(&channel, PB_COMMAND_PING, arguments, NULL);
	} while (error == PB_ERROR_OK);
	printf("%s\n", pb_error_name(error));
	return 0;
}

int main(int argc, char **argv)
{
	struct pb_link *link;
	int code = 2;

	if (argc != 3)
		return code;
	if (strcmp(argv[1], "user") == 0 && (setgid(1000) != 0 || setuid(1000) != 0))
		return code;
	check(pb_link_open(argv[2], &link), "open");
	if (strcmp(argv[1], "interrupts") == 0 || strcmp(argv[1], "user") == 0)
		code = interrupts(link);
	else if (strcmp(argv[1], "hold") == 0)
		code = hold(link);
	else if (strcmp(argv[1], "ring") == 0)
		code = ring(link);
	else if (strcmp(argv[1], "use") == 0)
		code = use(link);
	link->ops->close(link);
	return code;
}
