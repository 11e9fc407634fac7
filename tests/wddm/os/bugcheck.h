/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The end of the machine: the first rule that the driver broke, with the
 * bugcheck that Windows would stop with.
 */
#ifndef PB_TESTS_WDDM_OS_BUGCHECK_H
#define PB_TESTS_WDDM_OS_BUGCHECK_H

#include <stdbool.h>
#include <stdint.h>

/** The rules of rules.def. */
enum os_rule {
	OS_RULE_NONE,
#define OS_RULE(name, code, parameter, text, source) OS_RULE_##name,
#include "tests/wddm/os/rules.def"
#undef OS_RULE
	OS_RULES
};

/** The first rule broken. */
struct os_stop {
	enum os_rule rule;  /**< OS_RULE_NONE: the machine runs */
	uint32_t bugcheck;  /**< 0 also of a verdict */
	uint32_t parameter; /**< of the bugcheck, or of the verdict */
	uint32_t value;     /**< what was wrong: a fence, a status, a page */
};

/** Stops the machine, unless it has stopped. */
void os_stop_at(struct os_stop *stop, enum os_rule rule, uint32_t value);
/** Returns the bugcheck and the parameter of a rule. */
uint32_t os_rule_code(enum os_rule rule);
uint32_t os_rule_parameter(enum os_rule rule);
/** Returns what the driver did, its name in rules.def, and the rule's source. */
const char *os_rule_text(enum os_rule rule);
const char *os_rule_name(enum os_rule rule);
const char *os_rule_source(enum os_rule rule);

#endif
