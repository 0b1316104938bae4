// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope::host {
// As "0.2.0": CMakeLists.txt has it.
extern const char version_text[];
}
