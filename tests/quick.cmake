# The inner loop, scripts/test --quick. Each of its tests is an edge of the build whose output is a stamp, so that only those
# run that a change reaches. `quick_programs` builds what they need; tests/quick.sh runs them and counts.
set(PB_QUICK ${CMAKE_CURRENT_BINARY_DIR}/quick)
set(PB_QUICK_TEST ${CMAKE_CURRENT_LIST_DIR}/quick_test.sh)
file(MAKE_DIRECTORY ${PB_QUICK})

# pb_quick(NAME WORD... [DEPENDS target-or-file...]): the command is a test of the inner loop, run again after a change of
# what it depends on.
function(pb_quick name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  list(POP_FRONT arg_UNPARSED_ARGUMENTS program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_custom_command(OUTPUT ${PB_QUICK}/${name}.passed VERBATIM
    COMMAND bash ${PB_QUICK_TEST} ${PB_QUICK}/${name}.passed ${program} ${arg_UNPARSED_ARGUMENTS}
    COMMENT "testing ${name}" DEPENDS ${arg_DEPENDS} ${PB_QUICK_TEST})
  set_property(GLOBAL APPEND PROPERTY PB_QUICK_TESTS ${name})
  foreach(needed IN LISTS arg_DEPENDS)
    if(TARGET ${needed})
      set_property(GLOBAL APPEND PROPERTY PB_QUICK_PROGRAMS ${needed})
    endif()
  endforeach()
endfunction()

# pb_quick_targets(): call after all tests of the inner loop are declared.
function(pb_quick_targets)
  get_property(tests GLOBAL PROPERTY PB_QUICK_TESTS)
  get_property(programs GLOBAL PROPERTY PB_QUICK_PROGRAMS)
  list(TRANSFORM tests REPLACE "(.+)" "${PB_QUICK}/\\1.passed" OUTPUT_VARIABLE stamps)
  list(JOIN tests "\n" lines)
  file(WRITE ${PB_QUICK}/tests.txt "${lines}\n")
  add_custom_target(quick_programs DEPENDS ${programs})
  add_custom_target(quick DEPENDS ${stamps})
endfunction()
