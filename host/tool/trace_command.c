/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/trace_command.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "host/tool/card_arguments.h"
#include "host/tool/memory_file.h"
#include "host/tool/open_card.h"
#include "host/tool/seconds.h"
#include "host/tool/trace_anchor.h"
#include "host/tool/trace_cause.h"
#include "host/tool/trace_ctf.h"
#include "host/tool/trace_export.h"
#include "host/tool/trace_guest.h"
#include "host/tool/trace_import.h"
#include "host/tool/trace_perfetto.h"
#include "host/tool/trace_record.h"

#define EXIT_USAGE 2

enum option_key {
	KEY_MEMORY = 0x100,
	KEY_LEVELS,
	KEY_TIME,
	KEY_CHROME,
	KEY_CTF,
	KEY_PERFETTO,
	KEY_HTML,
};

struct arguments {
	struct pb_open_options card;
	const char *memory;
	const char *file;
	const char *chrome;
	const char *ctf;
	const char *perfetto;
	const char *html;
	struct pb_trace_recording recording;
};

static const struct argp_option reader_options[] = {
	{"memory", KEY_MEMORY, "FILE.bin", 0, "Read saved card memory, from its first byte on", 0},
	{"levels", KEY_LEVELS, "LEVELS", 0, "Trace levels during the recording", 0},
	{"time", KEY_TIME, "SECONDS", 0, "Record for SECONDS", 0},
	{0},
};

static const struct argp_option export_options[] = {
	{"perfetto", KEY_PERFETTO, "FILE.pftrace", 0, "Write a trace for Perfetto", 0},
	{"chrome", KEY_CHROME, "FILE.json", 0, "Write Chrome trace events, for speedscope and others", 0},
	{"ctf", KEY_CTF, "DIR", 0, "Write a folder in the Common Trace Format 1.8", 0},
	{"html", KEY_HTML, "FILE.html", 0, "Write a page that needs no network", 0},
	{0},
};

static void set_time(struct arguments *arguments, const char *text, struct argp_state *state)
{
	if (!pb_seconds_parse(text, 0, 1e9, &arguments->recording.seconds))
		argp_error(state, "--time %s: give 0 to 1000000000 seconds", text);
}

static void set_levels(struct arguments *arguments, const char *text, struct argp_state *state)
{
	if (!pb_trace_levels_parse(text, &arguments->recording.levels))
		argp_error(state, "--levels %s: give off, default, all or CATEGORY=LEVEL,...", text);
	arguments->recording.set = true;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_MEMORY:
		arguments->memory = text;
		return 0;
	case KEY_LEVELS:
		set_levels(arguments, text, state);
		return 0;
	case KEY_TIME:
		set_time(arguments, text, state);
		return 0;
	case KEY_CHROME:
		arguments->chrome = text;
		return 0;
	case KEY_CTF:
		arguments->ctf = text;
		return 0;
	case KEY_PERFETTO:
		arguments->perfetto = text;
		return 0;
	case KEY_HTML:
		arguments->html = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key != ARGP_KEY_ARG)
		return parse_option(key, text, state);
	if (arguments->file != NULL)
		argp_error(state, "give one FILE");
	arguments->file = text;
	return 0;
}

/** Parser of commands that also have pb_card_arguments. */
static error_t parse_with_card(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key != ARGP_KEY_INIT)
		return parse(key, text, state);
	state->child_inputs[0] = &arguments->card;
	return 0;
}

static int complain(const char *program, const char *file, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", program, file, why);
	return 1;
}

static int read_card(const struct arguments *arguments)
{
	const struct pb_trace_recording *recording = &arguments->recording;
	struct pb_open_card card;
	struct pb_link link;
	int code;

	if (arguments->memory != NULL) {
		if (!pb_memory_file_read(recording->program, arguments->memory, &link))
			return 1;
		code = pb_trace_record(recording, &link);
		free(link.memory);
		return code;
	}
	code = pb_open_card(&arguments->card, recording->set ? PB_OPEN_ASK : PB_OPEN_READ, &card);
	if (code != 0)
		return code;
	code = pb_trace_record(recording, card.link);
	pb_close_card(&card);
	return code;
}

