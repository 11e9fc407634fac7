set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
set(CMAKE_C_FLAGS_RELEASE "-O2 -g" CACHE STRING "")
# GCC takes a quarter longer to say where each value of an optimised variable lies; some then show as optimised out.
set(CMAKE_C_FLAGS_DEBUG "-O1 -g -fno-var-tracking-assignments" CACHE STRING "")
