# The functions of a WDDM 1.x miniport that carry submissions; no OS, no heap.
pb_library(pb_wddm SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/layout.c
  ${CMAKE_CURRENT_LIST_DIR}/adapter.c
  ${CMAKE_CURRENT_LIST_DIR}/describe.c
  ${CMAKE_CURRENT_LIST_DIR}/render.c
  ${CMAKE_CURRENT_LIST_DIR}/gdi.c
  ${CMAKE_CURRENT_LIST_DIR}/patch.c
  ${CMAKE_CURRENT_LIST_DIR}/submit.c
  ${CMAKE_CURRENT_LIST_DIR}/interrupt.c
  ${CMAKE_CURRENT_LIST_DIR}/preempt.c
  ${CMAKE_CURRENT_LIST_DIR}/tdr.c
  ${CMAKE_CURRENT_LIST_DIR}/power.c
  ${CMAKE_CURRENT_LIST_DIR}/paging.c
  LINKS pb_host)
