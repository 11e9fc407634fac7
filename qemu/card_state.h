/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state of the card's event loop. Only qemu/card.c and qemu/card_connect.c include it.
 */
#ifndef PB_QEMU_CARD_STATE_H
#define PB_QEMU_CARD_STATE_H

#include "hal/card_admin/admin.h"
#include "qemu/card.h"
#include "qemu/card_boot.h"
#include "qemu/card_clock.h"
#include "qemu/card_engines.h"
#include "qemu/card_files.h"
#include "qemu/card_lines.h"
#include "qemu/card_loader.h"
#include "qemu/card_mcu.h"
#include "qemu/card_monitor.h"
#include "qemu/card_observers.h"
#include "qemu/card_server.h"
#include "qemu/card_signals.h"
#include "qemu/card_update.h"

/** One card. */
struct card {
	const struct pb_card_options *options;
	const struct pb_machine *machine;
	struct pb_card_files files;
	struct pb_card_server server;
	struct pb_card_observers observers;
	struct pb_card_lines lines;
	struct pb_card_engines engines;
	struct pb_card_admin admin;
	struct pb_card_boot boot;
	struct pb_card_loader loader;
	struct pb_card_update update;
	struct pb_card_mcu mcu;
	struct pb_card_clock clock;
	struct pb_card_monitor monitor;
	int epoll;
	struct pb_card_signals signals;
	int ready_fd;
	uint32_t asked;  /**< starts of the MCU that the administrator asked for */
	bool came_up;    /**< hosts could attach once */
	bool open;       /**< hosts may attach */
	uint64_t active; /**< time of the last progress of an engine, or of the last byte */
	bool doubted;    /**< hosts have been woken since the heartbeat stands */
	bool stop;
	int status;
};

/** The MCU's UART has connected. */
void pb_card_connect_lines(struct card *card);
/** Something has come from the UART. */
void pb_card_receive_lines(struct card *card);
/** The control interface of the MCU's emulator has connected. */
void pb_card_connect_monitor(struct card *card);
/** Something has come from that. */
void pb_card_receive_monitor(struct card *card);

#endif
