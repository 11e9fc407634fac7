# Parts of a card: the model of its engines, and the card as a host of its own firmware. Beside an emulated card, or in
# the image of a board that is a card by itself.
set(model blit command defects draw memory model packets pages progress raster)
list(TRANSFORM model REPLACE "(.+)" "engine/model/\\1.c")
pb_driver(pb_hal_engine_model SOURCES ${model})
pb_driver(pb_card_admin SOURCES card/admin.c)
pb_driver(pb_hal_soft_engine SOURCES engine/soft.c LINKS pb_hal_engine_model)
if(PB_BOARD)
  # Of a card that is an MCU and nothing else.
  pb_driver(pb_hal_cortex_m_local SOURCES cortex_m/local_lines.c LINKS pb_hal_soft_engine)
  pb_driver(pb_hal_stm32f4 SOURCES stm32f4/stm32f4.c)
endif()
