/* SPDX-License-Identifier: MIT */
#include "firmware/memory/host.h"

#include "firmware/assert.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"

PB_CORE_COLD void pb_core_host_boot(const struct pb_firmware *firmware)
{
	const struct pb_firmware_config *config = firmware->config;
	const struct pb_host_window *window = config->host;

	if (window == NULL)
		return;
	PB_ASSERT((window->offset | window->bytes) % PB_PAGE_BYTES == 0);
	PB_ASSERT(window->bytes == 0 || (window->offset >= config->memory_bytes + config->trace_bytes &&
					 window->bytes <= UINT32_MAX - window->offset));
}

#define PAGE_SHIFT 12u
PB_STATIC_ASSERT(1u << PAGE_SHIFT == PB_PAGE_BYTES, "pages");

/** A run of pages, as a command names it. */
struct run {
	uint32_t page;  /**< the first one */
	uint32_t pages; /**< how many */
};

/** Reads bytes and address of a run of whole pages. @return false: it is none */
static bool read_run(const uint32_t *arguments, struct run *run)
{
	const uint64_t address = pb_core_wide(arguments[1], arguments[2]);

	run->page = (uint32_t)(address >> PAGE_SHIFT);
	run->pages = arguments[0] >> PAGE_SHIFT;
	return arguments[0] != 0 && (arguments[0] | arguments[1]) % PB_PAGE_BYTES == 0 &&
	       (address >> PAGE_SHIFT) + run->pages <= PB_CORE_HOST_PAGES;
}

/** Whether an entry is a grant of a channel. */
static bool is_of(const struct pb_core_host *host, const struct pb_core_host_grant *grant, uint32_t channel)
{
	return grant->pages != 0 && host->channels[grant - host->grants] == channel;
}

/** Fills an entry. */
static void set(struct pb_core_host *host, struct pb_core_host_grant *grant, uint32_t channel,
		const struct pb_core_host_grant *value)
{
	*grant = *value;
	host->channels[grant - host->grants] = (uint8_t)channel;
}

/** A grant of the channel that has a page of a run. @return NULL: none has */
static struct pb_core_host_grant *find_any(struct pb_core_host *host, uint32_t channel, const struct run *run)
{
	for (struct pb_core_host_grant *grant = host->grants; grant != host->grants + PB_LIMIT_HOST_GRANTS;
	     grant++) {
		if (is_of(host, grant, channel) &&
		    (run->page - grant->page < grant->pages || grant->page - run->page < run->pages))
			return grant;
	}
	return NULL;
}

static struct pb_core_host_grant *find_free(struct pb_core_host *host)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		if (host->grants[i].pages == 0)
			return &host->grants[i];
	}
	return NULL;
}

PB_CORE_COLD enum pb_error pb_core_host_grant(struct pb_firmware *firmware, uint32_t channel,
					      const uint32_t *arguments)
{
	const struct pb_host_window *window = firmware->config->host;
	const uint32_t offset = arguments[3];
	struct pb_core_host_grant *grant;
	struct run run;
	uint32_t window_page;

	if (pb_core_host_window_bytes(firmware) == 0)
		return PB_ERROR_UNSUPPORTED;
	if (!read_run(arguments, &run) || offset % PB_PAGE_BYTES != 0 || arguments[0] > window->bytes ||
	    offset > window->bytes - arguments[0])
		return PB_ERROR_BAD_ARGUMENT;
	window_page = (window->offset + offset) >> PAGE_SHIFT;
	grant = find_any(&firmware->host, channel, &run);
	if (grant != NULL)
		return grant->page == run.page && grant->pages == run.pages &&
				       grant->window_page == window_page
			       ? PB_ERROR_OK
			       : PB_ERROR_BUSY;
	grant = find_free(&firmware->host);
	if (grant == NULL)
		return PB_ERROR_NO_SPACE;
	set(&firmware->host, grant, channel, &(struct pb_core_host_grant){run.page, run.pages, window_page});
	return PB_ERROR_OK;
}

