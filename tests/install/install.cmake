# What is installed, as others use it.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  add_test(NAME install COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/install.sh ${PROJECT_BINARY_DIR})
  add_test(NAME embed COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/embed.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(install PROPERTIES RESOURCE_LOCK card TIMEOUT 240)
  set_tests_properties(embed PROPERTIES TIMEOUT 240)
endif()
