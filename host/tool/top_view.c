/* SPDX-License-Identifier: MIT */
#include "host/tool/top_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "host/tool/short_text.h"

/** Longest line, in bytes. */
#define LINE_BYTES 256u

static const char node_head[] =
	"NODE STATE      BUSY  SUBM/S PATCH/S BYTES/S DEPTH FEED50 FEED99 FENCE50 FENCE99 "
	"FLIGHT QUEUES STOP/S FAULTS RESETS";
static const char queue_head[] = "QUEUE    NODE PRIORITY STATE          PENDING  COMPLETED  DONE/S  REMARK";

/** Position of the next line. */
struct pen {
	WINDOW *window;
	int row;
	int rows; /**< rows for lines; the last row of the window shows the keys */
	int columns;
	attr_t attributes; /**< attributes of all lines */
};

static void put_line(struct pen *pen, attr_t attributes, const char *text)
{
	if (pen->row >= pen->rows)
		return;
	(void)wattrset(pen->window, (int)(pen->attributes | attributes));
	(void)mvwprintw(pen->window, pen->row, 0, "%-*.*s", pen->columns, pen->columns, text);
	pen->row++;
}

/* ---- the card ---- */

static void draw_firmware(struct pen *pen, const struct pb_top_picture *picture)
{
	const struct pb_top_model *model = picture->model;
	char line[LINE_BYTES], beats[PB_SHORT_BYTES], uptime[PB_SHORT_BYTES];

	pb_short_count(beats, floor(model->beats + 0.5));
	pb_short_time(uptime, (double)picture->uptime);
	(void)snprintf(line, sizeof(line), "firmware %s, incarnation %" PRIu32 ", up %s, heart %s (%s/s)",
		       pb_boot_stage_name(model->now.card.boot_stage), model->now.card.incarnation, uptime,
		       model->beating ? "beating" : "STOPPED", beats);
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
	put_line(pen, A_BOLD, picture->message);
}

/* ---- nodes ---- */

static double gauge(const struct pb_top_model *model, uint32_t n, enum pb_node_tag tag)
{
	return pb_top_model_has(model, tag) ? (double)model->now.nodes[n].values[tag] : (double)NAN;
}

static double rate(const struct pb_top_model *model, uint32_t n, enum pb_node_tag tag)
{
	return pb_top_model_has(model, tag) ? model->nodes[n].rates[tag] : (double)NAN;
}

static void add_text(char *line, const char *text, int width)
{
	const size_t length = strlen(line);

	(void)snprintf(line + length, LINE_BYTES - length, "%s%*s", length != 0 ? " " : "", width, text);
}

static void add_count(char *line, double value, int width)
{
	char text[PB_SHORT_BYTES];

	pb_short_count(text, value);
	add_text(line, text, width);
}

static void add_bytes(char *line, double value, int width)
{
	char text[PB_SHORT_BYTES];

	pb_short_bytes(text, value);
	add_text(line, text, width);
}

static void add_share(char *line, double share, int width)
{
	char text[PB_SHORT_BYTES] = "-";

	if (!isnan(share))
		(void)snprintf(text, sizeof(text), "%.0f%%", 100 * share);
	add_text(line, text, width);
}

static void add_latency(char *line, const struct pb_top_latency *latency, int width)
{
	char text[PB_SHORT_BYTES];

	pb_short_time(text, latency->any ? latency->p50 : (double)NAN);
	add_text(line, text, width);
	pb_short_time(text, latency->any ? latency->p99 : (double)NAN);
	add_text(line, text, width);
}

static void draw_node(struct pen *pen, const struct pb_top_model *model, uint32_t n)
{
	const struct pb_top_node *node = &model->nodes[n];
	const bool stated = pb_top_model_has(model, PB_NODE_TAG_STATE);
	const uint32_t state = (uint32_t)model->now.nodes[n].values[PB_NODE_TAG_STATE];
	char line[LINE_BYTES] = "", number[16];

	(void)snprintf(number, sizeof(number), "%" PRIu32, n);
	add_text(line, number, 4);
	add_text(line, stated ? pb_node_state_name(state) : "-", -9);
	add_share(line, pb_top_model_has(model, PB_NODE_TAG_BUSY) ? node->busy : (double)NAN, 5);
	add_count(line, rate(model, n, PB_NODE_TAG_SUBMISSIONS), 7);
	add_count(line, rate(model, n, PB_NODE_TAG_PATCHES), 7);
	add_bytes(line, rate(model, n, PB_NODE_TAG_BYTES), 7);
	add_count(line, gauge(model, n, PB_NODE_TAG_DEPTH), 5);
	add_latency(line, &node->latencies[PB_LATENCY_FEED], 6);
	add_latency(line, &node->latencies[PB_LATENCY_FENCE], 7);
	add_count(line, gauge(model, n, PB_NODE_TAG_IN_FLIGHT), 6);
	add_count(line, gauge(model, n, PB_NODE_TAG_QUEUES), 6);
	add_count(line, rate(model, n, PB_NODE_TAG_PREEMPTIONS), 6);
	add_count(line, gauge(model, n, PB_NODE_TAG_FAULTS), 6);
	add_count(line, gauge(model, n, PB_NODE_TAG_RESETS), 6);
	put_line(pen, stated && state != PB_NODE_STATE_RUNNING ? A_BOLD : 0, line);
}

/* ---- queues ---- */

static void remark(const struct pb_top_queue *queue, char *text, size_t bytes)
{
	text[0] = '\0';
	if (queue->why == PB_WHY_WAITING)
		(void)snprintf(text, bytes, "until 0x%08" PRIx32 " reaches %" PRIu64, queue->waits_for_queue,
			       queue->waits_for_value);
	else if (queue->failed)
		(void)snprintf(text, bytes, "a submission failed");
}

static void draw_queue(struct pen *pen, const struct pb_top_queue *queue)
{
	char line[LINE_BYTES], name[32], pending[PB_SHORT_BYTES], done[PB_SHORT_BYTES], said[64];

	(void)snprintf(name, sizeof(name), "%" PRIu32 ":%" PRIu32, queue->channel, queue->index);
	pb_short_count(pending, queue->pending);
	pb_short_count(done, queue->rate);
	remark(queue, said, sizeof(said));
	(void)snprintf(line, sizeof(line), "%-8s %4" PRIu32 " %-8s %-14s %7s %10" PRIu32 " %7s  %s", name,
		       queue->node, pb_priority_name(queue->priority), pb_why_name(queue->why), pending,
		       queue->completed, done, said);
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
	put_line(&pen, A_REVERSE, node_head);
	for (uint32_t n = 0; n < model->now.node_count; n++)
		draw_node(&pen, model, n);
	put_line(&pen, 0, "");
	scroll = draw_queues(&pen, picture, &shown);
	draw_keys(&pen, picture, scroll, shown);
	return scroll;
}
