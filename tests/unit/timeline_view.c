/* SPDX-License-Identifier: MIT */
#include "tests/unit/timeline_view.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/** Names of tracks and groups in a file. */
#define NAMES_MAX 1024u

static struct timeline_item *add(struct timeline_view *view, enum timeline_kind kind, uint32_t fence)
{
	if ((view->count & (view->count - 1u)) == 0)
		view->items = realloc(view->items, (view->count + 1u) * 2u * sizeof(view->items[0]));
	assert_non_null(view->items);
	view->items[view->count] = (struct timeline_item){.kind = kind, .fence = fence};
	return &view->items[view->count++];
}

static const cJSON *member(const cJSON *object, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

	if (value == NULL)
		fail_msg("there is no %s in %s", key, cJSON_PrintUnformatted(object));
	return value;
}

static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(member(object, key));

	assert_non_null(text);
	return text;
}

static uint32_t number_of(const cJSON *object, const char *key)
{
	assert_true(cJSON_IsNumber(member(object, key)));
	return (uint32_t)member(object, key)->valuedouble;
}

static void keep(char *to, size_t room, const char *text)
{
	assert_true(strlen(text) < room);
	memcpy(to, text, strlen(text) + 1u);
}

/* ---- Chrome trace events ---- */

/** The events that others refer to. */
struct reader {
	const cJSON *names[NAMES_MAX]; /**< of tracks and of their groups */
	uint32_t name_count;
	const cJSON *begun; /**< span that began last; the export ends it next */
};

static void collect_names(struct reader *reader, const cJSON *events)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, events)
	{
		if (strcmp(text_of(event, "ph"), "M") != 0 ||
		    strcmp(text_of(event, "name"), "thread_sort_index") == 0)
			continue;
		assert_true(reader->name_count < NAMES_MAX);
		reader->names[reader->name_count++] = event;
	}
}

/** The name of an event's track, or of the group of its track: there is one. */
static const char *name_of(const struct reader *reader, const char *of, const cJSON *event)
{
	const bool group = strcmp(of, "process_name") == 0;
	const char *name = NULL;

	for (uint32_t i = 0; i < reader->name_count; i++) {
		const cJSON *other = reader->names[i];

		if (strcmp(text_of(other, "name"), of) != 0 ||
		    number_of(other, "pid") != number_of(event, "pid") ||
		    (!group && number_of(other, "tid") != number_of(event, "tid")))
			continue;
		assert_null(name);
		name = text_of(member(other, "args"), "name");
	}
	if (name == NULL)
		fail_msg("nothing is the %s of %s", of, cJSON_PrintUnformatted(event));
	return name;
}

/** Checks that a span ends on the track on which it began. */
static void check_end(const struct reader *reader, const cJSON *end)
{
	static const char *const keys[] = {"id", "pid", "tid"};

	assert_non_null(reader->begun);
	for (uint32_t i = 0; i < 3u; i++)
		assert_int_equal(number_of(reader->begun, keys[i]), number_of(end, keys[i]));
}

static void draw_event(struct timeline_view *view, const struct reader *reader, const cJSON *event,
		       char phase)
{
	struct timeline_item *item = add(view, phase == 'i' ? TIMELINE_MARK : TIMELINE_LIFE, 0);

	item->place = (uint64_t)number_of(event, "pid") << 32 | number_of(event, "tid");
	keep(item->lane, sizeof(item->lane), name_of(reader, "thread_name", event));
	keep(item->group, sizeof(item->group), name_of(reader, "process_name", event));
	if (phase == 'i')
		keep(item->text, sizeof(item->text), text_of(member(event, "args"), "text"));
	else
		item->fence = (uint32_t)strtoul(text_of(member(event, "args"), "fence"), NULL, 0);
	if (phase == 'X')
		item->kind = strcmp(text_of(event, "name"), "patching") == 0 ? TIMELINE_PATCH : TIMELINE_RUN;
}

void timeline_view_events(const char *json, struct timeline_view *view)
{
	cJSON *root = cJSON_Parse(json);
	const cJSON *events = member(root, "traceEvents"), *event;
	struct reader reader = {0};

	*view = (struct timeline_view){0};
	collect_names(&reader, events);
	cJSON_ArrayForEach(event, events)
	{
		const char phase = text_of(event, "ph")[0];

		if (phase == 'b')
			reader.begun = event;
		if (phase == 'e')
			check_end(&reader, event);
		if (phase == 'b' || phase == 'X' || phase == 'i')
			draw_event(view, &reader, event, phase);
	}
	cJSON_Delete(root);
}

