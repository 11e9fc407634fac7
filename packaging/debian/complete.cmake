# Run by CPack before it packs: completes what has been installed for each package.
# SOURCE_DATE_EPOCH, if it is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component tool devel firmware)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
  if(NOT EXISTS "${root}")
    continue()
  endif()
  string(TOUPPER ${component} upper)
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(READ "${CPACK_PB_SOURCE}/LICENSE" licence)
  string(REGEX REPLACE "\n\n" "\n.\n" licence "${licence}")
  string(REGEX REPLACE "\n([^\n])" "\n \\1" licence "${licence}")
  string(REGEX MATCH "Copyright[^\n]*" holder "${licence}")
  string(REGEX REPLACE "^Copyright *(\\([cC]\\))? *" "" holder "${holder}")
  file(WRITE "${root}/share/doc/${name}/copyright"
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Patchbay\n\n"
    "Files: *\nCopyright: ${holder}\nLicense: Expat\n ${licence}")
  configure_file("${CPACK_PB_SOURCE}/CHANGELOG.md" "${root}/share/doc/${name}/changelog" COPYONLY)
  file(WRITE "${root}/share/doc/${name}/changelog.Debian"
    "patchbay (${CPACK_PACKAGE_VERSION}-1) unstable; urgency=medium\n\n  * Release ${CPACK_PACKAGE_VERSION}; changelog.gz has its changes.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(GLOB pages "${root}/share/man/man1/*.1")
  file(GLOB_RECURSE libraries "${root}/lib/*.a")
  file(GLOB overrides "${CPACK_PB_SOURCE}/packaging/debian/${name}.lintian-overrides")
  execute_process(COMMAND gzip -9nf ${pages} "${root}/share/doc/${name}/changelog"
    "${root}/share/doc/${name}/changelog.Debian" COMMAND_ERROR_IS_FATAL ANY)
  if(libraries)
    execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${libraries} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  if(overrides)
    configure_file("${overrides}" "${root}/share/lintian/overrides/${name}" COPYONLY)
  endif()
endforeach()
