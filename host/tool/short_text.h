/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Numbers in three digits or so, for people.
 */
#ifndef PB_HOST_TOOL_SHORT_TEXT_H
#define PB_HOST_TOOL_SHORT_TEXT_H

/** Room for one. */
#define PB_SHORT_BYTES 16u

/** "7", "0.5", "12345", "1.23M"; not a number: "-". @param value 0 or more */
void pb_short_count(char text[PB_SHORT_BYTES], double value);
/** The same in 1,024: "512", "1.50Ki", "12.3Mi". */
void pb_short_bytes(char text[PB_SHORT_BYTES], double value);
/** "63us", "4.10ms", "1.05s", "71.6m", "12.0h". @param microseconds 0 or more */
void pb_short_time(char text[PB_SHORT_BYTES], double microseconds);

#endif
