# The wire headers, in C and in C++.
pb_unit_test(test_abi RUNNER host SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_abi.c LINKS pb_host)

if(PB_BOARD OR NOT PB_ALL_TESTS)
  return() # C++ is for hosts alone
endif()
# Each header is also compiled alone: none may need what another included before it.
enable_language(CXX)
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include/patchbay/abi/*.h)
set(sources ${CMAKE_CURRENT_LIST_DIR}/test_abi_cxx.cpp)
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT ${name}.cpp CONTENT "#include \"@header@\"\n" @ONLY)
  list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
endforeach()
add_executable(test_abi_cxx ${sources})
set_target_properties(test_abi_cxx PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
target_compile_options(test_abi_cxx PRIVATE -Wall -Wextra -Werror -Wpedantic -Wconversion -Wsign-conversion -Wundef)
target_include_directories(test_abi_cxx PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
pb_test(test_abi_cxx GROUP unit COMMAND test_abi_cxx)
pb_quick(test_abi_cxx test_abi_cxx DEPENDS test_abi_cxx)
