# Parts of a card: the model of its engines, and the card as a host of its own firmware. Beside an emulated card, or in
# the image of a board that is a card by itself.
set(model blit command defects draw memory model packets pages progress raster)
list(TRANSFORM model REPLACE "(.+)" "engine/model/\\1.c")
pb_library(pb_hal_engine_model SOURCES ${model})
pb_library(pb_card_admin SOURCES card/admin.c)
pb_library(pb_hal_soft_engine SOURCES engine/soft.c LINKS pb_hal_engine_model)
if(PB_BOARD)
  # Of a card that is an MCU and nothing else.
  pb_library(pb_hal_cortex_m_local SOURCES cortex_m/local_lines.c LINKS pb_hal_soft_engine)
  pb_library(pb_hal_stm32f4 SOURCES stm32f4/stm32f4.c)
  set_target_properties(pb_hal_engine_model pb_card_admin pb_hal_soft_engine pb_hal_cortex_m_local pb_hal_stm32f4
    PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()
