/* SPDX-License-Identifier: MIT */
/* The description of a trace in the language of the Common Trace Format, version 1.8. */
#include <inttypes.h>
#include <string.h>

#include "host/tool/trace_ctf.h"
#include "patchbay/names.h"

/** Numbers that may have a name. */
#define NAMED_MAX 256u
#define SECOND    1000000u

static const char begin[] = "/* CTF 1.8 */\n"
			    "\n"
			    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
			    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
			    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
			    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
			    "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
			    "typealias integer { size = 32; align = 8; base = hex; } := hex32_t;\n"
			    "\n"
			    "trace {\n"
			    "\tmajor = 1;\n"
			    "\tminor = 8;\n"
			    "\tbyte_order = le;\n"
			    "\tpacket.header := struct { uint32_t magic; uint32_t stream_id; };\n"
			    "};\n"
			    "\n"
			    "env {\n"
			    "\tdomain = \"patchbay\";\n"
			    "\ttracer_name = \"patchbay trace\";\n"
			    "};\n"
			    "\n";
static const char stream[] =
	"typealias integer { size = 64; align = 8; map = clock.patchbay.value; } := time_t;\n"
	"\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\ttime_t timestamp_begin; time_t timestamp_end; uint64_t content_size; uint64_t packet_size;\n"
	"\t\tuint64_t events_discarded;\n"
	"\t};\n"
	"\tevent.header := struct { uint16_t id; time_t timestamp; };\n"
	"};\n";

/** Writes the clock. Its zero is the first record; an anchor tells when that was. */
static void write_clock(FILE *file, const struct pb_trace_data *data)
{
	uint64_t origin = 0;

	fputs("clock {\n\tname = patchbay;\n\tfreq = 1000000;\n", file);
	if (data->anchor_count != 0)
		origin = data->anchors[0].nanoseconds / 1000u - data->anchors[0].time;
	if (data->anchor_count != 0)
		fprintf(file,
			"\tdescription = \"UTC\";\n\toffset_s = %" PRIu64 ";\n\toffset = %" PRIu64
			";\n\tabsolute = true;\n",
			origin / SECOND, origin % SECOND);
	else
		fputs("\tdescription = \"since the first record\";\n", file);
	fputs("};\n\n", file);
}

/** Writes an enumeration of the numbers that have a name. */
static void write_names(FILE *file, const char *type, uint32_t bits, const char *(*name)(uint32_t))
{
	const char *separator = "";

	fprintf(file, "enum %s : uint%u_t {", type, bits);
	for (uint32_t i = 0; i < NAMED_MAX; i++) {
		if (strcmp(name(i), "?") == 0)
			continue;
		fprintf(file, "%s \"%s\" = %u", separator, name(i), i);
		separator = ",";
	}
	fputs(" };\n", file);
}

/** Writes the fields of an argument. Each has an underscore, which readers drop: some names are words of the language. */
static void write_argument(FILE *file, const struct pb_trace_argument *argument)
{
	switch (argument->format) {
	case '-':
		return;
	case 'd':
		fputs(" enum errors16 _error; uint16_t _node;", file);
		return;
	case 'o':
		fputs(" uint8_t _channel; uint8_t _node; enum priorities _priority; uint8_t _reserved;",
		      file);
		return;
	case 'e':
		fprintf(file, " enum errors _%s;", argument->name);
		return;
	case 's':
		fprintf(file, " enum stages _%s;", argument->name);
		return;
	case 'c':
		fprintf(file, " enum commands _%s;", argument->name);
		return;
	default:
		fprintf(file, " %s _%s;",
			argument->format == 'x' || argument->format == 'f' ? "hex32_t" : "uint32_t",
			argument->name);
	}
}

static void write_event(FILE *file, const struct pb_trace_kind *kind, uint32_t number)
{
	fputs("event {\n", file);
	if (kind->known)
		fprintf(file, "\tname = \"%s\";\n", kind->name);
	else
		fprintf(file, "\tname = \"event %u\";\n", number);
	fprintf(file, "\tid = %u;\n\tstream_id = 0;\n\tfields := struct { int32_t _object;", number);
	if (kind->known) {
		write_argument(file, &kind->arguments[0]);
		write_argument(file, &kind->arguments[1]);
	} else {
		fputs(" hex32_t _first; hex32_t _second;", file);
	}
	fputs(" };\n};\n", file);
}

/** Writes the records that the schema names, and those that are in the trace without a name. */
static void write_events(FILE *file, const struct pb_trace_data *data)
{
	bool there[256] = {false};

	for (size_t i = 0; i < data->count; i++)
		there[PB_TRACE_WHAT_EVENT(data->moments[i].record.what)] = true;
	for (uint32_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		if (there[i] || data->schema.kinds[i].known)
			write_event(file, &data->schema.kinds[i], i);
	}
}

/** Writes a DDI function; 0: an unknown one. */
static void write_call(FILE *file, uint32_t function)
{
	fprintf(file,
		"event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct { int32_t "
		"_node; "
		"enum : uint32_t { \"nothing\" = 0, \"fence\" = 1, \"preemption\" = 2 } _names; hex32_t _id; "
		"hex32_t _status; };\n};\n",
		function != 0 ? pb_ddi_name(function) : "call", PB_CTF_CALLS + function);
}

static void write_guest(FILE *file, uint32_t kind)
{
	if (kind >= PB_GUEST_HOST_SUBMITTED) {
		fprintf(file,
			"event {\n\tname = \"host_%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct { "
			"uint32_t _host; uint64_t _channel; uint32_t _node; hex32_t _queue; uint64_t _value; "
			"hex32_t _fence; uint32_t _index; uint64_t _host_ns; uint32_t _pid; string _comm; "
			"};\n};\n",
			pb_guest_event_name(kind), PB_CTF_GUESTS + kind);
		return;
	}
	fprintf(file,
		"event {\n\tname = \"guest_%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct { "
		"uint32_t _guest; uint64_t _file; uint32_t _node; hex32_t _queue; uint64_t _value; "
		"int32_t _detail; uint32_t _card_us; uint64_t _guest_ns; uint32_t _pid; string _comm; "
		"};\n};\n",
		pb_guest_event_name(kind), PB_CTF_GUESTS + kind);
}

bool pb_trace_ctf_metadata(FILE *file, const struct pb_trace_data *data)
{
	fputs(begin, file);
	write_clock(file, data);
	fputs(stream, file);
	write_names(file, "errors", 32, pb_error_name);
	write_names(file, "errors16", 16, pb_error_name);
	write_names(file, "stages", 32, pb_boot_stage_name);
	write_names(file, "commands", 32, pb_command_name);
	write_names(file, "priorities", 8, pb_priority_name);
	write_events(file, data);
	for (uint32_t i = 0; data->call_count != 0 && i <= PB_DDI_RESTART_FROM_TIMEOUT; i++)
		write_call(file, i);
	for (uint32_t i = PB_GUEST_SUBMIT; data->guest_count != 0 && i <= PB_GUEST_HOST_FRAME; i++)
		write_guest(file, i);
	return fflush(file) == 0 && ferror(file) == 0;
}
