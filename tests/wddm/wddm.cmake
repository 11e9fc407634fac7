# A model of the WDDM kernel, and the shim under it.
pb_library(test_os_model_lib SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/os_model.c ${CMAKE_CURRENT_LIST_DIR}/os_tdr.c)

pb_unit_test(test_os_model
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_os_model.c ${CMAKE_CURRENT_LIST_DIR}/puppet.c LINKS test_os_model_lib)

pb_library(test_wddm_world SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/wddm_world.c ${CMAKE_CURRENT_LIST_DIR}/wddm_commands.c
  ${CMAKE_CURRENT_LIST_DIR}/wddm_paging.c ${CMAKE_CURRENT_LIST_DIR}/wddm_miniport.c
  LINKS pb_wddm test_os_model_lib test_card_fixture)

foreach(name shim refusals failures patch random paging tdr storms)
  pb_unit_test(test_wddm_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_wddm_${name}.c LINKS test_wddm_world)
endforeach()

# The build as released does most of the work: 100 schedules a life.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  set_target_properties(test_wddm_storms PROPERTIES EXCLUDE_FROM_ALL FALSE)
  add_test(NAME wddm_storms COMMAND test_wddm_storms 0 1000)
endif()
