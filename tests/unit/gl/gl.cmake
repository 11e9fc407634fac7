# Suites of the front end of OpenGL programs.
set(here ${CMAKE_CURRENT_LIST_DIR})
foreach(name vtest transfer resources batch)
  pb_unit_test(test_gl_${name} RUNNER gl SOURCES ${here}/test_gl_${name}.c LINKS pb_gl)
endforeach()
pb_unit_test(test_gl_session RUNNER gl_session SOURCES ${here}/test_gl_session.c LINKS pb_gl_session)
pb_unit_test(test_gl_registry RUNNER gl_registry SOURCES ${here}/test_gl_registry.c LINKS pb_gl_serve)
pb_unit_test(test_gl_client RUNNER gl_client SOURCES ${here}/test_gl_client.c LINKS pb_gl pb_sim pb_host)
