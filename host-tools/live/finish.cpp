// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/finish.hpp"

#include <fmt/format.h>

#include "host-tools/base/say.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {

Exit finish_recording(Live& live, const std::function<bool()>& given_up) {
    ControlAnswer ended;
    if (live.status().recording.on) {
        ended = live.end_recording(given_up);
        if (!ended.text.empty()) say(ended.text);
    }
    SideRecording of = live.status().recording;  // the end of the line may have ended it
    if (of.on) of = live.stop_recording();
    if (!of.error.empty()) throw Error(of.error);
    if (!of.path.empty()) {
        say(fmt::format("{}: {} bytes, from {} bytes of the line; {} events", of.path,
                        with_commas(of.file_bytes), with_commas(of.line_bytes),
                        with_commas(of.records)));
    }
    return ended.status;
}

}  // namespace nopscope::host
