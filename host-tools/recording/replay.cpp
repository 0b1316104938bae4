// SPDX-License-Identifier: Apache-2.0
#include "host-tools/recording/replay.hpp"

#include <algorithm>

namespace nopscope::host::nsc {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads a list that begins with its length. Ignores further elements than the `known` ones.
template <typename Take>
void read_list(protocol::Reader& in, std::size_t known, Take take) {
    const std::uint64_t count = in.varint();
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        const std::uint64_t value = in.varint();
        if (i < known) take(static_cast<std::size_t>(i), value);
    }
}

}  // namespace

bool Replay::chunk(Type type, Bytes payload) {
    if (type == Type::session) return session({payload.data(), payload.size()});
    if (type == Type::counters) return counters({payload.data(), payload.size()});
    const auto body = decompress_(payload);
    if (!body) return false;
    if (type == Type::trace) return trace(*body);
    return items({body->data(), body->size()});
}

bool Replay::session(protocol::Reader in) {
    const std::uint64_t number = in.varint();
    const auto id = static_cast<std::uint16_t>(in.varint());
    const std::size_t count = in.left();
    const auto hello = read_hello_info({in.bytes(count), count}, id);
    if (!in.ok() || number <= session_ || !hello) return false;
    end_session();
    open_ = true;
    session_ = number;
    ++sessions_;
    hello_cores_ = hello->cores;
    sink_.on_session(*hello);
    return true;
}

void Replay::end_session() {
    if (open_) sink_.on_session_end();
    open_ = false;
    cores_ = {};
    started_ = 0;
}

bool Replay::trace(Bytes body) {
    if (!block_.open(body)) return false;
    const BlockHeader& header = block_.header();
    // The session's hello is damaged: its records are lost.
    if (!open_ || header.session != session_) return true;
    if (header.core >= hello_cores_) return false;
    Core& core = cores_[header.core];
    if (only_first_ && core.next_index != 0) return true;
    // How many records came before the block, and how many should have come.
    const std::uint64_t before = core.next_index - core.missing;
    const std::uint64_t wanted = header.first_index - header.missing;
    if (header.first_index < core.next_index || wanted < before) return false;
    if (wanted != before) {
        ++gaps_;
        sink_.on_missing(header.core, {.from = core.next_index != 0 ? core.clock : header.base,
                                       .to = header.base,
                                       .lost = wanted - before});
    }
    const bool gap = header.first_index != core.next_index;
    bool first = true;
    started_ += core.next_index == 0 ? 1 : 0;
    for (TraceBatch batch = block_.next(); !batch.records.empty(); batch = block_.next()) {
        if (first && gap) {
            batch.gap = true;
            batch.context = header.context;
            batch.base = header.base;
        }
        core.missing =
            first ? header.missing : core.missing + (batch.first_index - core.next_index);
        first = false;
        records_ += batch.records.size();
        core.next_index = block_.next_index();
        core.clock = batch.records.back().clock;
        sink_.on_trace(header.core, batch);
        if (only_first_) break;
    }
    return block_.ok();
}

bool Replay::items(protocol::Reader in) {
    const bool in_session = in.varint() == session_ && open_;
    bool good = true;
    while (in.left() != 0) {
        const auto what = static_cast<Item>(in.fixed<std::uint8_t>());
        const auto core = in.fixed<std::uint8_t>();
        const std::uint64_t count = in.varint();
        if (!in.ok() || count > in.left()) return false;
        good &= item(what, core, {in.bytes(count), static_cast<std::size_t>(count)}, in_session);
    }
    return good && in.ok();
}

