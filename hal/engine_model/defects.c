/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/internal.h"

static void raise_line(const struct pb_engine_model *model)
{
	model->config.interrupt(model->config.context);
}

void pb_model_interrupt(struct pb_engine_model *model)
{
	struct pb_engine_model_defects *defects = &model->defects;

	if (defects->lose_interrupt != 0 && --defects->lose_interrupt == 0)
		return;
	if (defects->late == 0)
		raise_line(model);
	else if (model->held == 0)
		model->held = defects->late;
}

void pb_model_defects_step(struct pb_engine_model *model)
{
	if (model->held != 0 && --model->held == 0)
		raise_line(model);
	if (model->defects.spurious_every != 0 && ++model->steps >= model->defects.spurious_every) {
		model->steps = 0;
		raise_line(model);
	}
}

void pb_engine_model_set_defects(struct pb_engine_model *model, const struct pb_engine_model_defects *defects)
{
	model->defects = *defects;
	model->steps = 0;
}
