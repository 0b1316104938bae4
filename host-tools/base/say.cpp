// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/say.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "host-tools/base/text.hpp"

namespace nopscope::host {

void say(const std::string& sentence) {
    fmt::print(stderr, "nopscope: {}\n", for_terminal(sentence));
}

}  // namespace nopscope::host
