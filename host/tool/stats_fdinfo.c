/* SPDX-License-Identifier: MIT */
/* The counters with the keys of a DRM driver's fdinfo (the kernel's Documentation/gpu/drm-usage-stats.rst). */
#include <inttypes.h>

#include "host/tool/stats.h"

/* Kinds of engines, by the name that DRM drivers give them. */
static const struct kind {
	uint32_t kind; /* enum pb_node_kind */
	const char *name;
} kinds[] = {{PB_NODE_3D, "render"}, {PB_NODE_COPY, "copy"}};

static uint32_t kind_of(const struct pb_telemetry_snapshot *snapshot, uint32_t node)
{
	return snapshot->card.capabilities[PB_CAPABILITY_NODE_KINDS] >> 4u * node & 15u;
}

/* Prints the engine time of all nodes of a kind, and how many there are if there are several. */
static void print_engine(FILE *file, const struct pb_telemetry_snapshot *snapshot, const struct kind *kind)
{
	uint64_t busy_us = 0;
	uint32_t count = 0;

	for (uint32_t n = 0; n < snapshot->node_count; n++) {
		if (kind_of(snapshot, n) != kind->kind)
			continue;
		busy_us += snapshot->nodes[n].values[PB_NODE_TAG_BUSY];
		count++;
	}
	if (count == 0)
		return;
	fprintf(file, "drm-engine-%s:\t%" PRIu64 " ns\n", kind->name, busy_us * 1000u);
	if (count > 1)
		fprintf(file, "drm-engine-capacity-%s:\t%" PRIu32 "\n", kind->name, count);
}

static void print_client(FILE *file, uint32_t client)
{
	fprintf(file, "drm-driver:\tpatchbay\ndrm-client-id:\t%" PRIu32 "\n", client);
}

void pb_stats_fdinfo(FILE *file, const struct pb_telemetry_snapshot *snapshot)
{
	print_client(file, 0);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && snapshot->node_values > PB_NODE_TAG_BUSY;
	     k++)
		print_engine(file, snapshot, &kinds[k]);
	for (uint32_t c = 1; c < snapshot->channel_count; c++) {
		fputc('\n', file);
		print_client(file, c);
		fprintf(file, "drm-total-card:\t%" PRIu32 " KiB\n",
			snapshot->channels[c].used[PB_RESOURCE_POOL_BYTES] / 1024u);
	}
}
