# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, which defines demo_scripts (scripts.hpp) from the files in SCRIPTS.
set(entries "")
foreach(file ${SCRIPTS})
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" text)
    string(APPEND entries "    {\"${name}\", R\"LUA(${text})LUA\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"scripts.hpp\"

namespace {
constexpr Script scripts[] = {
${entries}};
}

extern const std::span<const Script> demo_scripts{scripts};
")
