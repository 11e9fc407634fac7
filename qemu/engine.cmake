pb_library(pb_engine_model SOURCES
  engine_model.c engine_command.c engine_progress.c engine_defects.c engine_packets.c engine_memory.c engine_pages.c engine_blit.c engine_draw.c engine_raster.c)
