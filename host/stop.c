/* SPDX-License-Identifier: MIT */
/* Preemption, suspension and reset, and submissions left unfinished. */
#include "host/internal.h"

/* ---- validation of reports ---- */

/* Returns whether the indices of a report are possible: all submissions before `earliest` had completed. */
static bool report_fits(const struct pb_queue *queue, uint32_t earliest, const struct pb_preempt *report)
{
	uint32_t completed = report->completed - earliest;

	return completed <= queue->put - earliest && report->returned <= completed;
}

/* Returns whether a preemption's report is possible: returned submissions lie right before the cutoff. */
static bool preemption_fits(const struct pb_queue *queue, const struct pb_preempt *report)
{
	const struct pb_stop *stop = &queue->stop;

	if (!report_fits(queue, stop->earliest, report) ||
	    report->completed - stop->cutoff > queue->put - stop->cutoff)
		return false;
	return report->returned != 0 ? report->completed == stop->cutoff : !report->started;
}

/*
 * Accounts for returned submissions. If no submission is left in the ring, the queue's timeline is set to the value
 * reached, so that the values of returned submissions are used again.
 */
static enum pb_error settle(struct pb_queue *queue, uint32_t completed)
{
	struct pb_fence fence;
	enum pb_error error = pb_queue_fence(queue, &fence);

	if (error != PB_ERROR_OK)
		return error;
	/* The firmware writes the fence record before any report. */
	if (fence.completed - completed > queue->put - completed)
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	if (fence.completed != queue->put)
		return PB_ERROR_OK;
	if (fence.timeline > queue->timeline)
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	queue->timeline = fence.timeline;
	return PB_ERROR_OK;
}

/* ---- preemption ---- */

enum pb_error pb_queue_preempt_begin(struct pb_queue *queue, uint32_t preemption_id, uint32_t flags)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->handle, queue->put, preemption_id, flags};
	struct pb_stop *stop = &queue->stop;
	uint32_t earliest;
	enum pb_error error;

	if (stop->pending)
		return PB_ERROR_BUSY;
	error = pb_queue_completed(queue, &earliest);
	if (error == PB_ERROR_OK)
		error = pb_channel_begin(queue->channel, PB_COMMAND_PREEMPT, arguments, &stop->tag);
	if (error != PB_ERROR_OK)
		return error;
	stop->pending = true;
	stop->id = preemption_id;
	stop->cutoff = queue->put;
	stop->earliest = earliest;
	return PB_ERROR_OK;
}

/* Validates the reply of a preemption and keeps it. */
static enum pb_error accept_reply(struct pb_queue *queue, const uint32_t *results)
{
	const struct pb_preempt report = {
		.count = queue->stop.last.count + 1,
		.preemption_id = queue->stop.id,
		.fence_id = results[0],
		.valid = results[1] != 0,
		.completed = results[2],
		.returned = results[3],
		.started = results[4] != 0,
	};

	if (!preemption_fits(queue, &report))
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	queue->stop.last = report;
	return settle(queue, report.completed);
}

/* Ends a preemption, unless `error` is PB_ERROR_TIMEOUT: then its reply has not come. */
static enum pb_error finish(struct pb_queue *queue, enum pb_error error, const uint32_t *results,
			    struct pb_preempt *result)
{
	if (error == PB_ERROR_TIMEOUT)
		return error;
	queue->stop.pending = false;
	if (error == PB_ERROR_OK)
		error = accept_reply(queue, results);
	if (error == PB_ERROR_OK && result != NULL)
		*result = queue->stop.last;
	return error;
}

enum pb_error pb_queue_preempt_finish(struct pb_queue *queue, struct pb_preempt *result)
{
	uint32_t results[PB_REPLY_RESULTS];

	if (!queue->stop.pending)
		return PB_ERROR_BAD_ARGUMENT;
	return finish(queue, pb_channel_finish(queue->channel, queue->stop.tag, results), results, result);
}

enum pb_error pb_queue_preempt(struct pb_queue *queue, uint32_t preemption_id, uint32_t flags,
			       struct pb_preempt *result)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error = pb_queue_preempt_begin(queue, preemption_id, flags);

	if (error != PB_ERROR_OK)
		return error;
	return finish(queue, pb_channel_await(queue->channel, queue->stop.tag, results), results, result);
}

