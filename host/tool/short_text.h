/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Numbers in about three digits, for people.
 */
#ifndef PB_HOST_TOOL_SHORT_TEXT_H
#define PB_HOST_TOOL_SHORT_TEXT_H

/** Size of the buffer for one number, in bytes. */
#define PB_SHORT_BYTES 16u

/** Formats a count: "7", "0.5", "12345", "1.23M"; "-" for NaN. @param value 0 or more */
void pb_short_count(char text[PB_SHORT_BYTES], double value);
/** Formats bytes in powers of 1,024: "512", "1.50Ki", "12.3Mi"; "-" for NaN. @param value 0 or more */
void pb_short_bytes(char text[PB_SHORT_BYTES], double value);
/** Formats a time: "63us", "4.10ms", "1.05s", "71.6m", "12.0h"; "-" for NaN. @param microseconds 0 or more */
void pb_short_time(char text[PB_SHORT_BYTES], double microseconds);

#endif
