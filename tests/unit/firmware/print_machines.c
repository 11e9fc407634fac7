/* SPDX-License-Identifier: MIT */
/*
 * Prints one state machine as a Graphviz picture, or the page about all of
 * them: "print_machines node", "print_machines page". scripts/machines stores
 * what it prints in docs/.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/firmware/machines.h"

#define IMPOSSIBLE 0u

static const char *action_name(const struct machine *machine, struct pb_core_step step)
{
	return machine->actions.words[step.action].name;
}

/** Whether a picture has an arrow for it: what changes nothing has none. */
static bool is_drawn(const struct machine *machine, uint32_t state, struct pb_core_step step)
{
	return step.action != IMPOSSIBLE &&
	       (step.state != state || strcmp(action_name(machine, step), "NOTHING") != 0);
}

static bool is_same(struct pb_core_step a, struct pb_core_step b)
{
	return a.state == b.state && a.action == b.action;
}

/** One arrow for all events that do the same, at the first of them. */
static void print_arrow(const struct machine *machine, uint32_t state, uint32_t first)
{
	const struct pb_core_step step = machine->next(state, first);

	for (uint32_t event = 0; event < first; event++) {
		if (is_same(machine->next(state, event), step))
			return;
	}
	printf("\t%s -> %s [label=\"", machine->states.words[state].name,
	       machine->states.words[step.state].name);
	for (uint32_t event = first; event < machine->events.count; event++) {
		if (is_same(machine->next(state, event), step))
			printf("%s%s", event == first ? "" : ", ", machine->events.words[event].name);
	}
	printf(":\\n%s\"];\n", action_name(machine, step));
}

static void print_picture(const struct machine *machine)
{
	printf("digraph \"%s\" {\n"
	       "\tnode [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n"
	       "\tedge [fontname=\"sans-serif\", fontsize=9];\n"
	       "\tstart [shape=point, width=0.1];\n"
	       "\tstart -> %s;\n",
	       machine->name, machine->states.words[0].name);
	for (uint32_t state = 0; state < machine->states.count; state++) {
		for (uint32_t event = 0; event < machine->events.count; event++) {
			if (is_drawn(machine, state, machine->next(state, event)))
				print_arrow(machine, state, event);
		}
	}
	puts("}");
}

static void print_words(const char *title, const struct machine_words *words)
{
	printf("\n%s:\n\n", title);
	for (uint32_t i = 0; i < words->count; i++)
		printf("- `%s`: %s\n", words->words[i].name, words->words[i].meaning);
}

static void print_table(const struct machine *machine)
{
	printf("\n|");
	for (uint32_t event = 0; event < machine->events.count; event++)
		printf(" | %s", machine->events.words[event].name);
	printf(" |\n|---");
	for (uint32_t event = 0; event < machine->events.count; event++)
		printf("|---");
	puts("|");
	for (uint32_t state = 0; state < machine->states.count; state++) {
		printf("| **%s**", machine->states.words[state].name);
		for (uint32_t event = 0; event < machine->events.count; event++) {
			const struct pb_core_step step = machine->next(state, event);

			if (step.action == IMPOSSIBLE)
				printf(" | %s", action_name(machine, step));
			else
				printf(" | %s: %s", machine->states.words[step.state].name,
				       action_name(machine, step));
		}
		puts(" |");
	}
}

static void print_page(void)
{
	puts("# State machines\n\n"
	     "For firmware engineers, before a change of a state machine. The core has four whose "
	     "transitions "
	     "are a table; each\n"
	     "is a pure function of state and event. `scripts/machines` prints this page and the pictures "
	     "from "
	     "the tables, and a\n"
	     "test compares them with the code. Read `docs/design.md` first.\n\n"
	     "An arrow of a picture names the event and, behind the colon, the action. A transition that "
	     "changes nothing has no\n"
	     "arrow; it stands in the table, as next state and action. IMPOSSIBLE is an assertion of the "
	     "firmware.\n\n"
	     "The other states of the core follow one another without a table: the stages of a boot "
	     "(`firmware/boot.c`), the steps\n"
	     "of a job (`enum pb_core_job_state` in `firmware/patch/job.h`), and what a node has staged "
	     "(`enum pb_core_staged_kind`\n"
	     "in `firmware/prepare/staged.h`). A submission that is dropped or unsubmitted is staged no "
	     "more.");
	for (uint32_t i = 0; i < MACHINES; i++) {
		const struct machine *machine = &machines[i];

		printf("\n## %s\n\n%s\n\n![%s](machines/%s.svg)\n", machine->title, machine->text,
		       machine->title, machine->name);
		print_words("States", &machine->states);
		print_words("Events", &machine->events);
		print_words("Actions", &machine->actions);
		print_table(machine);
	}
}

int main(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "page") == 0) {
		print_page();
		return 0;
	}
	for (uint32_t i = 0; i < MACHINES && count == 2; i++) {
		if (strcmp(arguments[1], machines[i].name) == 0) {
			print_picture(&machines[i]);
			return 0;
		}
	}
	fputs("print_machines page", stderr);
	for (uint32_t i = 0; i < MACHINES; i++)
		fprintf(stderr, "|%s", machines[i].name);
	fputs("\n", stderr);
	return 2;
}
