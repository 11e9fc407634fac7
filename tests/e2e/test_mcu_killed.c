/* SPDX-License-Identifier: MIT */
/* The MCU is killed while hosts wait for it: they are notified, and attach again to the next incarnation. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "qemu/mcu/layout.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define MARK      0x4d41524bu
#define UNTOUCHED 0x00c0ffeeu
#define LATE      0x1a7e1a7eu
/* Passes of the main loop: some ticks of an idle firmware. */
#define HEARTBEATS 100u

/* ---- the killer ---- */

struct killing {
	pid_t mcu;
	const struct pb_engine_registers *engine; /**< that the host waits for */
};

/* Kills the MCU while the host sleeps in its wait, and the engine works. */
static int killer_body(struct e2e_process *self, void *argument)
{
	const struct killing *killing = argument;
	const uint64_t start = e2e_now();
	uint32_t progress;

	(void)self;
	e2e_await_state(getppid(), 'S');
	progress = pb_shared_read32(&killing->engine->progress);
	while (pb_shared_read32(&killing->engine->progress) == progress) {
		if (!e2e_patience(start))
			return 2;
	}
	return kill(killing->mcu, SIGKILL) == 0 ? 0 : 1;
}

static void end_killer(struct e2e_process *killer)
{
	int status = e2e_process_end(killer);

	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- submissions that do not end ---- */

/* Keeps the 3D node busy for days of engine time, which takes minutes. @return once the engine runs it */
static void occupy(struct e2e_host *host)
{
	struct pb_dma *dma = &host->builders[0];
	const uint64_t start = e2e_now();

	e2e_target_set(host, 0, 0);
	e2e_host_fill(host, 0, MARK);
	for (uint32_t i = 0; i < 100; i++) {
		pb_dma_packet(dma, PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
		pb_dma_word(dma, UINT32_MAX);
	}
	assert_int_equal(pb_dma_submit(dma, 100), PB_ERROR_OK);
	while (pb_shared_read32((uint32_t *)(void *)host->targets[0].bytes_host) != MARK)
		assert_true(e2e_patience(start));
}

/* Queues submissions behind it that would fill the other target. */
static void queue_up(struct e2e_host *host)
{
	struct pb_dma *dma = &host->builders[1];

	e2e_target_set(host, 1, UNTOUCHED);
	e2e_host_fill(host, 1, LATE);
	dma->queue = &host->queues[0];
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(pb_dma_submit(dma, 101 + i), PB_ERROR_OK);
}

/* ---- after the death ---- */

static void check_gone(enum pb_error error)
{
	if (error != PB_ERROR_FIRMWARE_DEAD && error != PB_ERROR_DETACHED)
		print_error("expected FIRMWARE_DEAD or DETACHED, found %s\n", pb_error_name(error));
	assert_true(error == PB_ERROR_FIRMWARE_DEAD || error == PB_ERROR_DETACHED);
}

static enum pb_error no_wait(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	(void)timeout_us;
	fail_msg("a call on a channel of dead firmware waits");
	return PB_ERROR_NO_CARD;
}

/* Every call on the old channel reports the death, and none waits. */
static void check_old_channel(struct e2e_host *host)
{
	const struct pb_link_ops *const ops = host->link->ops;
	struct pb_link_ops impatient = *ops;
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};
	const struct pb_segment_request request = {.id = 2, .size = PB_PAGE_BYTES};
	struct pb_segment segment;
	struct pb_queue queue;
	struct pb_fence fence;
	struct pb_event event;
	uint32_t context;

	impatient.wait = no_wait;
	host->link->ops = &impatient;
	check_gone(pb_channel_check(&host->channel, NULL));
	check_gone(pb_channel_command(&host->channel, PB_COMMAND_PING, arguments, NULL));
	check_gone(pb_context_create(&host->channel, &context));
	check_gone(pb_context_clear(&host->channel, host->context));
	check_gone(pb_context_destroy(&host->channel, host->context));
	check_gone(pb_segment_create(&segment, &host->channel, &request));
	check_gone(pb_queue_create(&queue, &host->channel, &host->system, 0, 4));
	check_gone(pb_dma_submit(&host->builders[0], 200));
	check_gone(pb_queue_wait(&host->queues[0], UINT64_MAX, E2E_HOUR_US, &fence));
	check_gone(pb_queue_clear(&host->queues[0]));
	check_gone(pb_queue_destroy(&host->queues[1]));
	check_gone(pb_segment_destroy(&host->video));
	assert_false(pb_channel_event(&host->channel, &event));
	host->link->ops = ops;
}

/* Waits until an incarnation runs and has ticked for a while. */
static void await_incarnation(struct e2e_host *host, uint32_t incarnation)
{
	const uint64_t start = e2e_now();
	struct pb_card_info card = {.heartbeat = 0};

	while (card.incarnation != incarnation || card.boot_stage != PB_BOOT_STAGE_RUNNING ||
	       card.mcu_state != PB_MCU_RUNNING || card.heartbeat < HEARTBEATS) {
		assert_true(e2e_patience(start));
		/* Rings the doorbell for whatever the old rings still hold. */
		host->link->ops->doorbell(host->link);
		if (pb_card_read(host->link, &card) != PB_ERROR_OK)
			card.incarnation = 0;
	}
}

static void check_death(const struct e2e_host *host, uint32_t deaths)
{
	struct pb_card_info now;

	assert_int_equal(pb_channel_check(&host->channel, &now), PB_ERROR_FIRMWARE_DEAD);
	assert_int_equal(now.mcu_deaths, deaths);
	assert_int_equal(now.dead_stage, PB_BOOT_STAGE_RUNNING);
}

static void attach_again(struct e2e_host *host)
{
	struct pb_link *link = host->link;

	*host = (struct e2e_host){.link = link};
	assert_int_equal(pb_channel_attach(&host->channel, link, E2E_PATIENCE_US), PB_ERROR_OK);
	assert_true(e2e_host_furnish(host, E2E_SYSTEM_BYTES));
	assert_true(e2e_host_round(host, 0x66000000u));
}

static uint32_t completed(const struct e2e_host *host)
{
	const struct pb_queue_page *page = (const void *)host->queues[0].memory.bytes_host;

	return pb_shared_read32(&page->fence.completed);
}

/* The old rings still hold submissions. The new firmware must ignore them. */
static void check_ignored(struct e2e_host *host, uint32_t incarnation)
{
	const struct pb_memory late = host->targets[1];
	struct pb_channel channel;

	await_incarnation(host, incarnation);
	assert_true(e2e_target_is(host, 1, UNTOUCHED));
	/* The rounds before the kill have run, and nothing since. */
	assert_int_equal(completed(host), host->rounds);
	check_death(host, incarnation - 1);
	/* The new firmware ignores them also after the channel is open again. */
	assert_int_equal(pb_channel_attach(&channel, host->link, E2E_PATIENCE_US), PB_ERROR_OK);
	host->link->ops->doorbell(host->link);
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING,
					    (const uint32_t[PB_COMMAND_ARGUMENTS]){0}, NULL),
			 PB_ERROR_OK);
	host->targets[1] = late;
	assert_true(e2e_target_is(host, 1, UNTOUCHED));
	check_gone(pb_channel_check(&host->channel, NULL));
}

