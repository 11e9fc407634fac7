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

# The OS that checks: a machine, drivers that each break one rule, and random schedules.
foreach(name map memory vidmm lists paging client call drawing judge power faults driver machine)
  list(APPEND os_sources ${CMAKE_CURRENT_LIST_DIR}/os/${name}.c)
endforeach()
pb_library(test_os_machine SOURCES ${os_sources} LINKS test_os_model_lib pb_wddm pb_sim pb_host)
pb_unit_test(test_os_rules
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_os_rules.c ${CMAKE_CURRENT_LIST_DIR}/os/broken_schedule.c
  ${CMAKE_CURRENT_LIST_DIR}/os/broken_system.c ${CMAKE_CURRENT_LIST_DIR}/os/broken_memory.c LINKS test_os_machine)
if(NOT PB_BOARD)
  pb_program(wddm_schedules SOURCES ${CMAKE_CURRENT_LIST_DIR}/os/schedules.c LINKS test_os_machine)
  set(count 12000)
  if(PB_SANITIZE)
    set(count 1000)
  endif()
  pb_test(wddm_schedules GROUP simulation COMMAND wddm_schedules --count ${count})
endif()

# The shim for a compiler for Windows, and its structs beside those of others.
if(PB_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  foreach(name windows foreign)
    pb_test(wddm_${name} GROUP unit SKIPS COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/${name}.sh ${PROJECT_BINARY_DIR}/wddm_${name})
  endforeach()
endif()
