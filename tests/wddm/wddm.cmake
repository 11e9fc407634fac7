# A model of the WDDM kernel, and the shim under it.
pb_library(test_os_model_lib SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/os/bugcheck.c ${CMAKE_CURRENT_LIST_DIR}/os/garbage.c ${CMAKE_CURRENT_LIST_DIR}/os/vidsch.c
  ${CMAKE_CURRENT_LIST_DIR}/os/interrupts.c ${CMAKE_CURRENT_LIST_DIR}/os/tdr.c)

pb_unit_test(test_os_model RUNNER wddm
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_os_model.c ${CMAKE_CURRENT_LIST_DIR}/puppet.c LINKS test_os_model_lib)

pb_library(test_wddm_world SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/wddm_world.c ${CMAKE_CURRENT_LIST_DIR}/wddm_commands.c
  ${CMAKE_CURRENT_LIST_DIR}/wddm_paging.c ${CMAKE_CURRENT_LIST_DIR}/wddm_miniport.c
  LINKS pb_wddm test_os_model_lib test_card_fixture)

foreach(name layout versions describe gdi present shim refusals failures patch presumed random paging paging_private interrupt
    power stops tdr storms)
  pb_unit_test(test_wddm_${name} RUNNER wddm SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_wddm_${name}.c LINKS test_wddm_world)
endforeach()

pb_tries(test_wddm_storms STORM_LIVES 10u 1000u)

# The OS that checks: a machine, drivers that each break one rule, and random schedules. The build without sanitizers runs
# 100,000 of these, in four programs.
foreach(name map memory vidmm lists paging client call drawing judge power faults driver machine)
  list(APPEND os_sources ${CMAKE_CURRENT_LIST_DIR}/os/${name}.c)
endforeach()
pb_library(test_os_machine SOURCES ${os_sources} LINKS test_os_model_lib pb_wddm pb_sim pb_host)
pb_unit_test(test_os_rules
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_os_rules.c ${CMAKE_CURRENT_LIST_DIR}/os/broken_schedule.c
  ${CMAKE_CURRENT_LIST_DIR}/os/broken_system.c ${CMAKE_CURRENT_LIST_DIR}/os/broken_memory.c LINKS test_os_machine)
if(NOT PB_BOARD)
  pb_program(wddm_schedules SOURCES ${CMAKE_CURRENT_LIST_DIR}/os/schedules.c LINKS test_os_machine)
  if(PB_SANITIZE)
    add_test(NAME wddm_schedules COMMAND wddm_schedules --count 2000)
    set_tests_properties(wddm_schedules PROPERTIES LABELS long)
  else()
    foreach(first 0 25000 50000 75000)
      add_test(NAME wddm_schedules_${first} COMMAND wddm_schedules --first ${first} --count 25000)
    endforeach()
  endif()
endif()

# The shim for a compiler for Windows, and its structs beside those of others.
if(PB_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  foreach(name windows foreign)
    add_test(NAME wddm_${name} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${PROJECT_BINARY_DIR}/wddm_${name})
    set_tests_properties(wddm_${name} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()
