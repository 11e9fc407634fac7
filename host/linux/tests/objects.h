/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contents of objects, and what the driver says of their memory. */
#ifndef PBD_TEST_OBJECTS_H
#define PBD_TEST_OBJECTS_H

#include "guest.h"

#define MIB (1u << 20)

struct drm_patchbay_info object_card_info(int fd);
/* Bytes that the engine has moved, and the CPU. */
void bytes_moved(unsigned long long *engine, unsigned long long *cpu);

/* The first and the last word of each page, by the CPU. */
void object_mark(const struct guest_object *object, uint32_t seed);
void object_check_marks(const struct guest_object *object, uint32_t seed);
void object_check_all(const struct guest_object *object, uint32_t value);
/* All of an object, by the engine. */
void object_copy(int fd, uint32_t queue, const struct guest_object *from, const struct guest_object *to);
void object_fill(int fd, uint32_t queue, const struct guest_object *object, uint32_t value);

#endif
