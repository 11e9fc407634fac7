# Fuzz targets: fuzz_NAME.c each, with a corpus of cases that once reached something new. Where there is libFuzzer, the
# test of a target runs its corpus and then a number of cases that are made up from it, from a fixed seed; elsewhere it
# runs the corpus. scripts/fuzz runs them for longer.
set(PB_FUZZ_RUNS 5000 CACHE STRING "cases that the test of a fuzz target makes up, beside its corpus")
option(PB_FUZZ_COVERAGE "fuzz targets as replay programs that count what of the source they reach" OFF)

set(PB_FUZZ OFF)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND PB_SANITIZE AND NOT PB_FUZZ_COVERAGE)
  set(PB_FUZZ ON)
endif()

add_custom_target(fuzz_targets)
pb_library(test_fuzz_case SOURCES ${CMAKE_CURRENT_LIST_DIR}/fuzz.c)

# The parts that cases are aimed at, once more: watched by libFuzzer, or by the counters of the coverage.
function(pb_fuzz_part name)
  cmake_parse_arguments(arg "" "" "FROM;SOURCES;LINKS" ${ARGN})
  set(sources ${arg_SOURCES})
  foreach(library IN LISTS arg_FROM)
    get_target_property(folder ${library} SOURCE_DIR)
    get_target_property(files ${library} SOURCES)
    foreach(file IN LISTS files)
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${folder})
      list(APPEND sources ${file})
    endforeach()
  endforeach()
  pb_library(${name} SOURCES ${sources} LINKS ${arg_LINKS})
  # Else clang-tidy looks at the same sources once more.
  set_target_properties(${name} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  if(PB_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  elseif(PB_FUZZ_COVERAGE)
    target_compile_options(${name} PRIVATE -fprofile-instr-generate -fcoverage-mapping)
  endif()
endfunction()

if(PB_FUZZ OR PB_FUZZ_COVERAGE)
  pb_fuzz_part(test_fuzz_firmware FROM pb_firmware pb_hal_engine_model SOURCES ${PROJECT_SOURCE_DIR}/hal/engine/reference.c)
else()
  add_library(test_fuzz_firmware INTERFACE)
  target_link_libraries(test_fuzz_firmware INTERFACE pb_firmware pb_hal_engine_model pb_hal_engine)
endif()
pb_library(test_fuzz_card SOURCES ${CMAKE_CURRENT_LIST_DIR}/card.c LINKS test_fuzz_case test_fuzz_firmware pb_hal_host pb_host)

# pb_fuzz_target(NAME [SOURCES more.c] [LINKS target...])
function(pb_fuzz_target name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
  set(sources ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_${name}.c ${arg_SOURCES})
  if(PB_FUZZ)
    pb_program(fuzz_${name} SOURCES ${sources} LINKS ${arg_LINKS} test_fuzz_case)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz_${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run.sh
      $<TARGET_FILE:fuzz_${name}> ${corpus} ${PB_FUZZ_RUNS})
  else()
    pb_program(fuzz_${name} SOURCES ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/replay.c LINKS ${arg_LINKS} test_fuzz_case)
    if(PB_FUZZ_COVERAGE)
      target_link_options(fuzz_${name} PRIVATE -fprofile-instr-generate)
    endif()
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus})
  endif()
  set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz)
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

# pb_fuzz_library(NAME LIBRARY): the sources of a library, watched where that can be, else the library itself.
function(pb_fuzz_library name library)
  if(PB_FUZZ OR PB_FUZZ_COVERAGE)
    get_target_property(links ${library} LINK_LIBRARIES)
    if(NOT links)
      set(links)
    endif()
    pb_fuzz_part(${name} FROM ${library} LINKS ${links})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${library})
  endif()
endfunction()

pb_fuzz_library(test_fuzz_image pb_firmware_image)
pb_fuzz_target(image LINKS test_fuzz_image)
pb_fuzz_library(test_fuzz_subm pb_subm)
pb_fuzz_target(subm LINKS test_fuzz_subm)
pb_fuzz_part(test_fuzz_render SOURCES ${PROJECT_SOURCE_DIR}/host/render.c ${PROJECT_SOURCE_DIR}/host/render_commands.c)
pb_fuzz_target(render LINKS test_fuzz_render)

# The link, connected to a socket on which the case has spoken.
pb_fuzz_part(test_fuzz_link FROM pb_link_socket)
target_compile_definitions(test_fuzz_link PRIVATE connect=fuzz_connect)
# What GCC lets pass for connect() only.
target_compile_options(test_fuzz_link PRIVATE $<$<C_COMPILER_ID:GNU>:-Wno-pedantic>)
pb_fuzz_target(ivshmem LINKS test_fuzz_link pb_host)
