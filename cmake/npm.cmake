# SPDX-License-Identifier: Apache-2.0
# npm_packages(SOURCE BUILD): rule for BUILD/packages.stamp and BUILD/node_modules/, from SOURCE's package-lock.json.
function(npm_packages source build)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(script "${PROJECT_SOURCE_DIR}/cmake/npm_packages.py")
    set(files "${source}/package.json" "${source}/package-lock.json")
    add_custom_command(
        OUTPUT "${build}/packages.stamp"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${build}"
        COMMAND "${CMAKE_COMMAND}" -E copy ${files} "${build}"
        COMMAND Python3::Interpreter -B "${script}" "${source}/package-lock.json" "${build}"
        COMMAND "${CMAKE_COMMAND}" -E touch "${build}/packages.stamp"
        DEPENDS ${files} "${script}"
        COMMENT "Fetching the packages of ${source}"
        VERBATIM)
endfunction()
