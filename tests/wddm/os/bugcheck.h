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

#define OS_BUGCHECK_TDR    0x116u /**< VIDEO_TDR_FAILURE */
#define OS_BUGCHECK_IRQL   0xd1u  /**< DRIVER_IRQL_NOT_LESS_OR_EQUAL */
#define OS_STOP_PARAMETERS 4u

/** The first rule broken. */
struct os_stop {
	enum os_rule rule; /**< OS_RULE_NONE: the machine runs */
	uint32_t bugcheck; /**< 0 also of a verdict */
	/**
	 * As Windows shows them. 0x119, 0x10E: 1 the subtype, 2 to 4 depend on it (here 2 is `value`). 0x116: 1 the
	 * recovery context and 2 a pointer into the driver, which the model does not have, 3 the NTSTATUS of the last
	 * failed operation, if one failed. 0xD1: 1 the memory referenced, 2 the IRQL, 3 1 for a write, 4 the address of
	 * the instruction, which the model does not know. A verdict: 1 its number, 2 `value`.
	 */
	uint64_t parameters[OS_STOP_PARAMETERS];
	uint32_t parameter; /**< the one that tells why: 3 of 0x116 and 0xD1, else 1 */
	uint64_t value;     /**< what was wrong: a fence, a status, a page, an address */
};

/** Stops the machine, unless it has stopped. */
void os_stop_at(struct os_stop *stop, enum os_rule rule, uint64_t value);
/** Returns the bugcheck and the first parameter of a rule; 0: the rule does not fix it. */
uint32_t os_rule_code(enum os_rule rule);
uint32_t os_rule_parameter(enum os_rule rule);
/** Returns what the driver did, its name in rules.def, and the rule's source. */
const char *os_rule_text(enum os_rule rule);
const char *os_rule_name(enum os_rule rule);
const char *os_rule_source(enum os_rule rule);

#endif
