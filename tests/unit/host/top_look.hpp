// SPDX-License-Identifier: Apache-2.0
// A look at what a test's target has sent.
#pragma once

#include "host-tools/live/rates.hpp"
#include "tests/unit/host/target_stream.hpp"

namespace nopscope::host::test {

inline Look look_at(const TargetStream& target, const Symbols* symbols, std::uint64_t seconds) {
    Look look;
    look.profile = std::make_unique<Profile>();
    look.profile->count_durations();
    SessionReader reader(*look.profile);
    reader.feed(target.bytes);
    look.status.at = std::chrono::steady_clock::time_point(std::chrono::seconds(seconds));
    look.status.from = "unix:/tmp/target";
    look.status.state = LineState::running;
    look.status.line = reader.line();
    look.status.stream = reader.counters();
    look.status.hello = reader.hello();
    for (unsigned core = 0; core < reader.hello().cores; ++core) {
        look.status.cores.push_back({.number = core, .records = reader.counters_of(core).delivered});
    }
    look.profile->on_session_end();
    look.target_ticks = look.profile->duration_ticks();
    for (CoreStatus& core : look.status.cores) core.busy_ticks = look.profile->self_ticks_of(core.number, {});
    look.report = make_report(*look.profile, {.file = {}, .line = look.status.line, .stream = look.status.stream},
                              symbols);
    return look;
}

// Of sites 1, 2, ...; the image is the stream's.
inline Symbols symbols_of(const TargetStream& target, const std::vector<std::string>& names) {
    Symbols symbols;
    symbols.build_id = target.build_id;
    symbols.site_table_crc = target.site_table_crc;
    for (std::size_t i = 0; i < names.size(); ++i) {
        symbols.sites.push_back({TargetStream::text_base + (i + 1) * 8, 8, names[i], "src/main.c", 10});
    }
    return symbols;
}

}  // namespace nopscope::host::test
