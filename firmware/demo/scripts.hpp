// SPDX-License-Identifier: Apache-2.0
// scripts/*.lua, compiled in. Each checks itself with assert and returns one line to print.
#pragma once

#include <span>
#include <string_view>

struct Script {
    const char* name;
    std::string_view text;
};

extern const std::span<const Script> demo_scripts;
