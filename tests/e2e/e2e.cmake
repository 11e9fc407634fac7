# Builds DMA buffers by hand. A unit test links it, too.
pb_library(pb_dma_builder SOURCES ${CMAKE_CURRENT_LIST_DIR}/dma_builder.c LINKS pb_host)

# The real firmware image in QEMU, real shared memory, real processes.
if(NOT PB_SANITIZE)
  pb_library(test_e2e_support
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/e2e.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_board.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_process.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_host.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_queues.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_image.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_stray.c
      ${CMAKE_CURRENT_LIST_DIR}/e2e_trace.c
    LINKS pb_dma_builder pb_host pb_link_socket pb_card cmocka cjson)
  target_compile_definitions(test_e2e_support PUBLIC
    E2E_PATCHBAY="$<TARGET_FILE:patchbay>"
    E2E_BUILDS="${PROJECT_BINARY_DIR}/.."
    E2E_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    E2E_TIMELINE="${PROJECT_SOURCE_DIR}/tests/timeline")
endif()

foreach(name replay demo clients lost_doorbell client_killed waits many_queues mcu_killed faults tools indirect)
  pb_e2e_test(${name})
endforeach()
pb_e2e_test(info)
# What a card serves does not depend on its MCU.
pb_e2e_test(observer BOARDS mps2_an500)
# Boards that have host memory.
pb_e2e_test(host_memory BOARDS mps2_an500 mps3_an547)
pb_e2e_test(host_files BOARDS qemu_virt_rv32 qemu_virt_rv64)
pb_e2e_test(outer_memory BOARDS mps2_an500 mps3_an547 qemu_virt_rv32)
# OpenGL on virglrenderer, where that is installed; the message of the test names what is missing.
foreach(name gl_engine gl_reset gl_transfer)
  pb_e2e_test(${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/e2e_gl.c BOARDS mps2_an500 qemu_virt_rv32)
  if(TARGET patchbay-renderer AND TARGET e2e_${name})
    add_dependencies(e2e_${name} patchbay-renderer)
  endif()
endforeach()
pb_e2e_test(trace_clock)
pb_e2e_test(timeline LINKS test_timeline_view)
pb_e2e_test(stops SOURCES ${CMAKE_CURRENT_LIST_DIR}/e2e_long.c)
pb_e2e_test(admin SOURCES ${CMAKE_CURRENT_LIST_DIR}/e2e_long.c)
# Only clients are killed, so one board is enough.
pb_e2e_test(kills SOURCES ${CMAKE_CURRENT_LIST_DIR}/e2e_victim.c BOARDS mps2_an500)
# The commands as a WDDM kernel: one board of each instruction set.
pb_e2e_test(wddm BOARDS mps2_an500 qemu_virt_rv32)
# OpenGL programs: one board of each instruction set. Without virglrenderer there is nothing to run.
pb_e2e_test(gl BOARDS mps2_an500 qemu_virt_rv32)
# Several of them at one server. One of the tests' own draws what these need: with EGL and OpenGL ES alone.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND TARGET patchbay-renderer AND NOT PB_SANITIZE)
  pkg_check_modules(GLES QUIET IMPORTED_TARGET egl glesv2)
endif()
if(TARGET PkgConfig::GLES)
  pb_program(gl_program SOURCES ${CMAKE_CURRENT_LIST_DIR}/gl_program.c LINKS PkgConfig::GLES)
  foreach(board mps2_an500 qemu_virt_rv32)
    set(tier "")
    if(NOT board STREQUAL mps2_an500)
      set(tier ASSURE)
    endif()
    pb_test(${board}_e2e_gl_serve GROUP gl ${tier} COST 30 COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/gl_serve.py
      $<TARGET_FILE:patchbay> $<TARGET_FILE:gl_program> ${board})
  endforeach()
endif()
# Each other board against the default one, on equal inputs.
set(others ${PB_E2E_BOARDS})
list(REMOVE_ITEM others mps2_an500)
pb_e2e_test(agree LINKS test_card_fixture BOARDS ${others})
