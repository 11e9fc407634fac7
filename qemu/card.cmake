# The flash of an emulated card.
pb_library(pb_flash_model SOURCES flash_model.c LINKS pb_loader_slots)
# The emulated card around an MCU in QEMU.
pb_library(pb_card SOURCES
  card.c card_boot.c card_clock.c card_connect.c card_engines.c card_files.c card_host_memory.c card_lines.c card_loader.c
  card_mcu.c card_message.c card_monitor.c card_observers.c card_say.c card_server.c card_signals.c card_spawn.c
  card_update.c card_watch.c gl/renderers.c
  LINKS pb_flash_model pb_hal_card_admin pb_engine_gl pb_engine_model pb_machines)
