/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The page of a timeline, which the build makes a part of the program.
 */
#ifndef PB_HOST_TOOL_TIMELINE_PAGE_H
#define PB_HOST_TOOL_TIMELINE_PAGE_H

/** host/tool/timeline.html, zero-terminated. */
extern const char pb_timeline_page[];

#endif
