# Builds DMA buffers by hand; a unit test has it too.
pb_library(pb_dma_builder SOURCES ${CMAKE_CURRENT_LIST_DIR}/dma_builder.c LINKS pb_host)

# The real firmware image in QEMU, real shared memory, real processes. They test what users run: without sanitizers.
if(NOT PB_SANITIZE)
  pb_library(test_e2e_support
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/e2e.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_process.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_host.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_queues.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_image.c
    LINKS pb_dma_builder pb_host pb_link_socket pb_card cmocka)
  target_compile_definitions(test_e2e_support PUBLIC
    E2E_PATCHBAY="$<TARGET_FILE:patchbay>"
    E2E_IMAGE="${PROJECT_BINARY_DIR}/../mps2_an500/patchbay-mps2_an500.elf"
    E2E_DATA="${PROJECT_SOURCE_DIR}/tests/data")

  foreach(name replay demo info clients lost_doorbell client_killed kills stops waits admin many_queues mcu_killed faults tools indirect)
    pb_program(e2e_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c LINKS test_e2e_support cjson)
    add_dependencies(e2e_${name} patchbay)
    add_test(NAME e2e_${name} COMMAND e2e_${name})
    # One at a time: each is several busy processes. One that hangs is ended.
    set_tests_properties(e2e_${name} PROPERTIES LABELS e2e RUN_SERIAL TRUE TIMEOUT 120)
  endforeach()
  foreach(name stops admin)
    target_sources(e2e_${name} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/e2e_long.c)
  endforeach()
  target_sources(e2e_kills PRIVATE ${CMAKE_CURRENT_LIST_DIR}/e2e_victim.c)
endif()