#define LEVELS_HELP                                                                                          \
	"LEVELS is off, default, all, or CATEGORY=LEVEL,...: LIFE, PACKET, SCHEDULE, NODE, CONTROL and "     \
	"LINE at 0 to 3, the others at 1. They are restored at the end."

static int record_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = reader_options,
		.parser = parse_with_card,
		.args_doc = "FILE.trace",
		.doc = "Write the trace of a card to a file: the records it holds and, with --time, new "
		       "ones.\v" LEVELS_HELP "\n\n"
		       "Exit code: 0 success; 1 there is no trace, or a failure; 2 wrong arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {.recording.program = argv[0]};
	int code;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (arguments.file == NULL || pb_names_card(&arguments.card) == (arguments.memory != NULL) ||
	    (arguments.memory != NULL && arguments.recording.set)) {
		fprintf(stderr, "%s: give FILE.trace, and either a card or --memory without --levels\n",
			argv[0]);
		return EXIT_USAGE;
	}
	arguments.recording.name = arguments.file;
	arguments.recording.file = fopen(arguments.file, "wb");
	if (arguments.recording.file == NULL)
		return complain(argv[0], arguments.file, strerror(errno));
	code = read_card(&arguments);
	if (fclose(arguments.recording.file) != 0 && code == 0)
		code = complain(argv[0], arguments.file, strerror(errno));
	return code;
}

static int follow_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = reader_options,
		.parser = parse_with_card,
		.args_doc = "",
		.doc = "Print the trace of a card: the records it holds, then new ones, until "
		       "interrupted.\v" LEVELS_HELP "\n\n"
		       "Exit code: 0 success; 1 there is no trace, or a failure; 2 wrong arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {.recording = {.program = argv[0],
						    .file = stdout,
						    .name = "standard output",
						    .text = true,
						    .seconds = -1}};

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (arguments.file == NULL && pb_names_card(&arguments.card) != (arguments.memory != NULL) &&
	    (arguments.memory == NULL || !arguments.recording.set))
		return read_card(&arguments);
	fprintf(stderr, "%s: give a card, or --memory without --levels, and no file\n", argv[0]);
	return EXIT_USAGE;
}

/** Reads a trace file. @return false: it cannot be read; the error has been printed */
static bool read_file(const char *program, const char *path, struct pb_trace_data *data)
{
	FILE *file = fopen(path, "rb");
	const char *wrong;

	memset(data, 0, sizeof(*data));
	if (file == NULL) {
		(void)complain(program, path, strerror(errno));
		return false;
	}
	wrong = pb_trace_file_read(file, data);
	(void)fclose(file);
	if (wrong == NULL)
		return true;
	(void)complain(program, path, wrong);
	pb_trace_data_free(data);
	return false;
}

static void print_anchor(const struct pb_trace_anchor *anchor)
{
	const time_t seconds = (time_t)(anchor->nanoseconds / 1000000000u);
	struct tm parts;
	char text[32] = "";

	if (gmtime_r(&seconds, &parts) != NULL)
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	printf("%6" PRIu64 ".%06u  the host's clock: %s.%06uZ, at most %u us late\n", anchor->time / 1000000u,
	       (unsigned)(anchor->time % 1000000u), text, (unsigned)(anchor->nanoseconds / 1000u % 1000000u),
	       (unsigned)anchor->error_us);
}

static void print_guest(const struct pb_trace_guest *at)
{
	const struct pb_guest_event *event = &at->event;

	if (event->kind == PB_GUEST_HOST_FRAME) {
		printf("%6" PRIu64 ".%06u  host %u %-9s number %u channel %" PRIu64 " task %s %u\n",
		       at->time / 1000000u, (unsigned)(at->time % 1000000u), (unsigned)at->guest,
		       pb_guest_event_name(event->kind), (unsigned)event->card_us, event->file, event->comm,
		       (unsigned)event->pid);
		return;
	}
	if (pb_guest_event_is_host(event)) {
		printf("%6" PRIu64 ".%06u  host %u %-9s queue 0x%08x index %u value %" PRIu64
		       " fence %u node %u channel %" PRIu64 " task %s %u\n",
		       at->time / 1000000u, (unsigned)(at->time % 1000000u), (unsigned)at->guest,
		       pb_guest_event_name(event->kind), (unsigned)event->queue, (unsigned)event->card_us,
		       event->value, (unsigned)event->detail, (unsigned)event->node, event->file, event->comm,
		       (unsigned)event->pid);
		return;
	}
	printf("%6" PRIu64 ".%06u  guest %u %-6s queue 0x%08x value %" PRIu64 " node %u file %" PRIu64
	       " task %s %u detail %d\n",
	       at->time / 1000000u, (unsigned)(at->time % 1000000u), (unsigned)at->guest,
	       pb_guest_event_name(event->kind), (unsigned)event->queue, event->value, (unsigned)event->node,
	       event->file, event->comm, (unsigned)event->pid, (int)event->detail);
}

