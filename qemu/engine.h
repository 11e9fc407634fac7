/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The engine model (hal/engine_model/) in a program that has a heap.
 */
#ifndef PB_QEMU_ENGINE_H
#define PB_QEMU_ENGINE_H

#include "hal/engine_model/model.h"

/** NULL when out of memory. The configuration is copied. */
struct pb_engine_model *pb_engine_model_create(const struct pb_engine_model_config *config);
void pb_engine_model_destroy(struct pb_engine_model *model);

#endif
