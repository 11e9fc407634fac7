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
	PB_MUTATION_LOST,    /**< an engine gets no time any more: its work never ends */
	PB_MUTATION_STOPPED, /**< the MCU gets no time any more */
	PB_MUTATION_EARLY,   /**< a fence record says that work is complete which runs */
	PB_MUTATION_BACK,    /**< a fence record goes back by one */
	PB_MUTATION_STORE,   /**< something stores for work that has ended */
	PB_MUTATION_PATCH,   /**< a word of a buffer is not what was patched */
	PB_MUTATION_STATUS,  /**< a completion has an error that nothing explains */
	PB_MUTATION_FENCE,   /**< a fence record names another fence */
	PB_MUTATION_EVENT,   /**< an event is told twice */
	PB_MUTATIONS
};

struct pb_mutation {
	enum pb_mutation_kind kind;
	bool done; /**< it was put into practice */
};

/** Puts the run's mutation into practice as soon as there is an occasion. @return true: now */
bool pb_mutate(struct pb_run *run);

#endif
