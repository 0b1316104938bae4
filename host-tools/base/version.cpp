// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/version.hpp"

namespace nopscope::host {
// CMake gives it to this file alone: another version compiles no other file again.
const char version_text[] = NOPSCOPE_VERSION_TEXT;
}
