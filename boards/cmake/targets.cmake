# Defines every target of the project, so that all get the project's warnings.

set(PB_WARNINGS
  -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion -Wsign-conversion
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wcast-align -Wcast-qual -Wnull-dereference -Wdouble-promotion -Wvla
  -Wswitch-enum -Wformat=2 -Wwrite-strings -Wpointer-arith -Wredundant-decls)

# Images and reports must not depend on where the tree lies, nor the build, nor a board elsewhere.
set(PB_PREFIX_MAPS -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${CMAKE_BINARY_DIR} NORMALIZE built_within)
if(NOT built_within)
  list(APPEND PB_PREFIX_MAPS -ffile-prefix-map=${CMAKE_BINARY_DIR}=build/${PB_BOARD})
endif()
if(PB_BOARD_ELSEWHERE)
  list(APPEND PB_PREFIX_MAPS -ffile-prefix-map=${PB_BOARD_DIR}/=boards/${PB_BOARD}/)
endif()

if(PB_WERROR)
  list(APPEND PB_WARNINGS -Werror)
endif()

function(pb_configure target)
  target_compile_options(${target} PRIVATE ${PB_WARNINGS} -fno-common)
  # What is public is in include/; our own sources see the whole tree.
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE PB_VERSION="${PROJECT_VERSION}" ${PB_BOARD_DEFINITIONS})
  target_compile_options(${target} PRIVATE ${PB_PREFIX_MAPS})
  # Headers of a board elsewhere are included as "NAME/header.h".
  if(PB_BOARD_ELSEWHERE)
    target_compile_options(${target} PRIVATE "SHELL:-iquote \"${PB_BOARD_DIR}/..\"")
  endif()
  # Of static libraries, too: a shared one may be made of their objects.
  if(BUILD_SHARED_LIBS AND NOT PB_BOARD)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  if(PB_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  endif()
endfunction()

# pb_library(NAME SOURCES a.c b.c [LINKS target...])
function(pb_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  if(NOT PB_DEVELOP)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  pb_configure(${name})
  target_link_libraries(${name} PUBLIC ${arg_LINKS})
endfunction()

# pb_program(NAME SOURCES a.c [LINKS target...])
function(pb_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  pb_configure(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINKS})
endfunction()
