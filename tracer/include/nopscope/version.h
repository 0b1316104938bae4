// SPDX-License-Identifier: Apache-2.0
/// \file
/// The library's version, for C, C++ and the preprocessor. docs/versions.md explains its parts.
#pragma once

// CMakeLists.txt has the same version: tests/rules/version_rules.py compares them.

/// The whole version: "MAJOR.MINOR.PATCH".
#define NOPSCOPE_VERSION "0.2.0"
/// It rises when functions are removed or changed.
#define NOPSCOPE_VERSION_MAJOR 0
/// It rises when functions, fields or enumerators are added; below 1.0 also if removed or changed.
#define NOPSCOPE_VERSION_MINOR 2
/// It rises when only errors are corrected.
#define NOPSCOPE_VERSION_PATCH 0
