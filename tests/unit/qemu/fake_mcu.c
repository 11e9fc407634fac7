/* SPDX-License-Identifier: MIT */
/*
 * fake_mcu MEMORY LINES IMAGE [fail | MONITOR]: stands in for the emulated MCU.
 * It boots, answers each channel's doorbell with its interrupt, attaches the
 * admin and carries out CHANNEL_CLOSE and CHANNEL_GRANT. With `fail` it stops
 * while it boots, with a fatal record. With the path of a control socket it
 * answers there, and its heartbeat moves. With fewer arguments it ends at once.
 */
#define _GNU_SOURCE
#include "tests/unit/qemu/fake_mcu.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "hal/lines.h"
#include "hal/shared.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/trace.h"
#include "qemu/mcu/lines.h"

#define CONTROL_OFFSET (PB_CARD_CHANNELS_OFFSET + 0x1000u)
#define REPLY_OFFSET   (PB_CARD_CHANNELS_OFFSET + 0x2000u)
#define TRACE_OFFSET   (PB_CARD_POOL_OFFSET + 0x1000u)
/* Fewer than there are channels, so that the admin has to wait for room. */
#define ENTRIES 4u

static uint8_t *memory;
static int lines_socket;
static int monitor_socket = -1;
static uint32_t taken[PB_CARD_LINES];
static uint32_t sent[PB_CARD_LINES];
static uint32_t control_get;
static uint32_t reply_put;

static struct fake_mailbox *mailbox(void)
{
	return (void *)(memory + FAKE_OFFSET);
}

static struct pb_card_line_block *block(void)
{
	return (void *)(memory + PB_CARD_LINES_OFFSET);
}

static struct pb_channel_entry *admin(void)
{
	return (void *)(memory + PB_CARD_CHANNELS_OFFSET);
}

static void raise_line(uint32_t line)
{
	struct pb_card_line_block *words = block();
	uint8_t byte = (uint8_t)line;

	pb_shared_barrier();
	if (pb_shared_read32(&words->from_mcu_taken[line]) != sent[line])
		return;
	sent[line]++;
	if (write(lines_socket, &byte, 1) != 1)
		exit(4);
}

/* Stops with a fatal record if that is due, and then does nothing for ever. */
static void fail_if_due(void)
{
	struct pb_boot_block *words = (void *)(memory + PB_BOOT_OFFSET);

	if (pb_shared_read32(&mailbox()->fails) == 0)
		return;
	pb_shared_write32(&mailbox()->fails, mailbox()->fails - 1u);
	pb_shared_write32(&words->fatal.kind, PB_FATAL_CPU_FAULT);
	pb_shared_write32(&words->fatal.pc, FAKE_FATAL_PC);
	pb_shared_write32(&words->fatal.status, 0x10000);
	pb_shared_write32(&words->fatal.waypoint, FAKE_WAYPOINT);
	pb_shared_release();
	pb_shared_write32(&words->fatal.valid, 1);
	pb_shared_write32(&words->boot_stage, PB_BOOT_STAGE_FATAL);
	for (;;)
		pause();
}

/* There is no trace, but the word that shows its levels. */
static void set_levels(uint32_t levels)
{
	struct pb_trace_ring *ring = (void *)(memory + TRACE_OFFSET);

	pb_shared_write32(&ring->levels, levels);
	pb_shared_write32(&mailbox()->levels, levels);
}

