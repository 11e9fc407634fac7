/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The rule that a word of card memory that a host can write is read once in an
 * operation: each such word turns into another one as soon as it has been read,
 * and a second read of it, before the operation is over, is a breach.
 *
 * What an operation is, by the kind of word:
 *
 *   ENTRY       the host's two lines of a channel's directory entry: one pass of the main loop, or one look
 *               before it sleeps. event_get: one event. An attach, and the look at rings that follows it, are two
 *   COMMAND     one pass, which carries out one command of a channel; one that must wait is tried anew in a later pass
 *   KICK        one pass
 *   PUT         a queue's put: one kick, or one look at all queues
 *   DESCRIPTOR  an entry of a submission ring: one admission; a queue that has waited is admitted anew in a later pass
 *   MEMORY      lists, waits, saved progress, words of a DMA buffer: one admission and all that follows from it. A
 *               word that the firmware has stored itself counts as new. The digest of an allocation list, which is taken
 *               where there is a cookie, is an operation of its own, and so is comparing with what is presumed: they
 *               decide only that nothing is written
 *   TABLE       a page table entry: one store through it
 *   RECORD      a queue's records, which the firmware reads back to go on counting: one pass, or up to its next store
 *
 * Left out: what only the firmware, the engines or the supervisor write by contract (boot block, clock, registers,
 * replies, events, ranges). Times and progress are read again because they move.
 */
#ifndef PB_TESTS_UNIT_ONCE_H
#define PB_TESTS_UNIT_ONCE_H

#include <stdbool.h>
#include <stdint.h>

enum once_kind {
	ONCE_OTHER,
	ONCE_ENTRY,
	ONCE_COMMAND,
	ONCE_KICK,
	ONCE_PUT,
	ONCE_DESCRIPTOR,
	ONCE_MEMORY,
	ONCE_TABLE,
	ONCE_RECORD,
	ONCE_KINDS
};

/** What has been seen since once_start. */
struct once_report {
	uint32_t reads[ONCE_KINDS];
	uint32_t words
		[ONCE_KINDS]; /**< a bit for each word of an entry, command, descriptor or record that was read */
	uint32_t admissions; /**< descriptors read from their first word on */
	uint32_t breaches;
	enum once_kind kind; /**< of the first one */
	uint32_t offset;     /**< its word */
};
extern struct once_report once_report;

/** Watches the memory of a card that is laid out by qemu/mcu/layout.h. */
void once_start(uint8_t *memory);
/** A queue page and its ring lie there. */
void once_queue(uint32_t offset, uint32_t entries);
/** An allocation list that is submitted with a cookie lies there: each word is read for its digest first. */
void once_digest(uint32_t offset, uint32_t bytes);
/** All words are what they were; nothing is watched any more. */
void once_stop(void);

#endif
