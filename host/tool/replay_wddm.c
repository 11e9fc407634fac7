/* SPDX-License-Identifier: MIT */
#include "host/tool/replay_wddm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "host/tool/placement.h"
#include "host/tool/replay_wddm_state.h"
#include "host/tool/wddm_card.h"

#define ATTACH_TIMEOUT_US 30000000u

bool pb_replay_wddm_fail(struct pb_replay_wddm *replay, int result, const char *format, ...)
{
	va_list arguments;

	if (replay->result != PB_REPLAY_OK)
		return false;
	replay->result = result;
	va_start(arguments, format);
	(void)vsnprintf(replay->summary->message, sizeof(replay->summary->message), format, arguments);
	va_end(arguments);
	return false;
}

bool pb_replay_wddm_fail_card(struct pb_replay_wddm *replay, const char *what, enum pb_error error)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_failure(&replay->channel, error, failure);
	return pb_replay_wddm_fail(replay, PB_REPLAY_FAILED, "%s: %s", what, failure);
}

bool pb_replay_wddm_fail_job(struct pb_replay_wddm *replay, int result, const struct pb_replay_wddm_job *job,
			     const char *message)
{
	return pb_replay_wddm_fail(replay, result, "%.160s: submission %" PRIu32 ": %s",
				   replay->options->file, job->replay.submission.index, message);
}

bool pb_replay_wddm_fail_os(struct pb_replay_wddm *replay)
{
	return pb_replay_wddm_fail(replay, PB_REPLAY_FAILED, "%s", replay->os.message);
}

/* ---- the file's needs ---- */

static void raise(uint32_t *most, uint32_t value)
{
	if (value > *most)
		*most = value;
}

/** Finds the sizes of the longest lists and of the largest buffer. */
static bool find_needs(struct pb_replay_wddm *replay)
{
	struct pb_subm_submission submission = {0};
	struct pb_subm_reader reader;
	int got = -1;

	if (pb_subm_open(&reader, replay->options->file)) {
		while ((got = pb_subm_next(&reader, &submission)) > 0) {
			const uint64_t bytes = pb_replay_job_bytes(&submission, PB_PATCH_ENCODING_WDDM);

			if (bytes > replay->largest)
				replay->largest = bytes;
			raise(&replay->objects, submission.object_count);
			raise(&replay->relocations, submission.relocation_count);
		}
		pb_subm_close(&reader);
		pb_subm_submission_free(&submission);
	}
	return got == 0 || pb_replay_wddm_fail(replay, PB_REPLAY_REFUSED, "%s", reader.error);
}

/* ---- the card ---- */

static uint32_t at_most(uint32_t value, uint32_t limit)
{
	return value < limit ? value : limit;
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PB_PAGE_BYTES - 1) / PB_PAGE_BYTES * PB_PAGE_BYTES;
}

/** Returns the bytes for the queue, the lists of all packets in flight and some DMA buffers, limited to the pool. */
static uint32_t system_bytes(const struct pb_replay_wddm *replay, const struct pb_wddm_config *config,
			     uint32_t buffers)
{
	const uint32_t *capabilities = replay->channel.card.capabilities;
	const uint32_t pool = pb_card_pool_most(&replay->channel.card) / PB_PAGE_BYTES * PB_PAGE_BYTES;
	const uint32_t least = capabilities[PB_CAPABILITY_RING_ENTRIES_MIN];
	const uint64_t entries = least > PB_OS_QUEUE_ENTRIES ? least : PB_OS_QUEUE_ENTRIES;
	const uint64_t lists = config->allocations * sizeof(struct pb_allocation) +
			       config->patches * sizeof(struct pb_patch_location);
	const uint64_t queue = sizeof(struct pb_queue_page) + entries * sizeof(struct pb_descriptor);
	const uint64_t bytes = whole_pages(queue + entries * lists + 2 * PB_LINE_BYTES) +
			       buffers * whole_pages(replay->largest);

	return bytes < pool ? (uint32_t)bytes : pool;
}

/** Creates segment 0 for two DMA buffers, or for one if the card has less memory free. */
static enum pb_error create_system(struct pb_replay_wddm *replay, const struct pb_wddm_config *config)
{
	enum pb_error error = PB_ERROR_NO_SPACE;

	for (uint32_t buffers = 2; error == PB_ERROR_NO_SPACE && buffers > 0; buffers--) {
		const uint32_t bytes = system_bytes(replay, config, buffers);
		/* Above all targets, so that the segments' addresses do not overlap. */
		const struct pb_segment_request request = {
			.id = PB_SEGMENT_SYSTEM,
			.os_base = PB_PLACEMENT_TOP,
			.gpu_base = PB_PLACEMENT_TOP,
			.size = bytes,
			.backing_bytes = bytes,
		};

		error = pb_wddm_create_system(&replay->system, &replay->channel, replay->options->host_memory,
					      &request);
	}
	return error;
}

static bool start_os(struct pb_replay_wddm *replay, const struct pb_wddm_config *config)
{
	struct pb_dxgkarg_createcontext create = {.EngineAffinity = 1};

	if (!pb_os_start(&replay->os, config))
		return pb_replay_wddm_fail_os(replay);
	replay->os.client = pb_replay_wddm_client();
	replay->private_bytes = (uint32_t)pb_wddm_private_bytes(config->allocations, config->patches);
	return pb_wddm_create_context(&replay->os.adapter, &replay->context, &create, replay->staging,
				      sizeof(replay->staging)) == PB_STATUS_SUCCESS ||
	       pb_replay_wddm_fail(replay, PB_REPLAY_FAILED, "CreateContext failed");
}

