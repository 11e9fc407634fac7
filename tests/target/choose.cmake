# Which suites run on a board, and in which images: for the build of the board, and for the tests of the host's.

# Enough for every day: what depends on the size of a word, the alignment and the order of bytes.
set(PB_EVERYDAY test_abi test_engine_driver test_engine_ring test_firmware_admit test_firmware_control
  test_firmware_machines test_firmware_replies test_firmware_rings test_firmware_segment
  test_host_compact test_host_lift test_paging test_policy_fair)

# pb_choose_suites(BOARD SUITE...): sets, for the caller, EVERYDAY, the suites of the image of this name, and ALL, those
# that have an image for each runner: all but those of left_out.txt and those that do not fit the board's memory.
function(pb_choose_suites board)
  set(suites ${ARGN})
  set(left_out ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/left_out.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${left_out})
  file(STRINGS ${left_out} lines REGEX "^test_")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^([a-z0-9_]+) +([^ ].*)$")
      message(FATAL_ERROR "tests/target/left_out.txt: no reason: ${line}")
    endif()
    list(APPEND without ${CMAKE_MATCH_1})
  endforeach()
  include(${PROJECT_SOURCE_DIR}/boards/${board}/suites.cmake)
  if(NOT PB_SUITES_EVERYDAY)
    set(PB_SUITES_EVERYDAY ${PB_EVERYDAY})
  endif()
  foreach(name IN LISTS without PB_SUITES_TOO_LARGE PB_SUITES_EVERYDAY)
    # Suites of the loader that need BearSSL are there only where that is.
    if(NOT name IN_LIST suites AND (PB_LOADER OR NOT name MATCHES "^test_loader_"))
      message(FATAL_ERROR "suites of ${board}: there is no suite ${name}")
    endif()
  endforeach()
  set(EVERYDAY ${PB_SUITES_EVERYDAY} PARENT_SCOPE)
  set(ALL "" PARENT_SCOPE)
  if(PB_SUITES_ALL)
    list(REMOVE_ITEM suites ${without} ${PB_SUITES_TOO_LARGE})
    set(ALL ${suites} PARENT_SCOPE)
  endif()
endfunction()

# pb_images_of_suites(SUITE...): those of one program are in one image, as on the host, or in as many as the board's
# memory asks for: PB_SUITES_PER_IMAGE. Sets, for the caller, IMAGE_OF_NAME of each.
function(pb_images_of_suites)
  foreach(name IN LISTS ARGN)
    get_property(program GLOBAL PROPERTY PB_PROGRAM_OF_${name})
    set(image ${program})
    if(PB_SUITES_PER_IMAGE)
      math(EXPR count_${program} "0${count_${program}} + 1")
      math(EXPR number "(${count_${program}} - 1) / ${PB_SUITES_PER_IMAGE} + 1")
      set(image ${program}_${number})
    endif()
    set(IMAGE_OF_${name} ${image} PARENT_SCOPE)
  endforeach()
endfunction()
