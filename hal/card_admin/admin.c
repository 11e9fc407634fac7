/* SPDX-License-Identifier: MIT */
#include "hal/card_admin/admin.h"

#include <string.h>

#include "hal/shared.h"
#include "hal/shared_copy.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/errors.h"

/* More entries than this are no ring but garbage. */
#define ENTRIES_LIMIT 4096u
/*
 * What a client gets, in this order: paging buffers and questions about others, whose memory it maps anyway, a share like
 * the others' unless it asks for more, and every priority; its host memory; as much time for a hang and for a stop as
 * the nodes with limits of their own have.
 */
enum grant { GRANT_PRIVILEGES, GRANT_HOST, GRANT_HANG, GRANT_STOP, GRANTS };

static const uint32_t grant_code[GRANTS] = {[GRANT_PRIVILEGES] = PB_COMMAND_CHANNEL_GRANT,
					    [GRANT_HOST] = PB_COMMAND_HOST_GRANT,
					    [GRANT_HANG] = PB_COMMAND_CHANNEL_QUOTA,
					    [GRANT_STOP] = PB_COMMAND_CHANNEL_QUOTA};

/* Tags of questions begin here; those of the administrator's own commands are numbers of channels and nodes. */
#define TAG_OF_QUESTIONS 0x100u

void pb_card_admin_init(struct pb_card_admin *admin, const struct pb_card_admin_config *config)
{
	memset(admin, 0, sizeof(*admin));
	admin->config = *config;
}

/* Whether a range of card memory is there and its words are aligned. */
static bool inside(const struct pb_card_admin *admin, uint32_t offset, uint32_t bytes)
{
	return offset % sizeof(uint32_t) == 0 && bytes <= admin->config.memory_bytes &&
	       offset <= admin->config.memory_bytes - bytes;
}

/* The address of an offset that has been checked. */
static void *at(const struct pb_card_admin *admin, uint32_t offset)
{
	return admin->config.memory + offset;
}

/* ---- attach ---- */

static uint32_t fresh_request(const struct pb_channel_entry *entry)
{
	uint32_t counter = pb_shared_read32(&entry->attach_request) & ~PB_ATTACH_OP_MASK;
	uint32_t request = (counter + PB_ATTACH_COUNTER_ONE) | PB_ATTACH_OP_ATTACH;

	return request != pb_shared_read32(&entry->attach_done) ? request : request + PB_ATTACH_COUNTER_ONE;
}

void pb_card_admin_start(struct pb_card_admin *admin)
{
	const struct pb_boot_block *boot = at(admin, PB_BOOT_OFFSET);
	uint32_t directory = pb_shared_read32(&boot->channel_directory_offset);
	struct pb_channel_entry *entry;

	admin->state = PB_CARD_ADMIN_LOST;
	if (!inside(admin, directory, sizeof(*entry)) ||
	    pb_shared_read32(&boot->abi_version) >> 16 != PB_ABI_MAJOR)
		return;
	entry = at(admin, directory);
	admin->entry = entry;
	admin->control_put = 0;
	admin->reply_get = 0;
	pb_shared_write32(&entry->control_put, 0);
	pb_shared_write32(&entry->reply_get, 0);
	pb_shared_write32(&entry->kick_put, 0);
	pb_shared_write32(&entry->rescan, 0);
	pb_shared_write32(&entry->event_get, 0);
	pb_shared_write32(&entry->host_version, PB_ABI_VERSION);
	pb_shared_write32(&entry->incarnation, pb_shared_read32(&boot->incarnation));
	admin->request = fresh_request(entry);
	pb_shared_release();
	pb_shared_write32(&entry->attach_request, admin->request);
	admin->state = PB_CARD_ADMIN_ATTACHING;
	admin->config.ring(admin->config.context);
}

void pb_card_admin_stop(struct pb_card_admin *admin)
{
	admin->state = PB_CARD_ADMIN_OFF;
	admin->closes = 0;
	admin->closing = 0;
	admin->grants = 0;
	admin->granting = 0;
	memset(admin->grant, 0, sizeof(admin->grant));
	admin->leaving = 0;
	admin->slow = 0;
	admin->slowing = 0;
	admin->asking = 0;
}