static bool set_up_card(struct pb_replay_wddm *replay, struct pb_link *link)
{
	const struct pb_segment_request targets = {.id = PB_REPLAY_WDDM_TARGETS, .size = PB_PLACEMENT_TOP};
	const uint32_t *capabilities = replay->channel.card.capabilities;
	struct pb_wddm_config config = {
		.channel = &replay->channel,
		.segments =
			{[PB_SEGMENT_SYSTEM] = &replay->system, [PB_REPLAY_WDDM_TARGETS] = &replay->targets},
		.interface_version = PB_DXGKDDI_WDDM1_3,
		.node_count = 1,
	};
	enum pb_error error = pb_wddm_take_card(link, 1);

	if (error == PB_ERROR_OK)
		error = pb_channel_attach(&replay->channel, link, ATTACH_TIMEOUT_US);
	if (error != PB_ERROR_OK)
		return pb_replay_wddm_fail_card(replay, "cannot attach to the card", error);
	/* Longer lists are refused with their submission. */
	config.allocations = at_most(replay->objects + 1, capabilities[PB_CAPABILITY_ALLOCATIONS_MAX]);
	config.patches = at_most(replay->relocations + 1, capabilities[PB_CAPABILITY_PATCHES_MAX]);
	error = create_system(replay, &config);
	if (error == PB_ERROR_OK)
		error = pb_segment_create(&replay->targets, &replay->channel, &targets);
	if (error != PB_ERROR_OK)
		return pb_replay_wddm_fail_card(replay, "cannot create the segments", error);
	return start_os(replay, &config);
}

/* ---- the file ---- */

static bool open_files(struct pb_replay_wddm *replay)
{
	const struct pb_replay_options *options = replay->options;

	if (!pb_subm_open(&replay->reader, options->file))
		return pb_replay_wddm_fail(replay, PB_REPLAY_REFUSED, "%s", replay->reader.error);
	if (options->crc_out == NULL)
		return true;
	replay->crc_out = fopen(options->crc_out, "w");
	if (replay->crc_out == NULL)
		return pb_replay_wddm_fail(replay, PB_REPLAY_REFUSED, "%.160s: %s", options->crc_out,
					   strerror(errno));
	(void)fputs("index\trelocs\tcrc_before\tcrc_after\n", replay->crc_out);
	return true;
}

static void close_files(struct pb_replay_wddm *replay)
{
	pb_subm_close(&replay->reader);
	if (replay->crc_out == NULL)
		return;
	if ((ferror(replay->crc_out) | fclose(replay->crc_out)) != 0)
		(void)pb_replay_wddm_fail(replay, PB_REPLAY_REFUSED, "%.160s: %s", replay->options->crc_out,
					  strerror(errno));
}

static void tear_down(struct pb_replay_wddm *replay)
{
	enum pb_error error = PB_ERROR_OK;

	if (replay->context.adapter != NULL && replay->result == PB_REPLAY_OK)
		error = pb_wddm_context_destroy(&replay->context);
	/* After a failure the kernel's queues are left to the detach. */
	replay->os.failed = replay->os.failed || replay->result != PB_REPLAY_OK;
	pb_os_stop(&replay->os);
	if (replay->channel.attached && error == PB_ERROR_OK)
		error = pb_channel_detach(&replay->channel);
	if (error != PB_ERROR_OK)
		(void)pb_replay_wddm_fail_card(replay, "cannot detach from the card", error);
	for (size_t i = 0; i < sizeof(replay->jobs) / sizeof(replay->jobs[0]); i++) {
		pb_replay_wddm_clear(&replay->jobs[i]);
		pb_subm_submission_free(&replay->jobs[i].replay.submission);
	}
}

static void run(struct pb_replay_wddm *replay, struct pb_link *link)
{
	if (set_up_card(replay, link)) {
		replay->rules = (struct pb_replay_rules){
			.card = &replay->channel.card,
			.reloc_bits = replay->reader.reloc_bits,
			.encoding = PB_PATCH_ENCODING_WDDM,
			.random = replay->options->random,
			.random_state = replay->options->seed,
		};
		replay->formats.room = pb_replay_formats_room(&replay->channel.card);
		pb_replay_wddm_all(replay);
		if (replay->options->progress)
			(void)fputs("\r\033[K", stderr);
	}
	replay->summary->packets = replay->os.figures.submitted;
	replay->summary->patched = replay->os.figures.patched;
	replay->summary->preemptions = replay->os.figures.preemptions;
	replay->summary->host_memory = replay->system.request.kind == PB_SEGMENT_HOST;
	tear_down(replay);
}

int pb_replay_run_wddm(struct pb_link *link, const struct pb_replay_options *options,
		       struct pb_replay_summary *summary)
{
	struct pb_replay_wddm *replay = calloc(1, sizeof(*replay));
	int result;

	*summary = (struct pb_replay_summary){0};
	if (replay == NULL) {
		(void)snprintf(summary->message, sizeof(summary->message), "out of memory");
		return PB_REPLAY_FAILED;
	}
	replay->options = options;
	replay->summary = summary;
	if (open_files(replay) && find_needs(replay))
		run(replay, link);
	close_files(replay);
	result = replay->result;
	free(replay);
	return result;
}
