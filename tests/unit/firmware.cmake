# Set-up that suites of several folders share: a card in this process (the core, the engine model, the host library), a
# scripted firmware for suites of the host library, and samples.
set(unit ${CMAKE_CURRENT_LIST_DIR})
if(NOT PB_BOARD)
  pb_library(test_runner SOURCES ${unit}/runner.c)
endif()
pb_library(test_card_fixture
  SOURCES ${unit}/card_fixture.c ${unit}/card_queues.c ${unit}/format_oracle.c ${unit}/patch_oracle.c ${unit}/patch_words.c ${unit}/patch_random.c
  LINKS pb_sim pb_host)
pb_library(test_fake_firmware SOURCES ${unit}/fake_firmware.c ${unit}/fake_schedule.c LINKS pb_host)
pb_library(test_telemetry_sample SOURCES ${unit}/telemetry_sample.c)
