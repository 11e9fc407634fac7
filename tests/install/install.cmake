# What is installed, as others use it.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  foreach(name install embed examples packages)
    add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${PROJECT_BINARY_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 240)
  endforeach()
  set_tests_properties(install examples PROPERTIES RESOURCE_LOCK card)
endif()
