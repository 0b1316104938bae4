// SPDX-License-Identifier: Apache-2.0
#include "host-tools/recording/journal.hpp"

#include <algorithm>

#include "host-tools/base/or_throw.hpp"

namespace nopscope::host::nsc {
namespace {

constexpr std::size_t max_items_bytes = std::size_t{1} << 20;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

void Journal::on_session(const HelloInfo& hello) {
    write_blocks();
    write_items();
    cores_ = {};
    ++session_;
    body_.clear();
    body_.varint(session_).varint(hello.session).raw(bytes_of(hello.payload));
    file_.chunk(Type::session, body_.bytes());
}

void Journal::begin_at(unsigned number, std::uint64_t index, std::uint64_t clock,
                       std::uint32_t context) {
    auto& core = cores_[number & 0xff] = std::make_unique<Core>();
    core->next_index = core->missing = index;
    core->context = context;
    core->clock = clock;
}

void Journal::begin_after(const Journal& before) {
    for (unsigned number = 0; number < before.cores_.size(); ++number) {
        const auto& core = before.cores_[number];
        if (core) begin_at(number, core->next_index, core->clock, core->context);
    }
}

void Journal::on_trace(unsigned number, const TraceBatch& batch) {
    auto& slot = cores_[number & 0xff];
    if (!slot) slot = std::make_unique<Core>();
    Core& core = *slot;
    if (batch.gap) {
        core.context = batch.context;
        core.clock = batch.base;
    }
    if (batch.records.empty()) return;
    const std::uint64_t missing = batch.first_index - core.next_index;
    core.missing += missing;
    core.header.session = session_;
    core.header.core = number & 0xff;
    if (!core.records.empty() && missing != 0) {
        core.header.gaps.push_back({core.records.size(), missing, core.context, core.clock});
    }
    std::uint64_t index = batch.first_index;
    for (auto records = batch.records; !records.empty();) {
        const auto count = std::min(max_block_records - core.records.size(), records.size());
        add(core, index, records.first(count));
        index += count;
        records = records.subspan(count);
    }
}

void Journal::add(Core& core, std::uint64_t index,
                  std::span<const protocol::StampedRecord> records) {
    if (core.records.empty()) {
        core.header.first_index = index;
        core.header.missing = core.missing;
        core.header.context = core.context;
        core.header.base = core.clock;
    }
    for (const protocol::StampedRecord& each : records) {
        if (each.record.is(protocol::Extended::context)) core.context = each.record.argument();
    }
    core.records.insert(core.records.end(), records.begin(), records.end());
    core.clock = records.back().clock;
    core.next_index = index + records.size();
    if (core.records.size() == max_block_records) write_block_of(core);
}

void Journal::write_block_of(Core& core) {
    if (core.records.empty()) return;
    body_.clear();
    write_block(core.header, core.records, body_);
    file_.chunk(Type::trace, or_throw(compress_(body_.bytes())));
    core.records.clear();
    core.header.gaps.clear();
}

void Journal::write_blocks() {
    for (const auto& core : cores_) {
        if (core) write_block_of(*core);
    }
}

void Journal::item(Item what, unsigned core, std::span<const std::uint8_t> bytes) {
    if (items_.bytes().empty()) items_.varint(session_);
    items_.fixed(static_cast<std::uint8_t>(what)).fixed(static_cast<std::uint8_t>(core));
    items_.varint(bytes.size()).raw(bytes);
    if (items_.bytes().size() >= max_items_bytes) write_items();
}

void Journal::write_items() {
    if (items_.bytes().empty()) return;
    file_.chunk(Type::items, or_throw(compress_(items_.bytes())));
    items_.clear();
}

void Journal::on_missing(unsigned core, const MissingPart& part) {
    Payload payload;
    for (const auto field : missing_fields) payload.varint(part.*field);
    item(Item::missing, core, payload.bytes());
}

void Journal::on_stats(unsigned core, const protocol::Stats& stats) {
    protocol::Byte payload[protocol::max_stats_bytes];
    item(Item::stats, core, {payload, protocol::write_stats(stats, payload)});
}

void Journal::on_clock_pair(const ClockPair& pair) {
    Payload payload;
    payload.varint(pair.clock).varint(pair.utc_ns).varint(pair.error_ns).varint(pair.exchanged);
    item(Item::clock_pair, 0, payload.bytes());
}

bool Journal::on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) {
    item(Item::profile, core, {payload, count});
    return true;
}

bool Journal::on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) {
    item(Item::profile_events, core, {payload, count});
    return true;
}

bool Journal::on_moved(const std::uint8_t* payload, std::size_t count) {
    item(Item::moved, 0, {payload, count});
    return true;
}

bool Journal::on_tasks(const std::uint8_t* payload, std::size_t count) {
    item(Item::tasks, 0, {payload, count});
    return true;
}

void Journal::on_reply(const protocol::Reply& reply) {
    Payload payload;
    payload.fixed(reply.number).fixed(static_cast<std::uint8_t>(reply.what));
    payload.fixed(static_cast<std::uint8_t>(reply.answer)).raw({reply.result, reply.result_bytes});
    item(Item::reply, 0, payload.bytes());
}

void Journal::on_console(std::string_view text) { item(Item::console, 0, bytes_of(text)); }
void Journal::on_raw_text(std::string_view text) { item(Item::raw_text, 0, bytes_of(text)); }
void Journal::on_corrupt(std::span<const std::uint8_t> chunk) { item(Item::corrupt, 0, chunk); }

void Journal::on_unused(const protocol::FrameHeader& header,
                        std::span<const std::uint8_t> payload) {
    Payload frame;
    frame.fixed(static_cast<std::uint8_t>(header.stream)).fixed(header.core);
    frame.fixed(header.session).fixed(header.sequence).raw(payload);
    item(Item::unused, header.core, frame.bytes());
}

void Journal::flush(const LineCounters& line, const StreamCounters& stream, std::uint64_t unix_ns) {
    write_blocks();
    write_items();
    file_.check();
    if (line == line_ && stream == stream_) return;
    line_ = line;
    stream_ = stream;
    body_.clear();
    body_.fixed(unix_ns).varint(std::size(line_fields));
    for (const auto field : line_fields) body_.varint(line.*field);
    body_.varint(std::size(stream_fields));
    for (const auto field : stream_fields) body_.varint(stream.*field);
    body_.varint(stream.frames_by_stream.size());
    for (const std::uint64_t frames : stream.frames_by_stream) body_.varint(frames);
    body_.varint(stream.complete).varint(stream.refused_version);
    file_.chunk(Type::counters, body_.bytes());
    file_.check();
}

}  // namespace nopscope::host::nsc
