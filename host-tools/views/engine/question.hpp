// SPDX-License-Identifier: Apache-2.0
// Members of a question (engine.hpp). An Error is a sentence about a wrong one.
#pragma once

#include <cstdint>
#include <string>

#include "host-tools/analysis/report/json.hpp"
#include "host-tools/base/result.hpp"

namespace nopscope::host {

// A member that is a whole number from `least` to `most`; `otherwise` if there is none.
Result<std::int64_t> whole(const Json& question, const char* name, std::int64_t least,
                           std::int64_t most, std::int64_t otherwise);
// A member that is a text; empty if there is none.
Result<std::string> text(const Json& question, const char* name);

}  // namespace nopscope::host
