pb_library(pb_engine_model SOURCES engine.c engine_gl.c LINKS pb_hal_engine_gl pb_hal_engine_model)
