# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` and the Debian packages (deb.cmake) take from a host build: component host
# is nopscope, target is nopscope-target-source, here is in no package. The target nopscope builds
# all these files, so that ./dev demo's build can be installed.
include(GNUInstallDirs)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME host)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# The command writes its man pages and completions. sbom.py writes its bill of materials.
set(_reference "${CMAKE_BINARY_DIR}/share")
set(_sbom "${CMAKE_BINARY_DIR}/nopscope.spdx.json")
add_custom_command(TARGET nopscope POST_BUILD
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${_reference}"
    COMMAND nopscope reference "${_reference}"
    COMMAND gzip -n -9 -k -r "${_reference}/man"
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/cmake/sbom.py" "$<TARGET_FILE:nopscope>" "${_sbom}"
    BYPRODUCTS "${_sbom}" "${_reference}/man/man1/nopscope.1.gz" "${_reference}/bash-completion/completions/nopscope"
               "${_reference}/zsh/vendor-completions/_nopscope" "${_reference}/fish/vendor_completions.d/nopscope.fish"
    VERBATIM)
set_property(TARGET nopscope APPEND PROPERTY LINK_DEPENDS
    "${PROJECT_SOURCE_DIR}/cmake/sbom.py" "${PROJECT_SOURCE_DIR}/cmake/packages.txt"
    "${PROJECT_SOURCE_DIR}/host-tools/views/web/package-lock.json")

# nopscope_debian_docs(PACKAGE DIRECTORY [WEB]): changelog and copyright, by the target nopscope.
set(NOPSCOPE_MAINTAINER "the nopscope authors <nopscope@example.org>" CACHE STRING "of the Debian packages: who makes them")
function(nopscope_debian_docs package directory)
    set(scripts "${PROJECT_SOURCE_DIR}/cmake/deb")
    set(web ${ARGN})
    list(TRANSFORM web APPEND /page.html)  # with the licences of what is in it
    set(history "${PROJECT_SOURCE_DIR}/CHANGELOG.md")
    file(GLOB depends CONFIGURE_DEPENDS "${history}")
    add_custom_command(OUTPUT "${directory}/changelog.gz" "${directory}/copyright"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${directory}"
        COMMAND Python3::Interpreter "${scripts}/changelog.py" "${history}" ${package} ${PROJECT_VERSION} "${NOPSCOPE_MAINTAINER}" "${directory}/changelog"
        COMMAND gzip -n -9 -f "${directory}/changelog"
        COMMAND Python3::Interpreter "${scripts}/copyright.py" "${directory}/copyright" ${ARGN}
        DEPENDS ${web} ${depends} "${scripts}/changelog.py" "${scripts}/copyright.py"
        COMMENT "Writing the changelog and copyright of ${package}"
        VERBATIM)
    add_custom_target(${package}_docs DEPENDS "${directory}/changelog.gz" "${directory}/copyright")
    add_dependencies(nopscope ${package}_docs)
endfunction()
set(_debian "${CMAKE_BINARY_DIR}/debian")
nopscope_debian_docs(nopscope "${_debian}/nopscope" "${CMAKE_CURRENT_BINARY_DIR}/web")
nopscope_debian_docs(nopscope-target-source "${_debian}/nopscope-target-source")

install(TARGETS nopscope RUNTIME)
install(DIRECTORY "${_reference}/man" DESTINATION "${CMAKE_INSTALL_DATADIR}" FILES_MATCHING PATTERN "*.gz")
install(DIRECTORY "${_reference}/bash-completion" "${_reference}/zsh" "${_reference}/fish" DESTINATION "${CMAKE_INSTALL_DATADIR}")
install(FILES gdb/nopscope-gdb.py gdb/nopscope_unwinder.py gdb/nopscope_call_frames.py
        DESTINATION "${CMAKE_INSTALL_DATADIR}/nopscope")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md"
              "${PROJECT_SOURCE_DIR}/SECURITY.md" "${PROJECT_SOURCE_DIR}/SHIPPING.md" "${PROJECT_SOURCE_DIR}/NOTICE" "${_sbom}" "${_debian}/nopscope/changelog.gz"
              "${_debian}/nopscope/copyright" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs"
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")
# Debian has the licence's text elsewhere. zsh looks elsewhere below /usr/local than below /usr.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT here)
install(FILES "${_reference}/zsh/vendor-completions/_nopscope" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT here)

# The target library's sources: all that a build with NOPSCOPE_PACKAGE or add_subdirectory reads.
set(_target src/nopscope)
install(FILES "${PROJECT_SOURCE_DIR}/CMakeLists.txt" DESTINATION ${_target} COMPONENT target EXCLUDE_FROM_ALL)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/tracer" "${PROJECT_SOURCE_DIR}/hal" DESTINATION ${_target} COMPONENT target EXCLUDE_FROM_ALL)
install(FILES "${PROJECT_SOURCE_DIR}/linker/nopscope.ld" DESTINATION ${_target}/linker COMPONENT target EXCLUDE_FROM_ALL)
set(_modules aarch64-none-elf.cmake riscv64-unknown-elf.cmake cross_gcc.cmake libstdcxx.cmake assembly_offsets.cmake nopscope-config.cmake nopscope.pc.in nopscope_instrument.cmake nopscope_name_table.cmake package.cmake)
list(TRANSFORM _modules PREPEND "${PROJECT_SOURCE_DIR}/cmake/")
install(FILES ${_modules} DESTINATION ${_target}/cmake COMPONENT target EXCLUDE_FROM_ALL)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/arch" DESTINATION ${_target}/cmake COMPONENT target EXCLUDE_FROM_ALL)
install(PROGRAMS "${PROJECT_SOURCE_DIR}/cmake/link_with_names.sh" DESTINATION ${_target}/cmake COMPONENT target EXCLUDE_FROM_ALL)
set(_docs "${CMAKE_INSTALL_DATADIR}/doc/nopscope-target-source")
install(FILES "${PROJECT_SOURCE_DIR}/NOTICE" "${_debian}/nopscope-target-source/changelog.gz" "${_debian}/nopscope-target-source/copyright"
        DESTINATION ${_docs} COMPONENT target EXCLUDE_FROM_ALL)
# One firmware with three builds: a Makefile; CMake with the library installed, or built with it.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/firmware/examples/own-startup" "${PROJECT_SOURCE_DIR}/firmware/examples/own-startup-riscv" DESTINATION ${_docs}/examples COMPONENT target EXCLUDE_FROM_ALL)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/tests/guide/project" DESTINATION ${_docs}/examples COMPONENT target EXCLUDE_FROM_ALL)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/firmware/glue" DESTINATION ${_docs} COMPONENT target EXCLUDE_FROM_ALL)
