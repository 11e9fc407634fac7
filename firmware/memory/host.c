/* SPDX-License-Identifier: MIT */
#include "firmware/memory/host.h"

#include "firmware/assert.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"

PB_CORE_COLD void pb_core_host_boot(const struct pb_firmware *firmware)
{
	const struct pb_firmware_config *config = firmware->config;
	const struct pb_host_window *window = &config->host;

	PB_ASSERT((window->offset | window->bytes) % PB_PAGE_BYTES == 0);
	PB_ASSERT(window->bytes == 0 || (window->offset >= config->memory_bytes + config->trace_bytes &&
					 window->bytes <= UINT32_MAX - window->offset));
}

/** Whether a run of pages by address is one: whole pages, none beyond the last address. */
static bool is_run(uint64_t address, uint32_t bytes)
{
	return bytes != 0 && (bytes | address) % PB_PAGE_BYTES == 0 && address <= UINT64_MAX - bytes;
}

/** A grant of the channel that has an address of a range. @return NULL: none has */
static struct pb_core_host_grant *find_any(struct pb_core_host *host, uint32_t channel, uint64_t address,
					   uint32_t bytes)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		struct pb_core_host_grant *grant = &host->grants[i];

		if (grant->bytes != 0 && grant->channel == channel && grant->address < address + bytes &&
		    address < grant->address + grant->bytes)
			return grant;
	}
	return NULL;
}

static struct pb_core_host_grant *find_free(struct pb_core_host *host)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		if (host->grants[i].bytes == 0)
			return &host->grants[i];
	}
	return NULL;
}

PB_CORE_COLD enum pb_error pb_core_host_grant(struct pb_firmware *firmware, uint32_t channel,
					      const uint32_t *arguments)
{
	const struct pb_host_window *window = &firmware->config->host;
	const uint32_t bytes = arguments[0];
	const uint64_t address = pb_core_wide(arguments[1], arguments[2]);
	const uint32_t offset = arguments[3];
	struct pb_core_host_grant *grant;

	if (window->bytes == 0)
		return PB_ERROR_UNSUPPORTED;
	if (!is_run(address, bytes) || offset % PB_PAGE_BYTES != 0 || bytes > window->bytes ||
	    offset > window->bytes - bytes)
		return PB_ERROR_BAD_ARGUMENT;
	grant = find_any(&firmware->host, channel, address, bytes);
	if (grant != NULL)
		return grant->address == address && grant->bytes == bytes &&
				       grant->offset == window->offset + offset
			       ? PB_ERROR_OK
			       : PB_ERROR_BUSY;
	grant = find_free(&firmware->host);
	if (grant == NULL)
		return PB_ERROR_NO_SPACE;
	*grant = (struct pb_core_host_grant){.address = address,
					     .bytes = bytes,
					     .offset = window->offset + offset,
					     .channel = (uint8_t)channel};
	return PB_ERROR_OK;
}

/** Cuts a range of addresses out of a grant that has one of them. @return false: two parts are left, and no entry is free */
static bool cut(struct pb_core_host *host, struct pb_core_host_grant *grant, uint64_t address, uint64_t end)
{
	const uint64_t grant_end = grant->address + grant->bytes;
	const uint32_t head = address > grant->address ? (uint32_t)(address - grant->address) : 0;
	const uint32_t tail = grant_end > end ? (uint32_t)(grant_end - end) : 0;
	struct pb_core_host_grant *behind = head == 0 ? grant : find_free(host);

	if (tail != 0) {
		if (behind == NULL)
			return false;
		*behind = (struct pb_core_host_grant){.address = end,
						      .bytes = tail,
						      .offset = grant->offset + (grant->bytes - tail),
						      .channel = grant->channel};
	}
	if (head != 0 || tail == 0)
		grant->bytes = head;
	return true;
}

PB_CORE_COLD enum pb_error pb_core_host_revoke(struct pb_core_host *host, uint32_t channel,
					       const uint32_t *arguments)
{
	const uint32_t bytes = arguments[0];
	const uint64_t address = pb_core_wide(arguments[1], arguments[2]);
	struct pb_core_host_grant *grant;
	enum pb_error error = PB_ERROR_BAD_ARGUMENT;

	if (!is_run(address, bytes))
		return error;
	while ((grant = find_any(host, channel, address, bytes)) != NULL) {
		if (!cut(host, grant, address, address + bytes))
			return PB_ERROR_NO_SPACE;
		error = PB_ERROR_OK;
	}
	return error;
}

PB_CORE_COLD void pb_core_host_forget(struct pb_core_host *host, uint32_t channel)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		if (host->grants[i].channel == channel)
			host->grants[i].bytes = 0;
	}
}

PB_CORE_COLD uint32_t pb_core_host_find(const struct pb_core_host *host, uint32_t channel, uint64_t address,
					uint32_t bytes)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		const struct pb_core_host_grant *grant = &host->grants[i];
		const uint64_t from = address - grant->address; /* wraps to a large one below the grant */

		if (grant->channel == channel && bytes <= grant->bytes && from <= grant->bytes - bytes)
			return bytes != 0 ? grant->offset + (uint32_t)from : 0;
	}
	return 0;
}

PB_CORE_COLD bool pb_core_host_holds(const struct pb_core_host *host, uint32_t channel, uint32_t offset,
				     uint32_t bytes)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		const struct pb_core_host_grant *grant = &host->grants[i];

		if (grant->channel == channel && bytes <= grant->bytes &&
		    offset - grant->offset <= grant->bytes - bytes)
			return true;
	}
	return false;
}

PB_CORE_COLD void pb_core_host_query(const struct pb_core_host *host, uint32_t channel, uint32_t index,
				     uint32_t *results)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		const struct pb_core_host_grant *grant = &host->grants[i];

		if (grant->bytes == 0 || grant->channel != channel || results[0]++ != index)
			continue;
		results[1] = (uint32_t)grant->address;
		results[2] = (uint32_t)(grant->address >> 32);
		results[3] = grant->bytes;
		results[4] = grant->offset;
	}
}
