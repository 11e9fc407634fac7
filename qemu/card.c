/* SPDX-License-Identifier: MIT */
/* The card's event loop: which event wakes which part. */
#define _GNU_SOURCE
#include "qemu/card.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hal/lines.h"
#include "qemu/card_say.h"
#include "qemu/card_state.h"
#include "qemu/card_watch.h"
#include "qemu/mcu/layout.h"

/* Period of the event loop while a host may wait for the card's clock or for the firmware to boot. */
#define TURN_MS 1
/* Else: how long a fatal record, or an answer to the admin whose interrupt got lost, goes unseen. */
#define REST_MS 20
/*
 * Time for which the engines are polled without a byte, after their last progress, before the card sleeps. A card whose
 * engines wait for renderers sleeps at once: renderers and programs need the processor.
 */
#define SPIN_US 1000u
/* And for so long at most before it looks at everything else. */
#define SPIN_MOST_US 200u
#define EVENTS       16 /* taken at once */

static void fail(struct card *card)
{
	card->status = 1;
	card->stop = true;
}

/* ---- what the parts report to each other ---- */

static void line_raised(void *context, uint32_t line)
{
	struct card *card = context;

	if ((PB_LINES_NODES & 1u << line) != 0)
		pb_card_engines_ring(&card->engines, line - PB_LINE_NODE(0));
	else if (line == PB_LINE_CHANNEL(PB_CHANNEL_ADMIN))
		pb_card_admin_poll(&card->admin);
	else if ((PB_LINES_CHANNELS & 1u << line) != 0)
		pb_card_server_interrupt(&card->server, line - PB_LINE_CHANNEL(0));
}

static void engine_interrupt(void *context, uint32_t node)
{
	struct card *card = context;

	pb_card_lines_raise(&card->lines, PB_LINE_NODE(node));
}

static bool loader_byte(void *context, uint8_t byte)
{
	struct card *card = context;

	return pb_card_loader_byte(&card->loader, byte);
}

static void admin_rings(void *context)
{
	struct card *card = context;

	pb_card_lines_raise(&card->lines, PB_LINE_CHANNEL(PB_CHANNEL_ADMIN));
}

static void channel_closed(void *context, uint32_t channel)
{
	struct card *card = context;

	pb_card_engines_close(&card->engines, channel);
	pb_card_server_free(&card->server, channel);
}

static void observer_answered(void *context, uint32_t question, const struct pb_reply *reply)
{
	struct card *card = context;

	pb_card_observers_answer(&card->observers, question, reply);
}

static void host_gone(void *context, uint32_t channel)
{
	struct card *card = context;

	/* Without an MCU no channel is open, and the next MCU closes all channels as it boots. */
	if (card->mcu.pid == 0) {
		pb_card_admin_weigh(&card->admin, channel, 1);
		pb_card_server_free(&card->server, channel);
	} else {
		pb_card_admin_close(&card->admin, channel);
	}
}

static void host_weighs(void *context, uint32_t channel, uint32_t weight)
{
	struct card *card = context;

	pb_card_admin_weigh(&card->admin, channel, weight);
}

/* ---- the MCU's life ---- */

static bool start_mcu(struct card *card)
{
	const struct pb_machine_files files = {.memory = card->files.memory_path,
					       .lines = card->files.lines_path,
					       .monitor = card->files.monitor_path,
					       .image = card->options->image,
					       .flash = card->options->flash,
					       .host = &card->files.host};

	pb_card_server_end(&card->server, pb_card_host_memory_check(&card->files.host));
	/* The former MCU may have died between connecting and being accepted. */
	pb_card_refuse(card->files.lines_listener);
	pb_card_refuse(card->files.monitor_listener);
	pb_card_lines_restart(&card->lines);
	pb_card_loader_start(&card->loader, card->clock.time);
	pb_card_monitor_restart(&card->monitor);
	pb_card_boot_start(&card->boot, pb_card_wall_us());
	pb_card_clock_start(&card->clock, pb_card_wall_us());
	return pb_card_mcu_start(&card->mcu, card->machine, &files, card->options->gdb) &&
	       pb_card_watch(card->epoll, card->mcu.process, EPOLLIN, PB_CARD_WATCH_MCU, 0);
}

/* Once every channel has its privileges. */
static void let_hosts_attach(struct card *card)
{
	if (!card->options->quiet)
		pb_card_say("ready");
	card->came_up = true;
	card->open = true;
	pb_card_boot_open(&card->boot);
	pb_card_loader_up(&card->loader, card->clock.time);
	pb_card_say_ready(&card->ready_fd);
}

