# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=DIR -DOUT=FILE -P commit.cmake: writes DIR's commit to a header if it has changed.
# A source archive has the commit in cmake/commit.txt (.gitattributes); a clone asks git.
set(commit "")
if(EXISTS "${SOURCE}/cmake/commit.txt")
    file(READ "${SOURCE}/cmake/commit.txt" commit)
endif()
string(STRIP "${commit}" commit)
if(NOT commit MATCHES "^[0-9a-f]+$")
    set(commit "")
    # A tree without .git may be inside another project's clone, whose commit would be wrong.
    if(EXISTS "${SOURCE}/.git")
        execute_process(COMMAND git -C "${SOURCE}" rev-parse HEAD OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
    if(commit)
        execute_process(COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
    endif()
endif()
string(SUBSTRING "${commit}" 0 12 text)
if(NOT text)
    set(text "unknown")
elseif(changes)
    string(APPEND text ", with changes")
endif()
file(CONFIGURE OUTPUT "${OUT}" CONTENT
     "// Written by cmake/commit.cmake.\n#pragma once\n\ninline constexpr char nopscope_commit[] = \"${text}\";\n")
