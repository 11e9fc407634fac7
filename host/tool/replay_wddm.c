/* SPDX-License-Identifier: MIT */
#include "host/tool/replay_wddm.h"

#include <stdlib.h>

#include "host/tool/card_failure.h"
#include "host/tool/placement.h"
#include "host/tool/replay_wddm_state.h"
#include "host/tool/wddm_card.h"

#define ATTACH_TIMEOUT_US 30000000u

bool pb_replay_wddm_fail_os(struct pb_replay_wddm *replay)
{
	return pb_replay_fail(&replay->run, PB_REPLAY_FAILED, "%s", replay->os.message);
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

	if (pb_subm_open(&reader, replay->run.options->file)) {
		while ((got = pb_subm_next(&reader, &submission)) > 0) {
			const uint64_t bytes =
				pb_replay_job_bytes(&submission, PB_PATCH_ENCODING_WDDM, false);

			if (bytes > replay->largest)
				replay->largest = bytes;
			raise(&replay->objects, submission.object_count);
			raise(&replay->relocations, submission.relocation_count);
		}
		pb_subm_close(&reader);
		pb_subm_submission_free(&submission);
	}
	return got == 0 || pb_replay_fail(&replay->run, PB_REPLAY_REFUSED, "%s", reader.error);
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
	const uint32_t *capabilities = replay->run.channel.card.capabilities;
	const uint32_t pool = pb_card_pool_most(&replay->run.channel.card) / PB_PAGE_BYTES * PB_PAGE_BYTES;
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
		const struct pb_segment_request request = pb_replay_system(bytes);

		error = pb_wddm_create_system(&replay->system, &replay->run.channel,
					      replay->run.options->host_memory, &request);
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
	       pb_replay_fail(&replay->run, PB_REPLAY_FAILED, "CreateContext failed");
}

static bool set_up_card(struct pb_replay_wddm *replay, struct pb_link *link)
{
	const struct pb_segment_request targets = {.id = PB_REPLAY_WDDM_TARGETS, .size = PB_PLACEMENT_TOP};
	const uint32_t *capabilities = replay->run.channel.card.capabilities;
	struct pb_wddm_config config = {
		.channel = &replay->run.channel,
		.segments =
			{[PB_SEGMENT_SYSTEM] = &replay->system, [PB_REPLAY_WDDM_TARGETS] = &replay->targets},
		.interface_version = PB_DXGKDDI_WDDM1_3,
		.node_count = 1,
	};
	enum pb_error error = pb_wddm_take_card(link, 1);

	if (error == PB_ERROR_OK)
		error = pb_channel_attach(&replay->run.channel, link, ATTACH_TIMEOUT_US);
	if (error != PB_ERROR_OK)
		return pb_replay_fail_card(&replay->run, "cannot attach to the card", error);
	/* Longer lists are refused with their submission. */
	config.allocations = at_most(replay->objects + 1, capabilities[PB_CAPABILITY_ALLOCATIONS_MAX]);
	config.patches = at_most(replay->relocations + 1, capabilities[PB_CAPABILITY_PATCHES_MAX]);
	error = create_system(replay, &config);
	if (error == PB_ERROR_OK)
		error = pb_segment_create(&replay->targets, &replay->run.channel, &targets);
	if (error != PB_ERROR_OK)
		return pb_replay_fail_card(&replay->run, "cannot create the segments", error);
	return start_os(replay, &config);
}

/* ---- the whole replay ---- */

static void tear_down(struct pb_replay_wddm *replay)
{
	enum pb_error error = PB_ERROR_OK;

	if (replay->context.adapter != NULL && replay->run.result == PB_REPLAY_OK)
		error = pb_wddm_context_destroy(&replay->context);
	/* After a failure the kernel's queues are left to the detach. */
	replay->os.failed = replay->os.failed || replay->run.result != PB_REPLAY_OK;
	pb_os_stop(&replay->os);
	if (replay->run.channel.attached && error == PB_ERROR_OK)
		error = pb_channel_detach(&replay->run.channel);
	if (error != PB_ERROR_OK)
		(void)pb_replay_fail_card(&replay->run, "cannot detach from the card", error);
	for (size_t i = 0; i < sizeof(replay->jobs) / sizeof(replay->jobs[0]); i++) {
		pb_replay_wddm_clear(&replay->jobs[i]);
		pb_subm_submission_free(&replay->jobs[i].replay.submission);
	}
}

static void run(struct pb_replay_wddm *replay, struct pb_link *link)
{
	if (set_up_card(replay, link)) {
		pb_replay_set_rules(&replay->run, PB_PATCH_ENCODING_WDDM);
		pb_replay_wddm_all(replay);
		pb_replay_clear_progress(&replay->run);
	}
	replay->run.summary->packets = replay->os.figures.submitted;
	replay->run.summary->patched = replay->os.figures.patched;
	replay->run.summary->preemptions = replay->os.figures.preemptions;
	replay->run.summary->host_memory = replay->system.request.kind == PB_SEGMENT_HOST;
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
	replay->run.options = options;
	replay->run.summary = summary;
	if (pb_replay_open_files(&replay->run) && find_needs(replay))
		run(replay, link);
	pb_replay_close_files(&replay->run);
	result = replay->run.result;
	free(replay);
	return result;
}
