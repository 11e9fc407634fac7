# The WDDM contract: what docs/wddm.md promises and no other test shows.
foreach(name contract lists)
  pb_unit_test(test_firmware_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_${name}.c LINKS test_card_fixture pb_sim pb_host)
endforeach()

# The core and the engine's driver again, with every access to card memory a step that the test sees.
get_target_property(firmware_folder pb_firmware SOURCE_DIR)
get_target_property(firmware_sources pb_firmware SOURCES)
list(TRANSFORM firmware_sources PREPEND ${firmware_folder}/)
foreach(name reads slices)
  pb_unit_test(test_firmware_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_${name}.c ${firmware_sources}
      ${PROJECT_SOURCE_DIR}/hal/engine/reference.c
    LINKS test_card_fixture pb_sim pb_host)
  target_compile_options(test_firmware_${name} PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/stepped.h)
endforeach()

# The same, by counting: each word that a host can write, read once in each operation.
pb_unit_test(test_firmware_once
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_once.c ${CMAKE_CURRENT_LIST_DIR}/once.c ${firmware_sources}
    ${PROJECT_SOURCE_DIR}/hal/engine/reference.c
  LINKS test_card_fixture pb_sim pb_host)
target_compile_options(test_firmware_once PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/once_hooks.h)
# Else clang-tidy looks at the same sources once more for each of them.
set_target_properties(test_firmware_reads test_firmware_slices test_firmware_once PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
