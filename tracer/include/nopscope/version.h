// SPDX-License-Identifier: Apache-2.0
// The version of the library, for C, C++ and the preprocessor; docs/versions.md says what it promises.
// CMakeLists.txt has the same (tests/rules/version_rules.py).
#pragma once

#define NOPSCOPE_VERSION "0.2.0"
#define NOPSCOPE_VERSION_MAJOR 0
#define NOPSCOPE_VERSION_MINOR 2
#define NOPSCOPE_VERSION_PATCH 0
