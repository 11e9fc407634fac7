/* SPDX-License-Identifier: MIT */
#include "host/tool/wddm_card.h"

#include "patchbay/abi/channel.h"

#define ATTACH_TIMEOUT_US 30000000u
/** Longest wait on the client's interrupt for an answer to the admin, which does not raise it; in microseconds. */
#define ADMIN_SLICE_US 1000u
/** Longer than TdrDelay, twice: a hang, or a preemption that is not answered, is for the OS to find. In microseconds. */
#define OS_PATIENCE_US 600000000u

/** The admin channel over a client's link. Nothing rings its doorbell: the firmware's tick finds its requests. */
struct admin {
	struct pb_link link; /* first: the operations get its address */
	struct pb_link *client;
};

static struct pb_link *client_of(struct pb_link *link)
{
	return ((struct admin *)(void *)link)->client;
}

static void no_doorbell(struct pb_link *link)
{
	(void)link;
}

static enum pb_error wait_a_little(struct pb_link *link, uint64_t timeout_us)
{
	struct pb_link *client = client_of(link);

	return client->ops->wait(client, timeout_us < ADMIN_SLICE_US ? timeout_us : ADMIN_SLICE_US);
}

static uint64_t now(struct pb_link *link)
{
	return client_of(link)->ops->now(client_of(link));
}

static void stay_open(struct pb_link *link)
{
	(void)link;
}

static const struct pb_link_ops admin_ops = {
	.doorbell = no_doorbell, .wait = wait_a_little, .now = now, .close = stay_open};

/** Grants all host memory. The supervisor gave each channel a part, at other addresses. */
static enum pb_error grant(struct pb_channel *admin, uint32_t channel)
{
	const uint32_t bytes = admin->card.capabilities[PB_CAPABILITY_HOST_BYTES];

	return bytes != 0 ? pb_host_grant(admin, channel, PB_WDDM_HOST_ADDRESS, bytes, 0) : PB_ERROR_OK;
}

enum pb_error pb_wddm_take_card(struct pb_link *link, uint32_t nodes)
{
	const struct pb_node_request request = {
		.mode = PB_NODE_HOST_ORDERED, .hang_us = OS_PATIENCE_US, .answer_us = OS_PATIENCE_US};
	struct admin admin = {.link = {.ops = &admin_ops,
				       .memory = link->memory,
				       .memory_bytes = link->memory_bytes,
				       .channel = PB_CHANNEL_ADMIN},
			      .client = link};
	struct pb_channel channel;
	enum pb_error error = pb_channel_attach(&channel, &admin.link, ATTACH_TIMEOUT_US);
	enum pb_error left;

	if (error != PB_ERROR_OK)
		return error;
	error = grant(&channel, link->channel);
	for (uint32_t n = 0; n < nodes && error == PB_ERROR_OK; n++)
		error = pb_node_set(&channel, n, &request);
	left = pb_channel_detach(&channel);
	return error != PB_ERROR_OK ? error : left;
}

enum pb_error pb_wddm_create_system(struct pb_segment *segment, struct pb_channel *channel,
				    uint8_t *host_memory, const struct pb_segment_request *request)
{
	const struct pb_host_pages pages = {.address = PB_WDDM_HOST_ADDRESS, .memory = host_memory};
	struct pb_segment_request in_host = *request;

	if (channel->card.capabilities[PB_CAPABILITY_HOST_BYTES] < request->backing_bytes)
		return pb_segment_create(segment, channel, request);
	in_host.kind = PB_SEGMENT_HOST;
	in_host.os_base = pages.address;
	return pb_segment_create_host(segment, channel, &in_host, &pages);
}