/* Wakes every host, and lets the channels of those that left be given again. */
static void announce_death(struct card *card, bool again)
{
	card->open = false;
	pb_card_boot_died(&card->boot, again);
	pb_card_engines_died(&card->engines);
	pb_card_admin_stop(&card->admin);
	pb_card_observers_poll(&card->observers);
	pb_card_server_interrupt_all(&card->server);
	for (uint32_t c = 1; c < PB_SOCKET_PEERS; c++)
		pb_card_server_free(&card->server, c);
}

/* No MCU runs any more. */
static void mcu_died(struct card *card, const char *how)
{
	char next[48] = "it is not started again";
	/* A loader starts another image then. */
	bool again = (card->came_up || card->loader.used) &&
		     card->boot.deaths < card->options->restarts + card->asked;

	announce_death(card, again);
	if (!card->came_up && !again) {
		pb_card_say("the MCU ended before the firmware ran: %s, at stage %s, waypoint %s", how,
			    pb_card_boot_dead_stage(&card->boot), pb_card_boot_dead_waypoint(&card->boot));
		fail(card);
		return;
	}
	if (again)
		snprintf(next, sizeof(next), "restart %u of %u", card->boot.deaths, card->options->restarts);
	pb_card_say("the MCU died (%s) at stage %s, waypoint %s: %s", how,
		    pb_card_boot_dead_stage(&card->boot), pb_card_boot_dead_waypoint(&card->boot), next);
	if (again && !start_mcu(card))
		fail(card);
	else if (!again) {
		pb_card_lines_restart(&card->lines);
		pb_card_monitor_restart(&card->monitor);
	}
}

static void mcu_ended(struct card *card)
{
	int status = pb_card_mcu_collect(&card->mcu);
	char how[32];

	pb_card_mcu_status(status, how, sizeof(how));
	mcu_died(card, how);
}

/* The firmware has given itself up; its MCU would do nothing for ever. */
static void firmware_failed(struct card *card)
{
	char how[PB_CARD_BOOT_FATAL_BYTES];

	/* What a loader has reported before it wrote the record may not have been read yet. */
	(void)pb_card_lines_receive(&card->lines);
	pb_card_boot_fatal(&card->boot, how);
	pb_card_mcu_stop(&card->mcu);
	mcu_died(card, how);
}

/* The administrator has the MCU started again. */
static void handle_admin(struct card *card)
{
	if (!pb_card_update_handle(&card->update, pb_card_wall_us()))
		return;
	card->asked++;
	pb_card_mcu_stop(&card->mcu);
	mcu_died(card, "the administrator asked for that");
}

/* The image on trial has had its time. */
static void trial_failed(struct card *card)
{
	pb_card_mcu_stop(&card->mcu);
	mcu_died(card, "it did not come up in its time");
}

/* The firmware makes no progress, as far as its MCU has run, or its boot takes too long. @param late_us 0: the former */
static void firmware_hangs(struct card *card, uint32_t late_us)
{
	char how[PB_CARD_BOOT_FATAL_BYTES];

	pb_card_boot_hang(&card->boot, late_us, card->clock.still, card->lines.heard, how);
	pb_card_mcu_stop(&card->mcu);
	mcu_died(card, how);
}

static void advance_clock(struct card *card)
{
	const uint64_t now = pb_card_wall_us();

	pb_card_clock_turn(&card->clock, now, pb_card_monitor_proof(&card->monitor));
	/* A probe lets the MCU run on, which a debugger may have halted: then there is no proof, and the clock stands. */
	if (card->options->gdb == NULL && pb_card_clock_doubts(&card->clock))
		pb_card_monitor_probe(&card->monitor, now);
	/* Hosts take it for dead from then on, if they look: they are woken. */
	if (card->clock.still >= PB_HEARTBEAT_US && !card->doubted)
		pb_card_server_interrupt_all(&card->server);
	card->doubted = card->clock.still >= PB_HEARTBEAT_US;
}

static void look_at_firmware(struct card *card)
{
	advance_clock(card);
	pb_card_update_turn(&card->update, pb_card_wall_us());
	if (pb_card_loader_turn(&card->loader, card->clock.time, card->clock.still) == PB_CARD_LOADER_LATE) {
		trial_failed(card);
		return;
	}
	switch (pb_card_boot_poll(&card->boot)) {
	case PB_CARD_BOOT_RUNS:
		pb_card_admin_start(&card->admin);
		break;
	case PB_CARD_BOOT_FATAL:
		firmware_failed(card);
		break;
	case PB_CARD_BOOT_NOTHING:
		if (card->clock.still >= card->options->dead_us)
			firmware_hangs(card, 0);
		else if (card->options->gdb == NULL &&
			 pb_card_boot_late(&card->boot, pb_card_wall_us(), card->options->boot_us))
			firmware_hangs(card, card->options->boot_us);
		break;
	default:
		break;
	}
}

