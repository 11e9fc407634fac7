# Output of the counters.
pb_library(pb_short_text SOURCES ${CMAKE_CURRENT_LIST_DIR}/seconds.c ${CMAKE_CURRENT_LIST_DIR}/short_text.c LINKS m)
pb_library(pb_stats
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/stats_fdinfo.c
    ${CMAKE_CURRENT_LIST_DIR}/stats_json.c
    ${CMAKE_CURRENT_LIST_DIR}/stats_print.c
    ${CMAKE_CURRENT_LIST_DIR}/stats_prometheus.c
    ${CMAKE_CURRENT_LIST_DIR}/whole_file.c
  LINKS pb_card_failure pb_json_number pb_short_text pb_host)

# The live view: the parts that are tested without a card.
pb_library(pb_top
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/top_card.c
    ${CMAKE_CURRENT_LIST_DIR}/top_model.c
    ${CMAKE_CURRENT_LIST_DIR}/top_survey.c
    ${CMAKE_CURRENT_LIST_DIR}/top_view.c
  LINKS pb_card_failure pb_short_text pb_trace pb_link_socket pb_host ncurses)
