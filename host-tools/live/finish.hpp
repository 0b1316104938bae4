// SPDX-License-Identifier: Apache-2.0
// The end of a recording beside a view: `-o` of `top` and `serve`.
#pragma once

#include <functional>

#include "host-tools/base/error.hpp"
#include "host-tools/live/live.hpp"

namespace nopscope::host {

// Reads out the target, ends the recording that is on, if one is, and says what the last one holds.
// `given_up`: true once a person does not wait for the target any longer. Throws Error: the
// recording is not whole, or nothing came that could be recorded.
Exit finish_recording(Live& live, const std::function<bool()>& given_up);

}  // namespace nopscope::host
