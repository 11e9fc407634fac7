/* SPDX-License-Identifier: MIT */
#include "tests/sim/account.h"

bool pb_share_add(struct pb_share *share, uint32_t interval, bool backlogged, bool usable, uint32_t used)
{
	if (!backlogged) {
		share->lack = 0;
		share->extra_us = 0;
		return true;
	}
	if (usable)
		share->lack += (int64_t)interval * share->permille;
	share->lack -= (int64_t)used * 1000;
	/* A window that begins later lacks more. */
	if (share->lack < 0) {
		share->lack = 0;
		share->extra_us = 0;
	}
	share->most = share->lack > share->most ? share->lack : share->most;
	return share->lack <= (int64_t)(share->slack_us + share->extra_us) * 1000;
}

void pb_share_reset(struct pb_share *share, uint32_t microseconds)
{
	share->extra_us += microseconds;
}

void pb_patience_begin(struct pb_patience *patience, uint64_t now, uint64_t bound_us)
{
	if (patience->waiting)
		return;
	patience->waiting = true;
	patience->since = now;
	patience->bound_us = bound_us;
}

void pb_patience_extend(struct pb_patience *patience, uint32_t microseconds)
{
	if (patience->waiting)
		patience->bound_us += microseconds;
}

bool pb_patience_check(struct pb_patience *patience, uint64_t now)
{
	if (!patience->waiting)
		return true;
	if (now - patience->since > patience->most)
		patience->most = now - patience->since;
	return now - patience->since <= patience->bound_us;
}

bool pb_patience_end(struct pb_patience *patience, uint64_t now)
{
	const bool held = pb_patience_check(patience, now);

	patience->ended += patience->waiting;
	patience->waiting = false;
	return held;
}
