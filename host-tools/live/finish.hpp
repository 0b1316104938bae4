// SPDX-License-Identifier: Apache-2.0
// `top -o` and `serve -o`: ends the recording when the view ends.
#pragma once

#include <functional>

#include "host-tools/base/error.hpp"
#include "host-tools/live/live.hpp"

namespace nopscope::host {

// Ends the recording, if one is on: the target stops and sends what it has counted. Then says what
// the last recording holds. `given_up` returns true when a person no longer waits for the target.
// Throws Error if the recording is not whole, or if nothing could be recorded.
Exit finish_recording(Live& live, const std::function<bool()>& given_up);

}  // namespace nopscope::host
