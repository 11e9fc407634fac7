# Fuzz targets: fuzz_NAME.c each, with corpus/NAME.txt, the cases that once reached something new (corpus.sh). Where there is libFuzzer, the
# test of a target runs its corpus and then a number of cases that are made up from it, from a fixed seed; elsewhere it
# runs the corpus. scripts/fuzz runs them for longer.
if(NOT PB_ALL_TESTS)
  return()
endif()
set(PB_FUZZ_RUNS 5000 CACHE STRING "cases that the test of a fuzz target makes up, beside its corpus")
option(PB_FUZZ_COVERAGE "fuzz targets as replay programs that count what of the source they reach" OFF)

set(PB_FUZZ OFF)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND PB_SANITIZE AND NOT PB_FUZZ_COVERAGE)
  set(PB_FUZZ ON)
endif()

add_custom_target(fuzz_targets)
pb_library(test_fuzz_case SOURCES ${CMAKE_CURRENT_LIST_DIR}/fuzz.c)

# What cases are aimed at is watched by libFuzzer, or by the counters of the coverage. Other tests that link it do not mind.
function(pb_fuzz_watch)
  foreach(library IN LISTS ARGN)
    if(PB_FUZZ)
      target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
    elseif(PB_FUZZ_COVERAGE)
      target_compile_options(${library} PRIVATE -fprofile-instr-generate -fcoverage-mapping)
      target_link_options(${library} INTERFACE -fprofile-instr-generate)
    endif()
  endforeach()
endfunction()

pb_library(test_fuzz_card SOURCES ${CMAKE_CURRENT_LIST_DIR}/card.c
  LINKS test_fuzz_case pb_firmware pb_hal_engine pb_hal_engine_model pb_hal_host pb_host)

# pb_fuzz_target(NAME [SOURCES more.c] [LINKS target...])
function(pb_fuzz_target name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}.txt)
  set(sources ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_${name}.c ${arg_SOURCES})
  if(PB_FUZZ)
    pb_program(fuzz_${name} SOURCES ${sources} LINKS ${arg_LINKS} test_fuzz_case)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    pb_test(fuzz_${name} GROUP fuzz CPU 600 COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run.sh
      $<TARGET_FILE:fuzz_${name}> ${corpus} ${PB_FUZZ_RUNS})
  else()
    pb_program(fuzz_${name} SOURCES ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/replay.c LINKS ${arg_LINKS} test_fuzz_case)
    pb_test(fuzz_${name} GROUP fuzz COMMAND fuzz_${name} ${corpus})
    pb_quick(fuzz_${name} fuzz_${name} ${corpus} DEPENDS fuzz_${name} ${corpus})
  endif()
  add_dependencies(fuzz_targets fuzz_${name})
endfunction()

# Lists that the oracle of the unit tests judges.
pb_library(test_fuzz_lists SOURCES ${CMAKE_CURRENT_LIST_DIR}/lists.c LINKS test_fuzz_card test_card_fixture cmocka pb_hal_host)

foreach(name control segments paging)
  pb_fuzz_target(${name} LINKS test_fuzz_card)
endforeach()
foreach(name descriptors patch_exact patch_compact formats)
  pb_fuzz_target(${name} LINKS test_fuzz_lists)
endforeach()

pb_fuzz_target(image LINKS pb_firmware_image)
pb_fuzz_target(subm LINKS pb_subm)
pb_fuzz_target(render LINKS pb_host)
pb_fuzz_target(gl LINKS pb_hal_gl)
pb_fuzz_target(gl_engine LINKS test_engine_gl_bench pb_hal_gl cmocka)
pb_fuzz_target(vtest LINKS pb_gl)

# The link, once more: connected to a socket on which the case has spoken.
get_target_property(link pb_link_socket SOURCES)
get_target_property(link_system pb_link_system SOURCES)
pb_library(test_fuzz_link SOURCES ${link} ${link_system})
# Else clang-tidy looks at the same source once more.
set_target_properties(test_fuzz_link PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
target_compile_definitions(test_fuzz_link PRIVATE connect=fuzz_connect)
# What GCC lets pass for connect() only.
target_compile_options(test_fuzz_link PRIVATE $<$<C_COMPILER_ID:GNU>:-Wno-pedantic>)
pb_fuzz_target(ivshmem LINKS test_fuzz_link pb_host)

pb_fuzz_watch(pb_hal_gl pb_gl pb_hal_engine_gl pb_firmware pb_hal_engine pb_hal_engine_model pb_host pb_firmware_image pb_subm test_fuzz_link)
