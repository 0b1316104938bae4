// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nopscope::host {

// Of a command: for the end of its --help, and its man page. Each line is a command that makes sense as it is.
std::string examples_of(const std::string& command);

}  // namespace nopscope::host
