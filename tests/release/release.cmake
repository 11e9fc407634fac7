# The files of a release, made twice: one image and one package. About 35 s of one processor.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  add_test(NAME release_reproducible COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/reproducible.sh)
  set_tests_properties(release_reproducible PROPERTIES TIMEOUT 900)
  # Signed images and what fwupd distributes of them: about 15 s of one processor, with a download of 13 MB.
  add_test(NAME release_updates COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/updates.sh $<TARGET_FILE:patchbay>)
  set_tests_properties(release_updates PROPERTIES TIMEOUT 600)
endif()
