/* SPDX-License-Identifier: MIT */
#include "host/tool/replay_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "host/tool/placement.h"

/** Submissions from one show of the progress to the next. */
#define PROGRESS_STEP 16u

bool pb_replay_fail(struct pb_replay_run *run, int result, const char *format, ...)
{
	va_list arguments;

	if (run->result != PB_REPLAY_OK)
		return false;
	run->result = result;
	va_start(arguments, format);
	(void)vsnprintf(run->summary->message, sizeof(run->summary->message), format, arguments);
	va_end(arguments);
	return false;
}

bool pb_replay_fail_card(struct pb_replay_run *run, const char *what, enum pb_error error)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_failure(&run->channel, error, failure);
	return pb_replay_fail(run, PB_REPLAY_FAILED, "%s: %s", what, failure);
}

bool pb_replay_fail_submission(struct pb_replay_run *run, int result, uint32_t index, const char *message)
{
	return pb_replay_fail(run, result, "%.160s: submission %" PRIu32 ": %s", run->options->file, index,
			      message);
}

/** Records a failure of the file for CRCs. @return false */
static bool fail_crc_out(struct pb_replay_run *run)
{
	return pb_replay_fail(run, PB_REPLAY_REFUSED, "%.160s: %s", run->options->crc_out, strerror(errno));
}

bool pb_replay_open_files(struct pb_replay_run *run)
{
	if (!pb_subm_open(&run->reader, run->options->file))
		return pb_replay_fail(run, PB_REPLAY_REFUSED, "%s", run->reader.error);
	if (run->options->crc_out == NULL)
		return true;
	run->crc_out = fopen(run->options->crc_out, "w");
	if (run->crc_out == NULL)
		return fail_crc_out(run);
	(void)fputs("index\trelocs\tcrc_before\tcrc_after\n", run->crc_out);
	return true;
}

void pb_replay_close_files(struct pb_replay_run *run)
{
	pb_subm_close(&run->reader);
	if (run->crc_out != NULL && (ferror(run->crc_out) | fclose(run->crc_out)) != 0)
		(void)fail_crc_out(run);
}

struct pb_segment_request pb_replay_system(uint32_t bytes)
{
	return (struct pb_segment_request){
		.id = PB_SEGMENT_SYSTEM,
		.os_base = PB_PLACEMENT_TOP,
		.gpu_base = PB_PLACEMENT_TOP,
		.size = bytes,
		.backing_bytes = bytes,
	};
}

void pb_replay_set_rules(struct pb_replay_run *run, enum pb_patch_encoding encoding)
{
	run->rules = (struct pb_replay_rules){
		.card = &run->channel.card,
		.reloc_bits = run->reader.reloc_bits,
		.encoding = encoding,
		.presumed = run->options->presumed,
		.random = run->options->random,
		.random_state = run->options->seed,
	};
	run->formats.room = pb_replay_formats_room(&run->channel.card);
}

void pb_replay_show_progress(const struct pb_replay_run *run, uint32_t index)
{
	if (run->options->progress && index % PROGRESS_STEP == 0)
		(void)fprintf(stderr, "\rreplay: %" PRIu32 " of %" PRIu32, index, run->reader.count);
}

void pb_replay_clear_progress(const struct pb_replay_run *run)
{
	if (run->options->progress)
		(void)fputs("\r\033[K", stderr);
}
