# find_package(patchbay): patchbay::patchbay, the host library; patchbay::sim, a card in the caller's process.
include("${CMAKE_CURRENT_LIST_DIR}/patchbayTargets.cmake")