/* Validates a record that is newer than the last reply: it must report the request in progress. */
static enum pb_error accept_record(struct pb_queue *queue, const struct pb_preempt_record *record,
				   struct pb_preempt *last)
{
	const struct pb_preempt report = {
		.count = record->count,
		.preemption_id = record->preemption_id,
		.fence_id = record->fence_id,
		.valid = record->valid != 0,
		.completed = record->completed,
		.returned = record->returned,
		.started = record->started != 0,
	};

	if (!queue->stop.pending || record->count != queue->stop.last.count + 1 ||
	    record->preemption_id != queue->stop.id || record->epoch != queue->channel->epoch ||
	    !preemption_fits(queue, &report))
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	*last = report;
	return settle(queue, report.completed);
}

enum pb_error pb_queue_preempted(struct pb_queue *queue, struct pb_preempt *last)
{
	struct pb_preempt_record record;
	enum pb_error error;

	*last = queue->stop.last;
	if (!queue->channel->attached)
		return PB_ERROR_DETACHED;
	error = pb_read_record(queue, &pb_queue_page(queue)->preempt, &record);
	if (error == PB_ERROR_OK && record.count != last->count)
		error = accept_record(queue, &record, last);
	return error;
}

/* ---- suspension ---- */

enum pb_error pb_queue_suspend_begin(struct pb_queue *queue, uint32_t flags, uint32_t *tag)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->handle, queue->put, flags};

	return pb_channel_begin(queue->channel, PB_COMMAND_SUSPEND, arguments, tag);
}

enum pb_error pb_queue_suspend(struct pb_queue *queue, uint32_t flags)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->handle, queue->put, flags};

	return pb_channel_command(queue->channel, PB_COMMAND_SUSPEND, arguments, NULL);
}

enum pb_error pb_queue_resume(struct pb_queue *queue)
{
	return pb_command_about(queue->channel, PB_COMMAND_RESUME, queue->handle, 0);
}

enum pb_error pb_card_suspend(struct pb_channel *channel, uint32_t flags)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {[2] = flags};

	return pb_channel_command(channel, PB_COMMAND_SUSPEND, arguments, NULL);
}

enum pb_error pb_card_resume(struct pb_channel *channel)
{
	return pb_command_about(channel, PB_COMMAND_RESUME, 0, 0);
}

/* ---- reset ---- */

enum pb_error pb_queue_reset(struct pb_queue *queue, struct pb_preempt *result)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->node, queue->handle, queue->put};
	uint32_t results[PB_REPLY_RESULTS];
	struct pb_preempt report;
	uint32_t earliest;
	enum pb_error error = pb_queue_completed(queue, &earliest);

	if (error == PB_ERROR_OK)
		error = pb_channel_command(queue->channel, PB_COMMAND_RESET, arguments, results);
	if (error != PB_ERROR_OK)
		return error;
	report = (struct pb_preempt){
		.fence_id = results[0],
		.valid = results[1] != 0,
		.completed = results[2],
		.returned = results[3],
	};
	if (!report_fits(queue, earliest, &report))
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	if (result != NULL)
		*result = report;
	return settle(queue, report.completed);
}

enum pb_error pb_node_release(struct pb_channel *channel, uint32_t node)
{
	return pb_command_about(channel, PB_COMMAND_RESET, node, PB_HANDLE_NONE);
}

/* ---- unfinished submissions ---- */

enum pb_error pb_queue_unfinished(struct pb_queue *queue, struct pb_descriptor *descriptor)
{
	enum pb_error error;

	if (queue->history == NULL)
		return PB_ERROR_BAD_ARGUMENT;
	error = pb_alive(queue->channel);
	/* Do not read the fence record: its memory may belong to another host by now. */
	if (error == PB_ERROR_OK || queue->completed == queue->put)
		return PB_ERROR_OK;
	*descriptor = queue->history[queue->completed++ & (queue->entries - 1)];
	return error == PB_ERROR_DETACHED ? PB_ERROR_RETURNED : error;
}
