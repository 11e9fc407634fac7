/* SPDX-License-Identifier: MIT */
/* Preemption, suspension and reset, and submissions left unfinished. */
#include "host/internal.h"

/* ---- validation of reports ---- */

/*
 * Returns whether a report is possible: all submissions before `earliest` had completed, and only one that is returned
 * can be the one that had begun.
 */
static bool report_fits(const struct pb_queue *queue, uint32_t earliest, const struct pb_preempt *report)
{
	uint32_t completed = report->completed - earliest;

	return completed <= queue->put - earliest && report->returned <= completed &&
	       (report->returned != 0 || !report->started);
}

/* Returns whether a preemption's report is possible: returned submissions lie right before the cutoff. */
static bool preemption_fits(const struct pb_queue *queue, const struct pb_preempt *report)
{
	const struct pb_stop *stop = &queue->stop;

	if (!report_fits(queue, stop->earliest, report) ||
	    report->completed - stop->cutoff > queue->put - stop->cutoff)
		return false;
	return report->returned == 0 || report->completed == stop->cutoff;
}

/*
 * Accounts for the submissions that a report returns. If no submission is left in the ring, the queue's timeline is set
 * to the value reached, so that the values of returned submissions are used again.
 * @retval PB_ERROR_TIMEOUT the fence record is half written: call again
 */
static enum pb_error settle(struct pb_queue *queue, const struct pb_preempt *report)
{
	const uint32_t completed = report->completed;
	struct pb_fence fence;
	enum pb_error error = pb_queue_read_fence(queue, &fence);

	if (error != PB_ERROR_OK)
		return error;
	/* The firmware writes the fence record before any report. */
	if (fence.completed - completed > queue->put - completed)
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	if (report->returned != 0)
		queue->returns++;
	if (fence.completed != queue->put)
		return PB_ERROR_OK;
	if (fence.timeline > queue->timeline)
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	queue->timeline = fence.timeline;
	return PB_ERROR_OK;
}

/* ---- preemption ---- */

/* Notes the request that is about to be sent: its record may come before the command's function returns. */
static enum pb_error expect(struct pb_queue *queue, uint32_t preemption_id, uint32_t *cutoff)
{
	struct pb_stop *stop = &queue->stop;
	uint32_t earliest;
	enum pb_error error;

	if (stop->pending)
		return PB_ERROR_BUSY;
	error = pb_queue_indices(queue, cutoff, &earliest);
	if (error != PB_ERROR_OK)
		return error;
	pb_lock(queue->lock);
	stop->pending = true;
	stop->replied = false;
	stop->id = preemption_id;
	stop->cutoff = *cutoff;
	stop->earliest = earliest;
	pb_unlock(queue->lock);
	return PB_ERROR_OK;
}

/* Ends the preemption: no record of it is expected any more. */
static void end(struct pb_queue *queue)
{
	pb_lock(queue->lock);
	queue->stop.pending = false;
	pb_unlock(queue->lock);
}

enum pb_error pb_queue_preempt_begin(struct pb_queue *queue, uint32_t preemption_id, uint32_t flags)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->handle, 0, preemption_id, flags};
	enum pb_error error = expect(queue, preemption_id, &arguments[1]);

	if (error != PB_ERROR_OK)
		return error;
	error = pb_channel_begin(queue->channel, PB_COMMAND_PREEMPT, arguments, &queue->stop.tag);
	if (error != PB_ERROR_OK)
		end(queue);
	return error;
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
	queue->stop.replied = true;
	return PB_ERROR_OK;
}

/* Fetches the reply, if it was not fetched before. */
static enum pb_error fetch_reply(struct pb_queue *queue)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error;

	if (queue->stop.replied)
		return PB_ERROR_OK;
	error = pb_channel_finish(queue->channel, queue->stop.tag, results);
	if (error != PB_ERROR_OK)
		return error;
	pb_lock(queue->lock);
	error = accept_reply(queue, results);
	pb_unlock(queue->lock);
	return error;
}

enum pb_error pb_queue_preempt_finish(struct pb_queue *queue, struct pb_preempt *result)
{
	enum pb_error error;

	if (!queue->stop.pending)
		return PB_ERROR_BAD_ARGUMENT;
	error = fetch_reply(queue);
	if (error == PB_ERROR_OK) {
		pb_lock(queue->lock);
		error = settle(queue, &queue->stop.last);
		pb_unlock(queue->lock);
	}
	if (error == PB_ERROR_TIMEOUT)
		return error;
	end(queue);
	if (error == PB_ERROR_OK && result != NULL)
		*result = queue->stop.last;
	return error;
}

