/* SPDX-License-Identifier: MIT */
#include "tests/wddm/os/bugcheck.h"

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

void os_stop_at(struct os_stop *stop, enum os_rule rule, uint32_t value)
{
	if (stop->rule != OS_RULE_NONE)
		return;
	*stop = (struct os_stop){.rule = rule,
				 .bugcheck = rules[rule].code,
				 .parameter = rules[rule].parameter,
				 .value = value};
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
