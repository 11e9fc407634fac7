# Messages that several commands and their tests use.
pb_library(pb_card_failure
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/card_failure.c
  LINKS pb_host)

pb_library(pb_json_number SOURCES ${CMAKE_CURRENT_LIST_DIR}/json_number.c LINKS cjson)

# Why a queue does not run: the part that is tested without a card.
pb_library(pb_why SOURCES ${CMAKE_CURRENT_LIST_DIR}/why.c LINKS pb_json_number pb_host)

# Pictures of displays: the part that is tested without a card.
pb_library(pb_screenshot SOURCES ${CMAKE_CURRENT_LIST_DIR}/screenshot.c)

# Firmware images in files.
pb_library(pb_firmware_image SOURCES ${CMAKE_CURRENT_LIST_DIR}/firmware_image.c LINKS z)

# Cards that were saved to a file.
pb_library(pb_dump SOURCES ${CMAKE_CURRENT_LIST_DIR}/dump.c LINKS pb_host)

# The report of a crash.
pb_library(pb_crash
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/crash_core.c
    ${CMAKE_CURRENT_LIST_DIR}/crash_report.c
    ${CMAKE_CURRENT_LIST_DIR}/crash_symbols.c
    ${CMAKE_CURRENT_LIST_DIR}/crash_words.c
  LINKS pb_firmware_image pb_json_number pb_host cjson dw elf)

include(${CMAKE_CURRENT_LIST_DIR}/telemetry.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/trace.cmake)

# Boards at a debug probe.
pb_library(pb_probe SOURCES ${CMAKE_CURRENT_LIST_DIR}/probe.c LINKS pb_host pb_link_gdb)

# A WDDM kernel, as far as it drives the miniport.
pb_library(pb_wddm_os SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/wddm_card.c
  ${CMAKE_CURRENT_LIST_DIR}/wddm_os.c
  ${CMAKE_CURRENT_LIST_DIR}/wddm_tdr.c
  ${CMAKE_CURRENT_LIST_DIR}/wddm_memory.c
  ${CMAKE_CURRENT_LIST_DIR}/wddm_objects.c
  ${CMAKE_CURRENT_LIST_DIR}/wddm_paging.c
  LINKS pb_ddi_calls pb_wddm pb_host)

include(${CMAKE_CURRENT_LIST_DIR}/gl.cmake)

# The patchbay command.
include(${CMAKE_CURRENT_LIST_DIR}/replay.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/demo.cmake)
pb_program(patchbay
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/main.c
    ${CMAKE_CURRENT_LIST_DIR}/board_image.c
    ${CMAKE_CURRENT_LIST_DIR}/open_card.c
    ${CMAKE_CURRENT_LIST_DIR}/card_arguments.c
    ${CMAKE_CURRENT_LIST_DIR}/card_command.c
    ${CMAKE_CURRENT_LIST_DIR}/crash_command.c
    ${CMAKE_CURRENT_LIST_DIR}/dump_command.c
    ${CMAKE_CURRENT_LIST_DIR}/gl_command.c
    ${CMAKE_CURRENT_LIST_DIR}/image_command.c
    ${CMAKE_CURRENT_LIST_DIR}/info_command.c
    ${CMAKE_CURRENT_LIST_DIR}/memory_file.c
    ${CMAKE_CURRENT_LIST_DIR}/output.c
    ${CMAKE_CURRENT_LIST_DIR}/run_command.c
    ${CMAKE_CURRENT_LIST_DIR}/screenshot_command.c
    ${CMAKE_CURRENT_LIST_DIR}/stats_command.c
    ${CMAKE_CURRENT_LIST_DIR}/top_command.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_command.c
    ${CMAKE_CURRENT_LIST_DIR}/update_card.c
    ${CMAKE_CURRENT_LIST_DIR}/update_command.c
    ${CMAKE_CURRENT_LIST_DIR}/update_probe.c
    ${CMAKE_CURRENT_LIST_DIR}/probe_flash.c
    ${CMAKE_CURRENT_LIST_DIR}/why_command.c
  LINKS pb_gl_serve pb_dump pb_why pb_screenshot pb_crash pb_stats pb_top pb_trace pb_firmware_image pb_card_failure pb_replay pb_demo pb_link_socket pb_link_pci pb_probe pb_card pb_sim pb_schedules pb_json_number cjson)
