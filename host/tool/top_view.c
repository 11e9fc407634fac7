/* SPDX-License-Identifier: MIT */
#include "host/tool/top_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "host/tool/short_text.h"

/** Longest line, in bytes. */
#define LINE_BYTES 256u
/** Longest remark about a queue, in bytes. */
#define REMARK_BYTES 64u

static const char queue_head[] = "QUEUE   NODE PRIORITY STATE          PENDING  COMPLETED DONE/S REMARK";

/** Position of the next line. */
struct pen {
	WINDOW *window; /**< NULL: lines are printed */
	FILE *file;     /**< to which, if there is no window */
	int row;
	int rows; /**< rows for lines; the last row of the window shows the keys */
	int columns;
	attr_t attributes; /**< attributes of all lines */
};

/** Prints a line, up to a width, without the spaces at its end. */
static void print_line(FILE *file, const char *text, size_t width)
{
	size_t length = strlen(text);

	length = length < width ? length : width;
	while (length != 0 && text[length - 1u] == ' ')
		length--;
	fprintf(file, "%.*s\n", (int)length, text);
}

static void put_line(struct pen *pen, attr_t attributes, const char *text)
{
	if (pen->window == NULL) {
		print_line(pen->file, text, (size_t)pen->columns);
		return;
	}
	if (pen->row >= pen->rows)
		return;
	(void)wattrset(pen->window, (int)(pen->attributes | attributes));
	(void)mvwprintw(pen->window, pen->row, 0, "%-*.*s", pen->columns, pen->columns, text);
	pen->row++;
}

/** Draws a message, if necessary on several lines. An empty one leaves an empty line. */
static void put_message(struct pen *pen, const char *text)
{
	const size_t width = (size_t)pen->columns;
	char line[LINE_BYTES];

	while (strlen(text) > width && width < sizeof(line)) {
		size_t end = width;

		while (end != 0 && text[end] != ' ')
			end--;
		end = end != 0 ? end : width;
		(void)snprintf(line, sizeof(line), "%.*s", (int)end, text);
		put_line(pen, A_BOLD, line);
		text += end;
		text += *text == ' ';
	}
	put_line(pen, A_BOLD, text);
}

/* ---- the card ---- */

static void draw_firmware(struct pen *pen, const struct pb_top_picture *picture)
{
	const struct pb_top_model *model = picture->model;
	char line[LINE_BYTES], beats[PB_SHORT_BYTES], uptime[PB_SHORT_BYTES];

	pb_short_count(beats, floor(model->beats + 0.5));
	pb_short_time(uptime, (double)picture->uptime);
	/* One reading alone does not show whether it beats. */
	if (isnan(model->beats) && model->beating)
		(void)snprintf(line, sizeof(line),
			       "firmware %s, incarnation %" PRIu32 ", up %s, heartbeat %" PRIu32,
			       pb_boot_stage_name(model->now.card.boot_stage), model->now.card.incarnation,
			       uptime, model->now.card.heartbeat);
	else
		(void)snprintf(line, sizeof(line),
			       "firmware %s, incarnation %" PRIu32 ", up %s, heart %s (%s/s)",
			       pb_boot_stage_name(model->now.card.boot_stage), model->now.card.incarnation,
			       uptime, model->beating ? "beating" : "STOPPED", beats);
	put_line(pen, 0, line);
}

static void draw_card(struct pen *pen, const struct pb_top_picture *picture)
{
	const struct pb_telemetry_snapshot *now = &picture->model->now;
	char line[LINE_BYTES];
	int length;

	(void)snprintf(line, sizeof(line), "patchbay top: %s%s", now->card.build,
		       picture->paused ? "   (paused)" : "");
	put_line(pen, A_BOLD, line);
	draw_firmware(pen, picture);
	length = snprintf(line, sizeof(line), "MCU %s, died %" PRIu32 " times",
			  pb_card_mcu_state(now->card.mcu_state), now->card.mcu_deaths);
	if (now->card_values > PB_CARD_TAG_CHANNEL_FAULTS && length > 0)
		(void)snprintf(line + length, sizeof(line) - (size_t)length,
			       "; events dropped: %" PRIu64 ", channels faulted: %" PRIu64,
			       now->values[PB_CARD_TAG_DROPS], now->values[PB_CARD_TAG_CHANNEL_FAULTS]);
	put_line(pen, 0, line);
	put_message(pen, picture->message);
}

/* ---- nodes ---- */

/** Contents of a cell. */
enum content {
	CONTENT_STATE,  /**< the node's state */
	CONTENT_BUSY,   /**< share of time in which the engine ran */
	CONTENT_RATE,   /**< growth in a second */
	CONTENT_BYTES,  /**< growth in a second, in bytes */
	CONTENT_GAUGE,  /**< the value itself */
	CONTENT_MEDIAN, /**< median of a histogram */
	CONTENT_TAIL,   /**< 99th percentile of a histogram */
};

