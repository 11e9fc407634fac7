# Updates of a card that boots by its loader, on each board that has one: about 20 s each. The loader is made with the board's
# image if BearSSL is there (scripts/bearssl).
if(NOT PB_SANITIZE AND PB_LOADER)
  file(GLOB loaders ${PROJECT_SOURCE_DIR}/boards/*/loader/loader.c)
  foreach(loader IN LISTS loaders)
    string(REGEX REPLACE ".*/boards/([^/]*)/loader/.*" "\\1" board ${loader})
    add_test(NAME ${board}_e2e_update COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/update.py $<TARGET_FILE:patchbay> ${board}
      ${PROJECT_BINARY_DIR}/../${board})
    set_tests_properties(${board}_e2e_update PROPERTIES LABELS e2e RESOURCE_LOCK card COST 500 TIMEOUT 240)
    # Over a played probe: about 10 s.
    add_test(NAME ${board}_e2e_update_probe COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/update_probe.py $<TARGET_FILE:patchbay>
      ${board} ${PROJECT_BINARY_DIR}/../${board})
    set_tests_properties(${board}_e2e_update_probe PROPERTIES LABELS e2e RESOURCE_LOCK card COST 300 TIMEOUT 240)
    add_test(NAME ${board}_loader_confined COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/loader_confined.py ${board})
    set_tests_properties(${board}_loader_confined PROPERTIES LABELS e2e TIMEOUT 240)
  endforeach()
  # A loader with one check instead of two is found by its faults: about 25 s.
  add_test(NAME mps2_an500_loader_faults COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/faults --selftest --jobs 2)
  set_tests_properties(mps2_an500_loader_faults PROPERTIES LABELS e2e COST 100 TIMEOUT 240)
  # The record of the faults is of the loader as it is.
  add_test(NAME mps2_an500_loader_record COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/faults
    --check-record ${PROJECT_SOURCE_DIR}/tests/records/loader_faults.tsv)
endif()
