# SPDX-License-Identifier: Apache-2.0
# `cpack --config build/host/CPackConfig.cmake -B DIRECTORY`: the Debian packages nopscope and
# nopscope-target-source (docs/install.md); with SOURCE_DATE_EPOCH the same bytes each time.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nopscope)
set(CPACK_PACKAGE_VENDOR nopscope)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${NOPSCOPE_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL host target)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_HOST_PACKAGE_NAME nopscope)
set(CPACK_DEBIAN_HOST_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_HOST_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_HOST_PACKAGE_SUGGESTS "nopscope-target-source, gdb-multiarch, openocd, qemu-system-arm")
set(CPACK_COMPONENT_HOST_DESCRIPTION "function profiler for arm64 and RISC-V firmware
Records, decodes and shows what the functions of a firmware without an
operating system do: live in a terminal or a browser, as reports, and in the
formats of other tools.")

set(CPACK_DEBIAN_TARGET_PACKAGE_NAME nopscope-target-source)
set(CPACK_DEBIAN_TARGET_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_TARGET_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_TARGET_PACKAGE_SUGGESTS "nopscope, cmake, g++-aarch64-linux-gnu")
set(CPACK_COMPONENT_TARGET_DESCRIPTION "function profiler for arm64 and RISC-V firmware - the target's library as source
The tracer that a firmware without an operating system is linked with, as
source in /usr/src/nopscope. A firmware compiles it with its own compiler: by
add_subdirectory or FetchContent of CMake, or installed for find_package,
pkg-config and Makefiles.")
include(CPack)
