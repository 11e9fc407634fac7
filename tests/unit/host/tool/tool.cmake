# Suites of the patchbay command.
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_unit_test(test_card_failure RUNNER tool SOURCES ${here}/test_card_failure.c LINKS pb_card_failure)
pb_unit_test(test_firmware_image RUNNER tool SOURCES ${here}/test_firmware_image.c LINKS pb_firmware_image)
pb_unit_test(test_crash_report RUNNER tool SOURCES ${here}/test_crash_report.c LINKS pb_crash)
pb_unit_test(test_why RUNNER tool SOURCES ${here}/test_why.c LINKS pb_why test_fake_firmware pb_host)
pb_unit_test(test_screenshot RUNNER tool SOURCES ${here}/test_screenshot.c LINKS pb_screenshot)

# The demo's scene, painter and DMA buffer builder.
pb_unit_test(test_painter RUNNER tool SOURCES ${here}/test_painter.c LINKS pb_scene)
pb_unit_test(test_scene RUNNER tool SOURCES ${here}/test_scene.c LINKS pb_scene)
pb_unit_test(test_dma_builder RUNNER tool SOURCES ${here}/test_dma_builder.c LINKS pb_dma_builder)

# The WDDM kernel of the commands.
pb_unit_test(test_wddm_os RUNNER tool_sim SOURCES ${here}/test_wddm_os.c LINKS pb_wddm_os pb_sim)

# Counters, as the command shows them.
pb_unit_test(test_stats RUNNER tool SOURCES ${here}/test_stats.c LINKS test_telemetry_sample pb_stats)
pb_unit_test(test_top_model RUNNER tool SOURCES ${here}/test_top_model.c LINKS pb_top)
pb_unit_test(test_top_view RUNNER tool SOURCES ${here}/test_top_view.c LINKS pb_top)
foreach(name top_survey top_card)
  pb_unit_test(test_${name} RUNNER tool_sim SOURCES ${here}/test_${name}.c LINKS test_card_fixture pb_top)
endforeach()

# Saved cards, for every reader.
pb_unit_test(test_dump RUNNER tool_sim SOURCES ${here}/test_dump.c
  LINKS test_card_fixture pb_dump pb_why pb_top pb_stats pb_trace pb_crash pb_screenshot)
pb_tries(test_dump CHANGES 300u 3000u)

# Traces: files, schemas, timelines, and their exports.
pb_library(test_trace_sample SOURCES ${PROJECT_SOURCE_DIR}/tests/unit/trace_sample.c LINKS pb_trace)
pb_library(test_timeline_view SOURCES ${PROJECT_SOURCE_DIR}/tests/unit/timeline_view.c LINKS cmocka cjson)
pb_unit_test(test_trace_wakes RUNNER tool SOURCES ${here}/test_trace_wakes.c LINKS pb_trace cjson)
pb_unit_test(test_trace_clock RUNNER tool SOURCES ${here}/test_trace_clock.c LINKS pb_trace)
pb_unit_test(test_trace_open RUNNER tool SOURCES ${here}/test_trace_open.c LINKS pb_trace)
pb_unit_test(test_trace_lanes RUNNER tool SOURCES ${here}/test_trace_lanes.c LINKS test_timeline_view pb_trace cjson)
foreach(name trace_tool trace_export)
  pb_unit_test(test_${name} RUNNER tool SOURCES ${here}/test_${name}.c LINKS test_trace_sample cjson)
endforeach()

# `patchbay replay`: its reader, its oracle, and the samples on the simulated card.
pb_library(test_subm_writer SOURCES ${PROJECT_SOURCE_DIR}/tests/unit/subm_writer.c LINKS cmocka zstd)
file(GLOB data CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/data/*.zst ${PROJECT_SOURCE_DIR}/tests/data/*.tsv)
set(samples DEFINES PB_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" DATA ${data})
pb_unit_test(test_subm RUNNER tool SOURCES ${here}/test_subm.c LINKS test_subm_writer pb_subm ${samples})
pb_unit_test(test_placement RUNNER tool SOURCES ${here}/test_placement.c LINKS pb_subm)
pb_unit_test(test_replay_nouveau RUNNER tool SOURCES ${here}/test_replay_nouveau.c LINKS test_subm_writer pb_replay)
pb_unit_test(test_replay_job RUNNER tool SOURCES ${here}/test_replay_job.c LINKS pb_replay)
pb_library(test_replay_card SOURCES ${PROJECT_SOURCE_DIR}/tests/unit/replay_card.c LINKS pb_replay pb_sim cmocka)
foreach(name sim needs again)
  pb_unit_test(test_replay_${name} RUNNER tool_sim
    SOURCES ${here}/test_replay_${name}.c LINKS test_replay_card test_subm_writer pb_replay pb_sim ${samples})
endforeach()
