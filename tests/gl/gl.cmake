# What a virgl stream names and reaches: tables, scenarios, and recordings of real programs (recordings/README.txt).
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_library(test_gl_bench SOURCES ${here}/gl_bench.c LINKS pb_hal_gl cmocka)
foreach(name commands values stream objects account reach)
  pb_unit_test(test_gl_${name} RUNNER gl_walk SOURCES ${here}/test_gl_${name}.c LINKS test_gl_bench)
endforeach()
pb_unit_test(test_gl_recordings RUNNER gl_recordings SOURCES ${here}/test_gl_recordings.c
  DEFINES GL_RECORDINGS="${here}/recordings" LINKS pb_hal_gl)
# Programs that were written elsewhere: in CI those whose reason in chosen.tsv begins with CI, which use every virgl command, on
# one board; in scripts/assure all of them, and those that use every command on a board of another instruction set. What the card's MCU
# does for a program depends on its commands alone.
if(NOT PB_SANITIZE AND TARGET patchbay-renderer)
  set(chosen ${here}/programs/chosen.tsv)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${chosen})
  foreach(tier ci commands)
    set(match "^[^;]*$") # with a semicolon: "N commands; one of the programs of FAMILY"
    if(tier STREQUAL ci)
      set(match "^kind|\tCI: ")
    endif()
    file(STRINGS ${chosen} rows REGEX ${match})
    list(JOIN rows "\n" rows)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/gl_programs_${tier}.tsv "${rows}\n")
  endforeach()
  set(programs bash ${PROJECT_SOURCE_DIR}/scripts/programs --built --board)
  set(lists ${CMAKE_CURRENT_BINARY_DIR}/gl_programs)
  pb_test(gl_programs GROUP gl COST 40 COMMAND ${programs} mps2_an500 --list ${lists}_ci.tsv)
  pb_test(gl_programs_all GROUP gl ASSURE COST 500 COMMAND ${programs} mps2_an500)
  pb_test(gl_programs_commands GROUP gl ASSURE COST 500 COMMAND ${programs} qemu_virt_rv32 --list ${lists}_commands.tsv)
  # Two programs, one of which is urgent; once more with addresses for a quarter of what they want.
  foreach(board mps2_an500 qemu_virt_rv32)
    set(tier "")
    if(NOT board STREQUAL mps2_an500)
      set(tier ASSURE)
    endif()
    set(demo python3 ${PROJECT_SOURCE_DIR}/scripts/gl_demo.py --board ${board} --patchbay $<TARGET_FILE:patchbay> --frames 12)
    pb_test(${board}_e2e_gl_demo GROUP gl ${tier} COMMAND ${demo} --output ${PROJECT_BINARY_DIR}/demo-gl-${board})
    pb_test(${board}_e2e_gl_demo_memory GROUP gl ${tier}
      COMMAND ${demo} --video-memory 1M --output ${PROJECT_BINARY_DIR}/demo-gl-${board}-memory)
  endforeach()
endif()
