// SPDX-License-Identifier: Apache-2.0
/// \file
/// The library's version, for C, C++ and the preprocessor. docs/versions.md says what it promises.
#pragma once

// CMakeLists.txt has the same version: tests/rules/version_rules.py compares them.

/// The whole version: "MAJOR.MINOR.PATCH".
#define NOPSCOPE_VERSION "0.2.0"
/// Functions may go or change with it.
#define NOPSCOPE_VERSION_MAJOR 0
/// Functions, fields and enumerators may be added with it. Below 1.0 they may go or change, too.
#define NOPSCOPE_VERSION_MINOR 2
/// Only corrections come with it.
#define NOPSCOPE_VERSION_PATCH 0
