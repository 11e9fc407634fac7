# What a virgl stream names and reaches: tables, scenarios, and recordings of real programs (recordings/README.txt).
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_library(test_gl_bench SOURCES ${here}/gl_bench.c LINKS pb_hal_gl cmocka)
foreach(name commands values stream objects account reach)
  pb_unit_test(test_gl_${name} RUNNER gl_walk SOURCES ${here}/test_gl_${name}.c LINKS test_gl_bench)
endforeach()
pb_unit_test(test_gl_recordings RUNNER gl_recordings SOURCES ${here}/test_gl_recordings.c
  DEFINES GL_RECORDINGS="${here}/recordings" LINKS pb_hal_gl)
# Programs that were written elsewhere, on one board of each instruction set; once more with addresses for a quarter of
# what they want. A program that hangs is ended long before. Boards behind the first leave out what was chosen for its family
# of programs: the others use every virgl command, and what the card's MCU does for a program depends on its commands alone.
if(NOT PB_SANITIZE AND TARGET patchbay-renderer)
  set(chosen ${here}/programs/chosen.tsv)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${chosen})
  file(STRINGS ${chosen} rows REGEX "^[^;]*$") # with a semicolon: "N commands; one of the programs of FAMILY"
  list(JOIN rows "\n" rows)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/gl_programs.tsv "${rows}\n")
  set(list "")
  foreach(board mps2_an500 qemu_virt_rv32)
    if(board IN_LIST PB_E2E_BOARDS)
      add_test(NAME ${board}_e2e_gl_programs
        COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/programs --built --board ${board} ${list})
      set(list --list ${CMAKE_CURRENT_BINARY_DIR}/gl_programs.tsv)
      set(demo python3 ${PROJECT_SOURCE_DIR}/scripts/gl_demo.py --board ${board} --patchbay $<TARGET_FILE:patchbay>
        --frames 12)
      add_test(NAME ${board}_e2e_gl_demo COMMAND ${demo} --output ${PROJECT_BINARY_DIR}/demo-gl-${board})
      add_test(NAME ${board}_e2e_gl_demo_memory
        COMMAND ${demo} --video-memory 1M --output ${PROJECT_BINARY_DIR}/demo-gl-${board}-memory)
      set_tests_properties(${board}_e2e_gl_programs ${board}_e2e_gl_demo ${board}_e2e_gl_demo_memory
        PROPERTIES LABELS e2e RESOURCE_LOCK card COST 500 TIMEOUT 1800)
    endif()
  endforeach()
endif()
