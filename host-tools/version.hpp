// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope {
inline constexpr char version_text[] = "0.1";
}
