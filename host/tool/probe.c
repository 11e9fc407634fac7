/* SPDX-License-Identifier: MIT */
#include "host/tool/probe.h"

#include <stdio.h>

#include "host/patchbay.h"

/* For the firmware to let its admin in. */
#define ADMIN_TIMEOUT_US 10000000u

static enum pb_error grant(struct pb_link *link, uint32_t client)
{
	const uint32_t close[PB_COMMAND_ARGUMENTS] = {client};
	const uint32_t grant[PB_COMMAND_ARGUMENTS] = {client, PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY, 1,
						      PB_PRIORITY_REALTIME};
	struct pb_channel admin;
	enum pb_error error = pb_channel_attach(&admin, link, ADMIN_TIMEOUT_US);

	if (error != PB_ERROR_OK)
		return error;
	error = pb_channel_command(&admin, PB_COMMAND_CHANNEL_CLOSE, close, NULL);
	if (error == PB_ERROR_OK)
		error = pb_channel_command(&admin, PB_COMMAND_CHANNEL_GRANT, grant, NULL);
	return pb_channel_detach(&admin) != PB_ERROR_OK && error == PB_ERROR_OK ? PB_ERROR_FIRMWARE_DEAD
										: error;
}

static enum pb_error be_admin(struct pb_link *link)
{
	const uint32_t client = link->channel;
	struct pb_card_info info;
	enum pb_error error = pb_card_read(link, &info);

	if (error != PB_ERROR_OK || info.mcu_state != PB_MCU_UNKNOWN ||
	    info.boot_stage != PB_BOOT_STAGE_RUNNING || client == PB_CHANNEL_ADMIN)
		return PB_ERROR_OK;
	link->channel = PB_CHANNEL_ADMIN;
	error = grant(link, client);
	link->channel = client;
	return error == PB_ERROR_FIRMWARE_DEAD ? PB_ERROR_OK : error;
}

enum pb_error pb_open_probe(const struct pb_gdb_place *place, struct pb_link **link,
			    char message[PB_GDB_MESSAGE_BYTES])
{
	enum pb_error error = pb_link_open_gdb(place, link, message);

	if (error != PB_ERROR_OK)
		return error;
	error = be_admin(*link);
	if (error == PB_ERROR_OK)
		return error;
	(void)snprintf(message, PB_GDB_MESSAGE_BYTES, "the board at %s gives no channel: %s: %s", place->stub,
		       pb_error_name(error), pb_error_meaning(error));
	(*link)->ops->close(*link);
	*link = NULL;
	return error;
}
