# Counters, as they are shown.
pb_library(pb_short_text SOURCES ${CMAKE_CURRENT_LIST_DIR}/short_text.c LINKS m)
pb_library(pb_stats
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/stats_json.c
    ${CMAKE_CURRENT_LIST_DIR}/stats_print.c
    ${CMAKE_CURRENT_LIST_DIR}/stats_prometheus.c
    ${CMAKE_CURRENT_LIST_DIR}/whole_file.c
  LINKS pb_card_failure pb_short_text pb_host cjson)
