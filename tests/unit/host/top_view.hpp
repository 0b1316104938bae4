// SPDX-License-Identifier: Apache-2.0
// The view of what a test's target has sent.
#pragma once

#include "host-tools/live/rates.hpp"
#include "tests/unit/host/target_stream.hpp"

namespace nopscope::host::test {

inline LiveView view_of(const TargetStream& target, const Symbols* symbols, std::uint64_t seconds) {
    LiveView view;
    view.profile = std::make_unique<Profile>();
    view.profile->count_durations();
    SessionReader reader(*view.profile);
    reader.feed(target.bytes);
    view.status.at = std::chrono::steady_clock::time_point(std::chrono::seconds(seconds));
    view.status.from = "unix:/tmp/target";
    view.status.state = LineState::running;
    view.status.line = reader.line();
    view.status.stream = reader.counters();
    view.status.hello = reader.hello();
    for (unsigned core = 0; core < reader.hello().cores; ++core) {
        view.status.cores.push_back(
            {.number = core, .records = reader.counters_of(core).delivered});
    }
    view.profile->on_session_end();
    view.target_ticks = view.profile->duration_ticks();
    for (CoreStatus& core : view.status.cores)
        core.busy_ticks = view.profile->self_ticks_of(core.number, {});
    view.report =
        make_report(*view.profile,
                    {.file = {}, .line = view.status.line, .stream = view.status.stream}, symbols);
    return view;
}

// The symbols of sites 1, 2, ... of the stream's image.
inline Symbols symbols_of(const TargetStream& target, const std::vector<std::string>& names) {
    Symbols symbols;
    symbols.build_id = target.build_id;
    symbols.site_table_crc = target.site_table_crc;
    for (std::size_t i = 0; i < names.size(); ++i) {
        symbols.sites.push_back(
            {TargetStream::text_base + (i + 1) * 8, 8, names[i], "src/main.c", 10});
    }
    return symbols;
}

}  // namespace nopscope::host::test
