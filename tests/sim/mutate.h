/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The world broken on purpose, so that the judge can be seen to notice. The firmware knows nothing of it.
 */
#ifndef PB_TESTS_SIM_MUTATE_H
#define PB_TESTS_SIM_MUTATE_H

#include <stdbool.h>
#include <stdint.h>

struct pb_run;

enum pb_mutation_kind {
	PB_MUTATION_NONE = 0,
	PB_MUTATION_LOST,      /**< an engine gets no time any more: its work never ends */
	PB_MUTATION_STOPPED,   /**< the MCU gets no time any more */
	PB_MUTATION_EARLY,     /**< a fence record says that work is complete which runs */
	PB_MUTATION_BACK,      /**< a fence record goes back by one */
	PB_MUTATION_STORE,     /**< something stores for work that has ended */
	PB_MUTATION_PATCH,     /**< a word of a buffer is not what was patched */
	PB_MUTATION_STATUS,    /**< a completion has an error that nothing explains */
	PB_MUTATION_FENCE,     /**< a fence record names another fence */
	PB_MUTATION_EVENT,     /**< an event is told twice */
	PB_MUTATION_FOREIGN,   /**< a word of a host's lists is not what it wrote */
	PB_MUTATION_RANGE,     /**< the engines have a segment elsewhere */
	PB_MUTATION_PUT,       /**< a put of a host moves on by itself */
	PB_MUTATION_SILENT,    /**< an interrupt is not raised */
	PB_MUTATION_QUERY,     /**< a question is answered wrongly */
	PB_MUTATION_CALLS,     /**< a pass does not come to its end for long */
	PB_MUTATION_FORGOTTEN, /**< a restart of the firmware loses a completion */
	PB_MUTATION_DROPPED,   /**< an event is dropped while there is room */
	PB_MUTATION_STRAY,     /**< a word of memory that is nobody's changes */
	PB_MUTATION_FATAL,     /**< the firmware finds its own state broken */
	PB_MUTATIONS
};

struct pb_mutation {
	enum pb_mutation_kind kind;
	bool done; /**< it was put into practice */
};

/** Puts the run's mutation into practice as soon as there is an occasion. @return true: now */
bool pb_mutate(struct pb_run *run);

#endif
