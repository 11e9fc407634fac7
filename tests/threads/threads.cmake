# Threads beside each other, with ThreadSanitizer: the host library and the shim, compiled once more, on the simulated
# card. The card and the scheduler of the threads are compiled without: what they share is not the library's.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -fsanitize=thread)
check_c_source_compiles("#include <sanitizer/tsan_interface.h>\nint main(void) { return __tsan_create_fiber(0) == 0; }" PB_HAS_TSAN)
unset(CMAKE_REQUIRED_FLAGS)
if(PB_SANITIZE OR NOT PB_HAS_TSAN)
  return()
endif()
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_library(pb_threads_card SOURCES ${here}/fibers.c ${here}/card.c LINKS pb_sim)
get_target_property(library pb_host SOURCES)
get_target_property(shim pb_wddm SOURCES)
pb_library(pb_threaded SOURCES ${library} ${shim} ${here}/library.c ${here}/library_judge.c ${here}/shim.c
  LINKS pb_threads_card)
target_compile_options(pb_threaded PRIVATE -fsanitize=thread -g -include ${here}/hooks.h)
pb_program(pb_threads_run SOURCES ${here}/threads_command.c LINKS pb_threaded)
target_link_options(pb_threads_run PRIVATE -fsanitize=thread)

foreach(what library shim)
  set(run bash ${here}/threads.sh $<TARGET_FILE:pb_threads_run> ${what})
  pb_test(threads_${what} GROUP threads CPU 120 COMMAND ${run} --count 5000)
  pb_test(threads_${what}_planted GROUP threads ASSURE COMMAND ${run} --planted)
endforeach()
