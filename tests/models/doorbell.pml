/* SPDX-License-Identifier: MIT */
/*
 * A host submits and rings the doorbell, the MCU polls and goes to sleep: no
 * wake-up is lost. A host with two queues, a kick ring of two entries, the card
 * that turns doorbells into bytes of a UART, of which at most one is in transit,
 * and the MCU with its interrupt handler.
 *
 * What may be left out, to show that it is needed:
 *   NO_PUT_RELEASE   of pb_queue_submit, between descriptor and put
 *   NO_KICK_RELEASE  of write_kick, between the ring and its index
 *   NO_KICK_BARRIER  of write_kick, before the doorbell
 *   NO_LINE_LOOK     of idle_wait: the check for an interrupt that came before interrupts were masked
 *   NO_MASK          of idle_enter: interrupts are not masked during the last poll
 *   NO_TAKE_BARRIER, NO_IDLE_LOOK  of take, and the last poll of pb_firmware_idle: one of them
 *                    is enough, none is not
 *   LOSSY            a doorbell may get lost: the tick is needed; NO_TICK
 */
#define QUEUES      2
#ifndef SUBMISSIONS
#define SUBMISSIONS 3 /* to the queues in turn */
#endif
#define KICKS       2

#define KICK_PUT      0
#define RESCAN        1
#define PUT(q)        (2 + (q))
#define KICK(i)       (4 + (i) % KICKS)
#define KICK_GET      6
#define TAKEN         7
#define DESCRIPTOR(q, i) (8 + (q) + 2 * (i))
#define WORDS         11

#include "weak.pml"

/* ---- the path of a doorbell ---- */

bool rung;             /* the card's eventfd */
chan wire = [2] of { bit };
bool lost;

proctype card()
{
	byte sent;
	byte taken;

end:
	do
	:: atomic { rung -> rung = false };
#ifdef LOSSY
		if
		:: !lost -> AT(pb_card_lines_raise) lost = true; goto end
		:: true -> skip
		fi;
#endif
		/* The card reads TAKEN after its eventfd was written. */
		AT(pb_card_lines_raise) taken = memory[TAKEN];
		if
		:: taken == sent -> AT(flush) atomic { sent++; wire!1 }
		:: else -> skip
		fi;
		taken = 0
	od
}

/* ---- the host ---- */

byte rescans;

proctype host()
{
	byte n, kick_put;

	do
	:: n < SUBMISSIONS ->
		AT(pb_queue_submit) STORE(OTHER, DESCRIPTOR(n % QUEUES, n / QUEUES), 1);
#ifndef NO_PUT_RELEASE
		RELEASE(OTHER);
#endif
		AT(pb_queue_submit) STORE(OTHER, PUT(n % QUEUES), n / QUEUES + 1);
		RELEASE(OTHER);
		if
		:: AT(write_kick) kick_put - LOAD(OTHER, KICK_GET) < KICKS ->
			AT(write_kick) STORE(OTHER, KICK(kick_put), n % QUEUES + 1);
#ifndef NO_KICK_RELEASE
			RELEASE(OTHER);
#endif
			kick_put++;
			AT(write_kick) STORE(OTHER, KICK_PUT, kick_put)
		:: else ->
			rescans++;
			AT(write_kick) STORE(OTHER, RESCAN, rescans)
		fi;
#ifndef NO_KICK_BARRIER
		AT(write_kick) BARRIER(OTHER);
#endif
		AT(doorbell) rung = true;
		n++
	:: else -> break
	od
}

/* ---- the MCU ---- */

bool masked;
bool pending;
bool tick;
byte done[QUEUES];
byte taken_count;

/* An interrupt comes between any two steps of the main loop, unless it is masked. */
proctype interrupt_handler()
{
end:
	do
	:: atomic { !masked && nempty(wire) && !buffers[MCU].held[TAKEN] ->
		wire?1;
		taken_count++;
		AT(pb_uart_lines_received) STORE(MCU, TAKEN, taken_count);
		pending = true
	}
	:: atomic { !masked && tick -> AT(pb_uart_lines_tick) tick = false; pending = true }
	od
}

/* Reads what the queue's put index announces. */
inline poll_queue(q)
{
	AT(pb_core_poll_queue) put = LOAD(MCU, PUT(q));
	do
	:: atomic { done[q] < put ->
		AT(pb_core_admit) assert(LOAD(MCU, DESCRIPTOR(q, done[q])) == 1);
		done[q]++
	}
	:: atomic { else -> put = 0; break }
	od
}

inline read_kicks()
{
	do
	:: atomic { kick_get != seen ->
		AT(read_kicks) handle = LOAD(MCU, KICK(kick_get));
		assert(handle == 1 || handle == 2);
		kick_get++
	};
		poll_queue(handle - 1);
		handle = 0
	:: else -> break
	od;
	RELEASE(MCU);
	AT(read_kicks) STORE(MCU, KICK_GET, kick_get)
}

inline look_at_channel()
{
	AT(pb_core_doorbell) seen = LOAD(MCU, KICK_PUT);
	AT(pb_core_doorbell) asked = LOAD(MCU, RESCAN);
	if
	:: seen != kick_get -> read_kicks()
	:: else -> skip
	fi;
	if
	:: asked != rescan -> AT(rescan_some) poll_queue(0); poll_queue(1); rescan = asked
	:: else -> skip
	fi;
	seen = 0;
	asked = 0
}

inline idle()
{
#ifndef NO_MASK
	AT(pb_uart_lines_idle_enter) masked = true;
#endif
	AT(pb_firmware_idle) BARRIER(MCU);
	waits = false;
#ifndef NO_IDLE_LOOK
	AT(pb_core_doorbell_pending) waits = (LOAD(MCU, KICK_PUT) != kick_get || LOAD(MCU, RESCAN) != rescan);
#endif
	if
	:: waits -> skip
#ifndef NO_LINE_LOOK
	:: AT(pb_uart_lines_idle_wait) !waits && pending -> skip
	:: AT(pb_uart_lines_idle_wait) !waits && !pending ->
#else
	:: !waits ->
#endif
		/* WFI: a pending interrupt ends it, whether it is masked or not. */
end_asleep:
		AT(pb_cpu_wait) (nempty(wire) || tick)
	fi;
	AT(pb_uart_lines_idle_leave) masked = false
}


proctype main_loop()
{
	byte kick_get, rescan, seen, asked, handle, put;
	bool raised, waits;

	do
	:: AT(pb_uart_lines_take) atomic { raised = pending; pending = false };
#ifndef NO_TAKE_BARRIER
		AT(pb_uart_lines_take) BARRIER(MCU);
#endif
		if
		:: raised || waits -> waits = false; look_at_channel()
		:: else -> idle()
		fi
	od
}

/* Nothing moves any more: everything was read. */
proctype judge()
{
	timeout;
#if defined(LOSSY) && !defined(NO_TICK)
	tick = true;
	timeout;
#endif
	assert(done[0] + done[1] == SUBMISSIONS && done[1] == 1)
}

init {
	atomic {
		run store_buffer(MCU);
		run store_buffer(OTHER);
		run card();
		run host();
		run interrupt_handler();
		run main_loop();
		run judge()
	}
}
