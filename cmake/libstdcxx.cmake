# SPDX-License-Identifier: Apache-2.0
# Sets _libstdcxx, the directories with libstdc++'s headers: the compiler's, or, for one that comes
# without them, the distribution's for another compiler of that release (cmake/arch): then
# _libstdcxx_is_elsewhere is true.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -E -x c++ -v /dev/null
                ERROR_VARIABLE _verbose OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n [^\n]*/c\\+\\+/[^\n]*" _libstdcxx "${_verbose}")
list(TRANSFORM _libstdcxx STRIP)
set(_libstdcxx_is_elsewhere OFF)
if(NOT _libstdcxx AND _libstdcxx_elsewhere)
    set(_libstdcxx_is_elsewhere ON)
    string(REGEX MATCH "^[0-9]+" _release "${CMAKE_CXX_COMPILER_VERSION}")
    file(GLOB _configuration "${_libstdcxx_elsewhere}/${_release}/*-linux-gnu")
    if(NOT _configuration)
        message(FATAL_ERROR "no headers of libstdc++ ${_release} in ${_libstdcxx_elsewhere}: run ./dev setup")
    endif()
    set(_libstdcxx "${_libstdcxx_elsewhere}/${_release}" ${_configuration})
endif()
