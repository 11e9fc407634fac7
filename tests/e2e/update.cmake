# Updates of a card that boots by its loader, on each board that has one: about 20 s each. The loader is made with the board's
# image if BearSSL is there (scripts/bearssl).
if(NOT PB_SANITIZE AND PB_LOADER)
  file(GLOB loaders ${PROJECT_SOURCE_DIR}/boards/*/loader/loader.c)
  foreach(loader IN LISTS loaders)
    string(REGEX REPLACE ".*/boards/([^/]*)/loader/.*" "\\1" board ${loader})
    set(tier "")
    if(NOT board STREQUAL mps2_an500)
      set(tier ASSURE)
    endif()
    pb_test(${board}_e2e_update GROUP e2e ${tier} COST 20 COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/update.py $<TARGET_FILE:patchbay> ${board}
      ${PROJECT_BINARY_DIR}/../${board})
    # Over a played probe: about 10 s.
    pb_test(${board}_e2e_update_probe GROUP e2e ${tier} COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/update_probe.py $<TARGET_FILE:patchbay>
      ${board} ${PROJECT_BINARY_DIR}/../${board})
    pb_test(${board}_loader_confined GROUP e2e ${tier} COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/loader_confined.py ${board})
  endforeach()
  # A loader with one check instead of two is found by its faults: about 25 s.
  pb_test(mps2_an500_loader_faults GROUP e2e ASSURE COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/faults --selftest --jobs 2)
  # The record of the faults is of the loader as it is.
  pb_test(mps2_an500_loader_record GROUP e2e COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/faults
    --check-record ${PROJECT_SOURCE_DIR}/tests/records/loader_faults.tsv)
endif()
