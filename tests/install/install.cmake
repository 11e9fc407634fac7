# What is installed, as others use it.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  foreach(name install embed examples packages)
    add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${PROJECT_BINARY_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 240)
  endforeach()
  set_tests_properties(install examples PROPERTIES RESOURCE_LOCK card)
  set_tests_properties(packages PROPERTIES TIMEOUT 600)
  # In a new Debian of its archive: about 60 s of one processor, 200 MB from the network.
  add_test(NAME packages_clean COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/clean.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(packages_clean PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()