static bool read_rings(struct pb_card_admin *admin)
{
	const struct pb_channel_entry *entry = admin->entry;
	uint32_t entries = pb_shared_read32(&entry->control_entries);

	admin->control_offset = pb_shared_read32(&entry->control_offset);
	admin->reply_offset = pb_shared_read32(&entry->reply_offset);
	admin->entries = entries;
	return entries != 0 && (entries & (entries - 1u)) == 0 && entries <= ENTRIES_LIMIT &&
	       inside(admin, admin->control_offset, entries * (uint32_t)sizeof(struct pb_command)) &&
	       inside(admin, admin->reply_offset, entries * (uint32_t)sizeof(struct pb_reply));
}

/* The channels behind the admin's own. */
static uint32_t clients(const struct pb_card_admin *admin)
{
	const struct pb_boot_block *boot = at(admin, PB_BOOT_OFFSET);
	uint32_t count = pb_shared_read32(&boot->channel_count);

	return (count < 32u ? (1u << count) - 1u : UINT32_MAX) & ~(1u << PB_CHANNEL_ADMIN);
}

/* Each client's part of the host memory that the card reaches. Pre: there are clients. */
static uint32_t share_of_each(const struct pb_card_admin *admin)
{
	const struct pb_boot_block *boot = at(admin, PB_BOOT_OFFSET);
	const uint32_t offset = pb_shared_read32(&boot->capability_offset);
	const uint32_t bytes = PB_CAPABILITY_HOST_BYTES * (uint32_t)sizeof(struct pb_capability);
	const struct pb_capability *capability;

	/* Keys count from 1, without a hole. */
	if (pb_shared_read32(&boot->capability_count) < PB_CAPABILITY_HOST_BYTES ||
	    !inside(admin, offset, bytes))
		return 0;
	capability = (const struct pb_capability *)at(admin, offset) + (PB_CAPABILITY_HOST_BYTES - 1u);
	if (pb_shared_read32(&capability->key) != PB_CAPABILITY_HOST_BYTES)
		return 0;
	return pb_shared_read32(&capability->value) / (pb_shared_read32(&boot->channel_count) - 1u) /
	       PB_PAGE_BYTES * PB_PAGE_BYTES;
}

static void finish_attach(struct pb_card_admin *admin)
{
	if (pb_shared_read32(&admin->entry->attach_done) != admin->request)
		return;
	pb_shared_acquire();
	admin->state = PB_CARD_ADMIN_LOST;
	if (pb_shared_read32(&admin->entry->state) != PB_CHANNEL_OPEN || !read_rings(admin))
		return;
	admin->state = PB_CARD_ADMIN_ATTACHED;
	admin->grants = clients(admin);
	admin->slow = admin->config.slow_nodes;
	admin->share = admin->grants != 0 ? share_of_each(admin) : 0;
}

/* ---- commands ---- */

/* What a client gets of host memory. Client c, from 1, has the equal part c - 1. */
static uint32_t share_of(const struct pb_card_admin *admin, uint32_t channel, uint32_t *offset)
{
	const struct pb_card_admin_shares *shares = admin->config.host;

	if (shares != NULL && shares->chosen && channel < PB_CARD_ADMIN_SHARES) {
		*offset = shares->offset[channel];
		return shares->bytes[channel];
	}
	*offset = (channel - 1u) * admin->share;
	return admin->share;
}

/* The arguments of a grant, behind its channel. */
static void grant_arguments(const struct pb_card_admin *admin, uint32_t channel, uint32_t *arguments)
{
	switch (admin->grant[channel]) {
	case GRANT_PRIVILEGES:
		arguments[1] = PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY;
		arguments[2] = admin->weight[channel] != 0 ? admin->weight[channel] : 1u;
		arguments[3] = PB_PRIORITY_REALTIME;
		break;
	case GRANT_HOST:
		arguments[1] = share_of(admin, channel, &arguments[4]);
		break;
	default:
		arguments[1] = admin->grant[channel] == GRANT_HANG ? PB_RESOURCE_HANG_MICROSECONDS
								   : PB_RESOURCE_STOP_MICROSECONDS;
		arguments[2] = admin->config.slow_us;
		break;
	}
}

/* The arguments of a command behind its channel, or its node. */
static void command_arguments(const struct pb_card_admin *admin, uint32_t code, uint32_t channel,
			      uint32_t *arguments)
{
	if (code == PB_COMMAND_NODE_SET)
		/* Time without progress, and for an answer. */
		arguments[3] = arguments[4] = admin->config.slow_us;
	else if (code != PB_COMMAND_CHANNEL_CLOSE)
		grant_arguments(admin, channel, arguments);
}

