/* SPDX-License-Identifier: MIT */
#include "tests/sim/host_memory.h"

#include <string.h>

#include "tests/sim/host.h"
#include "tests/sim/judge.h"
#include "tests/sim/submission.h"

#define PATTERN 0xc5u
/** All of it, of a channel. */
#define SHARE_BYTES PB_WORLD_HOST_SHARE

PB_STATIC_ASSERT(PB_SUBMISSION_SYSTEM_BYTES + (PB_SEGMENTS - 1u) * PB_SUBMISSION_VIDEO_BYTES <= SHARE_BYTES,
		 "all segments of a channel");

bool pb_host_memory_has(const struct pb_run *run, uint32_t channel, uint32_t segment)
{
	/* No random number is drawn for this, so that the rest of the schedule is as without host memory. */
	return run->world.host_bytes != 0 && ((run->seed + channel) >> segment & 1u) == 0;
}

uint32_t pb_host_memory_address(uint32_t segment)
{
	return segment == 0 ? 0 : PB_SUBMISSION_SYSTEM_BYTES + (segment - 1u) * PB_SUBMISSION_VIDEO_BYTES;
}

static uint8_t *share_of(const struct pb_run *run, uint32_t channel)
{
	return run->world.memory + run->world.memory_bytes + (channel - 1u) * SHARE_BYTES;
}

static void check(struct pb_run *run, uint32_t channel)
{
	const struct pb_revoked *revoked = &run->revoked[channel];
	const uint8_t *bytes = share_of(run, channel) + revoked->address;

	for (uint32_t i = 0; i < revoked->bytes; i++) {
		if (bytes[i] != PATTERN)
			pb_run_break(run, "channel %u: byte 0x%x of host memory that was revoked has changed",
				     channel, revoked->address + i);
	}
}

void pb_host_memory_judge(struct pb_run *run)
{
	for (uint32_t channel = 1; channel <= PB_HOSTS + 1u; channel++)
		check(run, channel);
}

static void post_grant(struct pb_run *run, uint32_t channel, uint32_t address, uint32_t bytes)
{
	check(run, channel);
	run->revoked[channel].bytes = 0;
	pb_client_post(&run->admin, PB_COMMAND_HOST_GRANT, channel,
		       (uint32_t[]){channel, bytes, address, 0, (channel - 1u) * SHARE_BYTES + address}, 5);
}

void pb_host_memory_grant(struct pb_run *run, uint32_t channel)
{
	if (run->world.host_bytes != 0)
		post_grant(run, channel, 0, SHARE_BYTES);
}

static void post_revoke(struct pb_run *run, uint32_t channel, uint32_t address, uint32_t bytes)
{
	run->revoking = true;
	run->totals.revocations++;
	pb_run_log(run, "the supervisor revokes 0x%x bytes of channel %u", bytes, channel);
	pb_client_post(&run->admin, PB_COMMAND_HOST_REVOKE, channel, (uint32_t[]){channel, bytes, address, 0},
		       4);
}

bool pb_host_memory_revoke(struct pb_run *run, uint32_t channel)
{
	if (run->world.host_bytes == 0 || run->revoking || run->revoked[channel].bytes != 0)
		return false;
	post_revoke(run, channel, 0, SHARE_BYTES);
	return true;
}

void pb_host_memory_act(struct pb_run *run)
{
	const uint32_t channel = run->hostile.client.channel;
	const struct pb_revoked revoked = run->revoked[channel];
	const uint32_t segment = 1u + (uint32_t)(run->step % (PB_SEGMENTS - 1u));

	if (run->world.host_bytes == 0 || run->revoking || !run->supervising ||
	    (run->closing >> channel & 1u) != 0 ||
	    pb_client_open_questions(&run->admin) >= PB_LIMIT_CONTROL_ENTRIES / 2u)
		return;
	if (revoked.bytes != 0)
		post_grant(run, channel, revoked.address, revoked.bytes);
	else if (run->step % 8u == 0)
		post_revoke(run, channel, pb_host_memory_address(segment), PB_SUBMISSION_VIDEO_BYTES);
}

