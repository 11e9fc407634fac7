/* SPDX-License-Identifier: MIT */
#include "host/tool/top_card.h"

#include <stdio.h>
#include <string.h>

#include "hal/shared.h"

/** Firmware that runs attaches within a tick; nobody looks at a screen that stands for longer than this. */
#define ATTACH_US 250000u

enum pb_error pb_top_card_open(struct pb_top_card *card)
{
	card->clock = (struct pb_trace_clock){0};
	pb_top_model_restart(&card->model);
	return pb_link_open_socket(card->socket, &card->link);
}

/** The channel needs no farewell, for which one might wait: the card closes that of a host which has left. */
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

static void say(struct pb_top_card *card, const char *what, const char *more)
{
	(void)snprintf(card->message, sizeof(card->message), "%s%s", what, more);
}

/** @return whether it is there */
static bool find(struct pb_top_card *card)
{
	if (card->link != NULL && is_gone(card->link))
		pb_top_card_close(card);
	if (card->link != NULL || pb_top_card_open(card) == PB_ERROR_OK)
		return true;
	say(card, "The card is gone. Looking for it at ", card->socket);
	return false;
}

/** What is wrong with firmware that does not run. @return NULL: it does */
static const char *plight(const struct pb_top_model *model, enum pb_error error)
{
	const struct pb_card_info *info = &model->now.card;

	if (error == PB_ERROR_BAD_VERSION)
		return pb_error_meaning((uint32_t)error);
	if (info->mcu_state == PB_MCU_RESTARTING)
		return "MCU restarting";
	if (info->mcu_state == PB_MCU_DEAD)
		return "The MCU is dead: patchbay crash says why";
	if (info->boot_stage == PB_BOOT_STAGE_FATAL)
		return "The firmware has died: patchbay crash says why";
	if (info->boot_stage != PB_BOOT_STAGE_RUNNING)
		return "The firmware is booting";
	return model->beating ? NULL : "The firmware does not move";
}

/** @return whether the firmware runs */
static bool read_counters(struct pb_top_card *card)
{
	struct pb_telemetry_snapshot now;
	const enum pb_error error = pb_telemetry_read(card->link, &now);
	const char *words;

	pb_top_model_update(&card->model, &now);
	words = plight(&card->model, error);
	if (words != NULL)
		say(card, words, "");
	else if (error != PB_ERROR_OK)
		say(card, "No counters: ", pb_error_meaning((uint32_t)error));
	return words == NULL;
}

static void attach(struct pb_top_card *card)
{
	const enum pb_error error = pb_channel_attach(&card->channel, card->link, ATTACH_US);

	card->attached = error == PB_ERROR_OK;
	if (card->attached)
		pb_survey_begin(&card->survey, &card->channel);
	else
		say(card, "No channel to ask after queues: ", pb_error_meaning((uint32_t)error));
}

void pb_top_card_look(struct pb_top_card *card)
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
		say(card, "No answer about queues: ", pb_error_meaning((uint32_t)card->survey.refused));
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
