/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A call of Render, RenderKm or Present: outputs of any size among garbage, and the checks of what the driver wrote of
 * them.
 */
#ifndef PB_TESTS_WDDM_OS_CALL_H
#define PB_TESTS_WDDM_OS_CALL_H

#include "tests/wddm/os/machine.h"

#define OS_CALL_GUARD   64u /**< bytes behind the private data that may not change */
#define OS_SMALL_PASSES 4u  /**< calls for one command buffer in which the outputs may be small */
#define OS_PASSES_MAX   16u /**< calls for one command buffer; more break a rule */

/** A call, from the OS's view: outputs, their sizes, and what the driver wrote of them. */
struct os_call {
	struct os_window *window;
	uint32_t dma_size;
	uint32_t patch_room;
	void *dma_end;
	void *private_end;
	struct pb_patch_location *patch_end;
	uint8_t private_behind[OS_CALL_GUARD];
};

/** Chooses outputs. @param pass calls before this one for the same commands */
void os_call_begin(struct os_machine *m, struct os_buffer *buffer, uint32_t pass, struct os_call *call);
/** Sets the arguments that Render and RenderKm have in common. */
void os_call_fill_in(struct pb_dxgkarg_render *render, struct os_buffer *buffer, const struct os_call *call);
/** Notes where the driver's outputs end. */
void os_call_take_out(const struct pb_dxgkarg_render *render, struct os_call *call);
/** Checks what the driver wrote. @return whether it built something */
bool os_call_end(struct os_machine *m, struct os_buffer *buffer, struct os_call *call, uint32_t status);
/** Flags of a submission: some render nothing. */
uint32_t os_call_flags(struct os_machine *m, uint32_t flags);
/** Notes what a buffer does, and appends to it what no process may render. */
void os_call_remember(struct os_machine *m, struct os_buffer *buffer, const uint32_t *words, uint32_t count,
		      bool drawing, uint32_t flags);
/** Queues a buffer. */
void os_call_queue(struct os_machine *m, struct os_buffer *buffer, uint32_t flags);
/** Queues a packet of a context, on its node. */
void os_call_queue_packet(struct os_machine *m, struct os_context *context, struct os_packet *packet);

#endif
