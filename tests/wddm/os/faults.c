/* SPDX-License-Identifier: MIT */
/* Engines that break, and what the OS asks of a driver about them. */
#include <stdlib.h>
#include <string.h>

#include "tests/wddm/os/machine.h"

#define ANSWER_US    1000u
#define REPORT_BYTES 1500u
#define REPORT_GUARD 64u

void os_faults_times(struct os_machine *m, uint32_t node, uint32_t hang_us)
{
	const struct pb_node_request request = {
		.mode = PB_NODE_HOST_ORDERED, .hang_us = hang_us, .answer_us = ANSWER_US};

	if (pb_node_set(&m->admin, node, &request) != PB_ERROR_OK)
		abort();
}

void os_faults_inject(struct os_machine *m, uint32_t node)
{
	const struct pb_engine_model_defects defects = {
		.deaf_to_stop = os_one_in(&m->chance, 4),
		.deaf_to_reset = os_one_in(&m->chance, 4),
		.stuck = os_one_in(&m->chance, 6),
		.lose_interrupt = os_one_in(&m->chance, 3) ? 1 + os_below(&m->chance, 5) : 0,
		.spurious_every = os_one_in(&m->chance, 4) ? 1 + os_below(&m->chance, 9) : 0,
		.late = os_one_in(&m->chance, 4) ? 1 + os_below(&m->chance, 30) : 0,
	};

	os_say(m, "node %u breaks", node);
	pb_engine_model_set_defects(pb_sim_engine(m->sim, node), &defects);
}

void os_faults_mend(struct os_machine *m)
{
	const struct pb_engine_model_defects none = {.stuck = false};

	for (uint32_t n = 0; n < m->os.node_count && m->rough; n++) {
		pb_engine_model_set_defects(pb_sim_engine(m->sim, n), &none);
		os_faults_times(m, n, OS_HANG_US);
	}
	m->deaf = false;
}

void os_faults_collect(struct os_machine *m)
{
	uint8_t report[REPORT_BYTES + REPORT_GUARD];
	uint8_t before[REPORT_GUARD];
	const uint32_t room = os_below(&m->chance, REPORT_BYTES + 1);
	struct pb_dxgkarg_collectdbginfo collect;

	os_garbage(&m->chance, &collect, sizeof(collect));
	os_garbage(&m->chance, report, sizeof(report));
	memcpy(before, report + room, REPORT_GUARD);
	collect.pBuffer = report;
	collect.BufferSize = room;
	m->quiet = true;
	(void)m->ddi.collect_dbg_info(m, &collect);
	m->quiet = false;
	if (memcmp(before, report + room, REPORT_GUARD) != 0)
		os_break(&m->os, OS_RULE_REPORT, room);
}
