/* SPDX-License-Identifier: MIT */
#include "host/tool/top_card.h"

#include <stdio.h>
#include <string.h>

#include "hal/shared.h"

/** Time for an attach, in microseconds: running firmware needs one tick, and the screen must not freeze for longer. */
#define ATTACH_US 250000u

enum pb_error pb_top_card_open(struct pb_top_card *card)
{
	card->clock = (struct pb_trace_clock){0};
	pb_top_model_restart(&card->model);
	return card->socket != NULL ? pb_link_open_observer(card->socket, &card->link) : PB_ERROR_NO_CARD;
}

/** Does not detach, because that may block: the card closes the channel of a host that disconnects. */
void pb_top_card_close(struct pb_top_card *card)
{
	if (card->link != NULL)
		card->link->ops->close(card->link);
	card->link = NULL;
	card->attached = false;
}

uint64_t pb_top_card_uptime(const struct pb_top_card *card)
{
	const struct pb_telemetry_snapshot *now = &card->model.now;

	return now->values[PB_CARD_TAG_TICKS] * now->card.capabilities[PB_CAPABILITY_TICK_MICROSECONDS];
}

static bool is_gone(struct pb_link *link)
{
	return link->ops->wait(link, 0) == PB_ERROR_NO_CARD;
}

static void set_message(struct pb_top_card *card, const char *what, const char *more)
{
	(void)snprintf(card->message, sizeof(card->message), "%s%s", what, more);
}

/** Makes sure that the link is open. @return false: the card is gone */
static bool find(struct pb_top_card *card)
{
	if (card->link != NULL && is_gone(card->link))
		pb_top_card_close(card);
	if (card->link != NULL || pb_top_card_open(card) == PB_ERROR_OK)
		return true;
	if (card->socket != NULL)
		set_message(card, "The card is gone. Retrying ", card->socket);
	else
		set_message(card, "The card is gone", "");
	return false;
}

/** Returns why the firmware does not run; NULL: it runs. */
static const char *firmware_problem(const struct pb_top_model *model, enum pb_error error)
{
	const struct pb_card_info *info = &model->now.card;

	if (error == PB_ERROR_BAD_VERSION)
		return pb_error_meaning((uint32_t)error);
	if (info->mcu_state == PB_MCU_RESTARTING)
		return "MCU restarting";
	if (info->mcu_state == PB_MCU_DEAD)
		return "The MCU is dead; run patchbay crash";
	if (info->boot_stage == PB_BOOT_STAGE_FATAL)
		return "The firmware has died; run patchbay crash";
	if (info->boot_stage != PB_BOOT_STAGE_RUNNING)
		return "The firmware is booting";
	return model->beating ? NULL : "The firmware makes no progress";
}

/** Reads the counters into the model. @return true: the firmware runs */
static bool read_counters(struct pb_top_card *card)
{
	struct pb_telemetry_snapshot now;
	const enum pb_error error = pb_telemetry_read(card->link, &now);
	const char *words;

	pb_top_model_update(&card->model, &now);
	words = firmware_problem(&card->model, error);
	if (words != NULL)
		set_message(card, words, "");
	else if (error != PB_ERROR_OK)
		set_message(card, "No counters: ", pb_error_meaning((uint32_t)error));
	return words == NULL;
}

static void attach(struct pb_top_card *card)
{
	const enum pb_error error = pb_channel_attach(&card->channel, card->link, ATTACH_US);

	card->attached = error == PB_ERROR_OK;
	if (card->attached)
		pb_survey_begin(&card->survey, &card->channel);
	else
		set_message(card,
			    "Cannot attach a channel to query queues: ", pb_error_meaning((uint32_t)error));
}

void pb_top_card_refresh(struct pb_top_card *card)
{
	card->message[0] = '\0';
	card->old = !find(card) || !read_counters(card);
	if (card->old)
		return;
	if (card->attached && pb_channel_check(&card->channel, NULL) != PB_ERROR_OK)
		card->attached = false;
	if (!card->attached)
		attach(card);
	if (!card->attached)
		return;
	if (card->survey.refused != PB_ERROR_OK)
		set_message(card, "Cannot query queues: ", pb_error_meaning((uint32_t)card->survey.refused));
	pb_survey_round(&card->survey);
}

bool pb_top_card_poll(struct pb_top_card *card)
{
	const struct pb_boot_block *boot;

	if (!card->attached || card->survey.phase == PB_SURVEY_DONE)
		return false;
	boot = (const void *)(card->link->memory + PB_BOOT_OFFSET);
	if (pb_survey_poll(&card->survey,
			   pb_trace_clock_step(&card->clock, pb_shared_read32(&boot->clock))) != PB_ERROR_OK)
		card->attached = false;
	return card->attached && card->survey.phase != PB_SURVEY_DONE;
}
