/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hal/shared_copy.h"

/** Bytes that are copied at once; runs of zeros of this size become holes. */
#define BLOCK_BYTES 4096u
/** Queues of a card are searched below this index, and channels below this number. */
#define QUEUES_MOST   65536u
#define CHANNELS_MOST 32u

/* ---- writing ---- */

/** Returns how much of a link's memory is the card's: host memory of clients may follow behind it. */
static uint32_t card_bytes(const struct pb_link *link)
{
	struct pb_card_info info;
	uint64_t end;

	if (pb_card_read(link, &info) != PB_ERROR_OK)
		end = link->memory_bytes;
	else if (info.capabilities[PB_CAPABILITY_OUTER_BYTES] != 0)
		end = (uint64_t)info.capabilities[PB_CAPABILITY_OUTER_OFFSET] +
		      info.capabilities[PB_CAPABILITY_OUTER_BYTES];
	else
		end = info.memory_bytes;
	end = end < link->memory_bytes ? end : link->memory_bytes;
	return (uint32_t)(end < PB_DUMP_MEMORY_MAX ? end : PB_DUMP_MEMORY_MAX);
}

static bool is_zero(const uint8_t *bytes, uint32_t count)
{
	return count != 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1u) == 0;
}

/** Writes memory. The last block is always written, so that the file has its size. */
static bool write_memory(FILE *file, const struct pb_link *link, uint32_t total)
{
	static uint8_t block[BLOCK_BYTES];

	for (uint32_t at = 0; at < total; at += BLOCK_BYTES) {
		const uint32_t count = total - at < BLOCK_BYTES ? total - at : BLOCK_BYTES;

		pb_shared_copy_in(block, link->memory + at, count);
		if (at + count < total && is_zero(block, count) && fseek(file, (long)count, SEEK_CUR) == 0)
			continue;
		if (fwrite(block, 1, count, file) != count)
			return false;
	}
	return true;
}

/** Asks one question and writes the answer. @param results out @return false: errno is set, the file cannot be written */
static bool save_answer(FILE *file, struct pb_channel *channel, const uint32_t question[3], uint32_t *results,
			struct pb_dump_figures *figures)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {question[0], question[1], question[2]};
	struct pb_dump_answer answer = {.arguments = {question[0], question[1], question[2]}};

	memset(results, 0, PB_REPLY_RESULTS * sizeof(*results));
	if (pb_channel_command(channel, PB_COMMAND_QUERY, arguments, answer.results) != PB_ERROR_OK)
		return true;
	memcpy(results, answer.results, sizeof(answer.results));
	figures->answers++;
	return fwrite(&answer, sizeof(answer), 1, file) == 1;
}

/** Finds and saves the queues of a channel. An index belongs to one queue of the card. @param found marks of indices */
static bool save_queues(FILE *file, struct pb_channel *channel, uint32_t c, uint32_t count, uint8_t *found,
			struct pb_dump_figures *figures)
{
	const uint32_t limit = channel->card.capabilities[PB_CAPABILITY_QUEUES];
	uint32_t results[PB_REPLY_RESULTS];

	for (uint32_t index = 0; index < limit && index < QUEUES_MOST && count != 0; index++) {
		const uint32_t before = figures->answers;

		if (found[index] != 0)
			continue;
		if (!save_answer(file, channel, (const uint32_t[3]){PB_QUERY_QUEUE, index, c}, results,
				 figures))
			return false;
		found[index] = figures->answers != before;
		count -= found[index];
	}
	return true;
}

static bool save_answers(FILE *file, struct pb_channel *channel, struct pb_dump_figures *figures)
{
	static uint8_t found[QUEUES_MOST];
	uint32_t results[PB_REPLY_RESULTS];
	bool good = true;

	memset(found, 0, sizeof(found));
	for (uint32_t c = 1; c < channel->card.channel_count && c < CHANNELS_MOST && good; c++) {
		good = save_answer(file, channel, (const uint32_t[3]){PB_QUERY_CHANNEL, c, c}, results,
				   figures) &&
		       save_queues(file, channel, c, results[3], found, figures);
	}
	return good;
}

bool pb_dump_write(FILE *file, const struct pb_link *link, struct pb_channel *channel,
		   struct pb_dump_figures *figures)
{
	struct pb_dump_footer footer = {.magic_low = PB_DUMP_MAGIC_LOW, .magic_high = PB_DUMP_MAGIC_HIGH};

	*figures = (struct pb_dump_figures){.memory_bytes = card_bytes(link)};
	if (!write_memory(file, link, figures->memory_bytes) ||
	    (channel != NULL && !save_answers(file, channel, figures)))
		return false;
	footer.memory_bytes = figures->memory_bytes;
	footer.answers = figures->answers;
	return fwrite(&footer, sizeof(footer), 1, file) == 1 && fflush(file) == 0;
}

/* ---- reading ---- */