bool Replay::item(Item what, unsigned core, Bytes bytes, bool in_session) {
    const bool is_frame = what == Item::stats || what == Item::profile ||
                          what == Item::profile_events || what == Item::moved ||
                          what == Item::tasks || what == Item::reply;
    // No target sends such a frame.
    if (is_frame &&
        (bytes.size() > protocol::max_payload_bytes || (in_session && core >= hello_cores_)))
        return false;
    switch (what) {
    case Item::stats: {
        protocol::Stats stats;
        if (!protocol::read_stats(bytes.data(), bytes.size(), stats)) return false;
        if (in_session) sink_.on_stats(core, stats);
        return true;
    }
    case Item::missing: {
        protocol::Reader in(bytes.data(), bytes.size());
        MissingPart part;
        for (const auto field : missing_fields) part.*field = in.varint();
        if (in.ok() && in_session) sink_.on_missing(core, part);
        return in.ok();
    }
    case Item::clock_pair: {
        protocol::Reader in(bytes.data(), bytes.size());
        ClockPair pair;
        pair.clock = in.varint();
        pair.utc_ns = in.varint();
        pair.error_ns = in.varint();
        pair.exchanged = in.varint() != 0;
        if (in.ok() && in_session) sink_.on_clock_pair(pair);
        return in.ok();
    }
    case Item::reply: {
        protocol::Reply reply;
        if (!protocol::read_reply(bytes.data(), bytes.size(), reply)) return false;
        if (in_session) sink_.on_reply(reply);
        return true;
    }
    case Item::profile:
        // The recorder did not check the payload of this and the next three.
        if (in_session && !sink_.on_profile(core, bytes.data(), bytes.size())) ++malformed_;
        return true;
    case Item::profile_events:
        if (in_session && !sink_.on_profile_events(core, bytes.data(), bytes.size())) ++malformed_;
        return true;
    case Item::moved:
        if (in_session && !sink_.on_moved(bytes.data(), bytes.size())) ++malformed_;
        return true;
    case Item::tasks:
        if (in_session && !sink_.on_tasks(bytes.data(), bytes.size())) ++malformed_;
        return true;
    case Item::console: sink_.on_console(text_of(bytes)); return true;
    case Item::raw_text: sink_.on_raw_text(text_of(bytes)); return true;
    case Item::corrupt: sink_.on_corrupt(bytes); return true;
    case Item::unused: {
        protocol::Reader in(bytes.data(), bytes.size());
        protocol::FrameHeader header;
        header.stream = static_cast<protocol::Stream>(in.fixed<std::uint8_t>());
        header.core = in.fixed<std::uint8_t>();
        header.session = in.fixed<std::uint16_t>();
        header.sequence = in.fixed<std::uint32_t>();
        if (!in.ok()) return false;
        sink_.on_unused(header, bytes.subspan(protocol::frame_header_bytes));
        return true;
    }
    }
    return true;  // an item of a later version
}

bool Replay::counters(protocol::Reader in) {
    in.fixed<std::uint64_t>();  // unix_ns
    LineCounters line;
    StreamCounters stream;
    read_list(in, std::size(line_fields),
              [&](std::size_t i, std::uint64_t value) { line.*line_fields[i] = value; });
    bool says_at_least = false;
    read_list(in, std::size(stream_fields), [&](std::size_t i, std::uint64_t value) {
        stream.*stream_fields[i] = value;
        says_at_least |= stream_fields[i] == &StreamCounters::generated_at_least;
    });
    read_list(in, stream.frames_by_stream.size(),
              [&](std::size_t i, std::uint64_t value) { stream.frames_by_stream[i] = value; });
    stream.complete = in.varint() != 0;
    stream.refused_version = static_cast<std::uint16_t>(in.varint());
    if (!in.ok()) return false;
    // Older recorders do not write it: their count is a lower bound if a session is unfinished.
    if (!says_at_least)
        stream.generated_at_least = !stream.complete || stream.unfinished_sessions != 0;
    line_ = line;
    stream_ = stream;
    return true;
}

void Replay::finish() {
    end_session();
    if (stream_.delivered > records_) {
        stream_.lost += stream_.delivered - records_;
    } else if (stream_.delivered != records_) {
        stream_.generated += records_ - stream_.delivered;
        stream_.generated_at_least = std::max<std::uint64_t>(stream_.generated_at_least, 1);
    }
    stream_.delivered = records_;
    stream_.gaps += gaps_;
    stream_.malformed_frames += malformed_;
    stream_.sessions = std::max(stream_.sessions, sessions_);
}

}  // namespace nopscope::host::nsc
