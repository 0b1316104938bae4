# SPDX-License-Identifier: Apache-2.0
# `cpack --config build/host/CPackConfig.cmake`: the host command as a Debian package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nopscope)
set(CPACK_PACKAGE_VENDOR nopscope)
set(CPACK_PACKAGE_CONTACT "the owners of nopscope <nopscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "function profiler for arm64 firmware")
set(CPACK_PACKAGE_DESCRIPTION "Records, decodes and shows what the functions of a firmware without an operating system do:
live in a terminal or a browser, as reports, and in the formats of other tools.")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