/* ---- the loop ---- */

static void handle(struct card *card, enum pb_card_source source, uint32_t index)
{
	switch (source) {
	case PB_CARD_WATCH_SIGNAL:
		card->stop = true;
		break;
	case PB_CARD_WATCH_ACCEPT:
		pb_card_server_accept(&card->server);
		break;
	case PB_CARD_WATCH_HOST:
		pb_card_server_host(&card->server, index);
		break;
	case PB_CARD_WATCH_DOORBELL:
		if (pb_card_server_doorbell(&card->server, index))
			pb_card_lines_raise(&card->lines, PB_LINE_CHANNEL(index));
		break;
	case PB_CARD_WATCH_MCU:
		if (card->mcu.pid != 0)
			mcu_ended(card);
		break;
	case PB_CARD_WATCH_CONNECT:
		pb_card_connect_lines(card);
		break;
	case PB_CARD_WATCH_LINES:
		pb_card_receive_lines(card);
		break;
	case PB_CARD_WATCH_CONTROL:
		pb_card_connect_monitor(card);
		break;
	case PB_CARD_WATCH_MONITOR:
		pb_card_receive_monitor(card);
		break;
	case PB_CARD_WATCH_RENDERER:
		pb_card_engines_renderer(&card->engines, index);
		break;
	case PB_CARD_WATCH_ADMIN:
		handle_admin(card);
		break;
	case PB_CARD_WATCH_OBSERVERS:
		pb_card_observers_accept(&card->observers);
		break;
	case PB_CARD_WATCH_OBSERVER:
		pb_card_observers_read(&card->observers, index);
		break;
	case PB_CARD_WATCH_SOURCES:
	default:
		break;
	}
}

/* Whether engines are polled, because the MCU may ring one soon. */
static bool may_spin(const struct card *card, uint64_t now)
{
	return card->options->renderer == NULL && now - card->active < SPIN_US;
}

/* Serves an MCU and engines that keep each other busy, without a byte from it or a system call between them. */
static void spin(struct card *card)
{
	const uint64_t start = pb_card_wall_us();
	uint64_t now = start;

	/* One that hangs is not to have slice after slice here. */
	while (may_spin(card, now) && now - start < SPIN_MOST_US &&
	       pb_card_engines_sleep(&card->engines) <= 0) {
		pb_card_lines_poll(&card->lines);
		if (pb_card_engines_run(&card->engines))
			card->active = now;
		else
			sched_yield();
		now = pb_card_wall_us();
	}
}

/* @return how long the loop may sleep, after which the MCU has to send a byte to wake it */
static int sleep_ms(struct card *card)
{
	int engines = pb_card_engines_sleep(&card->engines);

	if (engines == 0 || may_spin(card, pb_card_wall_us()) || pb_card_lines_rest(&card->lines))
		return 0;
	if (engines > 0)
		return engines;
	if (card->mcu.pid == 0)
		return -1;
	return card->boot.running && card->clock.still == 0 && pb_card_server_empty(&card->server) ? REST_MS
												   : TURN_MS;
}

static void loop(struct card *card)
{
	struct epoll_event events[EVENTS];

	while (!card->stop) {
		int count = epoll_wait(card->epoll, events, EVENTS, sleep_ms(card));

		if (count < 0 && errno != EINTR) {
			pb_card_say("cannot wait for events: %s", strerror(errno));
			fail(card);
		}
		for (int i = 0; i < count && !card->stop; i++)
			handle(card, (enum pb_card_source)(events[i].data.u64 >> 32),
			       (uint32_t)events[i].data.u64);
		pb_card_server_end(&card->server, pb_card_host_memory_check(&card->files.host));
		if (card->mcu.pid != 0)
			look_at_firmware(card);
		pb_card_admin_poll(&card->admin);
		pb_card_observers_poll(&card->observers);
		if (!card->open && pb_card_admin_settled(&card->admin))
			let_hosts_attach(card);
		pb_card_lines_poll(&card->lines);
		if (pb_card_engines_run(&card->engines))
			card->active = pb_card_wall_us();
		spin(card);
	}
}

/* ---- start and end ---- */