/** Reads a whole file into an allocation of its size. @return NULL, or what is wrong */
static const char *read_whole(FILE *file, uint8_t **bytes, size_t *count)
{
	long size;

	if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
		return strerror(errno);
	if (size == 0)
		return "the file is empty";
	if ((unsigned long)size > 2ul * PB_DUMP_MEMORY_MAX)
		return "the file is larger than any card's memory";
	*bytes = malloc((size_t)size);
	if (*bytes == NULL)
		return strerror(errno);
	*count = fread(*bytes, 1, (size_t)size, file);
	if (*count == (size_t)size)
		return NULL;
	free(*bytes);
	*bytes = NULL;
	return ferror(file) != 0 ? strerror(errno) : "the file became shorter";
}

const char *pb_dump_read(FILE *file, struct pb_dump *dump)
{
	struct pb_dump_footer footer = {0};
	size_t count = 0, answers;
	const char *wrong;

	*dump = (struct pb_dump){.memory = NULL};
	wrong = read_whole(file, &dump->memory, &count);
	if (wrong != NULL)
		return wrong;
	if (count >= sizeof(footer))
		memcpy(&footer, dump->memory + count - sizeof(footer), sizeof(footer));
	answers = (size_t)footer.answers * sizeof(struct pb_dump_answer);
	/* Anything else is card memory alone, from another tool. */
	if (footer.magic_low == PB_DUMP_MAGIC_LOW && footer.magic_high == PB_DUMP_MAGIC_HIGH &&
	    footer.memory_bytes % sizeof(uint32_t) == 0 && footer.memory_bytes != 0 &&
	    footer.memory_bytes + answers + sizeof(footer) == count) {
		dump->answers = (const void *)(dump->memory + footer.memory_bytes);
		dump->count = footer.answers;
		count = footer.memory_bytes;
	}
	dump->memory_bytes = (uint32_t)(count < PB_DUMP_MEMORY_MAX ? count : PB_DUMP_MEMORY_MAX);
	return NULL;
}

/* ---- asking ---- */

/** Time that passes on a saved card's link when its clock is read, in microseconds: each wait ends. */
#define STEP_US 10000u

struct dump_link {
	struct pb_link link; /**< first: what callers hold */
	const struct pb_dump *dump;
	struct pb_reply replies[PB_COMMANDS_PENDING]; /**< that were not fetched */
	uint32_t put, get;                            /**< of them */
	uint64_t now;
};

static struct dump_link *dump_of(struct pb_link *link)
{
	return (struct dump_link *)(void *)link;
}

static void doorbell(struct pb_link *link)
{
	(void)link;
}

static enum pb_error wait_for_nothing(struct pb_link *link, uint64_t timeout_us)
{
	dump_of(link)->now += timeout_us;
	return PB_ERROR_TIMEOUT;
}

static uint64_t now(struct pb_link *link)
{
	return dump_of(link)->now += STEP_US;
}

static void close_link(struct pb_link *link)
{
	free(link->memory);
	free(dump_of(link));
}

static enum pb_error ask(struct pb_link *link, const struct pb_command *question)
{
	struct dump_link *own = dump_of(link);
	struct pb_reply reply = {.code = question->code, .tag = question->tag, .error = PB_ERROR_BAD_HANDLE};

	for (uint32_t i = 0; i < own->dump->count && question->code == PB_COMMAND_QUERY; i++) {
		const struct pb_dump_answer *answer = &own->dump->answers[i];

		if (answer->arguments[0] != question->arguments[0] ||
		    answer->arguments[1] != question->arguments[1] ||
		    (question->arguments[0] == PB_QUERY_QUEUE &&
		     answer->arguments[2] != question->arguments[2]))
			continue;
		reply.error = PB_ERROR_OK;
		memcpy(reply.results, answer->results, sizeof(reply.results));
		break;
	}
	own->replies[own->put++ % PB_COMMANDS_PENDING] = reply;
	return PB_ERROR_OK;
}

static enum pb_error answer(struct pb_link *link, struct pb_reply *reply)
{
	struct dump_link *own = dump_of(link);

	if (own->get == own->put)
		return PB_ERROR_NO_SPACE;
	*reply = own->replies[own->get++ % PB_COMMANDS_PENDING];
	return PB_ERROR_OK;
}

static const struct pb_link_ops dump_ops = {
	.doorbell = doorbell,
	.wait = wait_for_nothing,
	.now = now,
	.close = close_link,
	.ask = ask,
	.answer = answer,
};

struct pb_link *pb_dump_link(const struct pb_dump *dump)
{
	struct dump_link *own = calloc(1, sizeof(*own));

	if (own == NULL)
		return NULL;
	own->link = (struct pb_link){.ops = &dump_ops,
				     .memory = dump->memory,
				     .memory_bytes = dump->memory_bytes,
				     .channel = PB_CHANNEL_ADMIN};
	own->dump = dump;
	return &own->link;
}
