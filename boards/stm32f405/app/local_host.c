/* SPDX-License-Identifier: MIT */
#include "boards/stm32f405/app/local_host.h"

#include "hal/shared.h"
#include "hal/shared_copy.h"
#include "patchbay/abi/boot.h"

/* The firmware polls every channel before it sleeps. */
static void no_doorbell(void *context)
{
	(void)context;
}

static void closed(void *context, uint32_t channel)
{
	(void)context;
	(void)channel;
}

static void refused(void *context, uint32_t code, uint32_t channel, uint32_t error)
{
	struct pb_local_admin *admin = context;

	(void)code;
	(void)channel;
	admin->refused = error;
}

void pb_local_admin_start(struct pb_local_admin *admin, uint8_t *memory, uint32_t memory_bytes)
{
	const struct pb_card_admin_config config = {
		.memory = memory,
		.memory_bytes = memory_bytes,
		.ring = no_doorbell,
		.closed = closed,
		.refused = refused,
		.context = admin,
	};

	pb_card_admin_init(&admin->admin, &config);
	pb_card_admin_start(&admin->admin);
}

static void *at(const struct pb_local_host *host, uint32_t offset)
{
	return host->memory + offset;
}

static const struct pb_boot_block *boot_of(const struct pb_local_host *host)
{
	return at(host, PB_BOOT_OFFSET);
}

static void request(struct pb_local_host *host, uint32_t op)
{
	const uint32_t counter = pb_shared_read32(&host->entry->attach_done) & ~PB_ATTACH_OP_MASK;

	host->request = (counter + PB_ATTACH_COUNTER_ONE) | op;
	pb_shared_release();
	pb_shared_write32(&host->entry->attach_request, host->request);
}

void pb_local_host_attach(struct pb_local_host *host)
{
	const struct pb_boot_block *boot = boot_of(host);
	struct pb_channel_entry *directory = at(host, pb_shared_read32(&boot->channel_directory_offset));
	struct pb_channel_entry *entry = &directory[host->channel];

	host->entry = entry;
	host->control_put = 0;
	host->reply_get = 0;
	host->kick_put = 0;
	pb_shared_write32(&entry->control_put, 0);
	pb_shared_write32(&entry->reply_get, 0);
	pb_shared_write32(&entry->kick_put, 0);
	pb_shared_write32(&entry->event_get, 0);
	pb_shared_write32(&entry->host_version, PB_ABI_VERSION);
	pb_shared_write32(&entry->incarnation, pb_shared_read32(&boot->incarnation));
	request(host, PB_ATTACH_OP_ATTACH);
}

void pb_local_host_detach(struct pb_local_host *host)
{
	request(host, PB_ATTACH_OP_DETACH);
}

bool pb_local_host_answered(const struct pb_local_host *host, uint32_t *state)
{
	if (pb_shared_read32(&host->entry->attach_done) != host->request)
		return false;
	pb_shared_acquire();
	*state = pb_shared_read32(&host->entry->state);
	return true;
}

void pb_local_host_ask(struct pb_local_host *host, uint32_t code, const uint32_t *arguments)
{
	struct pb_command *ring = at(host, pb_shared_read32(&host->entry->control_offset));
	const uint32_t entries = pb_shared_read32(&host->entry->control_entries);
	struct pb_command *command = &ring[host->control_put % entries];

	pb_shared_write32(&command->code, code);
	pb_shared_write32(&command->tag, host->control_put);
	pb_shared_copy_out(command->arguments, arguments, sizeof(command->arguments));
	pb_shared_release();
	pb_shared_write32(&host->entry->control_put, ++host->control_put);
}

bool pb_local_host_reply(struct pb_local_host *host, struct pb_reply *reply)
{
	const struct pb_reply *ring = at(host, pb_shared_read32(&host->entry->reply_offset));
	const uint32_t entries = pb_shared_read32(&host->entry->control_entries);

	if (pb_shared_read32(&host->entry->reply_put) == host->reply_get)
		return false;
	pb_shared_acquire();
	pb_shared_copy_in(reply, &ring[host->reply_get % entries], sizeof(*reply));
	pb_shared_release();
	pb_shared_write32(&host->entry->reply_get, ++host->reply_get);
	return true;
}

void pb_local_host_submit(struct pb_local_host *host, struct pb_local_queue *queue,
			  const struct pb_descriptor *descriptor)
{
	struct pb_descriptor *ring = (struct pb_descriptor *)(void *)(queue->page + 1);
	uint32_t *kicks = at(host, pb_shared_read32(&host->entry->kick_offset));
	const uint32_t entries = pb_shared_read32(&host->entry->kick_entries);

	pb_shared_copy_out(&ring[queue->put % queue->entries], descriptor, sizeof(*descriptor));
	pb_shared_release();
	pb_shared_write32(&queue->page->put, ++queue->put);
	pb_shared_release();
	pb_shared_write32(&kicks[host->kick_put % entries], queue->handle);
	pb_shared_release();
	pb_shared_write32(&host->entry->kick_put, ++host->kick_put);
}
