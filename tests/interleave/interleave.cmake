# Interleavings by seed: the firmware, its engines, the card supervisor and the host library, compiled once more so
# that each access to card memory and each barrier is a call. Coroutines and sanitizers do not go together.
if(PB_SANITIZE)
  return()
endif()
set(here ${CMAKE_CURRENT_LIST_DIR})
get_target_property(core pb_firmware SOURCES)
list(TRANSFORM core PREPEND ${PROJECT_SOURCE_DIR}/firmware/)
get_target_property(model pb_hal_engine_model SOURCES)
list(TRANSFORM model PREPEND ${PROJECT_SOURCE_DIR}/hal/)
get_target_property(library pb_host SOURCES)
pb_library(pb_weave
  SOURCES ${here}/agents.c ${here}/memory.c ${here}/plan.c)
pb_library(pb_interleaved
  SOURCES ${core} ${model} ${library}
    ${PROJECT_SOURCE_DIR}/hal/engine/reference.c ${PROJECT_SOURCE_DIR}/hal/engine/reference_memory.c ${PROJECT_SOURCE_DIR}/hal/card_admin/admin.c
    ${PROJECT_SOURCE_DIR}/qemu/card_boot.c
    ${here}/card.c ${here}/supervisor.c ${here}/inside.c ${here}/link.c ${here}/host.c ${here}/host_submit.c ${here}/host_stop.c
    ${here}/host_errors.c ${here}/host_aim.c
  LINKS pb_weave)
target_compile_options(pb_interleaved PRIVATE -include ${here}/hooks.h)
target_compile_definitions(pb_interleaved PUBLIC PB_BOARD_LIMITS_H="tests/interleave/limits.h")
pb_program(interleave SOURCES ${here}/interleave_command.c ${here}/schedule.c LINKS pb_interleaved)

pb_test(interleavings GROUP threads COMMAND interleave --count 1200)
pb_test(interleavings_barriers GROUP threads ASSURE COMMAND bash ${here}/barriers.sh $<TARGET_FILE:interleave> 4000)