static void boot(void)
{
	struct pb_boot_block *words = (void *)(memory + PB_BOOT_OFFSET);

	pb_shared_write32(&words->boot_stage, PB_BOOT_STAGE_NONE);
	pb_shared_write32(&words->fatal.valid, 0);
	pb_shared_write32(&words->abi_version, PB_ABI_VERSION);
	pb_shared_write32(&words->channel_directory_offset, PB_CARD_CHANNELS_OFFSET);
	pb_shared_write32(&words->channel_count, FAKE_CHANNELS);
	pb_shared_write32(&words->block_bytes, sizeof(*words));
	pb_shared_write32(&words->memory_bytes, PB_CARD_MEMORY_BYTES);
	pb_shared_write32(&words->waypoint, FAKE_WAYPOINT);
	pb_shared_write32(&words->heartbeat, FAKE_HEARTBEAT);
	pb_shared_write32(&words->incarnation, pb_shared_read32(&words->incarnation) + 1u);
	pb_shared_write32(&words->magic, PB_BOOT_MAGIC);
	pb_shared_write32(&admin()->state, PB_CHANNEL_CLOSED); /* commands of the former MCU are dropped */
	pb_shared_write32(&admin()->attach_done, pb_shared_read32(&admin()->attach_request));
	pb_shared_write32(&mailbox()->pid, (uint32_t)getpid());
	memset(mailbox()->privileges, 0, sizeof(mailbox()->privileges));
	pb_shared_write32(&mailbox()->hangs, 0);
	pb_shared_write32(&words->trace_offset, TRACE_OFFSET);
	set_levels(FAKE_LEVELS);
	fail_if_due();
	pb_shared_release();
	pb_shared_write32(&words->boot_stage, PB_BOOT_STAGE_RUNNING);
}

static void attach(uint32_t request)
{
	control_get = 0;
	reply_put = 0;
	pb_shared_write32(&admin()->reply_put, 0);
	pb_shared_write32(&admin()->control_offset, CONTROL_OFFSET);
	pb_shared_write32(&admin()->reply_offset, REPLY_OFFSET);
	pb_shared_write32(&admin()->control_entries, ENTRIES);
	pb_shared_write32(&admin()->state, PB_CHANNEL_OPEN);
	pb_shared_release();
	pb_shared_write32(&admin()->attach_done, request);
	raise_line(PB_LINE_CHANNEL(0));
}

static void carry_out_one(void)
{
	const struct pb_command *command =
		(const void *)(memory + CONTROL_OFFSET + control_get % ENTRIES * sizeof(*command));
	struct pb_reply *reply = (void *)(memory + REPLY_OFFSET + reply_put % ENTRIES * sizeof(*reply));
	uint32_t channel = pb_shared_read32(&command->arguments[0]);
	uint32_t code = pb_shared_read32(&command->code);

	control_get++;
	if (channel < FAKE_CHANNELS && code == PB_COMMAND_CHANNEL_CLOSE) {
		mailbox()->closes[channel]++;
		mailbox()->privileges[channel] = 0;
	} else if (channel < FAKE_CHANNELS && code == PB_COMMAND_CHANNEL_GRANT) {
		mailbox()->privileges[channel] = pb_shared_read32(&command->arguments[1]);
		mailbox()->weights[channel] = pb_shared_read32(&command->arguments[2]);
		mailbox()->priorities[channel] = pb_shared_read32(&command->arguments[3]);
	} else if (code == PB_COMMAND_TRACE) {
		set_levels(channel);
	}
	mailbox()->commands++;
	pb_shared_write32(&reply->results[0], pb_shared_read32(&command->arguments[1]) + FAKE_ANSWER);
	pb_shared_write32(&reply->code, code);
	pb_shared_write32(&reply->tag, pb_shared_read32(&command->tag));
	pb_shared_write32(&reply->error, 0);
	pb_shared_release();
	pb_shared_write32(&admin()->reply_put, ++reply_put);
	raise_line(PB_LINE_CHANNEL(0));
}

static void serve_admin(void)
{
	uint32_t request = pb_shared_read32(&admin()->attach_request);

	if (pb_shared_read32(&mailbox()->hold_attach) == 0 &&
	    request != pb_shared_read32(&admin()->attach_done))
		attach(request);
	while (pb_shared_read32(&mailbox()->hold_closes) == 0 &&
	       pb_shared_read32(&admin()->state) == PB_CHANNEL_OPEN &&
	       control_get != pb_shared_read32(&admin()->control_put))
		carry_out_one();
}

