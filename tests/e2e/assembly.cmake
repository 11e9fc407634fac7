# The image whose hot loops are in assembly, in QEMU: like fatal.cmake.
if(NOT PB_SANITIZE)
  pb_program(e2e_assembly SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_assembly.c LINKS test_e2e_support)
  target_compile_definitions(e2e_assembly PRIVATE
    E2E_IMAGE_ASSEMBLY="${PROJECT_BINARY_DIR}/../mps2_an500-asm/patchbay-mps2_an500.elf")
  add_dependencies(e2e_assembly patchbay)
  add_test(NAME e2e_assembly COMMAND e2e_assembly)
  set_tests_properties(e2e_assembly PROPERTIES LABELS e2e RUN_SERIAL TRUE TIMEOUT 120)
endif()
