// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/stream/session.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "host-tools/line/stream/hello_reader.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t waiting_limit_bytes = std::size_t{1} << 20;

// The longest time from the target's reading of its clock to the arrival of the frame's first byte.
// A pump that uses the whole line runs every 50 ms, and an adapter holds bytes for up to 16 ms.
constexpr std::uint64_t on_the_way_ns = 70'000'000;

bool is_known(protocol::Stream stream) {
    return stream >= protocol::Stream::hello && stream <= protocol::Stream::tasks &&
           stream != protocol::Stream::command;
}

// False: malformed.
bool read_info(std::span<const std::uint8_t> payload, std::uint16_t session, HelloInfo& info) {
    protocol::HelloFields<std::string>& fields = info;
    if (!read_any_hello(payload, fields)) return false;
    info.session = session;
    info.payload.assign(payload.begin(), payload.end());
    return true;
}

}  // namespace

std::uint64_t utc_now_ns() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
}

std::optional<HelloInfo> read_hello_info(std::span<const std::uint8_t> payload,
                                         std::uint16_t session) {
    HelloInfo info;
    if (!read_info(payload, session, info) || !is_known(info)) return std::nullopt;
    return info;
}

SessionReader::Core& SessionReader::core(unsigned number) {
    auto& core = cores_[number & 0xff];
    if (!core) core = std::make_unique<Core>();
    return *core;
}

std::uint64_t SessionReader::unused_frames() const {
    return done_.unknown_frames + done_.frames_without_hello + done_.malformed_frames +
           done_.undecoded_frames;
}

// Calls `use`, and passes the frame to on_unused() if `use` counted it as unused.
template <typename Use>
void SessionReader::use(const protocol::FrameHeader& header, std::span<const std::uint8_t> payload,
                        Use use) {
    const std::uint64_t before = unused_frames();
    use();
    if (unused_frames() != before) sink_.on_unused(header, payload);
}

void SessionReader::on_frame(const protocol::ParsedFrame& frame) {
    const bool known = is_known(frame.header.stream);
    if (known && (!open_ || frame.header.session != id_)) {
        end_session();
        begin_session(frame.header.session);
    }
    const bool had_hello = hello_seen_;
    use(frame.header, {frame.payload, frame.payload_bytes}, [&] {
        if (known) return on_known_frame(frame);
        ++done_.unknown_frames;
    });
    if (hello_seen_ && !had_hello) replay();
}

void SessionReader::on_known_frame(const protocol::ParsedFrame& frame) {
    ++done_.frames_by_stream[slot(frame.header.stream)];
    if (frame.header.stream == protocol::Stream::hello) return on_hello(frame);
    if (hello_seen_) return in_session(frame.header, frame.payload, frame.payload_bytes);
    if (ignored_ || !set_aside(frame)) ++done_.frames_without_hello;
}

void SessionReader::begin_session(std::uint16_t id) {
    open_ = true;
    id_ = id;
    done_.complete = false;
}

void SessionReader::on_hello(const protocol::ParsedFrame& frame) {
    if (ignored_) {
        ++done_.frames_without_hello;
        return;
    }
    HelloInfo info;
    if (!read_info({frame.payload, frame.payload_bytes}, frame.header.session, info)) {
        ++done_.malformed_frames;
        return;
    }
    if (!is_known(info)) {
        done_.refused_version = info.version;
        ignored_ = true;
        return;
    }
    if (hello_seen_) {
        const bool same = info.same_image(hello_);
        // A hello counts whatever its sequence number is, because its contents say which numbers
        // are valid.
        if (same && info.recovered) resume(info);
        if (order_of(frame.header, core(frame.header.core)) != Order::seen && !same)
            ++done_.malformed_frames;
        return;
    }
    if (first_ && !info.same_image(*first_)) {
        ++done_.other_image_sessions;
        ignored_ = true;
        return;
    }
    if (!first_) first_ = info;
    hello_ = std::move(info);
    hello_seen_ = true;
    ++done_.sessions;
    sink_.on_session(hello_);
    if (hello_.recovered) {
        hello_.recovered = false;
        resume(hello_);
    }
    order_of(frame.header, core(frame.header.core));
}

// Keeps a frame that came before its session's hello. False: there is no room.
bool SessionReader::set_aside(const protocol::ParsedFrame& frame) {
    const std::size_t bytes = protocol::frame_header_bytes + 2 + frame.payload_bytes;
    if (waiting_bytes_ + bytes > waiting_limit_bytes) return false;
    waiting_bytes_ += bytes;
    waiting_.push_back({frame.header, {frame.payload, frame.payload + frame.payload_bytes}});
    return true;
}

// The frames go without arrival times, because set_aside() does not keep these.
void SessionReader::replay() {
    arrival_.reset();
    for (const auto& [header, payload] : std::exchange(waiting_, {}))
        use(header, payload, [&] { in_session(header, payload.data(), payload.size()); });
}

