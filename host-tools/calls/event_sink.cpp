// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/event_sink.hpp"

#include <fmt/format.h>

#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {

const char* left_text(Left how) {
    switch (how) {
    case Left::returned: return "returned";
    case Left::unwound: return "unwound";
    case Left::gap: return "gap";
    case Left::open: return "open";
    }
    return "unknown";
}

const char* times_text(TimeAxis axis) {
    switch (axis) {
    case TimeAxis::wall:
        return "times are raw: as recorded, with what recording took in them; (tracer) is the "
               "tracer's own time";
    case TimeAxis::without_tracer:
        return "times are raw: as recorded, with what recording took in them; the tracer's own "
               "time is cut out";
    }
    return "";
}

std::string time_pair_text(const TimePair& pair) {
    return fmt::format("{} ns is {} ns UTC, within {} ns", pair.time, pair.utc_ns, pair.error_ns);
}

std::string time_pair_json(const TimePair& pair) {
    return fmt::format(R"({{"ns":{},"utc_ns":{},"error_ns":{},"exchanged":{}}})", pair.time,
                       pair.utc_ns, pair.error_ns, pair.exchanged);
}

std::string track_name(const Track& track) {
    if (track.task != nullptr) return track.task->label;
    if (track.context == protocol::several_contexts)
        return fmt::format("core {}, several contexts", track.core);
    return fmt::format("core {}, context {}", track.core, track.context);
}

const char* captured_name(protocol::Architecture architecture, std::uint32_t what) {
    const auto& arguments = arch_of(architecture).arguments;
    return what < arguments.size() ? arguments[what] : "result";
}

std::string without_nul(std::string_view text) {
    std::string out;
    for (const char c : text) c == '\0' ? out += "\\x00" : out += c;
    return out;
}

std::string EventSink::left_out() const {
    struct Name {
        const char* one;
        const char* more;
    };
    static constexpr Name names[left_out_kinds] = {
        {"call without a time", "calls without a time"},
        {"call that was told whole", "calls that were told whole"},
        {"gap", "gaps"},
        {"mark", "marks"},
        {"counter value", "counter values"},
        {"captured value", "captured values"},
        {"sample", "samples"},
        {"piece of console", "pieces of console"},
        {"call's counts of events", "calls' counts of events"},
        {"time with interrupts masked", "times with interrupts masked"}};
    std::string text;
    for (std::size_t i = 0; i < left_out_kinds; ++i)
        add_count(text, left_out_[i], left_out_[i] == 1 ? names[i].one : names[i].more);
    return text;
}

}  // namespace nopscope::host
