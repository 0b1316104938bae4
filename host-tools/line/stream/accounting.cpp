// SPDX-License-Identifier: Apache-2.0
// Counts what a session lacks, in total and by time.
#include <algorithm>

#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

namespace {

// True if the target recorded only returns of open calls after these stats.
bool is_last_word(const protocol::Stats& stats) {
    return stats.final == 1 || stats.stopped_at != 0;
}

}  // namespace

// Adds up one core's session as if it ended now.
void SessionReader::account(const Core& core, StreamCounters& sum) {
    std::uint64_t missing = core.missing;
    sum.gaps += core.gaps;
    std::uint64_t elsewhere = 0;  // calls without a record, except dropped ones
    bool is_said = false;         // the target's count of generated records covers all that arrived
    if (core.has_stats) {
        const protocol::Stats& stats = core.stats;
        elsewhere = stats.aggregated + stats.filtered;
        // Records that had left the ring by then. In final stats these are all records.
        const std::uint64_t end = stats.delivered + stats.overwritten;
        std::uint64_t missing_at_end = 0;
        if (end > core.next_index && end - core.next_index <= index_jump_limit) {
            missing_at_end = end - core.next_index;
            ++sum.gaps;
        }
        missing += missing_at_end;
        const bool agrees = end == core.next_index + missing_at_end &&
                            stats.generated == end + stats.dropped + elsewhere &&
                            stats.dropped == core.dropped;
        if (core.is_final && !agrees) ++sum.inconsistent;
        // After the stats that follow a stop, a return may still have been dropped. Then the target
        // has generated more records than the stats say.
        is_said = is_last_word(stats) && core.next_index <= end && (agrees || core.is_final);
        sum.shadow_stack_full += stats.shadow_stack_full;
        sum.off_stack += stats.off_stack;
        sum.stray_returns += stats.stray_returns;
        sum.undeferred += stats.undeferred;
        sum.console_dropped += stats.console_dropped;
        sum.commands_refused += stats.commands_refused;
        sum.aggregated += stats.aggregated;
        sum.filtered += stats.filtered;
    }
    const std::uint64_t overwritten = std::min(core.overwritten, missing);
    sum.delivered += core.delivered;
    sum.dropped += core.dropped;
    sum.overwritten += overwritten;
    sum.lost += missing - overwritten;
    const std::uint64_t known = core.delivered + missing + core.dropped + elsewhere;
    sum.generated += is_said ? core.stats.generated : known;
    sum.generated_at_least += !is_said && core.has_frames();
}

StreamCounters SessionReader::counters() const {
    StreamCounters sum = done_;
    if (!hello_seen_) return sum;
    sum.complete = recording_is_over();
    for (const auto& core : cores_) {
        if (core) account(*core, sum);
    }
    return sum;
}

StreamCounters SessionReader::counters_of(unsigned number) const {
    StreamCounters counters;
    if (const auto& core = cores_[number & 0xff]) account(*core, counters);
    return counters;
}

std::optional<SessionReader::Position> SessionReader::position_of(unsigned number) const {
    const auto& core = cores_[number & 0xff];
    if (!core) return std::nullopt;
    return Position{core->next_index, core->clock};
}

void SessionReader::tell_missing(unsigned number, Core& core, MissingPart part) {
    core.told.lost += part.lost;
    core.told.overwritten += part.overwritten;
    core.told.dropped += part.dropped;
    if (part.lost + part.overwritten + part.dropped != 0) sink_.on_missing(number, part);
}

// Reports the drops since the previous stats frame; their exact time is not known.
void SessionReader::tell_dropped(unsigned number, Core& core, std::uint64_t now,
                                 std::uint64_t dropped) {
    const std::uint64_t from = core.has_stats ? core.told.to : 0;  // 0: the begin of the session
    tell_missing(number, core, {.from = from, .to = now, .dropped = dropped - core.told.dropped});
    core.told.to = now;
}

// Reports what was lost after the last record and the last stats frame.
void SessionReader::tell_end(unsigned number, Core& core) {
    StreamCounters sum;
    account(core, sum);
    // Outside data may decrease.
    const auto beyond = [](std::uint64_t all, std::uint64_t told) {
        return all > told ? all - told : 0;
    };
    const std::uint64_t now = std::max(core.clock, core.has_stats ? core.stats.now : 0);
    tell_dropped(number, core, now, core.dropped);
    tell_missing(number, core,
                 {.from = core.started ? core.clock : now,
                  .to = now,
                  .lost = beyond(sum.lost, core.told.lost),
                  .overwritten = beyond(sum.overwritten, core.told.overwritten)});
}

}  // namespace nopscope::host
