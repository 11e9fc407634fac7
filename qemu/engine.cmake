pb_library(pb_engine_model SOURCES engine.c LINKS pb_hal_engine_model)
pb_library(pb_engine_gl SOURCES engine_gl.c LINKS pb_hal_engine_gl)