static bool watch_signals(struct card *card)
{
	pb_card_signals_block(&card->signals);
	card->epoll = epoll_create1(EPOLL_CLOEXEC);
	return card->signals.file >= 0 && card->epoll >= 0 &&
	       pb_card_watch(card->epoll, card->signals.file, EPOLLIN, PB_CARD_WATCH_SIGNAL, 0);
}

/* Everything but the MCU; the files are there. */
static bool start_parts(struct card *card)
{
	uint8_t *memory = card->files.memory;
	const struct pb_card_admin_config admin = {
		.memory = memory,
		.memory_bytes = PB_CARD_MEMORY_BYTES,
		.slow_nodes = card->options->renderer != NULL ? PB_CARD_NODES_3D : 0,
		.slow_us = PB_CARD_GL_LIMIT_US,
		.host = &card->files.host.shares,
		.ring = admin_rings,
		.closed = channel_closed,
		.refused = pb_card_say_refused,
		.answered = observer_answered,
		.context = card};

	pb_card_boot_init(&card->boot, (void *)(memory + PB_BOOT_OFFSET));
	pb_card_clock_init(&card->clock, (void *)(memory + PB_BOOT_OFFSET), pb_card_wall_us());
	pb_card_monitor_init(&card->monitor);
	pb_card_lines_init(&card->lines, (void *)(memory + PB_CARD_LINES_OFFSET), line_raised, card);
	card->lines.byte = loader_byte;
	pb_card_admin_init(&card->admin, &admin);
	return pb_card_engines_create(&card->engines, &card->files, card->options->renderer, card->epoll,
				      engine_interrupt, card) &&
	       pb_card_update_start(&card->update, &card->loader, card->files.admin_listener, card->epoll) &&
	       pb_card_watch(card->epoll, card->files.lines_listener, EPOLLIN, PB_CARD_WATCH_CONNECT, 0) &&
	       pb_card_watch(card->epoll, card->files.monitor_listener, EPOLLIN, PB_CARD_WATCH_CONTROL, 0);
}

static void run(struct card *card)
{
	static const struct pb_card_server_ops ops = {.gone = host_gone, .weigh = host_weighs};
	bool served = start_parts(card);

	served = pb_card_server_start(&card->server, card->files.socket_listener, card->epoll,
				      card->files.memory_file, &ops, card) &&
		 pb_card_observers_start(&card->observers, card->files.observe_listener, card->epoll,
					 card->files.reading_file, &card->admin) &&
		 served;
	if (!served)
		pb_card_say("cannot set up the card: %s", strerror(errno));
	if (served && start_mcu(card)) {
		pb_card_say_started(card->options, card->files.socket_path, card->mcu.pid);
		loop(card);
	} else {
		fail(card);
	}
	pb_card_mcu_stop(&card->mcu);
	/* A socket's file outlives the process that listened there. */
	if (card->options->gdb != NULL && card->options->gdb[0] == '/')
		unlink(card->options->gdb);
	pb_card_update_stop(&card->update);
	pb_card_boot_end(&card->boot);
	pb_card_observers_stop(&card->observers);
	pb_card_server_stop(&card->server);
	pb_card_engines_destroy(&card->engines);
	pb_card_lines_restart(&card->lines);
	pb_card_monitor_restart(&card->monitor);
}

static void close_all(struct card *card)
{
	if (card->epoll >= 0)
		close(card->epoll);
	if (card->ready_fd >= 0)
		close(card->ready_fd);
	pb_card_signals_unblock(&card->signals);
}

int pb_card_run(const struct pb_card_options *options)
{
	struct card card = {.options = options, .epoll = -1, .ready_fd = options->ready_fd};

	card.mcu.process = -1;
	card.machine = options->machine != NULL ? options->machine : pb_machine_find(options->board);
	if (card.machine == NULL) {
		pb_card_say("there is no emulator for board %s", options->board);
		card.status = 1;
	}
	if (options->renderer != NULL && !pb_renderers_check(options->renderer))
		card.status = 1;
	if (!watch_signals(&card)) {
		pb_card_say("cannot watch for events: %s", strerror(errno));
		card.status = 1;
	}
	if (card.status == 0 &&
	    pb_card_loader_open(&card.loader, options->flash, card.machine, &card.lines, options->quiet) &&
	    pb_card_files_make(&card.files, card.machine, options)) {
		run(&card);
		pb_card_files_remove(&card.files);
	} else {
		card.status = 1;
	}
	pb_card_loader_close(&card.loader);
	close_all(&card);
	return card.status;
}
