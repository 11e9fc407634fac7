/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Faults planted on purpose, so that the judge can be seen to notice. The firmware is not changed.
 */
#ifndef PB_TESTS_SIM_MUTATE_H
#define PB_TESTS_SIM_MUTATE_H

#include <stdbool.h>
#include <stdint.h>

struct pb_run;

enum pb_mutation_kind {
	PB_MUTATION_NONE = 0,
	PB_MUTATION_LOST,      /**< an engine gets no time any more: its submission never ends */
	PB_MUTATION_STOPPED,   /**< the MCU gets no time any more */
	PB_MUTATION_EARLY,     /**< a fence record completes a submission that is running */
	PB_MUTATION_BACK,      /**< a fence record goes back by one */
	PB_MUTATION_STORE,     /**< a word is stored for a submission that has ended */
	PB_MUTATION_PATCH,     /**< a word of a buffer is not what was patched */
	PB_MUTATION_STATUS,    /**< a completion has an error without a cause */
	PB_MUTATION_FENCE,     /**< a fence record names another fence */
	PB_MUTATION_EVENT,     /**< an event is delivered twice */
	PB_MUTATION_FOREIGN,   /**< a word of a host's lists is not what it wrote */
	PB_MUTATION_RANGE,     /**< the engines have a segment at another address */
	PB_MUTATION_PUT,       /**< a put index of a host advances by itself */
	PB_MUTATION_SILENT,    /**< an interrupt is not raised */
	PB_MUTATION_QUERY,     /**< a query gets a wrong reply */
	PB_MUTATION_CALLS,     /**< a pass takes too many calls */
	PB_MUTATION_FORGOTTEN, /**< a restart of the firmware loses a completion */
	PB_MUTATION_DROPPED,   /**< an event is dropped while there is room */
	PB_MUTATION_STRAY,     /**< a word of memory without an owner changes */
	PB_MUTATION_FATAL,     /**< the firmware finds its own state damaged */
	PB_MUTATION_REVOKED,   /**< a byte of pages that were revoked from a client at work changes */
	PB_MUTATION_BESIDE,    /**< the engines have no segment beside the revoked one any more */
	PB_MUTATIONS
};

struct pb_mutation {
	enum pb_mutation_kind kind;
	bool done; /**< it was applied */
};

/** Applies the run's mutation at the first occasion. @return true: applied now */
bool pb_mutate(struct pb_run *run);

#endif
