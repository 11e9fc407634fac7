# The WDDM contract: what docs/wddm.md promises and no other test shows.
foreach(name contract lists)
  pb_unit_test(test_firmware_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_${name}.c LINKS test_card_fixture pb_sim pb_host)
endforeach()

# The core and the engine's driver again, with every access to card memory a step that the test sees.
get_target_property(firmware_folder pb_firmware SOURCE_DIR)
get_target_property(firmware_sources pb_firmware SOURCES)
list(TRANSFORM firmware_sources PREPEND ${firmware_folder}/)
add_library(pb_firmware_stepped OBJECT ${firmware_sources} ${PROJECT_SOURCE_DIR}/hal/engine/reference.c)
pb_configure(pb_firmware_stepped)
target_compile_options(pb_firmware_stepped PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/stepped.h)
# Else clang-tidy looks at the same sources once more.
set_target_properties(pb_firmware_stepped PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
# A word that a host can write is read once in each operation: by what reads turn into, by their count; slices are short.
foreach(name reads slices once)
  pb_unit_test(test_firmware_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_${name}.c $<TARGET_OBJECTS:pb_firmware_stepped>
    LINKS test_card_fixture pb_sim pb_host)
  target_compile_options(test_firmware_${name} PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/stepped.h)
endforeach()
target_sources(test_firmware_once PRIVATE ${CMAKE_CURRENT_LIST_DIR}/once.c)
