# Unit suites. A suite is a file with UNIT_SUITE(test_NAME) of tests/unit/unit.h. Suites of one subject share a runner, a
# program that runs all of them or those that its arguments name (tests/unit/runner.c). A runner is one test of ctest, but
# for its suites that take long: each of these is a test.

# pb_unit_test(NAME SOURCES test.c [more.c] [LINKS target...] [RUNNER runner] [SUITE function] [OPTIONS flag...]
# [DEFINES macro...] [NEEDS target...] [DATA file...]): the suite `function` of test.c, NAME if it is not given, in the
# program unit_RUNNER. Without RUNNER the suite has a program of its own, called NAME. OPTIONS, DEFINES and LINKS hold for
# the whole runner. NEEDS and DATA are programs and files that the suite uses when it runs.
function(pb_unit_test name)
  cmake_parse_arguments(arg "" "RUNNER;SUITE" "SOURCES;LINKS;OPTIONS;DEFINES;NEEDS;DATA" ${ARGN})
  set(program ${name})
  if(DEFINED arg_RUNNER)
    set(program unit_${arg_RUNNER})
  endif()
  if(NOT DEFINED arg_SUITE)
    set(arg_SUITE ${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY PB_UNIT_TESTS ${name})
  set_property(GLOBAL PROPERTY PB_PROGRAM_OF_${name} ${program})
  set_property(GLOBAL PROPERTY PB_SUITE_OF_${name} ${arg_SUITE})
  set_property(GLOBAL APPEND PROPERTY PB_RUNNERS ${program})
  set_property(GLOBAL APPEND PROPERTY PB_SUITES_OF_${program} ${name})
  foreach(part SOURCES LINKS OPTIONS DEFINES NEEDS DATA)
    set_property(GLOBAL PROPERTY PB_${part}_OF_${name} ${arg_${part}})
  endforeach()
endfunction()

# pb_by_name(NAME...): suites that a program with others runs only where they are named.
function(pb_by_name)
  foreach(name IN LISTS ARGN)
    set_property(GLOBAL PROPERTY PB_BY_NAME_${name} ON)
  endforeach()
endfunction()

# pb_tries(NAME MACRO SHORT LONG): how much a suite tries. Sanitizers cost a factor of ten: the build as released does
# most of the work, and has only the suites that are named here.
function(pb_tries name macro short long)
  get_property(sources GLOBAL PROPERTY PB_SOURCES_OF_${name})
  list(GET sources 0 source)
  set_property(SOURCE ${source} APPEND PROPERTY
    COMPILE_DEFINITIONS ${macro}=$<IF:$<BOOL:${PB_TESTS_SHORT}>,${short},${long}>)
  set_property(GLOBAL PROPERTY PB_TRIES_${name} ON)
endfunction()

# pb_parts_of_suites(PROGRAM NAME...): what a program of these suites is made of, in variables of the caller: SOURCES, of
# which one is the table of the suites, LINKS, OPTIONS, DEFINES, NEEDS and DATA. Suites may share sources and targets.
function(pb_parts_of_suites program)
  set(prototypes "")
  set(rows "")
  set(parts SOURCES LINKS OPTIONS DEFINES NEEDS DATA)
  foreach(part IN LISTS parts)
    set(${part} "")
    foreach(name IN LISTS ARGN)
      get_property(value GLOBAL PROPERTY PB_${part}_OF_${name})
      list(APPEND ${part} ${value})
    endforeach()
  endforeach()
  foreach(name IN LISTS ARGN)
    get_property(suite GLOBAL PROPERTY PB_SUITE_OF_${name})
    get_property(by_name GLOBAL PROPERTY PB_BY_NAME_${name})
    string(APPEND prototypes "int ${suite}(void);\n")
    string(APPEND rows "\t{\"${suite}\", ${suite}, $<IF:$<BOOL:${by_name}>,true,false>},\n")
  endforeach()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/suites/${program}.c)
  file(GENERATE OUTPUT ${table} CONTENT
    "#include \"tests/unit/runner.h\"\n\n${prototypes}\nconst struct unit_suite unit_suites[] = {\n${rows}\t{NULL, NULL, false},\n};\n")
  list(APPEND SOURCES ${table})
  list(REMOVE_DUPLICATES SOURCES)
  list(REMOVE_DUPLICATES LINKS)
  list(REMOVE_DUPLICATES DEFINES)
  list(REMOVE_DUPLICATES DATA)
  foreach(part IN LISTS parts)
    set(${part} ${${part}} PARENT_SCOPE)
  endforeach()
endfunction()

# pb_unit_runners(): makes the programs, once all suites are known.
function(pb_unit_runners)
  get_property(runners GLOBAL PROPERTY PB_RUNNERS)
  list(REMOVE_DUPLICATES runners)
  foreach(runner IN LISTS runners)
    pb_unit_runner(${runner})
  endforeach()
endfunction()

# pb_unit_runner(PROGRAM): of its suites those that this build runs. Where suites try much, each is a test.
function(pb_unit_runner program)
  get_property(names GLOBAL PROPERTY PB_SUITES_OF_${program})
  set(suites "")
  set(brief "")
  foreach(name IN LISTS names)
    get_property(tries GLOBAL PROPERTY PB_TRIES_${name})
    get_property(by_name GLOBAL PROPERTY PB_BY_NAME_${name})
    if(NOT PB_ALL_TESTS AND NOT tries)
      continue()
    endif()
    list(APPEND suites ${name})
    if(by_name OR NOT PB_TESTS_SHORT)
      get_property(suite GLOBAL PROPERTY PB_SUITE_OF_${name})
      # As released, suites try much more: scripts/assure runs them.
      set(tier "")
      if(NOT PB_ALL_TESTS)
        set(tier ASSURE)
      endif()
      pb_test(${name} GROUP unit ${tier} CPU 120 COMMAND ${program} --suite ${suite})
    else()
      list(APPEND brief ${name})
    endif()
  endforeach()
  if(NOT suites)
    return()
  endif()
  pb_parts_of_suites(${program} ${suites})
  pb_program(${program} SOURCES ${SOURCES} LINKS test_runner ${LINKS} cmocka)
  # Most of the time of a build with sanitizers goes into optimising the suites, each of which then runs for milliseconds.
  # Those with options count accesses of what is compiled with them, so that the optimisation stays as it is.
  if(PB_SANITIZE AND NOT OPTIONS)
    target_compile_options(${program} PRIVATE -O0)
  endif()
  target_compile_options(${program} PRIVATE ${OPTIONS})
  target_compile_definitions(${program} PRIVATE ${DEFINES})
  if(NEEDS)
    add_dependencies(${program} ${NEEDS})
  endif()
  if(brief)
    pb_test(${program} GROUP unit COST 10 COMMAND ${program} --brief)
    pb_quick(${program} ${program} --brief DEPENDS ${program} ${NEEDS} ${DATA})
  endif()
endfunction()
