/* SPDX-License-Identifier: MIT */
#include "host/tool/crash_report.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "host/tool/json_number.h"
#include "patchbay/abi/boot.h"
#include "patchbay/names.h"

/* ---- analysis ---- */

static bool find(const struct pb_crash_view *view, uint32_t address, struct pb_code_location *location)
{
	memset(location, 0, sizeof(*location));
	return view->symbols != NULL && pb_symbols_find(view->symbols, address, location);
}

bool pb_crash_where(const struct pb_crash_view *view, struct pb_code_location *location)
{
	const struct pb_crash_record *record = view->record;
	/* The return address of a failed assertion may lie behind its function: use an address inside the call. */
	const uint32_t inside = record->kind == PB_FATAL_ASSERT ? (record->pc & ~1u) - 1u : record->pc;
	const bool found = find(view, inside, location);

	if (found && record->kind == PB_FATAL_ASSERT)
		location->line = record->status;
	return found;
}

uint32_t pb_crash_calls(const struct pb_crash_view *view, uint32_t calls[PB_CRASH_CALLS])
{
	const struct pb_crash_record *record = view->record;
	uint32_t count = 0, address = record->lr;

	if (view->symbols == NULL)
		return 0;
	/* A leaf function has not saved its return address on the stack: use the link register. */
	if (record->kind == PB_FATAL_CPU_FAULT && pb_symbols_called_from(view->symbols, &address))
		calls[count++] = address;
	for (uint32_t i = 0; i < record->stack_words && count < PB_CRASH_CALLS; i++) {
		address = record->stack[i];
		if (!pb_symbols_called_from(view->symbols, &address))
			continue;
		if (count == 0 || calls[count - 1u] != address)
			calls[count++] = address;
	}
	return count;
}

/* ---- text ---- */

static void print_location(FILE *stream, const struct pb_code_location *location)
{
	if (location->function[0] == '\0')
		return;
	fprintf(stream, "  %s", location->function);
	if (location->file[0] == '\0') {
		fprintf(stream, "+0x%" PRIx32, location->offset);
		return;
	}
	if (location->inlined[0] != '\0')
		fprintf(stream, " (%s)", location->inlined);
	fprintf(stream, "  %s:%" PRIu32, location->file, location->line);
}

static void print_reason(FILE *stream, const struct pb_crash_view *view)
{
	const struct pb_crash_record *record = view->record;
	const char *status = pb_crash_status(record);
	struct pb_code_location location;

	fprintf(stream, "crash          %s%s%s\n", pb_fatal_kind_name(record->kind),
		status[0] != '\0' ? ": " : "", status);
	fprintf(stream, "pc             0x%08" PRIx32, record->pc);
	if (pb_crash_where(view, &location))
		print_location(stream, &location);
	fprintf(stream, "\n");
	if (record->kind == PB_FATAL_ASSERT)
		fprintf(stream, "assertion      line %" PRIu32 "\n", record->status);
	else
		fprintf(stream,
			"address        0x%08" PRIx32 "\nstatus         0x%08" PRIx32 ", 0x%08" PRIx32 "\n",
			record->address, record->status, record->more);
	fprintf(stream, "boot stage     %s\n", pb_boot_stage_name(record->boot_stage));
	fprintf(stream, "waypoint       %s\n", pb_waypoint_name(record->waypoint));
	fprintf(stream, "heartbeat      %" PRIu32 "\n", record->heartbeat);
	fprintf(stream, "incarnation    %" PRIu32 "%s\n", record->incarnation,
		record->incarnation != view->incarnation ? ", which is not the present one" : "");
}

static void print_registers(FILE *stream, const struct pb_crash_record *record)
{
	const char *name;

	if (pb_crash_register(record->cpu, 0) == NULL)
		return;
	fprintf(stream, "registers\n");
	for (uint32_t i = 0; i < PB_CRASH_REGISTERS && (name = pb_crash_register(record->cpu, i)) != NULL;
	     i++) {
		fprintf(stream, "  %-3s 0x", name);
		if (record->cpu == PB_CRASH_CPU_RISCV64)
			fprintf(stream, "%08" PRIx32, record->registers_high[i]);
		fprintf(stream, "%08" PRIx32 "%s", record->registers[i], i % 4u == 3u ? "\n" : "");
	}
	fprintf(stream, "  psr 0x%08" PRIx32 "\n", record->psr);
}

static void print_calls(FILE *stream, const struct pb_crash_view *view)
{
	uint32_t calls[PB_CRASH_CALLS];
	const uint32_t count = pb_crash_calls(view, calls);
	struct pb_code_location location;

	if (count != 0)
		fprintf(stream, "called from, by probable return addresses on the stack\n");
	for (uint32_t i = 0; i < count; i++) {
		fprintf(stream, "  0x%08" PRIx32, calls[i]);
		if (find(view, calls[i], &location))
			print_location(stream, &location);
		fprintf(stream, "\n");
	}
}

static void print_stack(FILE *stream, const struct pb_crash_record *record)
{
	fprintf(stream,
		"stack          0x%08" PRIx32 " to 0x%08" PRIx32 ", %" PRIu32 " words from 0x%08" PRIx32 "\n",
		record->stack_bottom, record->stack_top, record->stack_words, record->stack_address);
	for (uint32_t i = 0; i < record->stack_words; i++) {
		if (i % 4u == 0)
			fprintf(stream, "  0x%08" PRIx32 " ", record->stack_address + 4u * i);
		fprintf(stream, " %08" PRIx32 "%s", record->stack[i],
			i % 4u == 3u || i + 1u == record->stack_words ? "\n" : "");
	}
}

