/* SPDX-License-Identifier: MIT */
/* Walks a run of virgl commands. */
#include "hal/gl/stream.h"

#include <stddef.h>

static enum pb_gl_status check_length(const struct pb_gl_operation *operation, uint32_t length)
{
	if (length < operation->length_min || length > operation->length_max)
		return PB_GL_STATUS_LENGTH;
	if (operation->step != 0 && (length - operation->length_min) % operation->step != 0)
		return PB_GL_STATUS_LENGTH;
	return PB_GL_STATUS_OK;
}

/** Objects that have a handle have one that is not 0; what must name a resource names one. */
static enum pb_gl_status check_words(const struct pb_gl_command *command)
{
	const struct pb_gl_operation *operation = command->operation;

	if (command->number == PB_GL_CREATE_OBJECT && command->words[1] == 0)
		return PB_GL_STATUS_OBJECT;
	for (uint32_t n = 0; n < PB_GL_OPERANDS; n++) {
		const struct pb_gl_operand *operand = &operation->operands[n];

		if (operand->word != 0 && !operand->optional && command->words[operand->word] == 0)
			return PB_GL_STATUS_RESOURCE;
	}
	return operation->check ? operation->check(command->words, command->count - 1u) : PB_GL_STATUS_OK;
}

enum pb_gl_status pb_gl_read(const uint32_t *words, uint32_t count, uint32_t at,
			     struct pb_gl_command *command)
{
	enum pb_gl_status status;
	struct pb_gl_command found;

	if (at >= count)
		return PB_GL_STATUS_TRUNCATED;
	found.words = words + at;
	found.word = at;
	found.number = pb_gl_number_of(words[at]);
	found.kind = pb_gl_kind_of(words[at]);
	found.count = pb_gl_length_of(words[at]) + 1u;
	found.operation = pb_gl_operation_of(words[at]);
	if (found.operation->verdict != PB_GL_STATUS_OK)
		return found.operation->verdict;
	if (found.count > count - at)
		return PB_GL_STATUS_TRUNCATED;
	status = check_length(found.operation, found.count - 1u);
	if (status == PB_GL_STATUS_OK)
		status = check_words(&found);
	if (status == PB_GL_STATUS_OK)
		*command = found;
	return status;
}

/** Calls back for the words of one operand. `words` is the run. */
static enum pb_gl_status visit_operand(uint32_t *words, const struct pb_gl_command *command, uint32_t n,
				       uint32_t access, const struct pb_gl_walk_ops *ops, void *context)
{
	const struct pb_gl_operand *operand = &command->operation->operands[n];
	struct pb_gl_use use = {.access = access, .number = command->number, .command = command->word};

	for (uint32_t word = operand->word; word != 0 && word < command->count; word += operand->stride) {
		use.word = command->word + word;
		if (words[use.word] != 0 && !ops->resource(context, &use, &words[use.word]))
			return PB_GL_STATUS_STOPPED;
		if (operand->stride == 0)
			break;
	}
	return PB_GL_STATUS_OK;
}

/** Calls back for the resources of a command. How it uses them is settled before the first word is replaced. */
static enum pb_gl_status visit_resources(uint32_t *words, const struct pb_gl_command *command,
					 const struct pb_gl_walk_ops *ops, void *context)
{
	const struct pb_gl_operation *operation = command->operation;
	enum pb_gl_status status = PB_GL_STATUS_OK;

	for (uint32_t n = 0; n < PB_GL_OPERANDS && status == PB_GL_STATUS_OK; n++) {
		const uint32_t access = operation->access ? operation->access(command->words, n)
							  : operation->operands[n].access;

		status = visit_operand(words, command, n, access, ops, context);
	}
	return status;
}

static enum pb_gl_status visit(uint32_t *words, const struct pb_gl_command *command,
			       const struct pb_gl_walk_ops *ops, void *context)
{
	enum pb_gl_status status = PB_GL_STATUS_OK;

	if (ops->resource)
		status = visit_resources(words, command, ops, context);
	if (status == PB_GL_STATUS_OK && ops->command)
		status = ops->command(context, command);
	return status;
}

enum pb_gl_status pb_gl_walk(uint32_t *words, uint32_t count, const struct pb_gl_walk_ops *ops, void *context,
			     struct pb_gl_error *error)
{
	struct pb_gl_command command = {0};

	*error = (struct pb_gl_error){PB_GL_STATUS_OK, 0, 0};
	for (uint32_t at = 0; at < count; at += command.count) {
		const uint32_t header = words[at];
		enum pb_gl_status status = pb_gl_read(words, count, at, &command);

		if (status == PB_GL_STATUS_OK)
			status = visit(words, &command, ops, context);
		if (status != PB_GL_STATUS_OK) {
			*error = (struct pb_gl_error){status, at, header};
			break;
		}
	}
	return error->status;
}

uint32_t pb_gl_fit(const uint32_t *words, uint32_t count, uint32_t limit)
{
	uint32_t at = 0;

	while (at < count && at < limit) {
		const uint32_t length = pb_gl_length_of(words[at]) + 1u;

		if (length > count - at || length > limit - at)
			break;
		at += length;
	}
	return at;
}
