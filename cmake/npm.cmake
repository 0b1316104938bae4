# SPDX-License-Identifier: Apache-2.0
# npm_packages(SOURCE BUILD): rule for BUILD/packages.stamp and BUILD/node_modules/, from SOURCE's
# package-lock.json. npm fetches them from its registry once for a build tree. None of their scripts
# runs by itself.
function(npm_packages source build)
    find_program(NPM npm REQUIRED)
    set(files package.json package-lock.json .npmrc)
    list(TRANSFORM files PREPEND "${source}/")
    add_custom_command(
        OUTPUT "${build}/packages.stamp"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${build}"
        COMMAND "${CMAKE_COMMAND}" -E copy ${files} "${build}"
        COMMAND "${CMAKE_COMMAND}" -E chdir "${build}" "${NPM}" ci --ignore-scripts --prefer-offline --no-progress --loglevel=error
        COMMAND "${CMAKE_COMMAND}" -E touch "${build}/packages.stamp"
        DEPENDS ${files}
        COMMENT "Fetching the packages of ${source}"
        VERBATIM)
endfunction()
