// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope::host {
// For example "0.2.0", from CMakeLists.txt.
extern const char version_text[];
}  // namespace nopscope::host
