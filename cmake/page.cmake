# SPDX-License-Identifier: Apache-2.0
# nopscope_page(VARIABLE): sets it to an object file with the page built from host-tools/views/web/.
include(npm)

function(nopscope_page variable)
    find_program(NODE NAMES node nodejs REQUIRED)
    find_program(NOPSCOPE_LD NAMES ld.bfd ld REQUIRED)  # lld cannot link a binary file alone
    set(web "${CMAKE_CURRENT_SOURCE_DIR}/views/web")
    set(build "${CMAKE_CURRENT_BINARY_DIR}/web")
    file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${web}" "${web}/src/*" "${web}/*.mjs" "${web}/tsconfig.json")
    list(TRANSFORM sources PREPEND "${web}/" OUTPUT_VARIABLE source_files)
    npm_packages("${web}" "${build}")
    add_custom_command(
        OUTPUT "${build}/page.html"
        COMMAND "${CMAKE_COMMAND}" -E copy_directory "${web}/src" "${build}/src"
        COMMAND "${CMAKE_COMMAND}" -E copy "${web}/build.mjs" "${web}/tsconfig.json" "${build}"
        COMMAND "${CMAKE_COMMAND}" -E chdir "${build}" "${NODE}" build.mjs page.html
        DEPENDS "${build}/packages.stamp" ${source_files}
        COMMENT "Building the report page"
        VERBATIM)
    # The object's symbols are _binary_page_html_start and _end.
    add_custom_command(
        OUTPUT "${build}/page.o"
        COMMAND "${CMAKE_COMMAND}" -E chdir "${build}" "${NOPSCOPE_LD}" -r -b binary -z noexecstack page.html -o page.o
        DEPENDS "${build}/page.html"
        VERBATIM)
    set_source_files_properties("${build}/page.o" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set(${variable} "${build}/page.o" PARENT_SCOPE)
endfunction()
