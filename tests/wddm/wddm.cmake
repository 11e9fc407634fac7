# A model of the WDDM kernel, and the shim under it.
pb_library(test_os_model_lib SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/os_model.c ${CMAKE_CURRENT_LIST_DIR}/os_tdr.c)

pb_unit_test(test_os_model RUNNER wddm
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_os_model.c ${CMAKE_CURRENT_LIST_DIR}/puppet.c LINKS test_os_model_lib)

pb_library(test_wddm_world SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/wddm_world.c ${CMAKE_CURRENT_LIST_DIR}/wddm_commands.c
  ${CMAKE_CURRENT_LIST_DIR}/wddm_paging.c ${CMAKE_CURRENT_LIST_DIR}/wddm_miniport.c
  LINKS pb_wddm test_os_model_lib test_card_fixture)

foreach(name layout versions describe shim refusals failures patch random paging paging_private stops tdr storms)
  pb_unit_test(test_wddm_${name} RUNNER wddm SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_wddm_${name}.c LINKS test_wddm_world)
endforeach()

pb_tries(test_wddm_storms STORM_LIVES 10u 1000u)

# The shim for a compiler for Windows, and its structs beside those of others.
if(PB_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  foreach(name windows foreign)
    add_test(NAME wddm_${name} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${PROJECT_BINARY_DIR}/wddm_${name})
    set_tests_properties(wddm_${name} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()
