/* SPDX-License-Identifier: MIT */
/*
 * An engine completes submissions, or a host submits, the MCU serves them or goes
 * to sleep: none stays unseen. While the MCU is awake it polls the counts of raised
 * interrupts by itself, and the card sends it no byte (qemu/mcu/lines.h).
 *
 * What may be left out, to show that it is needed:
 *   NO_RAISE_RELEASE  of pb_card_lines_raise, between the reported state and its count
 *   NO_RAISE_BARRIER  of pb_card_lines_raise, before it reads whether the MCU polls
 *   NO_HUNT_BARRIER   of hunt, after mcu_polls = 0
 *   NO_SECOND_LOOK    of hunt, after that barrier
 *   NO_LINE_LOOK      of idle_wait: the check for an interrupt that came before interrupts were masked
 *   NO_MASK           of idle_enter: interrupts are not masked during the last poll
 */
#define TOTAL  3
#define ROUNDS 2 /* of polling */

#define SEQUENCE  0 /* the engine's: number of the last completed submission */
#define RAISED    1
#define MCU_LOOKS 2
#define TAKEN     3
#define WORDS     4

#include "weak.pml"

chan wire = [4] of { bit };

/* The engine, and the card's side of its interrupt. */
proctype engine()
{
	byte done, sent, looks, taken;

	do
	:: done < TOTAL ->
		done++;
		AT(pb_engine_model_step) STORE(OTHER, SEQUENCE, done);
#ifndef NO_RAISE_RELEASE
		AT(pb_card_lines_raise) RELEASE(OTHER);
#endif
		AT(pb_card_lines_raise) STORE(OTHER, RAISED, done);
#ifndef NO_RAISE_BARRIER
		AT(pb_card_lines_raise) BARRIER(OTHER);
#endif
		AT(pb_card_lines_raise) looks = LOAD(OTHER, MCU_LOOKS);
		if
		:: looks -> skip
		:: else ->
			AT(pb_card_lines_raise) taken = LOAD(OTHER, TAKEN);
			if
			:: taken == sent -> AT(flush) atomic { sent++; wire!1 }
			:: else -> skip
			fi;
			taken = 0
		fi;
		looks = 0
	:: else -> break
	od
}

bool masked;
bool pending;
byte taken_count;

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
	od
}

byte retired;

inline look_at_raises()
{
	AT(poll_lines) count = LOAD(MCU, RAISED);
	atomic {
		found = (found || count != seen);
		seen = count;
		count = 0
	}
}

/* Polls for a while before it sleeps. */
inline hunt_for_raises()
{
	found = false;
	round = 0;
	do
	:: atomic { round < ROUNDS && !found && !pending -> round++ };
		look_at_raises()
	:: atomic { else -> round = 0; break }
	od;
	AT(hunt) STORE(MCU, MCU_LOOKS, 0);
#ifndef NO_HUNT_BARRIER
	AT(hunt) BARRIER(MCU);
#endif
#ifndef NO_SECOND_LOOK
	look_at_raises()
#endif
}

inline idle()
{
	hunt_for_raises();
#ifndef NO_MASK
	AT(pb_uart_lines_idle_enter) masked = true;
#endif
	AT(pb_uart_lines_idle_enter) atomic { pending = (pending || found); found = false };
	AT(pb_firmware_idle) BARRIER(MCU);
	if
#ifndef NO_LINE_LOOK
	:: AT(pb_uart_lines_idle_wait) pending -> skip
	:: AT(pb_uart_lines_idle_wait) !pending ->
#else
	:: true ->
#endif
		/* WFI: a pending interrupt ends it, whether it is masked or not. */
end_asleep:
		AT(pb_cpu_wait) nempty(wire)
	fi;
	AT(pb_uart_lines_idle_leave) STORE(MCU, MCU_LOOKS, 1);
	AT(pb_uart_lines_idle_leave) masked = false
}

proctype main_loop()
{
	byte seen, count, round;
	bool raised, found;

	do
	:: AT(pb_uart_lines_take) atomic { raised = pending; pending = false; found = false };
		if
		:: raised -> skip
		:: else ->
			look_at_raises();
			AT(take_raised) atomic { raised = found; found = false }
		fi;
		AT(pb_uart_lines_take) BARRIER(MCU);
		if
		:: raised ->
			/* Never backward, and never twice: a retired submission stays retired. */
			AT(pb_core_retire) atomic {
				assert(LOAD(MCU, SEQUENCE) >= retired);
				retired = LOAD(MCU, SEQUENCE)
			}
		:: else -> idle()
		fi
	od
}

/* Nothing moves any more: everything was retired. */
proctype judge()
{
	timeout;
	assert(retired == TOTAL)
}

init {
	atomic {
		run store_buffer(MCU);
		run store_buffer(OTHER);
		run engine();
		run interrupt_handler();
		run main_loop();
		run judge()
	}
}
