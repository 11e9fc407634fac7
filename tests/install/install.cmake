# What is installed, as others use it.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  foreach(name install embed examples packages)
    pb_test(${name} GROUP install COST 30 COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${PROJECT_BINARY_DIR})
  endforeach()
  foreach(name install embed examples)
    pb_test(${name}_all GROUP install ASSURE COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${PROJECT_BINARY_DIR} --all)
  endforeach()
  # In a new Debian that scripts/fetch --all has made: about 30 s of one processor.
  pb_test(packages_clean GROUP install ASSURE SKIPS CPU 300
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/clean.sh ${PROJECT_BINARY_DIR})
endif()
