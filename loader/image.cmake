# The loader of a board that has one (boards/NAME/loader/), as build/NAME/patchbay-loader-NAME.elf. boards/CMakeLists.txt
# includes this. No optimisation over files: a single function must not become a part of another one's decision.
include(${PB_BOARD_DIR}/loader/loader.cmake)
set(name patchbay-loader-${PB_BOARD}.elf)
set(sources ${PB_LOADER_SOURCES} ${PB_LOADER_HAL} loader/main.c loader/start.c)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
pb_program(${name} SOURCES ${PB_BOARD_DIR}/loader/loader.c ${sources} LINKS pb_loader)
set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  LINK_DEPENDS "${PROJECT_SOURCE_DIR}/loader/sections.ld;${PB_BOARD_DIR}/loader/memory.ld")
target_compile_definitions(${name} PRIVATE ${PB_LOADER_DEFINITIONS})
target_compile_options(${name} PRIVATE -Os)
target_compile_options(pb_loader PRIVATE -Os)
target_compile_options(pb_loader_slots PRIVATE -Os)
target_link_options(${name} PRIVATE -nostartfiles -Wl,--gc-sections -Wl,--fatal-warnings
  -L${PB_BOARD_DIR}/loader -T${PROJECT_SOURCE_DIR}/loader/sections.ld -Wl,-Map=${PROJECT_BINARY_DIR}/${name}.map)
# Not without room for its deepest stack.
add_custom_target(patchbay-loader ALL VERBATIM DEPENDS ${name}
  COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/stack.py ${PROJECT_BINARY_DIR} ${PB_BOARD_DIR} --loader > ${PROJECT_BINARY_DIR}/loader_stack_bytes)
