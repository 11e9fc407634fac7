# The files of a release, made twice: one image and one package. About 35 s of one processor.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  pb_test(release_reproducible GROUP install ASSURE COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/reproducible.sh)
  # Signed images and what fwupd distributes of them: about 15 s of one processor, and what scripts/fetch --all fetches.
  pb_test(release_updates GROUP install ASSURE COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/updates.sh $<TARGET_FILE:patchbay>)
endif()