static void feed_engine(uint32_t node)
{
	struct pb_engine_registers *registers =
		(void *)(memory + PB_CARD_ENGINE_OFFSET + node * PB_CARD_ENGINE_STRIDE);
	struct pb_engine_slot *slot = (void *)(memory + PB_CARD_RINGS_OFFSET);

	*slot = (struct pb_engine_slot){
		.buffer_header = PB_PACKET(PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_RING_WORDS),
		.fence_header = PB_PACKET(PB_PACKET_FENCE, PB_PACKET_FENCE_WORDS),
		.sequence = 77,
	};
	registers->ring_offset = PB_CARD_RINGS_OFFSET;
	registers->ring_slots = 4;
	registers->range_offset = PB_CARD_RANGES_OFFSET;
	registers->channels = FAKE_CHANNELS;
	pb_shared_release();
	pb_shared_write32(&registers->tail, 1);
	raise_line(PB_LINE_NODE(node));
}

static void take(uint32_t line)
{
	pb_shared_write32(&block()->to_mcu_taken[line], ++taken[line]);
	pb_shared_barrier();
	if (line < FAKE_CHANNELS) {
		mailbox()->doorbells[line]++;
		if (line != 0)
			raise_line(PB_LINE_CHANNEL(line));
	} else if (line >= PB_LINE_NODE(0) && line < PB_LINE_NODE(PB_CARD_NODES)) {
		mailbox()->nodes[line - PB_LINE_NODE(0)]++;
	}
	if (mailbox()->feed != 0) {
		feed_engine(mailbox()->feed - 1u);
		mailbox()->feed = 0;
	}
}

/* Every line is a command, and every command goes well. */
static void answer_monitor(void)
{
	static const char answer[] = "{\"timestamp\": {}, \"event\": \"X\"}\r\n{\"return\": {}}\r\n";
	char bytes[256];
	ssize_t got;

	if (pb_shared_read32(&mailbox()->hold_monitor) != 0)
		return;
	got = recv(monitor_socket, bytes, sizeof(bytes), MSG_DONTWAIT);
	for (ssize_t i = 0; i < got; i++) {
		if (bytes[i] == '\n' && write(monitor_socket, answer, sizeof(answer) - 1) < 0)
			exit(6);
	}
}

static void beat(void)
{
	struct pb_boot_block *words = (void *)(memory + PB_BOOT_OFFSET);

	if (pb_shared_read32(&mailbox()->hangs) == 0)
		pb_shared_write32(&words->heartbeat, pb_shared_read32(&words->heartbeat) + 1u);
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int connected = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (connect(connected, (const struct sockaddr *)&address, sizeof(address)) != 0)
		exit(5);
	return connected;
}

static void open_card(const char *file, const char *socket_path)
{
	int fd = open(file, O_RDWR);
	void *map = mmap(NULL, PB_CARD_MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		exit(5);
	lines_socket = connect_to(socket_path);
	memory = map;
	for (uint32_t line = 0; line < PB_CARD_LINES; line++) {
		taken[line] = pb_shared_read32(&block()->to_mcu_taken[line]);
		sent[line] = pb_shared_read32(&block()->from_mcu_taken[line]);
	}
}

int main(int argc, char **argv)
{
	struct pollfd poller = {.events = POLLIN};

	if (argc < 4)
		return 3;
	open_card(argv[1], argv[2]);
	if (argc > 4 && argv[4][0] == '/')
		monitor_socket = connect_to(argv[4]);
	else if (argc > 4)
		pb_shared_write32(&mailbox()->fails, 1);
	while (pb_shared_read32(&mailbox()->hold_boot) != 0)
		usleep(100);
	boot();
	poller.fd = lines_socket;
	for (;;) {
		uint8_t line;

		/* The tick: a held command is looked at again. */
		if (poll(&poller, 1, 1) > 0) {
			if (read(lines_socket, &line, 1) != 1)
				return 0;
			if (line < PB_CARD_LINES)
				take(line);
		}
		serve_admin();
		fail_if_due();
		if (monitor_socket >= 0) {
			answer_monitor();
			beat();
		}
	}
}
