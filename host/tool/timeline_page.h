/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The page of a timeline, embedded in the program by the build.
 */
#ifndef PB_HOST_TOOL_TIMELINE_PAGE_H
#define PB_HOST_TOOL_TIMELINE_PAGE_H

/** Contents of host/tool/timeline.html with its scripts, zero-terminated. */
extern const char pb_timeline_page[];

#endif
