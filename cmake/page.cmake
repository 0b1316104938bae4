# SPDX-License-Identifier: Apache-2.0
# nopscope_page(VARIABLE): VARIABLE becomes an object file, of the page that host-tools/web/ is built to, with the packages
# that its package-lock.json names. They come from the npm registry, once for a build tree.
function(nopscope_page variable)
    find_program(NPM npm REQUIRED)
    find_program(NODE NAMES node nodejs REQUIRED)
    set(web "${CMAKE_CURRENT_SOURCE_DIR}/web")
    set(build "${CMAKE_CURRENT_BINARY_DIR}/web")
    set(packages package.json package-lock.json .npmrc)
    file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${web}" "${web}/src/*" "${web}/*.mjs" "${web}/tsconfig.json")
    list(TRANSFORM packages PREPEND "${web}/" OUTPUT_VARIABLE package_files)
    list(TRANSFORM sources PREPEND "${web}/" OUTPUT_VARIABLE source_files)
    add_custom_command(
        OUTPUT "${build}/packages.stamp"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${build}"
        COMMAND "${CMAKE_COMMAND}" -E copy ${package_files} "${build}"
        COMMAND "${CMAKE_COMMAND}" -E chdir "${build}" "${NPM}" ci --ignore-scripts --no-progress --loglevel=error
        COMMAND "${CMAKE_COMMAND}" -E touch "${build}/packages.stamp"
        DEPENDS ${package_files}
        COMMENT "Fetching the report page's packages"
        VERBATIM)
    add_custom_command(
        OUTPUT "${build}/page.html"
        COMMAND "${CMAKE_COMMAND}" -E copy_directory "${web}/src" "${build}/src"
        COMMAND "${CMAKE_COMMAND}" -E copy "${web}/build.mjs" "${web}/tsconfig.json" "${build}"
        COMMAND "${CMAKE_COMMAND}" -E chdir "${build}" "${NODE}" node_modules/typescript/bin/tsc
        COMMAND "${CMAKE_COMMAND}" -E chdir "${build}" "${NODE}" build.mjs page.html
        DEPENDS "${build}/packages.stamp" ${source_files}
        COMMENT "Building the report page"
        VERBATIM)
    # Its symbols are _binary_page_html_start and _end.
    add_custom_command(
        OUTPUT "${build}/page.o"
        COMMAND "${CMAKE_COMMAND}" -E chdir "${build}" "${CMAKE_LINKER}" -r -b binary -z noexecstack page.html -o page.o
        DEPENDS "${build}/page.html"
        VERBATIM)
    set_source_files_properties("${build}/page.o" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set(${variable} "${build}/page.o" PARENT_SCOPE)
endfunction()
