/* SPDX-License-Identifier: MIT */
/* Each rule of the OS that checks has a driver that breaks it, and is stopped for that. */
#include "tests/unit/unit.h"
#include "tests/wddm/os/broken.h"

#define SCHEDULES 1600u /**< in which a puppet must be found out */

static struct os_machine machine;

/** Whether a wrong address can end like this. */
static bool is_stray(enum os_rule rule)
{
	return rule == OS_RULE_FREE_PAGE || rule == OS_RULE_OTHER_PROCESS || rule == OS_RULE_CONTENTS ||
	       rule == OS_RULE_LOST;
}

static void expect(const struct os_puppet *puppet, uint64_t first)
{
	const struct os_stop *stop = &machine.os.stop;

	machine.limited = puppet->limited;
	(void)os_run_many(&machine, first, SCHEDULES, &puppet->ddi);
	machine.limited = false;
	if (puppet->stray && is_stray(stop->rule))
		return;
	if (stop->rule != puppet->rule || stop->bugcheck != puppet->bugcheck ||
	    stop->parameter != puppet->parameter)
		fail_msg("%s: rule %s, 0x%x/0x%x of schedule %u; expected %s, 0x%x/0x%x", puppet->name,
			 os_rule_name(stop->rule), stop->bugcheck, stop->parameter, (uint32_t)machine.seed,
			 os_rule_name(puppet->rule), puppet->bugcheck, puppet->parameter);
}

/** All drivers. */
static const struct {
	const struct os_puppet *puppets;
	const uint32_t *count;
} kinds[] = {
	{os_puppets_schedule, &os_puppets_schedule_count},
	{os_puppets_system, &os_puppets_system_count},
	{os_puppets_memory, &os_puppets_memory_count},
};

static void every_broken_driver_is_stopped(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (uint32_t i = 0; i < *kinds[k].count; i++)
			expect(&kinds[k].puppets[i], 0);
	}
}

static void every_rule_has_a_driver_that_breaks_it(void **state)
{
	bool broken[OS_RULES] = {[OS_RULE_NONE] = true};

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (uint32_t i = 0; i < *kinds[k].count; i++)
			broken[kinds[k].puppets[i].rule] |= !kinds[k].puppets[i].stray;
	}
	for (uint32_t rule = 0; rule < OS_RULES; rule++) {
		if (!broken[rule])
			fail_msg("no driver breaks rule %s", os_rule_name((enum os_rule)rule));
	}
}

/** All parameters of bugcheck 0x119 that WDDM 1.x can have: 1 to 0x10, but for 0xF, which is not used. */
static void every_parameter_of_0x119_is_a_rule(void **state)
{
	(void)state;
	for (uint32_t parameter = 1; parameter <= 0x10; parameter++) {
		bool found = parameter == 0xf;

		for (uint32_t rule = 1; rule < OS_RULES; rule++)
			found = found || (os_rule_code((enum os_rule)rule) == 0x119 &&
					  os_rule_parameter((enum os_rule)rule) == parameter);
		if (!found)
			fail_msg("parameter 0x%x", parameter);
	}
}

/** The shim breaks none in the schedules that stop the others. */
static void the_shim_breaks_no_rule(void **state)
{
	(void)state;
	(void)os_run_many(&machine, 0, SCHEDULES, NULL);
	if (machine.os.stop.rule != OS_RULE_NONE)
		fail_msg("schedule %u: rule %s, 0x%x/0x%x", (uint32_t)machine.seed,
			 os_rule_name(machine.os.stop.rule), machine.os.stop.bugcheck,
			 machine.os.stop.parameter);
}

UNIT_SUITE(test_os_rules)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule_has_a_driver_that_breaks_it),
		cmocka_unit_test(every_parameter_of_0x119_is_a_rule),
		cmocka_unit_test(every_broken_driver_is_stopped),
		cmocka_unit_test(the_shim_breaks_no_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
