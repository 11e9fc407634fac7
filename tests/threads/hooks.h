/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Included first in the library's sources: before each access to card memory another fiber may run. Card memory is
 * never a race: the card accesses it at any time. Each place that takes a lock can be left out.
 */
#ifndef PB_TESTS_THREADS_HOOKS_H
#define PB_TESTS_THREADS_HOOKS_H

#include "host/wddm/internal.h"

uint32_t pb_threads_read32(const uint32_t *address);
void pb_threads_write32(uint32_t *address, uint32_t value);

#define pb_shared_read32    pb_threads_read32
#define pb_shared_write32   pb_threads_write32
#define pb_shared_acquire() ((void)0)
#define pb_shared_release() ((void)0)
#define pb_shared_barrier() ((void)0)

void pb_threads_lock(struct pb_lock *lock, const char *file, uint32_t line);
void pb_threads_unlock(struct pb_lock *lock);

#define pb_lock(lock)   pb_threads_lock(lock, __FILE__, __LINE__)
#define pb_unlock(lock) pb_threads_unlock(lock)

#define pb_wddm_lock(adapter)   pb_threads_lock((adapter)->config.lock, __FILE__, __LINE__)
#define pb_wddm_unlock(adapter) pb_threads_unlock((adapter)->config.lock)

#endif