void SessionReader::in_session(const protocol::FrameHeader& header, const std::uint8_t* payload,
                               std::size_t count) {
    if (header.core >= hello_.cores) {
        ++done_.malformed_frames;
        return;
    }
    Core& core = this->core(header.core);
    const Order order = order_of(header, core);
    if (order == Order::seen) {
        if (header.stream == protocol::Stream::trace) mind_repeated(core, header, {payload, count});
        return;
    }
    switch (header.stream) {
    case protocol::Stream::trace:
        if (order == Order::jumped) core.trace.lose();
        core.last_trace.assign(payload, payload + count);
        on_trace(header.core, core, payload, count);
        break;
    case protocol::Stream::stats: on_stats(header.core, core, payload, count); break;
    case protocol::Stream::profile:
        if (!sink_.on_profile(header.core, payload, count)) ++done_.malformed_frames;
        break;
    case protocol::Stream::profile_events:
        if (!sink_.on_profile_events(header.core, payload, count)) ++done_.malformed_frames;
        break;
    case protocol::Stream::moved:
        if (!sink_.on_moved(payload, count)) ++done_.malformed_frames;
        break;
    case protocol::Stream::tasks:
        if (!sink_.on_tasks(payload, count)) ++done_.malformed_frames;
        break;
    case protocol::Stream::console:
        sink_.on_console({reinterpret_cast<const char*>(payload), count});
        break;
    case protocol::Stream::reply: {
        protocol::Reply reply;
        if (protocol::read_reply(payload, count, reply)) {
            sink_.on_reply(reply);
        } else {
            ++done_.malformed_frames;
        }
        break;
    }
    case protocol::Stream::hello:
    case protocol::Stream::command: break;
    }
}

void SessionReader::on_trace(unsigned number, Core& core, const std::uint8_t* payload,
                             std::size_t count) {
    using Opened = protocol::TraceDecoder::Opened;
    const Opened opened = core.trace.open(payload, count);
    const protocol::GroupHeader& header = core.trace.header();
    const bool ahead = header.first_index > core.next_index;
    if (opened == Opened::malformed ||
        (ahead && header.first_index - core.next_index > index_jump_limit)) {
        core.trace.lose();
        ++done_.malformed_frames;
        return;
    }
    if (opened == Opened::skipped) {
        ++done_.undecoded_frames;
        return;
    }
    core.dropped = std::max(core.dropped, core.trace.dropped());
    core.overwritten = std::max(core.overwritten, header.overwritten);
    if (!deliver(number, core)) ++done_.malformed_frames;
}

// False: the frame is malformed at some point. The sink has the records before that point.
bool SessionReader::deliver(unsigned number, Core& core) {
    const protocol::GroupHeader& header = core.trace.header();
    const std::uint64_t first = core.trace.next_index();
    records_.resize(header.count);
    protocol::StampedRecord* end = records_.data();
    const bool ok = core.trace.read([&](protocol::Record record, std::uint64_t clock) {
        *end++ = {record, clock};
    });
    std::span<const protocol::StampedRecord> records(records_.data(), end);
    const std::uint64_t known = core.next_index > first ? core.next_index - first : 0;
    if (known != 0) {
        done_.repeated_records += std::min<std::uint64_t>(known, records.size());
        if (known >= records.size()) return ok;
        records = records.subspan(known);
    }
    const std::uint64_t missing = first + known - core.next_index;
    if (missing != 0) {
        ++core.gaps;
        const std::uint64_t to = records.empty() ? header.base : records.front().clock;
        const std::uint64_t overwritten =
            std::min(missing, core.overwritten - core.told.overwritten);
        tell_missing(number, core,
                     {.from = core.started ? core.clock : to,
                      .to = to,
                      .lost = missing - overwritten,
                      .overwritten = overwritten});
    }
    core.missing += missing;
    if (!records.empty()) {
        core.started = true;
        core.clock = records.back().clock;
    }
    core.delivered += records.size();
    core.next_index = first + known + records.size();
    sink_.on_trace(number, {.first_index = first + known,
                            .records = records,
                            .gap = missing != 0,
                            .context = header.context,
                            .base = header.base});
    return ok;
}

void SessionReader::on_stats(unsigned number, Core& core, const std::uint8_t* payload,
                             std::size_t count) {
    protocol::Stats stats;
    if (!protocol::read_stats(payload, count, stats)) {
        ++done_.malformed_frames;
        return;
    }
    tell_dropped(number, core, stats.now, std::max(core.dropped, stats.dropped));
    core.dropped = std::max(core.dropped, stats.dropped);
    core.overwritten = std::max(core.overwritten, stats.overwritten);
    if (stats.final == 1 && !core.is_final) ++finals_;
    core.is_final = core.is_final || stats.final == 1;
    core.has_stats = true;
    core.stats = stats;
    sink_.on_stats(number, stats);
    if (number == 0) tell_clock_pair(stats);
}

void SessionReader::tell_clock_pair(const protocol::Stats& stats) {
    if (!arrival_ || arrival_->from_ns > arrival_->to_ns || arrival_->from_ns < on_the_way_ns)
        return;
    const std::uint64_t earliest = arrival_->from_ns - on_the_way_ns;
    const std::uint64_t error = (arrival_->to_ns - earliest + 1) / 2;
    sink_.on_clock_pair({.clock = stats.now, .utc_ns = earliest + error, .error_ns = error});
}

void SessionReader::end_session() {
    if (!open_) return;
    if (hello_seen_) {
        for (unsigned number = 0; number < cores_.size(); ++number) {
            if (cores_[number]) tell_end(number, *cores_[number]);
        }
        done_ = counters();
        if (!done_.complete) ++done_.unfinished_sessions;
        sink_.on_session_end();
    } else {
        for (const auto& [header, payload] : waiting_) {
            ++done_.frames_without_hello;
            sink_.on_unused(header, payload);
        }
    }
    waiting_ = {};
    waiting_bytes_ = 0;
    cores_ = {};
    finals_ = 0;
    sequences_from_ = 0;
    jumps_ = {};
    jump_count_ = 0;
    open_ = hello_seen_ = ignored_ = false;
}

void SessionReader::finish() {
    deframer_.finish(*this);
    end_session();
}

}  // namespace nopscope::host
