// SPDX-License-Identifier: Apache-2.0
#include "host-tools/command/ending.hpp"

#include <algorithm>

#include "tracer/protocol/profile.hpp"

namespace nopscope::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kept_there[] =
    "what the target has counted since it was last read is not in the recording";

}  // namespace

void Ending::on_session(const HelloInfo& hello) {
    hello_ = hello;
    cores_ = {};
}

void Ending::on_trace(unsigned core, const TraceBatch& batch) {
    cores_[core & 0xff].next_index = batch.first_index + batch.records.size();
}

void Ending::on_stats(unsigned core, const protocol::Stats& stats) {
    cores_[core & 0xff].has_stats = true;
    cores_[core & 0xff].stats = stats;
}

bool Ending::on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) {
    const protocol::ProfileReader reader(payload, count);
    if (reader.ok() && reader.header().last) cores_[core & 0xff].read_out = reader.header().number;
    return true;
}

bool Ending::all(const std::function<bool(const Core&)>& is) const {
    return std::all_of(cores_.begin(), cores_.begin() + hello_->cores, is);
}

std::string Ending::unread() const {
    if (!hello_) return {};
    const bool kept = !all([](const Core& core) { return core.stats.profile == 0; });
    const bool read = !all([](const Core& core) { return core.read_out == 0; });
    if (!kept || read) return {};
    return "the target keeps a profile that was never read out, and takes no commands: have its "
           "firmware call "
           "send_profile() or finish(), or set Config::input or Config::profile_period_ms";
}

bool Ending::wait(const Line& line, const std::function<bool()>& came) const {
    std::uint64_t frames = line.frames();
    Clock::time_point last = Clock::now();
    while (!came()) {
        if (!line.turn()) return false;
        const auto now = Clock::now();
        if (line.frames() != frames) last = now;
        frames = line.frames();
        if (now - last > patience_.silence || now - begin_ > patience_.all) return false;
    }
    return true;
}

// The reply contains the clock, and for each core the index of the next record.
void Ending::stop(const Line& line) {
    const CommandClient::Bytes result = line.client.request(protocol::Command::stop);
    protocol::Reader in(result.data(), result.size());
    in.varint();
    const std::uint64_t cores = in.varint();
    for (std::uint64_t n = 0; n < cores && n < cores_.size() && in.ok(); ++n)
        cores_[n].to_come = in.varint();
}

void Ending::read_out(const Line& line) {
    const CommandClient::Bytes result = line.client.request(protocol::Command::send_profile);
    protocol::Reader in(result.data(), result.size());
    std::uint64_t number = in.varint();
    // An older target sends no number: expect the next one, if it ever sent any.
    if (!in.ok()) {
        number = cores_[0].read_out == 0 ? 0 : cores_[0].read_out + 1;
    }
    const bool came =
        wait(line, [&] { return all([&](const Core& core) { return core.read_out >= number; }); });
    if (!came) throw Error(std::string("the profile did not come whole: ") + kept_there);
}

// Returns whether the stats count all records from before the stop. Flight mode does not send the
// ring's contents.
bool Ending::counts_all(const Core& core) {
    constexpr std::uint64_t flight = 2;
    const protocol::Stats& stats = core.stats;
    return (stats.has_state && stats.mode == flight) ||
           stats.delivered + stats.overwritten >= core.to_come;
}

// Runs last: stats count all that came before. The target sends them before records that wait, so
// if records came after them, this takes them once more.
void Ending::take_stats(const Line& line) {
    for (bool is_first = true;; is_first = false) {
        const CommandClient::Bytes result = line.client.request(protocol::Command::stats);
        protocol::Reader in(result.data(), result.size());
        const std::uint64_t now = in.varint();
        if (!in.ok()) throw Error("the target's answer to `stats` makes no sense");
        const auto [sent, answered] = line.client.exchanged();
        if (is_first && answered >= sent) {
            const std::uint64_t error = (answered - sent + 1) / 2;
            line.tell({.clock = now, .utc_ns = sent + error, .error_ns = error, .exchanged = true});
        }
        const auto is_there = [now](const Core& core) {
            return core.has_stats && static_cast<std::int64_t>(core.stats.now - now) >= 0 &&
                   (core.next_index >= core.to_come || counts_all(core));
        };
        if (!wait(line, [&] { return all(is_there); }))
            throw Error("what the target had recorded before the end did not come whole");
        if (!is_first || all(counts_all)) return;
    }
}

std::string Ending::run(const Line& line, bool keep_tracing) {
    if (!hello_) return {};
    begin_ = Clock::now();
    try {
        if (!keep_tracing) stop(line);
        read_out(line);
        take_stats(line);
    } catch (const Error& error) {
        const std::string what = error.what();
        return what.ends_with(kept_there) ? what : what + "; " + kept_there;
    }
    return {};
}

}  // namespace nopscope::host
