/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Joins the trace of a guest's Linux driver, or that of hosts, with the trace of its card.
 */
#ifndef PB_HOST_TOOL_TRACE_IMPORT_H
#define PB_HOST_TOOL_TRACE_IMPORT_H

/** The files of an import. */
struct pb_trace_import {
	const char *trace;  /**< of the card */
	const char *guest;  /**< of the guest, as its kernel prints it; or of hosts (host/link_trace.h) */
	const char *joined; /**< is written: the card's, and behind it the guest's events */
};

/** Imports. Prints what was imported, or the error. @param program name in messages @return exit code */
int pb_trace_import(const char *program, const struct pb_trace_import *files);

#endif
