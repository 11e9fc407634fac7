# The files of a release, made twice: one image and one package. About 35 s of one processor.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  add_test(NAME release_reproducible COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/reproducible.sh)
  set_tests_properties(release_reproducible PROPERTIES TIMEOUT 900)
endif()
