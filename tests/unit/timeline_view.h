/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the exports of a timeline show, read back as their viewers do: the Chrome trace events and the page. An
 * assertion fails where an export breaks its format.
 */
#ifndef PB_TESTS_UNIT_TIMELINE_VIEW_H
#define PB_TESTS_UNIT_TIMELINE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is drawn. */
enum timeline_kind {
	TIMELINE_LIFE,  /**< a submission, in the lane of its queue */
	TIMELINE_PATCH, /**< the time of patching a submission, in the lane of its queue */
	TIMELINE_RUN,   /**< a submission on an engine, in the lane of its node */
	TIMELINE_MARK,  /**< another event, in the lane of its queue */
};

/** Something that is drawn. */
struct timeline_item {
	enum timeline_kind kind;
	uint32_t fence;  /**< of a submission */
	uint64_t place;  /**< of its lane in the export: equal for things of one lane only */
	char lane[128];  /**< name of its lane */
	char group[128]; /**< name of the group of that lane */
	char text[256];  /**< of a mark */
};

/** All of it, in the order of the export. */
struct timeline_view {
	struct timeline_item *items;
	size_t count;
};

/** Reads Chrome trace events. Free the view with timeline_view_free(). */
void timeline_view_events(const char *json, struct timeline_view *view);
/** Reads a page. Free the view with timeline_view_free(). */
void timeline_view_page(const char *html, struct timeline_view *view);
void timeline_view_free(struct timeline_view *view);

/** How many things of a kind there are. @param fence of the submissions, or UINT32_MAX: any @param lane NULL: any */
uint32_t timeline_view_number(const struct timeline_view *view, enum timeline_kind kind, uint32_t fence,
			      const char *lane);
/** Whether each lane of submissions has one name and each name one lane. */
bool timeline_view_lanes_differ(const struct timeline_view *view);

#endif