void pb_crash_print(FILE *stream, const struct pb_crash_view *view)
{
	char text[PB_CRASH_NOTE_BYTES], build_id[41];
	uint32_t heartbeat;

	pb_crash_build_id(view->record, build_id);
	print_reason(stream, view);
	fprintf(stream, "build id       %s\n", build_id);
	print_calls(stream, view);
	print_registers(stream, view->record);
	fprintf(stream, "last notes, the newest at the end; submissions are not noted\n");
	for (uint32_t i = 0; pb_crash_note(view->record, i, &heartbeat, text); i++)
		fprintf(stream, "  heartbeat %-10" PRIu32 " %s\n", heartbeat, text);
	print_stack(stream, view->record);
}

/* ---- JSON ---- */

static cJSON *location_json(uint32_t address, const struct pb_code_location *location)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddNumberToObject(object, "address", address);
	if (location->function[0] != '\0')
		cJSON_AddStringToObject(object, "function", location->function);
	if (location->inlined[0] != '\0')
		cJSON_AddStringToObject(object, "inlined", location->inlined);
	if (location->file[0] != '\0') {
		cJSON_AddStringToObject(object, "file", location->file);
		cJSON_AddNumberToObject(object, "line", location->line);
	}
	return object;
}

static void add_numbers(cJSON *object, const struct pb_crash_record *record)
{
	cJSON_AddStringToObject(object, "kind", pb_fatal_kind_name(record->kind));
	cJSON_AddStringToObject(object, "meaning", pb_crash_status(record));
	cJSON_AddNumberToObject(object, "lr", record->lr);
	cJSON_AddNumberToObject(object, "status", record->status);
	cJSON_AddNumberToObject(object, "more", record->more);
	cJSON_AddNumberToObject(object, "address", record->address);
	cJSON_AddNumberToObject(object, "psr", record->psr);
	cJSON_AddStringToObject(object, "waypoint", pb_waypoint_name(record->waypoint));
	cJSON_AddStringToObject(object, "boot_stage", pb_boot_stage_name(record->boot_stage));
	cJSON_AddNumberToObject(object, "heartbeat", record->heartbeat);
	cJSON_AddNumberToObject(object, "incarnation", record->incarnation);
}

static void add_registers(cJSON *object, const struct pb_crash_record *record)
{
	cJSON *registers = cJSON_AddObjectToObject(object, "registers");
	char text[19];
	const char *name;

	for (uint32_t i = 0; i < PB_CRASH_REGISTERS && (name = pb_crash_register(record->cpu, i)) != NULL;
	     i++) {
		/* As text: JSON numbers are exact up to 53 bits only. */
		snprintf(text, sizeof(text), "0x%" PRIx64,
			 (uint64_t)record->registers_high[i] << 32 | record->registers[i]);
		cJSON_AddStringToObject(registers, name, text);
	}
}

static void add_notes(cJSON *object, const struct pb_crash_record *record)
{
	cJSON *notes = cJSON_AddArrayToObject(object, "notes");
	char text[PB_CRASH_NOTE_BYTES];
	uint32_t heartbeat;

	for (uint32_t i = 0; pb_crash_note(record, i, &heartbeat, text); i++) {
		cJSON *note = cJSON_CreateObject();

		cJSON_AddNumberToObject(note, "heartbeat", heartbeat);
		cJSON_AddStringToObject(note, "what", text);
		cJSON_AddItemToArray(notes, note);
	}
}

static void add_stack(cJSON *object, const struct pb_crash_view *view)
{
	const struct pb_crash_record *record = view->record;
	cJSON *calls = cJSON_AddArrayToObject(object, "calls"), *words;
	uint32_t found[PB_CRASH_CALLS];
	const uint32_t count = pb_crash_calls(view, found);
	struct pb_code_location location;

	for (uint32_t i = 0; i < count; i++) {
		(void)find(view, found[i], &location);
		cJSON_AddItemToArray(calls, location_json(found[i], &location));
	}
	cJSON_AddNumberToObject(object, "stack_address", record->stack_address);
	words = cJSON_AddArrayToObject(object, "stack");
	for (uint32_t i = 0; i < record->stack_words; i++)
		cJSON_AddItemToArray(words, cJSON_CreateNumber(record->stack[i]));
}

bool pb_crash_print_json(FILE *stream, const struct pb_crash_view *view)
{
	cJSON *object = cJSON_CreateObject();
	struct pb_code_location location;
	char build_id[41];

	(void)pb_crash_where(view, &location);
	pb_crash_build_id(view->record, build_id);
	cJSON_AddItemToObject(object, "pc", location_json(view->record->pc, &location));
	add_numbers(object, view->record);
	cJSON_AddNumberToObject(object, "incarnation_now", view->incarnation);
	cJSON_AddStringToObject(object, "build_id", build_id);
	add_registers(object, view->record);
	add_notes(object, view->record);
	add_stack(object, view);
	return pb_json_print(stream, object);
}
