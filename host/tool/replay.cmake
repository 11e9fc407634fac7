# Reader of captured submissions, and their expected results: needs no card.
pb_library(pb_subm SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/subm_source.c
  ${CMAKE_CURRENT_LIST_DIR}/subm.c
  ${CMAKE_CURRENT_LIST_DIR}/placement.c
  ${CMAKE_CURRENT_LIST_DIR}/replay_oracle.c
  LINKS zstd z)

# The replay through a card.
pb_library(pb_replay SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/replay_formats.c
  ${CMAKE_CURRENT_LIST_DIR}/replay_job.c
  ${CMAKE_CURRENT_LIST_DIR}/replay_again.c
  ${CMAKE_CURRENT_LIST_DIR}/replay_run.c
  ${CMAKE_CURRENT_LIST_DIR}/replay.c
  ${CMAKE_CURRENT_LIST_DIR}/replay_wddm.c
  ${CMAKE_CURRENT_LIST_DIR}/replay_wddm_job.c
  ${CMAKE_CURRENT_LIST_DIR}/replay_command.c
  LINKS pb_wddm_os pb_subm pb_card_failure pb_host)
