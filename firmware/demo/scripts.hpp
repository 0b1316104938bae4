// SPDX-License-Identifier: Apache-2.0
// scripts/*.lua, compiled in. A script asserts its results and returns a line to print.
#pragma once

#include <span>
#include <string_view>

struct Script {
    const char* name;
    std::string_view text;
};

extern const std::span<const Script> demo_scripts;
