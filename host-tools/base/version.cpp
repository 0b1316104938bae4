// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/version.hpp"

namespace nopscope::host {
// CMake defines it for this file only, so a new version compiles no other file again.
const char version_text[] = NOPSCOPE_VERSION_TEXT;
}  // namespace nopscope::host