/** A column behind that of the node's number. */
static const struct column {
	const char *title;
	int width;
	enum content content;
	uint32_t what; /**< enum pb_node_tag, or enum pb_latency */
	uint32_t
		rank; /**< 0: always shown; else those of higher rank are left out first where there is no room */
} columns[] = {
	{"STATE", -9, CONTENT_STATE, PB_NODE_TAG_STATE, 0},
	{"BUSY", 5, CONTENT_BUSY, PB_NODE_TAG_BUSY, 0},
	{"SUBM/S", 7, CONTENT_RATE, PB_NODE_TAG_SUBMISSIONS, 0},
	{"PATCH/S", 7, CONTENT_RATE, PB_NODE_TAG_PATCHES, 0},
	{"BYTES/S", 7, CONTENT_BYTES, PB_NODE_TAG_BYTES, 5},
	{"DEPTH", 5, CONTENT_GAUGE, PB_NODE_TAG_DEPTH, 0},
	{"FEED50", 6, CONTENT_MEDIAN, PB_LATENCY_FEED, 4},
	{"FEED99", 6, CONTENT_TAIL, PB_LATENCY_FEED, 0},
	{"FENCE50", 7, CONTENT_MEDIAN, PB_LATENCY_FENCE, 3},
	{"FENCE99", 7, CONTENT_TAIL, PB_LATENCY_FENCE, 0},
	{"FLIGHT", 6, CONTENT_GAUGE, PB_NODE_TAG_IN_FLIGHT, 0},
	{"QUEUES", 6, CONTENT_GAUGE, PB_NODE_TAG_QUEUES, 0},
	{"STOP/S", 6, CONTENT_RATE, PB_NODE_TAG_PREEMPTIONS, 2},
	{"FAULTS", 6, CONTENT_GAUGE, PB_NODE_TAG_FAULTS, 0},
	{"RESETS", 6, CONTENT_GAUGE, PB_NODE_TAG_RESETS, 1},
};

#define COLUMNS    (sizeof(columns) / sizeof(columns[0]))
#define NODE_WIDTH 4
#define RANKS      5u

/** Returns the width of the columns whose rank is at most this. */
static int width_of(uint32_t rank)
{
	int width = NODE_WIDTH;

	for (size_t c = 0; c < COLUMNS; c++)
		width += columns[c].rank <= rank ? abs(columns[c].width) + 1 : 0;
	return width;
}

/** Returns the highest rank that has room. */
static uint32_t rank_of(int width)
{
	uint32_t rank = RANKS;

	while (rank != 0 && width_of(rank) > width)
		rank--;
	return rank;
}

static void add_text(char *line, const char *text, int width)
{
	const size_t length = strlen(line);

	(void)snprintf(line + length, LINE_BYTES - length, "%s%*s", length != 0 ? " " : "", width, text);
}

static void print_share(char *text, double share)
{
	if (isnan(share))
		(void)snprintf(text, PB_SHORT_BYTES, "-");
	else
		(void)snprintf(text, PB_SHORT_BYTES, "%.0f%%", 100 * share);
}

/** Prints a percentile of a histogram. */
static void print_latency(char *text, const struct pb_top_latency *latency, bool tail)
{
	pb_short_time(text, !latency->any ? (double)NAN : tail ? latency->p99 : latency->p50);
}

/** Prints one value of a node. @param text out: PB_SHORT_BYTES */
static void print_cell(char *text, const struct pb_top_model *model, uint32_t n, const struct column *column)
{
	const struct pb_top_node *node = &model->nodes[n];
	const enum content content = column->content;
	const bool has = pb_top_model_has(model, (enum pb_node_tag)column->what);
	const uint64_t value = model->now.nodes[n].values[column->what];
	const double rate = has ? node->rates[column->what] : (double)NAN;

	if (content == CONTENT_STATE)
		(void)snprintf(text, PB_SHORT_BYTES, "%s", has ? pb_node_state_name((uint32_t)value) : "-");
	else if (content == CONTENT_BUSY)
		print_share(text, has ? node->busy : (double)NAN);
	else if (content == CONTENT_RATE)
		pb_short_count(text, rate);
	else if (content == CONTENT_BYTES)
		pb_short_bytes(text, rate);
	else if (content == CONTENT_GAUGE)
		pb_short_count(text, has ? (double)value : (double)NAN);
	else
		print_latency(text, &node->latencies[column->what], content == CONTENT_TAIL);
}

/** Draws the titles of the nodes, with a row for each. */
static void draw_nodes(struct pen *pen, const struct pb_top_model *model)
{
	const uint32_t rank = rank_of(pen->columns);
	char line[LINE_BYTES] = "NODE", text[PB_SHORT_BYTES];

	for (size_t c = 0; c < COLUMNS; c++)
		if (columns[c].rank <= rank)
			add_text(line, columns[c].title, columns[c].width);
	put_line(pen, A_REVERSE, line);
	for (uint32_t n = 0; n < model->now.node_count; n++) {
		const uint64_t state = model->now.nodes[n].values[PB_NODE_TAG_STATE];
		const bool works =
			!pb_top_model_has(model, PB_NODE_TAG_STATE) || state == PB_NODE_STATE_RUNNING;

		(void)snprintf(line, sizeof(line), "%*" PRIu32, NODE_WIDTH, n);
		for (size_t c = 0; c < COLUMNS; c++) {
			if (columns[c].rank > rank)
				continue;
			print_cell(text, model, n, &columns[c]);
			add_text(line, text, columns[c].width);
		}
		put_line(pen, works ? 0 : A_BOLD, line);
	}
}

