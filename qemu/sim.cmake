pb_library(pb_sim SOURCES sim.c sim_link.c
  LINKS pb_firmware pb_hal_engine pb_hal_host pb_engine_model pb_engine_gl pb_hal_card_admin)