/* ---- the page ---- */

/** Columns of the page's rows; host/tool/timeline.js names them all. */
enum column {
	PACKET_LANE = 1,
	PACKET_NODE = 2,
	PACKET_FENCE = 4,
	PACKET_PATCHED = 10,
	PACKET_RUN = 12,
	LANE_NAME = 0,
	LANE_NODE = 3,
	MARK_TEXT = 2,
	MARK_LANE = 3,
};

static const cJSON *cell(const cJSON *row, enum column column)
{
	const cJSON *value = cJSON_GetArrayItem(row, (int)column);

	assert_non_null(value);
	return value;
}

static void draw(struct timeline_view *view, enum timeline_kind kind, const cJSON *lane, uint32_t fence,
		 const char *text)
{
	struct timeline_item *item = add(view, kind, fence);
	const cJSON *node = cell(lane, LANE_NODE);

	item->place = (uint64_t)(uintptr_t)lane;
	keep(item->lane, sizeof(item->lane), cJSON_GetStringValue(cell(lane, LANE_NAME)));
	keep(item->text, sizeof(item->text), text);
	if (cJSON_IsNull(node))
		snprintf(item->group, sizeof(item->group), "queues of an unknown node");
	else
		snprintf(item->group, sizeof(item->group), "queues of node %d", node->valueint);
}

static void draw_packet(struct timeline_view *view, const cJSON *lanes, const cJSON *packet)
{
	const cJSON *lane = cJSON_GetArrayItem(lanes, cell(packet, PACKET_LANE)->valueint);
	const uint32_t fence = (uint32_t)cell(packet, PACKET_FENCE)->valuedouble;
	struct timeline_item *item;

	assert_non_null(lane);
	draw(view, TIMELINE_LIFE, lane, fence, "");
	if (!cJSON_IsNull(cell(packet, PACKET_PATCHED)))
		draw(view, TIMELINE_PATCH, lane, fence, "");
	if (cJSON_IsNull(cell(packet, PACKET_RUN)))
		return;
	item = add(view, TIMELINE_RUN, fence);
	snprintf(item->lane, sizeof(item->lane), "node %d", cell(packet, PACKET_NODE)->valueint);
	keep(item->group, sizeof(item->group), "nodes");
}

void timeline_view_page(const char *html, struct timeline_view *view)
{
	static const char begin[] = "<script id=\"data\" type=\"application/json\">";
	const char *json = strstr(html, begin), *end;
	const cJSON *lanes, *row;
	cJSON *root;

	*view = (struct timeline_view){0};
	assert_non_null(json);
	json += strlen(begin);
	end = strstr(json, "</script>");
	assert_non_null(end);
	root = cJSON_ParseWithLength(json, (size_t)(end - json));
	lanes = member(root, "lanes");
	cJSON_ArrayForEach(row, member(root, "packets")) draw_packet(view, lanes, row);
	cJSON_ArrayForEach(row, member(root, "marks"))
	{
		const cJSON *lane = cell(row, MARK_LANE);

		if (!cJSON_IsNull(lane))
			draw(view, TIMELINE_MARK, cJSON_GetArrayItem(lanes, lane->valueint), 0,
			     cJSON_GetStringValue(cell(row, MARK_TEXT)));
	}
	cJSON_Delete(root);
}

void timeline_view_free(struct timeline_view *view)
{
	free(view->items);
	*view = (struct timeline_view){0};
}

uint32_t timeline_view_number(const struct timeline_view *view, enum timeline_kind kind, uint32_t fence,
			      const char *lane)
{
	uint32_t number = 0;

	for (size_t i = 0; i < view->count; i++)
		number += view->items[i].kind == kind &&
			  (fence == UINT32_MAX || view->items[i].fence == fence) &&
			  (lane == NULL || strcmp(view->items[i].lane, lane) == 0);
	return number;
}

bool timeline_view_lanes_differ(const struct timeline_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct timeline_item *a = &view->items[i], *b = &view->items[j];

			if (a->kind == TIMELINE_LIFE && b->kind == TIMELINE_LIFE &&
			    (a->place == b->place) != (strcmp(a->lane, b->lane) == 0))
				return false;
		}
	}
	return true;
}
