/* SPDX-License-Identifier: MIT */
#include "firmware/queue/in_flight.h"

#include <string.h>

#include "firmware/queue_record.h"
#include "firmware/wide.h"

void pb_core_in_flight_recount(struct pb_core_in_flight *flight)
{
	flight->priorities = 0;
	memset(flight->channels, 0, sizeof(flight->channels));
	memset(flight->counts, 0, sizeof(flight->counts));
	for (uint32_t i = 1; i <= pb_core_in_flight_count(flight); i++)
		pb_core_in_flight_enter(flight, pb_core_in_flight_at(flight, flight->retired + i)->queue);
}

uint32_t pb_core_in_flight_first_of(struct pb_core_in_flight *flight, const struct pb_core_queue *queue)
{
	for (uint32_t i = 1; i <= pb_core_in_flight_count(flight); i++) {
		if (pb_core_in_flight_at(flight, flight->retired + i)->queue == queue)
			return i;
	}
	return 0;
}

uint64_t pb_core_in_flight_timeline(struct pb_core_in_flight *flight, const struct pb_core_queue *queue)
{
	uint64_t timeline = queue->reached;

	for (uint32_t i = 1; i <= pb_core_in_flight_count(flight); i++) {
		const struct pb_core_submission *submission =
			pb_core_in_flight_at(flight, flight->retired + i);

		if (submission->queue == queue)
			timeline = pb_core_wide(submission->timeline_low, submission->timeline_high);
	}
	return timeline;
}
