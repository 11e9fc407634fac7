# The description of the firmware as a CMSIS pack: the folder share/patchbay is the pack's contents.

# pb_pack_files(OUT PATTERN...): a line for each source, by its path in the pack.
function(pb_pack_files out)
  set(lines "")
  file(GLOB sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${ARGN})
  foreach(source IN LISTS sources)
    string(APPEND lines "        <file category=\"sourceC\" name=\"${source}\"/>\n")
  endforeach()
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

pb_pack_files(core firmware/*.c firmware/*/*.c)
pb_pack_files(cortex_m hal/start.c hal/cortex_m/fault.c hal/cortex_m/protect.c hal/cortex_m/startup.c)
pb_pack_files(engine hal/engine/*.c)
configure_file(packaging/pack.pdsc.in packaging/Patchbay.patchbay.pdsc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/packaging/Patchbay.patchbay.pdsc DESTINATION ${share} COMPONENT firmware)
