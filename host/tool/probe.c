/* SPDX-License-Identifier: MIT */
#include "host/tool/probe.h"

#include <stdio.h>

#include "hal/shared.h"
#include "patchbay/patchbay.h"

/* Time for an attach, in microseconds. */
#define ATTACH_TIMEOUT_US 10000000u
/* Number and length in microseconds of the waits for a boot in progress, and for an admin to grant privileges. */
#define WAITS_MOST 200u
#define WAIT_US    2000u

/* Attaches as the admin and grants a channel what the supervisor of an emulated card grants its clients. */
static enum pb_error grant(struct pb_link *link, uint32_t client)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {client, PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY, 1,
							  PB_PRIORITY_REALTIME};
	struct pb_channel admin;
	enum pb_error error;
	enum pb_error left;

	link->channel = PB_CHANNEL_ADMIN;
	error = pb_channel_attach(&admin, link, ATTACH_TIMEOUT_US);
	link->channel = client;
	if (error != PB_ERROR_OK)
		return error;
	error = pb_channel_command(&admin, PB_COMMAND_CHANNEL_GRANT, arguments, NULL);
	left = pb_channel_detach(&admin);
	return error != PB_ERROR_OK ? error : left;
}

/*
 * Queries whether the channel has PB_PRIVILEGE_PAGING. Repeats the query while an admin is attached who may grant it.
 */
static enum pb_error ask_privileges(struct pb_channel *channel, bool *granted)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_CHANNEL, channel->link->channel};
	const struct pb_channel_entry *admin =
		(const void *)(channel->link->memory + channel->card.channel_directory_offset);
	uint32_t results[PB_REPLY_RESULTS] = {0};
	enum pb_error error = PB_ERROR_OK;

	*granted = false;
	for (uint32_t i = 0; i < WAITS_MOST && error == PB_ERROR_OK; i++) {
		error = pb_channel_command(channel, PB_COMMAND_QUERY, arguments, results);
		*granted = error == PB_ERROR_OK && (results[0] & PB_PRIVILEGE_PAGING) != 0;
		if (*granted || pb_shared_read32(&admin->state) != PB_CHANNEL_OPEN)
			break;
		if (error == PB_ERROR_OK)
			error = channel->link->ops->wait(channel->link, WAIT_US);
	}
	return error;
}

/* Makes sure that the link's channel has the privileges that commands need. */
static enum pb_error get_privileges(struct pb_link *link)
{
	struct pb_channel channel;
	bool granted;
	enum pb_error error = pb_channel_attach(&channel, link, ATTACH_TIMEOUT_US);
	enum pb_error left;

	if (error != PB_ERROR_OK)
		return error;
	error = ask_privileges(&channel, &granted);
	left = pb_channel_detach(&channel);
	if (error == PB_ERROR_OK)
		error = left;
	return error == PB_ERROR_OK && !granted ? grant(link, link->channel) : error;
}

/* Waits for a boot in progress. @return true: the firmware runs, without a supervisor */
static bool runs_alone(struct pb_link *link)
{
	struct pb_card_info info;
	enum pb_error error = pb_card_read(link, &info);

	for (uint32_t i = 0;
	     i < WAITS_MOST && error == PB_ERROR_OK && info.boot_stage < PB_BOOT_STAGE_RUNNING; i++) {
		error = link->ops->wait(link, WAIT_US);
		if (error == PB_ERROR_OK)
			error = pb_card_read(link, &info);
	}
	return error == PB_ERROR_OK && info.boot_stage == PB_BOOT_STAGE_RUNNING &&
	       info.mcu_state == PB_MCU_UNKNOWN;
}

/* Lets the link use the admin's channel, unless an admin is attached. @return false: one is */
static bool take_admin(struct pb_link *link)
{
	struct pb_card_info info;
	const struct pb_channel_entry *admin;

	if (pb_card_read(link, &info) != PB_ERROR_OK)
		return false;
	admin = (const void *)(link->memory + info.channel_directory_offset);
	if (pb_shared_read32(&admin->state) == PB_CHANNEL_OPEN)
		return false;
	link->channel = PB_CHANNEL_ADMIN;
	return true;
}

enum pb_error pb_open_probe(const struct pb_gdb_target *target, enum pb_probe_needs needs,
			    struct pb_link **link, char message[PB_GDB_MESSAGE_BYTES])
{
	enum pb_error error = pb_link_open_gdb(target, link, message);

	if (error != PB_ERROR_OK)
		return error;
	if (needs == PB_PROBE_READ || !runs_alone(*link) || (*link)->channel == PB_CHANNEL_ADMIN)
		return PB_ERROR_OK;
	if (needs == PB_PROBE_ASK && take_admin(*link))
		return PB_ERROR_OK;
	error = get_privileges(*link);
	/* Firmware that died meanwhile is reported by the command itself. */
	if (error == PB_ERROR_OK || error == PB_ERROR_FIRMWARE_DEAD)
		return PB_ERROR_OK;
	(void)snprintf(message, PB_GDB_MESSAGE_BYTES, "cannot attach a channel of the board at %s: %s: %s",
		       target->stub, pb_error_name(error), pb_error_meaning(error));
	(*link)->ops->close(*link);
	*link = NULL;
	return error;
}
