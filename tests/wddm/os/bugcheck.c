/* SPDX-License-Identifier: MIT */
#include "tests/wddm/os/bugcheck.h"

#include <string.h>

static const struct {
	const char *name;
	uint32_t code;
	uint32_t parameter;
	const char *text;
	const char *source;
} rules[OS_RULES] = {
	[OS_RULE_NONE] = {"NONE", 0, 0, "none", ""},
#define OS_RULE(name, code, parameter, text, source)                                                         \
	[OS_RULE_##name] = {#name, (code), (parameter), (text), (source)},
#include "tests/wddm/os/rules.def"
#undef OS_RULE
};

/* IRQL of the functions that write to DMA buffers behind the call that mapped these. */
#define DISPATCH_LEVEL 2u
#define WRITE          1u

void os_stop_at(struct os_stop *stop, enum os_rule rule, uint64_t value)
{
	const uint32_t code = rules[rule].code;

	if (stop->rule != OS_RULE_NONE)
		return;
	*stop = (struct os_stop){.rule = rule, .bugcheck = code, .value = value};
	if (code == OS_BUGCHECK_TDR)
		stop->parameters[2] = value;
	else if (code == OS_BUGCHECK_IRQL)
		memcpy(stop->parameters, (const uint64_t[]){value, DISPATCH_LEVEL, WRITE}, 3 * sizeof(value));
	else
		memcpy(stop->parameters, (const uint64_t[]){rules[rule].parameter, value}, 2 * sizeof(value));
	stop->parameter =
		(uint32_t)stop->parameters[code == OS_BUGCHECK_TDR || code == OS_BUGCHECK_IRQL ? 2 : 0];
}

uint32_t os_rule_code(enum os_rule rule)
{
	return rules[rule].code;
}

uint32_t os_rule_parameter(enum os_rule rule)
{
	return rules[rule].parameter;
}

const char *os_rule_text(enum os_rule rule)
{
	return rules[rule].text;
}

const char *os_rule_name(enum os_rule rule)
{
	return rules[rule].name;
}

const char *os_rule_source(enum os_rule rule)
{
	return rules[rule].source;
}