/**
 * Cuts a run out of a grant that has a page of it. Only a grant that has the whole run can be left in two parts, and then no
 * other grant has a page of the run. @return false: two parts are left, and no entry is free; nothing was changed
 */
static bool cut(struct pb_core_host *host, uint32_t channel, struct pb_core_host_grant *grant,
		const struct run *run)
{
	const uint32_t before = run->page - grant->page;
	const uint32_t head = before < grant->pages ? before : 0;
	const uint64_t end = (uint64_t)run->page + run->pages;
	const uint64_t grant_end = (uint64_t)grant->page + grant->pages;
	const uint32_t tail = grant_end > end ? (uint32_t)(grant_end - end) : 0;
	struct pb_core_host_grant *behind = head == 0 ? grant : find_free(host);

	if (tail != 0) {
		if (behind == NULL)
			return false;
		set(host, behind, channel,
		    &(struct pb_core_host_grant){(uint32_t)end, tail,
						 grant->window_page + (grant->pages - tail)});
	}
	if (head != 0 || tail == 0)
		grant->pages = head;
	return true;
}

PB_CORE_COLD enum pb_error pb_core_host_revoke(struct pb_core_host *host, uint32_t channel,
					       const uint32_t *arguments)
{
	struct pb_core_host_grant *grant;
	enum pb_error error = PB_ERROR_BAD_ARGUMENT;
	struct run run;

	if (!read_run(arguments, &run))
		return error;
	while ((grant = find_any(host, channel, &run)) != NULL) {
		if (!cut(host, channel, grant, &run))
			return PB_ERROR_NO_SPACE;
		error = PB_ERROR_OK;
	}
	return error;
}

PB_CORE_COLD void pb_core_host_forget(struct pb_core_host *host, uint32_t channel)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		if (host->channels[i] == channel)
			host->grants[i].pages = 0;
	}
}

/** A grant of the channel that has a whole run, of at least a page. @param by the window, or the host @return NULL: none */
static const struct pb_core_host_grant *find_whole(const struct pb_core_host *host, uint32_t channel,
						   const struct run *run, bool by_window)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		const struct pb_core_host_grant *grant = &host->grants[i];
		const uint32_t before = run->page - (by_window ? grant->window_page : grant->page);

		if (is_of(host, grant, channel) && before < grant->pages &&
		    run->pages <= grant->pages - before)
			return grant;
	}
	return NULL;
}

PB_CORE_COLD uint32_t pb_core_host_find(const struct pb_core_host *host, uint32_t channel,
					const uint32_t *arguments)
{
	const struct pb_core_host_grant *grant;
	struct run run;

	if (!read_run(arguments, &run))
		return 0;
	grant = find_whole(host, channel, &run, false);
	return grant != NULL ? (grant->window_page + (run.page - grant->page)) << PAGE_SHIFT : 0;
}

PB_CORE_COLD bool pb_core_host_holds(const struct pb_core_host *host, uint32_t channel, uint32_t offset,
				     uint32_t bytes)
{
	const struct run run = {offset >> PAGE_SHIFT, bytes >> PAGE_SHIFT};

	return find_whole(host, channel, &run, true) != NULL;
}

PB_CORE_COLD void pb_core_host_query(const struct pb_core_host *host, uint32_t channel, uint32_t index,
				     uint32_t *results)
{
	for (uint32_t i = 0; i < PB_LIMIT_HOST_GRANTS; i++) {
		const struct pb_core_host_grant *grant = &host->grants[i];

		if (!is_of(host, grant, channel) || results[0]++ != index)
			continue;
		results[1] = grant->page << PAGE_SHIFT;
		results[2] = grant->page >> (32u - PAGE_SHIFT);
		results[3] = grant->pages << PAGE_SHIFT;
		results[4] = grant->window_page << PAGE_SHIFT;
	}
}
