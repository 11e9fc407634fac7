# How a test is registered: what it belongs to, in which tier it runs, and what it may use.
pb_program(measured SOURCES ${CMAKE_CURRENT_LIST_DIR}/measured.c)

# pb_test(NAME GROUP group [ASSURE] [SKIPS] [CPU seconds] [COST seconds] COMMAND word...): a test of ctest.
#
# GROUP: a row of the table of processor time at the end of scripts/test, and a label of ctest.
# ASSURE: scripts/assure runs the test, whose label is "assure"; else scripts/test does, and it is "ci". CONTRIBUTING.md has
# the rule.
# SKIPS: exit status 77 means that the test could not be tried here.
# CPU: each process of the test ends after so much processor time, about five times what it needs (default 60).
# COST: those that take long come first (default 0).
function(pb_test name)
  cmake_parse_arguments(arg "ASSURE;SKIPS" "GROUP;CPU;COST" "COMMAND" ${ARGN})
  if(NOT arg_GROUP OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pb_test(${name}): GROUP is missing, or unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT DEFINED arg_CPU)
    set(arg_CPU 60)
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  elseif(NOT program MATCHES "^(/.*|bash|env|python3)$")
    message(FATAL_ERROR "pb_test(${name}): there is no target ${program} yet")
  endif()
  add_test(NAME ${name} COMMAND measured ${arg_GROUP} ${name} ${arg_CPU} ${program} ${arg_COMMAND})
  set(tier ci)
  if(arg_ASSURE)
    set(tier assure)
  endif()
  # A net for what sleeps for ever: no verdict on how fast the machine is.
  set_tests_properties(${name} PROPERTIES LABELS "${arg_GROUP};${tier}" TIMEOUT 3600)
  if(arg_SKIPS)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()

# pb_e2e_test(NAME [ASSURE] [SOURCES more.c] [LINKS target...] [BOARDS name...]): tests/e2e/test_NAME.c as program e2e_NAME,
# which is a test on each board that asks for it. They test what users run: without sanitizers. A board whose board.cmake has
# PB_BOARD_E2E_CI has the tests named there in CI, and the others in scripts/assure.
function(pb_e2e_test name)
  if(PB_SANITIZE)
    return()
  endif()
  cmake_parse_arguments(arg "ASSURE" "" "SOURCES;LINKS;BOARDS" ${ARGN})
  if(NOT DEFINED arg_BOARDS)
    set(arg_BOARDS ${PB_E2E_BOARDS})
  endif()
  pb_program(e2e_${name} SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_${name}.c ${arg_SOURCES} LINKS test_e2e_support ${arg_LINKS})
  add_dependencies(e2e_${name} patchbay)
  foreach(board IN LISTS arg_BOARDS)
    if(NOT PB_E2E_OF_${board} STREQUAL ON AND NOT name IN_LIST PB_E2E_OF_${board})
      continue()
    endif()
    set(tier "")
    if(arg_ASSURE OR (PB_E2E_CI_OF_${board} AND NOT name IN_LIST PB_E2E_CI_OF_${board}))
      set(tier ASSURE)
    endif()
    pb_test(${board}_e2e_${name} GROUP e2e ${tier} COMMAND env E2E_BOARD=${board} $<TARGET_FILE:e2e_${name}>)
  endforeach()
endfunction()
