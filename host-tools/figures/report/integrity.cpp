// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/integrity.hpp"

#include <algorithm>

#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {
namespace {

// Checks the functions of the trace, of the profile, and those that moved between the two.
std::uint64_t unknown_sites_of(const Profile& profile, const Symbols* symbols) {
    if (!profile.hello()) return 0;
    std::set<std::uint32_t> offsets;
    for (std::uint32_t number = FunctionTable::none + 1; number < profile.functions().size();
         ++number) {
        offsets.insert(profile.functions().offset(number));
    }
    for (const auto& [offset, times] : profile.on_target().functions()) offsets.insert(offset);
    for (const auto& [offset, events] : profile.events_on_target().functions())
        offsets.insert(offset);
    for (const MoveEvent& event : profile.moved().events()) offsets.insert(event.site_offset);
    return unknown_sites(offsets, *profile.hello(), symbols);
}

}  // namespace

std::uint64_t unknown_sites(const std::set<std::uint32_t>& offsets, const HelloInfo& hello,
                            const Symbols* symbols) {
    const Places places{hello, symbols};
    const auto functions = static_cast<std::uint64_t>(
        std::ranges::count_if(offsets, [](std::uint32_t offset) { return !is_interrupt(offset); }));
    if (symbols == nullptr) return functions - std::min<std::uint64_t>(functions, hello.site_count);
    return static_cast<std::uint64_t>(std::ranges::count_if(offsets, [&](std::uint32_t offset) {
        return !is_interrupt(offset) && places.function(offset) == nullptr;
    }));
}

Integrity integrity_of(const Profile& profile, const nsc::Counters& counters,
                       const Symbols* symbols) {
    const auto& [file, line, stream] = counters;
    const DecoderCounters& decoder = profile.decoder();
    Integrity result;
    result.items = {
        {"generated", stream.generated, false},
        {"delivered", stream.delivered, false},
        {"dropped", stream.dropped, true},
        {"overwritten", stream.overwritten, false},
        {"aggregated", stream.aggregated, false},
        {"filtered", stream.filtered, false},
        {"lost", stream.lost, true},
        {"corrupt_frames", line.corrupt_frames, true},
        {"gaps", stream.gaps, true},
        {"lost_frames", stream.lost_frames, true},
        {"duplicate_frames", stream.duplicate_frames, true},
        {"undecoded_frames", stream.undecoded_frames, true},
        {"repeated_records", stream.repeated_records, false},
        {"malformed_frames", stream.malformed_frames, true},
        {"unknown_frames", stream.unknown_frames, false},
        {"frames_without_hello", stream.frames_without_hello, true},
        {"unfinished_sessions", stream.unfinished_sessions, true},
        {"recovered_sessions", stream.recovered_sessions, false},
        {"other_image_sessions", stream.other_image_sessions, true},
        {"inconsistent_cores", stream.inconsistent, true},
        {"stray_zeros", line.stray_zeros, false},
        {"raw_bytes", line.raw_bytes, true},
        {"cut_bytes", line.cut_bytes, true},
        {"lead_bytes", line.lead_bytes, false},
        {"unknown_sites", unknown_sites_of(profile, symbols), true},
        {"orphan_returns", decoder.orphan_returns, true},
        {"too_deep", decoder.too_deep, true},
        {"unknown_records", decoder.unknown_records, false},
        {"shadow_stack_full", stream.shadow_stack_full, true},
        {"off_stack", stream.off_stack, true},
        {"stray_returns", stream.stray_returns, true},
        {"undeferred", stream.undeferred, true},
        {"console_dropped", stream.console_dropped, true},
        {"commands_refused", stream.commands_refused, false},
        {"incomplete_profiles", profile.on_target().incomplete(), true},
        {"damaged_chunks", file.damaged_chunks, true},
        {"skipped_bytes", file.skipped_bytes, true},
        {"cut_chunk_bytes", file.cut_bytes, true},
        {"unknown_chunks", file.unknown_chunks, false},
    };
    result.at_least = stream.generated_at_least != 0;
    result.complete = stream.complete && stream.refused_version == 0;
    result.clean = result.complete &&
                   std::none_of(result.items.begin(), result.items.end(),
                                [](const auto& item) { return item.spoils && item.value != 0; });
    return result;
}

std::uint64_t Integrity::value(std::string_view name) const {
    for (const IntegrityItem& item : items) {
        if (item.name == name) return item.value;
    }
    return 0;
}

void add_missing(Report& report, const Profile& profile) {
    const auto ns = [&](std::uint64_t ticks) { return ticks_to_ns(ticks, report.clock_hz); };
    for (const auto& [part, core, session] : profile.missing()) {
        report.missing.push_back(
            {session, core, ns(part.from), ns(part.to), part.lost, part.overwritten, part.dropped});
    }
}

Loss loss_of(const Report& report) {
    Loss loss{.events = report.integrity.value("generated"),
              .dropped = report.integrity.value("dropped"),
              .lost = report.integrity.value("lost"),
              .unhooked = report.integrity.value("shadow_stack_full"),
              .helps = {}};
    if (loss.dropped != 0) {
        if (!report.adaptive) loss.helps.emplace_back("--mode adaptive");
        loss.helps.emplace_back("--trace GLOB");
        loss.helps.emplace_back("--recorder profile");
        if (!report.lossless) loss.helps.emplace_back("--mode lossless");
    }
    if (loss.lost != 0) loss.helps.emplace_back("a line with fewer errors");
    if (loss.unhooked != 0) loss.helps.emplace_back("a firmware with more NOPSCOPE_SHADOW_FRAMES");
    return loss;
}

}  // namespace nopscope::host