static int decode_command(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "FILE.trace",
		.doc = "Print a trace: seconds since its first record, and the event.\v"
		       "The file holds the names of its events, so that traces of any firmware can be "
		       "printed.\n\n"
		       "Exit code: 0 success; 1 the file cannot be read; 2 wrong arguments.",
	};
	struct arguments arguments = {0};
	struct pb_trace_data data;
	size_t anchor = 0, guest = 0;
	int64_t drift;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (arguments.file == NULL) {
		fprintf(stderr, "%s: FILE.trace is missing\n", argv[0]);
		return EXIT_USAGE;
	}
	if (!read_file(argv[0], arguments.file, &data))
		return 1;
	for (size_t i = 0; i < data.count; i++) {
		for (; anchor < data.anchor_count && data.anchors[anchor].time < data.moments[i].time;
		     anchor++)
			print_anchor(&data.anchors[anchor]);
		for (; guest < data.guest_count && data.guest[guest].time < data.moments[i].time; guest++)
			print_guest(&data.guest[guest]);
		pb_trace_print(stdout, &data.schema, &data.moments[i].record, data.moments[i].time);
	}
	for (; anchor < data.anchor_count; anchor++)
		print_anchor(&data.anchors[anchor]);
	for (; guest < data.guest_count; guest++)
		print_guest(&data.guest[guest]);
	if (pb_trace_drift(&data, &drift))
		printf("       ...  the host's clock drifts by %+.3f parts in a million\n",
		       (double)drift / 1000.0);
	if (data.lost != 0)
		printf("       ...  %" PRIu64 " records were lost\n", data.lost);
	pb_trace_data_free(&data);
	return 0;
}

static int export_to(const char *program, const char *path, const struct pb_trace_data *data,
		     const struct pb_timeline *timeline,
		     bool (*write)(FILE *, const struct pb_trace_data *, const struct pb_timeline *))
{
	FILE *file = path != NULL ? fopen(path, "w") : NULL;
	int reason = 0;

	if (path == NULL)
		return 0;
	if (file == NULL)
		return complain(program, path, strerror(errno));
	errno = 0;
	if (!write(file, data, timeline))
		reason = errno != 0 ? errno : EIO;
	if (fclose(file) != 0)
		reason = errno;
	return reason == 0 ? 0 : complain(program, path, strerror(reason));
}

static bool write_metadata(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	(void)timeline;
	return pb_trace_ctf_metadata(file, data);
}

static bool write_stream(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	(void)timeline;
	return pb_trace_ctf_stream(file, data);
}

/** Writes the two files of a folder, which is made if it is not there. */
static int export_ctf(const char *program, const char *folder, const struct pb_trace_data *data)
{
	const struct {
		const char *name;
		bool (*write)(FILE *, const struct pb_trace_data *, const struct pb_timeline *);
	} files[] = {{"metadata", write_metadata}, {"stream", write_stream}};
	int code = 0;

	if (folder == NULL)
		return 0;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return complain(program, folder, strerror(errno));
	for (size_t i = 0; code == 0 && i < sizeof(files) / sizeof(files[0]); i++) {
		char *path;

		if (asprintf(&path, "%s/%s", folder, files[i].name) < 0)
			return complain(program, folder, "out of memory");
		code = export_to(program, path, data, NULL, files[i].write);
		free(path);
	}
	return code;
}

