# OpenGL programs: a session with one of them, and a server.
pb_library(pb_gl_session
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/gl_session.c ${CMAKE_CURRENT_LIST_DIR}/gl_socket.c
  LINKS pb_gl)
pb_library(pb_gl_serve
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/gl_arguments.c
    ${CMAKE_CURRENT_LIST_DIR}/gl_card.c
    ${CMAKE_CURRENT_LIST_DIR}/gl_peer.c
    ${CMAKE_CURRENT_LIST_DIR}/gl_private.c
    ${CMAKE_CURRENT_LIST_DIR}/gl_registry.c
    ${CMAKE_CURRENT_LIST_DIR}/gl_serve.c
    ${CMAKE_CURRENT_LIST_DIR}/gl_server.c
    ${CMAKE_CURRENT_LIST_DIR}/gl_timeline.c
  LINKS pb_gl_session pb_gl pb_card_failure pb_trace pb_host pb_link_socket)

# Loaded into programs of the demonstration. It is no part of the command, and has nothing of the project.
if(NOT PB_SANITIZE)
  add_library(patchbay-camera MODULE ${CMAKE_CURRENT_LIST_DIR}/camera.c)
  pb_configure(patchbay-camera)
  set_target_properties(patchbay-camera PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)
  target_link_libraries(patchbay-camera PRIVATE ${CMAKE_DL_LIBS})
endif()