/** Whether a host is at work, has the segment in host memory, and the supervisor may change what it is granted. */
static bool may_change(const struct pb_run *run, const struct pb_host *host)
{
	return run->world.host_bytes != 0 && !run->revoking && run->supervising && host->attached &&
	       !host->moving && pb_host_memory_has(run, host->client.channel, PB_REVOKED_SEGMENT) &&
	       pb_client_open_questions(&run->admin) < PB_LIMIT_CONTROL_ENTRIES / 2u;
}

void pb_host_memory_revoke_part(struct pb_run *run)
{
	/* One client only: each hole takes entries of the table of grants. */
	struct pb_host *host = &run->hosts[run->seed % run->host_count];
	const uint32_t channel = host->client.channel;
	const uint32_t address = pb_host_memory_address(PB_REVOKED_SEGMENT);

	if (!may_change(run, host))
		return;
	if (host->revocation == PB_REVOCATION_NONE && run->step % 8u == 0) {
		host->revocation = PB_REVOCATION_ASKED;
		host->asked_at = run->world.now;
		run->totals.parts++;
		post_revoke(run, channel, address, PB_SUBMISSION_VIDEO_BYTES);
	} else if (host->revocation == PB_REVOCATION_DONE && run->step % 8u == 0) {
		host->revocation = PB_REVOCATION_GRANTING;
		post_grant(run, channel, address, PB_SUBMISSION_VIDEO_BYTES);
	} else if (host->revocation == PB_REVOCATION_GRANTED &&
		   pb_client_open_questions(&host->client) < PB_LIMIT_CONTROL_ENTRIES / 2u) {
		pb_host_move(run, host);
	}
}

bool pb_host_memory_ends(const struct pb_run *run, const struct pb_host *host, uint32_t node)
{
	const struct pb_node_view *view = &run->nodes[node];
	const uint32_t limit = view->hang_us < view->answer_us ? view->hang_us : view->answer_us;

	/* Progress counts up to the last tick in front of the revocation. */
	return host->revocation == PB_REVOCATION_ASKED &&
	       run->world.now - host->asked_at + PB_TICK_MICROSECONDS >= limit;
}

void pb_host_memory_granted(struct pb_run *run, const struct pb_question *question)
{
	struct pb_host *host = &run->hosts[(question->object - 1u) % PB_HOSTS];

	if (question->object <= run->host_count && host->revocation == PB_REVOCATION_GRANTING)
		host->revocation = PB_REVOCATION_GRANTED;
}

/** The pages of a live host are another's from here on. What it has stored there is all that it ever will. */
static void lose_pages(struct pb_run *run, struct pb_host *host)
{
	host->revocation = PB_REVOCATION_DONE;
	pb_judge_marks(run, host);
	for (uint32_t m = 0; m < host->mark_count; m++) {
		struct pb_mark *mark = &host->marks[m];

		if (pb_submission_segment(m) != PB_REVOKED_SEGMENT)
			continue;
		for (uint32_t i = 0; i < 3u; i++)
			mark->seen[i] = pb_submission_word(host, m, i);
		mark->gone = true;
	}
}

void pb_host_memory_revoked(struct pb_run *run, const struct pb_question *question)
{
	const uint32_t channel = question->object;
	struct pb_host *host = &run->hosts[(channel - 1u) % PB_HOSTS];

	if (channel <= run->host_count && host->revocation == PB_REVOCATION_ASKED)
		lose_pages(run, host);
	run->revoking = false;
	run->revoked[channel] = (struct pb_revoked){question->arguments[2], question->arguments[1]};
	memset(share_of(run, channel) + question->arguments[2], PATTERN, question->arguments[1]);
	if ((run->closing >> channel & 1u) != 0 && question->arguments[1] == SHARE_BYTES)
		pb_client_post(&run->admin, PB_COMMAND_CHANNEL_CLOSE, channel, &channel, 1);
}

void pb_host_memory_restart(struct pb_run *run)
{
	run->revoking = false;
	memset(run->revoked, 0, sizeof(run->revoked));
}