/* The wait ends with the MCU, and not with its timeout. */
static void kill_while_waiting(struct e2e_host *host, const struct e2e_card *card)
{
	struct killing killing = {.mcu = e2e_card_mcu(card),
				  .engine = (const void *)(host->link->memory + PB_CARD_ENGINE_OFFSET)};
	struct e2e_process killer;
	struct pb_fence fence;

	e2e_process_start(&killer, killer_body, &killing);
	assert_int_equal(pb_dma_wait(&host->builders[0], E2E_HOUR_US, &fence), PB_ERROR_FIRMWARE_DEAD);
	end_killer(&killer);
}

static void hosts_continue_after_a_restart(void **state)
{
	struct e2e_host host, other;
	struct e2e_card card;

	(void)state;
	e2e_card_start(&card, 2);
	assert_true(e2e_host_open(&host, card.socket) && e2e_host_open(&other, card.socket));
	for (uint32_t death = 1; death <= 2; death++) {
		assert_int_equal(host.channel.card.incarnation, death);
		assert_true(e2e_host_round(&host, 0x65000000u) && e2e_host_round(&other, 0x65000001u));
		occupy(&host);
		queue_up(&host);
		kill_while_waiting(&host, &card);
		check_death(&host, death);
		check_old_channel(&host);
		check_old_channel(&other);
		check_ignored(&host, death + 1);
		check_old_channel(&other);
		attach_again(&host);
		attach_again(&other);
	}
	assert_true(e2e_host_close(&host) && e2e_host_close(&other));
	e2e_card_stop(&card);
}

/* ---- a death for good ---- */

static void check_info_text(const char *socket)
{
	static struct e2e_output output;

	e2e_patchbay(&output, "info", "--card", socket);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	assert_non_null(strstr(output.out, "MCU            dead, died 1 times\n"));
	assert_non_null(strstr(output.out, "last death     stage RUNNING, waypoint "));
}

static void check_string(const cJSON *object, const char *name, const char *expected)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_true(cJSON_IsString(item));
	assert_string_equal(item->valuestring, expected);
}

static void check_info_json(const char *socket)
{
	static struct e2e_output output;
	cJSON *object;

	e2e_patchbay(&output, "info", "--json", "--card", socket);
	assert_int_equal(output.code, 0);
	object = cJSON_Parse(output.out);
	assert_non_null(object);
	check_string(object, "mcu_state", "dead");
	check_string(cJSON_GetObjectItemCaseSensitive(object, "last_death"), "stage", "RUNNING");
	cJSON_Delete(object);
}

static void check_attach_is_refused(const char *socket)
{
	struct pb_channel channel;
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(socket, &link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&channel, link, E2E_HOUR_US), PB_ERROR_FIRMWARE_DEAD);
	assert_int_equal(channel.card.mcu_state, PB_MCU_DEAD);
	assert_int_equal(channel.card.mcu_deaths, 1);
	assert_int_equal(channel.card.dead_stage, PB_BOOT_STAGE_RUNNING);
	check_gone(pb_channel_check(&channel, NULL));
	link->ops->close(link);
}

static void hosts_are_refused_without_a_restart(void **state)
{
	const uint64_t start = e2e_now();
	struct e2e_host host;
	struct e2e_card card;

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(kill(e2e_card_mcu(&card), SIGKILL), 0);
	while (pb_channel_check(&host.channel, NULL) == PB_ERROR_OK)
		assert_true(e2e_patience(start));
	check_death(&host, 1);
	check_old_channel(&host);
	check_info_text(card.socket);
	check_info_json(card.socket);
	check_attach_is_refused(card.socket);
	host.link->ops->close(host.link);
	/* The channel can be connected to, although no attach is answered. */
	check_attach_is_refused(card.socket);
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(hosts_continue_after_a_restart),
		e2e_test(hosts_are_refused_without_a_restart),
	};

	return e2e_run_tests(tests);
}