/** Writes all files that were asked for, until one cannot be written. */
static int export_all(const struct arguments *arguments, const char *program,
		      const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	const struct {
		const char *path;
		bool (*write)(FILE *, const struct pb_trace_data *, const struct pb_timeline *);
	} files[] = {
		{arguments->perfetto, pb_trace_export_perfetto},
		{arguments->chrome, pb_trace_export_events},
		{arguments->html, pb_trace_export_page},
	};
	int code = 0;

	for (size_t i = 0; code == 0 && i < sizeof(files) / sizeof(files[0]); i++)
		code = export_to(program, files[i].path, data, timeline, files[i].write);
	return code == 0 ? export_ctf(program, arguments->ctf, data) : code;
}

static int export_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = export_options,
		.parser = parse,
		.args_doc = "FILE.trace",
		.doc = "Export a trace as a timeline of queues and nodes.\v"
		       "Exit code: 0 success; 1 reading or writing failed; 2 wrong arguments.",
	};
	struct arguments arguments = {0};
	struct pb_timeline timeline;
	struct pb_trace_data data;
	int code;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (arguments.file == NULL || (arguments.perfetto == NULL && arguments.chrome == NULL &&
				       arguments.html == NULL && arguments.ctf == NULL)) {
		fprintf(stderr,
			"%s: give FILE.trace, and at least one of --perfetto, --chrome, --ctf, --html\n",
			argv[0]);
		return EXIT_USAGE;
	}
	if (!read_file(argv[0], arguments.file, &data))
		return 1;
	if (pb_timeline_build(&data, &timeline) && pb_trace_guest_join(&data, &timeline)) {
		pb_trace_order_calls(&data, &timeline);
		code = export_all(&arguments, argv[0], &data, &timeline);
	} else {
		code = complain(argv[0], arguments.file, "out of memory");
	}
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
	return code;
}

/** Parser of the three files of an import. */
static error_t parse_import(int key, char *text, struct argp_state *state)
{
	struct pb_trace_import *files = state->input;
	const char **const places[] = {&files->trace, &files->guest, &files->joined};

	if (key == ARGP_KEY_END && state->arg_num != sizeof(places) / sizeof(places[0]))
		argp_error(state, "give FILE.trace, GUEST.txt and JOINED.trace");
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (state->arg_num >= sizeof(places) / sizeof(places[0]))
		argp_error(state, "give FILE.trace, GUEST.txt and JOINED.trace");
	*places[state->arg_num] = text;
	return 0;
}

static int import_command(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_import,
		.args_doc = "FILE.trace GUEST.txt JOINED.trace",
		.doc = "Join the trace of a card with that of a guest's Linux driver, or of hosts.\v"
		       "GUEST.txt is /sys/kernel/tracing/trace of the guest, or what trace-cmd report "
		       "prints, with "
		       "the events patchbay_submit, patchbay_ring and patchbay_signal. Or it is the file "
		       "that programs on the card's machine have written with PATCHBAY_TRACE_HOST=FILE in "
		       "their environment.\n\n"
		       "Exit code: 0 success; 1 reading or writing failed; 2 wrong arguments.",
	};
	struct pb_trace_import files = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &files);
	return pb_trace_import(argv[0], &files);
}

int pb_trace_command(int argc, char **argv)
{
	const struct {
		const char *name;
		char *full_name;
		int (*run)(int argc, char **argv);
		const char *summary;
	} verbs[] = {
		{"record", (char[]){"patchbay trace record"}, record_command, "write a trace to a file"},
		{"follow", (char[]){"patchbay trace follow"}, follow_command, "print a trace live"},
		{"decode", (char[]){"patchbay trace decode"}, decode_command, "print a trace file"},
		{"export", (char[]){"patchbay trace export"}, export_command,
		 "export a trace file as a timeline"},
		{"import", (char[]){"patchbay trace import"}, import_command,
		 "join a trace file with that of a Linux guest or of hosts"},
	};
	const bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0);

	argp_err_exit_status = EXIT_USAGE;
	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		argv[1] = verbs[i].full_name;
		return verbs[i].run(argc - 1, argv + 1);
	}
	fprintf(help ? stdout : stderr,
		"Usage: %s COMMAND [ARGUMENT...]\n"
		"Record and show what the firmware of a card did, and when.\n\n",
		argv[0]);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		fprintf(help ? stdout : stderr, "  %-7s %s\n", verbs[i].name, verbs[i].summary);
	return help ? 0 : EXIT_USAGE;
}
