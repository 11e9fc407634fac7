# The suites as images of the boards that can run them, compared with the programs of this host, built by host-test.
# The images come from the boards' own builds: cmake --build build/BOARD --target suites

# pb_target_tests(BOARD): call after all suites are declared.
function(pb_target_tests board)
  get_property(tests GLOBAL PROPERTY PB_UNIT_TESTS)
  foreach(name IN LISTS tests)
    get_property(sources GLOBAL PROPERTY PB_SOURCES_OF_${name})
    if(sources MATCHES "/tests/(unit|wddm)/")
      list(APPEND suites ${name})
    endif()
  endforeach()
  pb_choose_suites(suites ${board} ${suites})
  include(${PROJECT_SOURCE_DIR}/boards/${board}/suites.cmake)

  set(programs ${PROJECT_BINARY_DIR}/../host-test/tests)
  set(list "")
  foreach(name IN LISTS suites)
    pb_unit_command(command ${name})
    list(JOIN command " " command)
    string(APPEND list "${name} ${programs}/${command}\n")
  endforeach()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${board}_suites.txt "${list}")

  set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(images ${PROJECT_BINARY_DIR}/../${board}/target)
  add_test(NAME ${board}_target_suites
    COMMAND bash ${folder}/run_suites.sh ${CMAKE_CURRENT_BINARY_DIR}/${board}_suites.txt ${images} ${PB_SUITES_RUN})
  add_test(NAME ${board}_target_fails
    COMMAND bash ${folder}/test_run_suites.sh $<TARGET_FILE:test_target_fails> "${programs}/unit_host --suite test_abi" ${images}
      ${PB_SUITES_RUN})
  set_tests_properties(${board}_target_suites ${board}_target_fails PROPERTIES LABELS target PROCESSORS 2)
endfunction()

if(NOT PB_SANITIZE)
  pb_program(test_target_fails SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_target_fails.c LINKS cmocka)
  file(GLOB boards RELATIVE ${PROJECT_SOURCE_DIR}/boards CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/boards/*/suites.cmake)
  foreach(board IN LISTS boards)
    string(REPLACE /suites.cmake "" board ${board})
    cmake_language(EVAL CODE "cmake_language(DEFER CALL pb_target_tests ${board})")
  endforeach()
endif()
