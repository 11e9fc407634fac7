/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_keep.h"

#include <stdlib.h>
#include <string.h>

#include "host/link_trace.h"
#include "host/tool/trace_host.h"
#include "patchbay/card.h"

/** Records read at a time. */
#define SOME 512u

bool pb_trace_keep_head(FILE *file, const struct pb_trace *trace, const struct pb_link *link)
{
	char *schema = malloc(PB_TRACE_SCHEMA_BYTES_MAX + 1u);
	struct pb_card_info info = {0};
	bool written = false;

	if (schema != NULL) {
		/* What a boot that failed early has published is enough, or there are 0 nodes. */
		(void)pb_card_read(link, &info);
		pb_trace_schema(trace, schema);
		written = pb_trace_file_begin(file, schema, trace->hertz) &&
			  pb_trace_file_nodes(file, info.capabilities[PB_CAPABILITY_NODES]);
	}
	free(schema);
	return written;
}

bool pb_trace_keep_host(FILE *file, const struct pb_link *link)
{
	struct pb_trace_host host = {0};
	FILE *section = link->trace != NULL ? tmpfile() : NULL;
	bool good = section != NULL && pb_link_trace_write(link, section);

	if (link->trace == NULL)
		return true;
	if (good && ftell(section) != 0) {
		rewind(section);
		good = pb_trace_host_read(section, &host) == NULL &&
		       pb_trace_file_guest(file, 0, host.events, host.count);
	}
	pb_trace_host_free(&host);
	if (section != NULL)
		(void)fclose(section);
	return good;
}

bool pb_trace_keep_begin(struct pb_trace_keeper *keeper, struct pb_link *link)
{
	memset(keeper, 0, sizeof(*keeper));
	keeper->link = link;
	if (pb_trace_open(&keeper->trace, link) != PB_ERROR_OK)
		return true;
	keeper->file = tmpfile();
	return keeper->file != NULL && pb_trace_keep_head(keeper->file, &keeper->trace, link) &&
	       pb_trace_anchor_end(&keeper->anchoring, keeper->file, &keeper->trace, link);
}

bool pb_trace_keep(struct pb_trace_keeper *keeper)
{
	struct pb_trace_record records[SOME];
	uint32_t count = keeper->file != NULL ? 1 : 0;

	while (count != 0) {
		uint64_t fresh;

		count = pb_trace_read(&keeper->trace, records, SOME);
		fresh = keeper->trace.lost - keeper->lost;
		keeper->lost += fresh;
		if ((fresh != 0 && !pb_trace_file_lost(keeper->file, (uint32_t)fresh)) ||
		    (count != 0 && !pb_trace_file_records(keeper->file, records, count)))
			return false;
	}
	return keeper->file == NULL ||
	       pb_trace_anchor_between(&keeper->anchoring, keeper->file, &keeper->trace, keeper->link);
}

bool pb_trace_keep_read(struct pb_trace_keeper *keeper, const struct pb_ddi_record *calls,
			struct pb_trace_data *data)
{
	memset(data, 0, sizeof(*data));
	if (keeper->file == NULL || !pb_trace_keep(keeper) ||
	    !pb_trace_anchor_end(&keeper->anchoring, keeper->file, &keeper->trace, keeper->link) ||
	    !pb_trace_file_calls(keeper->file, calls->calls, calls->count) ||
	    !pb_trace_keep_host(keeper->file, keeper->link))
		return false;
	rewind(keeper->file);
	return pb_trace_file_read(keeper->file, data) == NULL;
}

void pb_trace_keep_end(struct pb_trace_keeper *keeper)
{
	if (keeper->file != NULL)
		(void)fclose(keeper->file);
	keeper->file = NULL;
}
