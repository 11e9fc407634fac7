/* SPDX-License-Identifier: MIT */
/*
 * bootloader LINK FILE: emulates the ROM bootloader of an STM32F405 on a pseudo-terminal, for flashing tools
 * (ST AN3155, protocol version 3.1). LINK becomes a link to the terminal. Flash memory is not erased at
 * first, and writing only clears bits. Ends when ordered to start the program: prints the address, and writes
 * the first 64 KiB of flash memory to FILE.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define FLASH       0x08000000u
#define FLASH_BYTES (1u << 20)
#define DUMP_BYTES  (64u << 10)
#define ACK         0x79u
#define NACK        0x1fu
#define PART        0x0413u
#define SECTORS     12u
/** Flashing never takes that long: the tool has given up. */
#define PATIENCE_SECONDS 600u

enum command {
	GET = 0x00,
	GET_VERSION = 0x01,
	GET_PART = 0x02,
	READ = 0x11,
	GO = 0x21,
	WRITE = 0x31,
	ERASE = 0x44,
};

static uint8_t flash[FLASH_BYTES];
static int terminal;

static void quit(const char *why)
{
	fprintf(stderr, "bootloader: %s\n", why);
	exit(1);
}

static uint32_t read_byte(void)
{
	uint8_t byte;

	if (read(terminal, &byte, 1) != 1)
		quit("the terminal is gone");
	return byte;
}

static void write_bytes(const void *bytes, size_t count)
{
	if (write(terminal, bytes, count) != (ssize_t)count)
		quit("the terminal is gone");
}

static bool answer(bool good)
{
	const uint8_t byte = good ? ACK : NACK;

	write_bytes(&byte, 1);
	return good;
}

/* @return whether the next byte is the checksum of the bytes before it */
static bool read_checksum(uint32_t sum)
{
	return answer(read_byte() == (sum & 0xffu));
}

/* The most significant byte comes first. */
static bool read_address(uint32_t *address)
{
	uint32_t sum = 0;

	*address = 0;
	for (int i = 0; i < 4; i++) {
		const uint32_t byte = read_byte();

		*address = *address << 8 | byte;
		sum ^= byte;
	}
	return read_checksum(sum);
}

static bool in_flash(uint32_t address, uint32_t count)
{
	return address >= FLASH && address - FLASH <= FLASH_BYTES && count <= FLASH_BYTES - (address - FLASH);
}

static void read_memory(void)
{
	uint32_t address, count;

	if (!read_address(&address))
		return;
	count = read_byte();
	if (!read_checksum(~count) || !in_flash(address, count + 1u))
		return;
	write_bytes(flash + (address - FLASH), count + 1u);
}

static void write_memory(void)
{
	uint8_t data[256];
	uint32_t address, count, sum;

	if (!read_address(&address))
		return;
	count = read_byte();
	sum = count;
	for (uint32_t i = 0; i <= count; i++) {
		data[i] = (uint8_t)read_byte();
		sum ^= data[i];
	}
	if (read_byte() != (sum & 0xffu) || !in_flash(address, count + 1u) || address % 4u != 0 ||
	    (count + 1u) % 4u != 0) {
		answer(false);
		return;
	}
	for (uint32_t i = 0; i <= count; i++)
		flash[address - FLASH + i] &= data[i];
	answer(true);
}

/* Four sectors of 16 KiB, one of 64, the others of 128 (ST RM0090, table 5). */
static void erase_sector(uint32_t sector)
{
	const uint32_t start = sector < 4 ? sector << 14 : sector == 4 ? 4u << 14 : (sector - 4u) << 17;
	const uint32_t bytes = sector < 4 ? 1u << 14 : sector == 4 ? 1u << 16 : 1u << 17;

	memset(flash + start, 0xff, bytes);
}

static void erase(void)
{
	const uint32_t high = read_byte(), low = read_byte();
	const uint32_t count = high << 8 | low;
	uint32_t sectors[SECTORS], sum = high ^ low;

	if (count >= SECTORS) {
		/* Mass erase has a number of its own. */
		if (count == 0xffffu && read_checksum(sum))
			memset(flash, 0xff, sizeof(flash));
		return;
	}
	for (uint32_t i = 0; i <= count; i++) {
		const uint32_t first = read_byte(), second = read_byte();

		sectors[i] = first << 8 | second;
		sum ^= first ^ second;
	}
	for (uint32_t i = 0; i <= count; i++) {
		if (sectors[i] < SECTORS)
			erase_sector(sectors[i]);
	}
	read_checksum(sum);
}

static void send_data(const uint8_t *bytes, uint32_t count)
{
	const uint8_t length = (uint8_t)(count - 1u);

	write_bytes(&length, 1);
	write_bytes(bytes, count);
	answer(true);
}

/* @return false: the program is started */
static bool carry_out(enum command command, uint32_t *start)
{
	static const uint8_t commands[] = {0x31, GET, GET_VERSION, GET_PART, READ, GO, WRITE, ERASE};
	static const uint8_t version[] = {0x31, 0, 0};
	static const uint8_t part[] = {PART >> 8, PART & 0xffu};

	switch (command) {
	case GET:
		send_data(commands, sizeof(commands));
		return true;
	case GET_VERSION:
		write_bytes(version, sizeof(version));
		answer(true);
		return true;
	case GET_PART:
		send_data(part, sizeof(part));
		return true;
	case READ:
		read_memory();
		return true;
	case GO:
		return !read_address(start);
	case WRITE:
		write_memory();
		return true;
	case ERASE:
		erase();
		return true;
	default:
		return true;
	}
}

static bool known(uint32_t command)
{
	return command == GET || command == GET_VERSION || command == GET_PART || command == READ ||
	       command == GO || command == WRITE || command == ERASE;
}

static uint32_t serve(void)
{
	uint32_t start;

	for (;;) {
		const uint32_t command = read_byte();

		/* The byte by which the bootloader measures the baud rate. */
		if (command == 0x7fu) {
			answer(true);
			continue;
		}
		if (answer((read_byte() ^ command) == 0xffu && known(command)) &&
		    !carry_out((enum command)command, &start))
			return start;
	}
}

/* @return the other end, kept open so that the terminal stays while no tool has it open */
static int open_terminal(const char *path)
{
	struct termios settings;
	int end;

	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
		quit("there is no pseudo-terminal");
	end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	if (end < 0 || tcgetattr(end, &settings) != 0)
		quit("the pseudo-terminal cannot be opened");
	cfmakeraw(&settings);
	if (tcsetattr(end, TCSANOW, &settings) != 0 || symlink(ptsname(terminal), path) != 0)
		quit("the pseudo-terminal cannot be set up");
	return end;
}

int main(int argc, char **argv)
{
	FILE *dump;
	uint32_t start;

	if (argc != 3)
		quit("usage: bootloader LINK FILE");
	alarm(PATIENCE_SECONDS);
	memset(flash, 0x5a, sizeof(flash));
	(void)open_terminal(argv[1]);
	start = serve();
	dump = fopen(argv[2], "wb");
	if (dump == NULL || fwrite(flash, 1, DUMP_BYTES, dump) != DUMP_BYTES || fclose(dump) != 0)
		quit("the file cannot be written");
	printf("started at 0x%08x\n", (unsigned)start);
	/* The last command was acknowledged. The acknowledgement may still be in transit. */
	tcdrain(terminal);
	return 0;
}
