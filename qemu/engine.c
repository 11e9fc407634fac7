/* SPDX-License-Identifier: MIT */
#include "qemu/engine.h"

#include <stdlib.h>

#include "hal/engine_model/state.h"

struct pb_engine_model *pb_engine_model_create(const struct pb_engine_model_config *config)
{
	struct pb_engine_model *model = malloc(sizeof(*model));

	if (model != NULL)
		pb_engine_model_init(model, config);
	return model;
}

void pb_engine_model_destroy(struct pb_engine_model *model)
{
	free(model);
}