/* Puts a command into the ring, which has room. */
static void put_command(struct pb_card_admin *admin, uint32_t code, uint32_t tag, const uint32_t *arguments)
{
	struct pb_command *ring = at(admin, admin->control_offset);
	struct pb_command *command = &ring[admin->control_put & (admin->entries - 1u)];

	pb_shared_write32(&command->code, code);
	pb_shared_write32(&command->tag, tag);
	for (uint32_t i = 0; i < PB_COMMAND_ARGUMENTS; i++)
		pb_shared_write32(&command->arguments[i], arguments[i]);
	pb_shared_release();
	pb_shared_write32(&admin->entry->control_put, ++admin->control_put);
	admin->config.ring(admin->config.context);
}

static void send(struct pb_card_admin *admin, uint32_t code, uint32_t channel)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {channel};

	command_arguments(admin, code, channel, arguments);
	put_command(admin, code, channel, arguments);
}

/* A command that has no reply yet keeps its entry in both rings. */
static bool has_room(const struct pb_card_admin *admin)
{
	return admin->control_put - admin->reply_get < admin->entries;
}

static void send_wanted(struct pb_card_admin *admin)
{
	uint32_t grants;

	for (; admin->closes != 0 && has_room(admin); admin->closes &= admin->closes - 1u) {
		send(admin, PB_COMMAND_CHANNEL_CLOSE, (uint32_t)__builtin_ctz(admin->closes));
		admin->closing |= admin->closes & (0u - admin->closes);
	}
	for (; admin->slow != 0 && has_room(admin); admin->slow &= admin->slow - 1u) {
		send(admin, PB_COMMAND_NODE_SET, (uint32_t)__builtin_ctz(admin->slow));
		admin->slowing |= admin->slow & (0u - admin->slow);
	}
	/* One at a time of each channel: their replies are alike. */
	while ((grants = admin->grants & ~admin->granting) != 0 && has_room(admin)) {
		send(admin, PB_COMMAND_CHANNEL_GRANT, (uint32_t)__builtin_ctz(grants));
		admin->grants &= ~(grants & (0u - grants));
		admin->granting |= grants & (0u - grants);
	}
}

/* Closing took the channel's privileges; the next client shall have them. */
static void was_closed(struct pb_card_admin *admin, uint32_t channel)
{
	admin->closing &= ~(1u << channel);
	admin->leaving |= 1u << channel;
	admin->grants |= 1u << channel;
}

/* Whether a grant is made on this card. */
static bool has_grant(const struct pb_card_admin *admin, uint32_t channel, uint32_t grant)
{
	uint32_t offset;

	return grant == GRANT_HOST ? share_of(admin, channel, &offset) != 0 : admin->config.slow_nodes != 0;
}

/* The firmware has answered a grant. The next one takes the entry that is free now; behind the last one the channel has all. */
static void was_granted(struct pb_card_admin *admin, uint32_t channel)
{
	const uint32_t bit = 1u << channel;
	uint32_t next = admin->grant[channel] + 1u;

	while (next != GRANTS && !has_grant(admin, channel, next))
		next++;
	admin->grant[channel] = (uint8_t)(next % GRANTS);
	if (next != GRANTS) {
		send(admin, grant_code[next], channel);
		return;
	}
	admin->granting &= ~bit;
	/* A grant from before it was closed, or one to follow, does not count. */
	if ((admin->leaving & bit) == 0 || (admin->grants & bit) != 0)
		return;
	admin->leaving &= ~bit;
	admin->config.closed(admin->config.context, channel);
}

/* Hands on the reply to a question. @return false: there is no such question */
static bool take_answer(struct pb_card_admin *admin, const struct pb_reply *shared, uint32_t tag)
{
	const uint32_t question = tag - TAG_OF_QUESTIONS;
	struct pb_reply reply;

	if (question >= PB_CARD_ADMIN_QUESTIONS || (admin->asking & 1u << question) == 0)
		return false;
	pb_shared_copy_in(&reply, shared, sizeof(reply));
	pb_shared_release();
	pb_shared_write32(&admin->entry->reply_get, ++admin->reply_get);
	admin->asking &= ~(1u << question);
	admin->config.answered(admin->config.context, question, &reply);
	return true;
}

