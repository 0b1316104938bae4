// SPDX-License-Identifier: Apache-2.0
#include "host-tools/export/event_sink.hpp"

#include <fmt/format.h>

#include "host-tools/base/text.hpp"
#include "host-tools/profile/captured.hpp"

namespace nopscope {

const char* left_text(Left how) {
    switch (how) {
    case Left::returned:
        return "returned";
    case Left::unwound:
        return "unwound";
    case Left::gap:
        return "gap";
    case Left::open:
        return "open";
    }
    return "unknown";
}

std::string captured_name(std::uint32_t what) {
    return what == Captured::result ? "result" : fmt::format("x{}", what);
}

std::string EventSink::left_out() const {
    static constexpr const char* names[left_out_kinds] = {
        "calls without a time", "calls that were told whole", "gaps", "marks", "counter values",
        "captured values", "samples", "pieces of console"};
    std::string text;
    for (std::size_t i = 0; i < left_out_kinds; ++i) {
        if (left_out_[i] == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", with_commas(left_out_[i]), names[i]);
    }
    return text;
}

}  // namespace nopscope
