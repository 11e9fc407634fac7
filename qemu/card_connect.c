/* SPDX-License-Identifier: MIT */
/* The connections of the MCU's emulator to the card. */
#include <sys/epoll.h>
#include <unistd.h>

#include "qemu/card_state.h"
#include "qemu/card_watch.h"

void pb_card_connect_lines(struct card *card)
{
	int socket = pb_card_accept(card->files.lines_listener);

	if (socket < 0)
		return;
	/* It has one UART: whoever comes second is none. */
	if (card->lines.socket < 0 && pb_card_watch(card->epoll, socket, EPOLLIN, PB_CARD_WATCH_LINES, 0))
		pb_card_lines_connect(&card->lines, socket);
	else
		close(socket);
}

void pb_card_receive_lines(struct card *card)
{
	card->active = pb_card_wall_us();
	/* The end of the lines is the MCU's end, which its process reports. */
	if (card->lines.socket >= 0 && !pb_card_lines_receive(&card->lines))
		pb_card_watch_end(card->epoll, card->lines.socket);
}

void pb_card_connect_monitor(struct card *card)
{
	int socket = pb_card_accept(card->files.monitor_listener);

	if (socket < 0)
		return;
	if (card->monitor.socket < 0 && pb_card_watch(card->epoll, socket, EPOLLIN, PB_CARD_WATCH_MONITOR, 0))
		pb_card_monitor_connect(&card->monitor, socket);
	else
		close(socket);
}

void pb_card_receive_monitor(struct card *card)
{
	if (card->monitor.socket >= 0 && !pb_card_monitor_receive(&card->monitor, pb_card_wall_us()))
		pb_card_watch_end(card->epoll, card->monitor.socket);
}
