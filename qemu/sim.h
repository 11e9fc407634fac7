/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card in one process: the firmware core, the engine model and card memory
 * on virtual time, single-threaded and deterministic. It moves only inside
 * pb_sim_step, which links (include/patchbay/link.h) call while they wait.
 */
#ifndef PB_QEMU_SIM_H
#define PB_QEMU_SIM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pb_engine_model;
struct pb_sim;

/**
 * A booted card with the memory size of the emulated board; NULL when out of memory. Clients may page. Who
 * attaches to the admin channel takes it over.
 */
struct pb_sim *pb_sim_create(void);
/**
 * As pb_sim_create(), with host memory right behind card memory, of which each client's channel is granted an equal part at
 * host address 0. @param host_bytes whole pages
 */
struct pb_sim *pb_sim_create_with_host(uint32_t host_bytes);
/** As pb_sim_create_with_host(), with outer memory (hal/outer_memory.h) behind host memory. @param outer_bytes whole pages */
struct pb_sim *pb_sim_create_with(uint32_t host_bytes, uint32_t outer_bytes);
/**
 * As pb_sim_create(), with GL engines on the 3D nodes, whose renderers draw nothing (hal/engine_model/gl_null.h): what
 * they answer takes as many steps as pb_sim_gl_delay() says, at first none.
 */
struct pb_sim *pb_sim_create_gl(void);
/** Of a simulation with GL engines: steps that an answer takes. */
void pb_sim_gl_delay(struct pb_sim *sim, uint32_t steps);
void pb_sim_destroy(struct pb_sim *sim);
/** One pass of the firmware and one step of each engine; time moves on. */
void pb_sim_step(struct pb_sim *sim);
/** Virtual microseconds since it was created. */
uint64_t pb_sim_now(const struct pb_sim *sim);
uint8_t *pb_sim_memory(struct pb_sim *sim);
/** Bytes of card memory, of host memory and of outer memory. */
uint32_t pb_sim_memory_bytes(const struct pb_sim *sim);
/** Raises a channel's doorbell. */
void pb_sim_doorbell(struct pb_sim *sim, uint32_t channel);
/** Takes and clears a channel's host interrupt. */
bool pb_sim_interrupt_take(struct pb_sim *sim, uint32_t channel);
/** A node's engine, for tests that break it; the node exists. */
struct pb_engine_model *pb_sim_engine(const struct pb_sim *sim, uint32_t node);

#ifdef __cplusplus
}
#endif

#endif
