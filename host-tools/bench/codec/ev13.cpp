// SPDX-License-Identifier: Apache-2.0
#include "host-tools/bench/codec/ev13.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {
namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::uint64_t chunk_records = 1 << 16;
constexpr std::uint32_t index_mask = (1u << protocol::entry_index_bits) - 1;

}  // namespace

void Ev13::Stack::entry(std::uint32_t id, std::uint64_t index) {
    open.push_back({id, index});
    ++count[id];
}

bool Ev13::Stack::exit(std::uint32_t id, std::uint64_t& index) {
    // Avoids the look-up in the usual case.
    if (open.empty() || (open.back().id != id && count[id] == 0)) return false;
    for (bool found = false; !found;) {
        found = open.back().id == id;
        index = open.back().index;
        --count[open.back().id];
        open.pop_back();
    }
    return true;
}

Ev13::Ev13(std::span<const std::uint8_t> bytes, std::uint64_t tick_hz)
    : bytes_(bytes), tick_hz_(tick_hz) {
    if (bytes.size() % ev13_bytes != 0) {
        throw Error(fmt::format("its size is not a multiple of {} bytes", ev13_bytes));
    }
    Stack stack;
    for (std::uint64_t i = 0; i < events(); ++i) {
        const CallEvent of = event(i);
        std::uint64_t index = 0;
        if (of.type > 2) throw Error(fmt::format("event {} has type {}", i, of.type));
        if ((of.id >> protocol::payload_bits) != 0) {
            throw Error(
                fmt::format("event {} has a function id above 2^{}", i, protocol::payload_bits));
        }
        if (of.type == 0) {
            stack.entry(of.id, i);
        } else if (!stack.exit(of.id, index)) {
            entered_before_.push_back(of.id);
        }
    }
}

CallEvent Ev13::event(std::uint64_t number) const {
    protocol::Reader in(bytes_.data() + number * ev13_bytes, ev13_bytes);
    CallEvent result;
    result.type = in.fixed<std::uint8_t>();
    result.id = in.fixed<std::uint32_t>();
    const auto ns = in.fixed<std::uint64_t>();
    result.ticks = ns / ns_per_second * tick_hz_ + ns % ns_per_second * tick_hz_ / ns_per_second;
    return result;
}

StampedRecord Ev13::convert(std::uint64_t index) {
    const std::uint64_t before = entered_before_.size();
    if (index < before) {
        const std::uint64_t clock = event(0).ticks;
        return {protocol::make_record(protocol::Kind::entry, entered_before_[before - 1 - index],
                                      clock),
                clock};
    }
    const CallEvent of = event(index - before);
    if (of.type == 0) {
        stack_.entry(of.id, index);
        return {protocol::make_record(protocol::Kind::entry, of.id, of.ticks), of.ticks};
    }
    std::uint64_t entry = 0;
    if (!stack_.exit(of.id, entry)) entry = before - 1 - ended_before_++;
    const std::uint32_t unwound = of.type == 2 ? 1 : 0;
    const auto payload = (static_cast<std::uint32_t>(entry) & index_mask) << 1 | unwound;
    return {protocol::make_record(protocol::Kind::ret, payload, of.ticks), of.ticks};
}

std::span<const StampedRecord> Ev13::next() {
    chunk_.clear();
    const std::uint64_t end = std::min(records(), converted_ + chunk_records);
    while (converted_ < end) chunk_.push_back(convert(converted_++));
    return chunk_;
}

}  // namespace nopscope::host
