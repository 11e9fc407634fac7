/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Drivers that each break one rule: the shim's functions, one or a few of which
 * are replaced. The model must stop with that rule.
 */
#ifndef PB_TESTS_WDDM_OS_BROKEN_H
#define PB_TESTS_WDDM_OS_BROKEN_H

#include "tests/wddm/os/machine.h"

struct os_puppet {
	const char *name;
	enum os_rule rule; /**< that it breaks */
	uint32_t bugcheck; /**< as Windows reports it */
	uint32_t parameter;
	bool limited;      /**< see struct os_machine */
	struct os_ddi ddi; /**< what it replaces */
	/** Wrong addresses: what they hit, memory of whomever or none at all, depends on chance. */
	bool stray;
};

/** Puppets of the scheduler's rules, of power states and contexts, and of the memory manager and of the processes. */
extern const struct os_puppet os_puppets_schedule[];
extern const uint32_t os_puppets_schedule_count;
extern const struct os_puppet os_puppets_system[];
extern const uint32_t os_puppets_system_count;
extern const struct os_puppet os_puppets_memory[];
extern const uint32_t os_puppets_memory_count;

/** Returns the shim's functions, for a puppet that calls them. */
const struct os_ddi *os_puppet_shim(void);

#endif