enum pb_error pb_queue_preempt(struct pb_queue *queue, uint32_t preemption_id, uint32_t flags,
			       struct pb_preempt *result)
{
	const uint64_t deadline = pb_deadline(queue->channel->link, PB_COMMAND_TIMEOUT_US);
	enum pb_error error = pb_queue_preempt_begin(queue, preemption_id, flags);

	while (error == PB_ERROR_OK) {
		error = pb_queue_preempt_finish(queue, result);
		if (error != PB_ERROR_TIMEOUT)
			return error;
		error = pb_pause(queue->channel->link, deadline, PB_WAIT_SLICE_US);
	}
	return error;
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
	return settle(queue, &report);
}

/* Reads the record of the last preemption. Pre: the caller holds the queue's lock. */
static enum pb_error read_preempted(struct pb_queue *queue, struct pb_preempt *last)
{
	struct pb_preempt_record record;
	enum pb_error error = pb_try_record(queue, &pb_queue_page(queue)->preempt, &record);

	*last = queue->stop.last;
	if (error == PB_ERROR_OK && record.count != last->count)
		error = accept_record(queue, &record, last);
	return error;
}

enum pb_error pb_queue_preempted_now(struct pb_queue *queue, struct pb_preempt *last)
{
	enum pb_error error = PB_ERROR_DETACHED;

	if (queue->channel->attached)
		error = pb_refresh(queue->channel->link);
	pb_lock(queue->lock);
	*last = queue->stop.last;
	if (error == PB_ERROR_OK)
		error = read_preempted(queue, last);
	pb_unlock(queue->lock);
	return error;
}

static enum pb_error preempted_now(struct pb_queue *queue, void *out)
{
	return pb_queue_preempted_now(queue, out);
}

enum pb_error pb_queue_preempted(struct pb_queue *queue, struct pb_preempt *last)
{
	return pb_patiently(queue, preempted_now, last);
}

/* ---- suspension ---- */

/* Returns the queue's put index, which a suspension names. */
static uint32_t put_of(struct pb_queue *queue)
{
	uint32_t put;

	pb_lock(queue->lock);
	put = queue->put;
	pb_unlock(queue->lock);
	return put;
}

enum pb_error pb_queue_suspend_begin(struct pb_queue *queue, uint32_t flags, uint32_t *tag)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->handle, put_of(queue), flags};

	return pb_channel_begin(queue->channel, PB_COMMAND_SUSPEND, arguments, tag);
}

enum pb_error pb_queue_suspend(struct pb_queue *queue, uint32_t flags)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->handle, put_of(queue), flags};

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

/* A reset's report, while it is accounted for. */
struct reset {
	uint32_t earliest;        /* consumer index before the reset */
	struct pb_preempt report; /* the firmware's */
};

static enum pb_error accept_reset(struct pb_queue *queue, void *out)
{
	const struct reset *reset = out;
	enum pb_error error;

	pb_lock(queue->lock);
	error = report_fits(queue, reset->earliest, &reset->report)
			? settle(queue, &reset->report)
			: pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	pb_unlock(queue->lock);
	return error;
}

enum pb_error pb_queue_reset(struct pb_queue *queue, struct pb_preempt *result)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->node, queue->handle};
	uint32_t results[PB_REPLY_RESULTS];
	struct reset reset;
	enum pb_error error = pb_queue_indices(queue, &arguments[2], &reset.earliest);

	if (error == PB_ERROR_OK)
		error = pb_channel_command(queue->channel, PB_COMMAND_RESET, arguments, results);
	if (error != PB_ERROR_OK)
		return error;
	reset.report = (struct pb_preempt){
		.fence_id = results[0],
		.valid = results[1] != 0,
		.completed = results[2],
		.returned = results[3],
		.started = results[4] != 0,
	};
	error = pb_patiently(queue, accept_reset, &reset);
	if (error == PB_ERROR_OK && result != NULL)
		*result = reset.report;
	return error;
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
	if (error == PB_ERROR_OK)
		return PB_ERROR_OK;
	pb_lock(queue->lock);
	/* Do not read the fence record: its memory may belong to another host by now. */
	if (queue->completed == queue->put)
		error = PB_ERROR_OK;
	else
		*descriptor = queue->history[queue->completed++ & (queue->entries - 1)];
	pb_unlock(queue->lock);
	return error == PB_ERROR_DETACHED ? PB_ERROR_RETURNED : error;
}