/* ---- queues ---- */

/** Writes what is remarkable about a queue. A queue waits for queues of its own channel. @param room for the text */
static void remark(const struct pb_top_queue *queue, size_t room, char text[REMARK_BYTES])
{
	char value[PB_SHORT_BYTES];
	int length;

	text[0] = '\0';
	if (queue->why != PB_WHY_WAITING && queue->failed)
		(void)snprintf(text, REMARK_BYTES, "failed");
	if (queue->why != PB_WHY_WAITING)
		return;
	length = snprintf(text, REMARK_BYTES, "%" PRIu32 ":%" PRIu32 " >= %" PRIu64, queue->channel,
			  PB_HANDLE_INDEX(queue->waits_for_queue), queue->waits_for_value);
	if (length > 0 && (size_t)length <= room)
		return;
	pb_short_count(value, (double)queue->waits_for_value);
	(void)snprintf(text, REMARK_BYTES, "%" PRIu32 ":%" PRIu32 " >= %s", queue->channel,
		       PB_HANDLE_INDEX(queue->waits_for_queue), value);
}

static void draw_queue(struct pen *pen, const struct pb_top_queue *queue)
{
	char line[LINE_BYTES], name[32], pending[PB_SHORT_BYTES], done[PB_SHORT_BYTES];
	const size_t width = (size_t)pen->columns;
	size_t length;

	(void)snprintf(name, sizeof(name), "%" PRIu32 ":%" PRIu32, queue->channel, queue->index);
	pb_short_count(pending, queue->pending);
	pb_short_count(done, queue->rate);
	(void)snprintf(line, sizeof(line) - REMARK_BYTES,
		       "%-7s %4" PRIu32 " %-8s %-14s %7s %10" PRIu32 " %6s ", name, queue->node,
		       pb_priority_name(queue->priority), pb_why_name(queue->why), pending, queue->completed,
		       done);
	length = strlen(line);
	remark(queue, width > length ? width - length : 0, line + length);
	put_line(pen, queue->failed ? A_BOLD : 0, line);
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
	return value < most ? value : most;
}

/** Draws the queues. @param shown out: queues drawn @return scroll position, limited to the list */
static uint32_t draw_queues(struct pen *pen, const struct pb_top_picture *picture, uint32_t *shown)
{
	uint32_t lines, scroll;

	put_line(pen, A_REVERSE, queue_head);
	lines = pen->rows > pen->row ? (uint32_t)(pen->rows - pen->row) : 0;
	*shown = at_most(picture->queue_count, lines);
	scroll = at_most(picture->scroll, picture->queue_count - *shown);
	for (uint32_t i = 0; i < *shown; i++)
		draw_queue(pen, picture->queues[scroll + i]);
	return scroll;
}

static void draw_keys(struct pen *pen, const struct pb_top_picture *picture, uint32_t scroll, uint32_t shown)
{
	char line[LINE_BYTES];

	(void)snprintf(line, sizeof(line),
		       "q quit  p %s  arrows scroll   queues %" PRIu32 "-%" PRIu32 " of %" PRIu32,
		       picture->paused ? "resume" : "pause", shown != 0 ? scroll + 1u : 0, scroll + shown,
		       picture->queue_count);
	while (pen->row < pen->rows)
		put_line(pen, 0, "");
	pen->rows++;
	put_line(pen, A_REVERSE, line);
}

uint32_t pb_top_draw(WINDOW *window, const struct pb_top_picture *picture)
{
	const struct pb_top_model *model = picture->model;
	struct pen pen = {
		.window = window,
		.rows = getmaxy(window) - 1,
		.columns = getmaxx(window),
		.attributes = picture->old ? A_DIM : 0,
	};
	uint32_t scroll, shown;

	draw_card(&pen, picture);
	draw_nodes(&pen, model);
	put_line(&pen, 0, "");
	scroll = draw_queues(&pen, picture, &shown);
	draw_keys(&pen, picture, scroll, shown);
	return scroll;
}

void pb_top_print(FILE *file, const struct pb_top_picture *picture, uint32_t width)
{
	const uint32_t most = LINE_BYTES - 1u;
	struct pen pen = {.file = file, .columns = (int)(width - 1u < most ? width : most)};

	draw_card(&pen, picture);
	draw_nodes(&pen, picture->model);
	put_line(&pen, 0, "");
	put_line(&pen, 0, queue_head);
	for (uint32_t i = 0; i < picture->queue_count; i++)
		draw_queue(&pen, picture->queues[i]);
}