/* Whether a command about a channel, or a node, has no reply yet. */
static bool is_asked(const struct pb_card_admin *admin, uint32_t code, uint32_t channel)
{
	uint32_t asked = 0;

	if (channel >= PB_CARD_ADMIN_CHANNELS)
		return false;
	if (code == PB_COMMAND_CHANNEL_CLOSE)
		asked = admin->closing;
	else if (code == PB_COMMAND_NODE_SET)
		asked = admin->slowing;
	else if (code == grant_code[admin->grant[channel]])
		asked = admin->granting;
	return (asked & 1u << channel) != 0;
}

/* @return false: the reply answers nothing that was asked */
static bool take_reply(struct pb_card_admin *admin)
{
	const struct pb_reply *ring = at(admin, admin->reply_offset);
	const struct pb_reply *reply = &ring[admin->reply_get & (admin->entries - 1u)];
	uint32_t channel = pb_shared_read32(&reply->tag);
	uint32_t code = pb_shared_read32(&reply->code);
	uint32_t error = pb_shared_read32(&reply->error);

	if (channel >= TAG_OF_QUESTIONS)
		return take_answer(admin, reply, channel);
	if (!is_asked(admin, code, channel))
		return false;
	pb_shared_release();
	pb_shared_write32(&admin->entry->reply_get, ++admin->reply_get);
	if (error != PB_ERROR_OK)
		admin->config.refused(admin->config.context, code, channel, error);
	if (code == PB_COMMAND_NODE_SET)
		admin->slowing &= ~(1u << channel);
	else if (code == PB_COMMAND_CHANNEL_CLOSE)
		was_closed(admin, channel);
	else
		was_granted(admin, channel);
	return true;
}

static void take_replies(struct pb_card_admin *admin)
{
	uint32_t unread = pb_shared_read32(&admin->entry->reply_put) - admin->reply_get;
	bool sound = unread <= admin->control_put - admin->reply_get;

	pb_shared_acquire();
	for (; sound && unread != 0; unread--)
		sound = take_reply(admin);
	if (!sound)
		admin->state = PB_CARD_ADMIN_LOST;
}

void pb_card_admin_weigh(struct pb_card_admin *admin, uint32_t channel, uint32_t weight)
{
	admin->weight[channel] = (uint8_t)weight;
	/* Once attached, all channels are granted what they are to have then. */
	if (admin->state == PB_CARD_ADMIN_ATTACHED)
		admin->grants |= 1u << channel;
	pb_card_admin_poll(admin);
}

void pb_card_admin_close(struct pb_card_admin *admin, uint32_t channel)
{
	admin->weight[channel] = 0;
	admin->closes |= 1u << channel;
	pb_card_admin_poll(admin);
}

enum pb_error pb_card_admin_ask(struct pb_card_admin *admin, uint32_t question, uint32_t code,
				const uint32_t *arguments)
{
	uint32_t asked = 0;

	if (admin->state == PB_CARD_ADMIN_ATTACHING)
		return PB_ERROR_BUSY;
	if (admin->state != PB_CARD_ADMIN_ATTACHED)
		return PB_ERROR_FIRMWARE_DEAD;
	for (uint32_t left = admin->asking; left != 0; left &= left - 1u)
		asked++;
	if (asked >= admin->entries / 2u || !has_room(admin))
		return PB_ERROR_BUSY;
	admin->asking |= 1u << question;
	put_command(admin, code, TAG_OF_QUESTIONS + question, arguments);
	return PB_ERROR_OK;
}

void pb_card_admin_poll(struct pb_card_admin *admin)
{
	if (admin->state == PB_CARD_ADMIN_ATTACHING)
		finish_attach(admin);
	if (admin->state == PB_CARD_ADMIN_ATTACHED)
		take_replies(admin);
	if (admin->state == PB_CARD_ADMIN_ATTACHED)
		send_wanted(admin);
}

bool pb_card_admin_settled(const struct pb_card_admin *admin)
{
	return admin->state == PB_CARD_ADMIN_LOST ||
	       (admin->state == PB_CARD_ADMIN_ATTACHED &&
		(admin->grants | admin->granting | admin->slow | admin->slowing) == 0);
}
