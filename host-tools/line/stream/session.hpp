// SPDX-License-Identifier: Apache-2.0
// Frames -> sessions -> streams in order (docs/trace-format.md, "What a reader does").
//
// A session is one boot of the target. Frames wait in a bounded buffer for their session's hello.
// Then the reader orders each stream of each core by sequence number and record index. It counts
// gaps. It counts and ignores repeated frames and records. The sink gets valid data in order.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/line/stream/deframer.hpp"
#include "tracer/protocol/command.hpp"
#include "tracer/protocol/hello.hpp"
#include "tracer/protocol/stats.hpp"
#include "tracer/protocol/trace_group.hpp"

namespace nopscope::host {

// A session's hello. It owns its texts.
struct HelloInfo : protocol::HelloFields<std::string> {
    std::uint16_t session = 0;
    std::string payload;  // all bytes of the hello, as received

    void take_overheads(const HelloInfo& other) {
        calibrated = other.calibrated;
        landing_pad = other.landing_pad;
        overheads = other.overheads;
    }
    // The target measures the rate of the PMU's clock at each boot, so that rate may differ.
    bool same_image(const HelloInfo& other) const {
        return build_id == other.build_id && site_table_crc == other.site_table_crc &&
               site_count == other.site_count && clock == other.clock &&
               architecture == other.architecture &&
               (clock_hz == other.clock_hz || clock == protocol::Clock::cycles) &&
               text_base - load_bias == other.text_base - other.load_bias;
    }
};

// Returns nothing if the hello is malformed, or of a format that this host does not read.
std::optional<HelloInfo> read_hello_info(std::span<const std::uint8_t> payload,
                                         std::uint16_t session);

// A stream's place in arrays that have a place for each.
constexpr std::size_t slot(protocol::Stream stream) { return static_cast<std::size_t>(stream); }

// Records of one core, in index order.
struct TraceBatch {
    std::uint64_t first_index = 0;
    std::span<const protocol::StampedRecord> records;
    bool gap = false;           // records between the last batch and this one are missing
    std::uint32_t context = 0;  // after a gap: that of the first record
    std::uint64_t base = 0;     // after a gap: clock of the record before the first
};

// The records and calls that one core's recording lacks between two points in time.
struct MissingPart {
    std::uint64_t from = 0;  // ticks: of the last record or stats frame before the part
    std::uint64_t to = 0;
    std::uint64_t lost = 0;         // records that the line lost
    std::uint64_t overwritten = 0;  // records: newer ones replaced them before they were sent
    std::uint64_t dropped = 0;      // calls and records: the ring was full
};
inline constexpr std::uint64_t MissingPart::*missing_fields[] = {
    &MissingPart::from,        &MissingPart::to,      &MissingPart::lost,
    &MissingPart::overwritten, &MissingPart::dropped,
};

// The target's clock and the host's at one moment: `utc_ns`, plus or minus `error_ns`
// (docs/nsc-format.md, "Clock pairs").
struct ClockPair {
    std::uint64_t clock = 0;   // ticks
    std::uint64_t utc_ns = 0;  // since 1970
    std::uint64_t error_ns = 0;
    bool exchanged = false;  // from a command's reply, so the error is certain; else one way

    bool operator==(const ClockPair&) const = default;
};

// The host's clock, ns since 1970.
std::uint64_t utc_now_ns();

class SessionSink {
public:
    virtual ~SessionSink() = default;
    // The clock of the session's earliest record, before all records, if the recording can be read
    // twice (origins.hpp); else the first record is the origin.
    virtual void on_origin(std::uint64_t /*clock*/) {}
    // A session with a readable hello, and with the image of the first such session.
    virtual void on_session(const HelloInfo&) {}
    virtual void on_session_end() {}
    virtual void on_trace(unsigned /*core*/, const TraceBatch&) {}
    // Called before the records that follow it. A session's parts add up to its counters.
    virtual void on_missing(unsigned /*core*/, const MissingPart&) {}
    virtual void on_stats(unsigned /*core*/, const protocol::Stats&) {}
    // Pairs of the open session, in order. A line gives about one a second, a raw capture none.
    virtual void on_clock_pair(const ClockPair&) {}
    // False: malformed.
    virtual bool on_profile(unsigned /*core*/, const std::uint8_t* /*payload*/,
                            std::size_t /*count*/) {
        return true;
    }
    // False: malformed.
    virtual bool on_profile_events(unsigned /*core*/, const std::uint8_t* /*payload*/,
                                   std::size_t /*count*/) {
        return true;
    }
    // False: malformed.
    virtual bool on_moved(const std::uint8_t* /*payload*/, std::size_t /*count*/) { return true; }
    // False: malformed.
    virtual bool on_tasks(const std::uint8_t* /*payload*/, std::size_t /*count*/) { return true; }
    virtual void on_reply(const protocol::Reply&) {}
    // Outside bytes: sanitise before showing.
    virtual void on_console(std::string_view) {}
    virtual void on_raw_text(std::string_view) {}
    // Bytes that no function above received: a recording keeps them. on_corrupt(): a chunk that is
    // no frame (a long one in pieces). on_unused(): a frame that the reader used in part or not at
    // all.
    virtual void on_corrupt(std::span<const std::uint8_t> /*chunk*/) {}
    virtual void on_unused(const protocol::FrameHeader&,
                           std::span<const std::uint8_t> /*payload*/) {}
    // Why the sink wants nothing more: a file's reader stops there. Null: it goes on.
    virtual const Error* failure() const { return nullptr; }
};

// Streams are numbered from 1.
inline constexpr std::size_t stream_slots = static_cast<std::size_t>(protocol::Stream::tasks) + 1;

// Sums over sessions. generated == delivered + dropped + overwritten + aggregated + filtered +
// lost, if no core is inconsistent. These count records, and calls that made no record (dropped,
// aggregated, filtered). `generated` is the count in the targets' last stats, if no record follows
// these. Otherwise it is the sum of the known parts, a lower bound (generated_at_least).
struct StreamCounters {
    std::uint64_t generated = 0;
    std::uint64_t delivered = 0;
    std::uint64_t dropped = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t aggregated = 0;
    std::uint64_t filtered = 0;
    // Records that left the ring, or were in it at the end, and did not arrive here.
    std::uint64_t lost = 0;
    std::uint64_t gaps = 0;
    std::uint64_t lost_frames = 0;
    std::uint64_t duplicate_frames = 0;
    std::uint64_t repeated_records = 0;  // sent again, for example after a panic; ignored
    std::uint64_t undecoded_frames = 0;  // trace frames after a lost one, up to the next key frame
    std::uint64_t malformed_frames = 0;  // CRC right, contents wrong
    std::uint64_t unknown_frames = 0;    // of a stream this reader does not know
    std::uint64_t frames_without_hello = 0;  // of a session without a readable hello
    std::uint64_t other_image_sessions = 0;
    std::uint64_t inconsistent = 0;  // cores whose last stats contradict the records here
    std::uint64_t shadow_stack_full = 0;
    std::uint64_t off_stack = 0;
    std::uint64_t console_dropped = 0;
    std::uint64_t commands_refused = 0;
    std::uint64_t sessions = 0;
    std::uint64_t unfinished_sessions = 0;  // ended before every core sent final stats
    std::uint64_t stray_returns = 0;        // calls that returned in another context; not recorded
    std::uint64_t undeferred = 0;           // interrupts of recorders that were not deferred
    // The target kept them over a warm reset and sent all, or the rest, after it.
    std::uint64_t recovered_sessions = 0;
    std::uint64_t generated_at_least = 0;  // cores, over sessions, with only a lower bound
    bool complete = false;                 // every core of the last session sent its final stats
    std::uint16_t refused_version = 0;     // of a hello that this reader does not know
    std::array<std::uint64_t, stream_slots> frames_by_stream{};

    bool operator==(const StreamCounters&) const = default;
};

// In the order of a recording's file: append new ones.
inline constexpr std::uint64_t StreamCounters::*stream_fields[] = {
    &StreamCounters::generated,
    &StreamCounters::delivered,
    &StreamCounters::dropped,
    &StreamCounters::overwritten,
    &StreamCounters::aggregated,
    &StreamCounters::filtered,
    &StreamCounters::lost,
    &StreamCounters::gaps,
    &StreamCounters::lost_frames,
    &StreamCounters::duplicate_frames,
    &StreamCounters::repeated_records,
    &StreamCounters::undecoded_frames,
    &StreamCounters::malformed_frames,
    &StreamCounters::unknown_frames,
    &StreamCounters::frames_without_hello,
    &StreamCounters::other_image_sessions,
    &StreamCounters::inconsistent,
    &StreamCounters::shadow_stack_full,
    &StreamCounters::off_stack,
    &StreamCounters::console_dropped,
    &StreamCounters::sessions,
    &StreamCounters::unfinished_sessions,
    &StreamCounters::commands_refused,
    &StreamCounters::recovered_sessions,
    &StreamCounters::stray_returns,
    &StreamCounters::generated_at_least,
    &StreamCounters::undeferred,
};
static_assert(sizeof(StreamCounters) ==
                  (std::size(stream_fields) + stream_slots + 1) * sizeof(std::uint64_t),
              "a counter that is not in stream_fields would not be recorded");

class SessionReader {
public:
    explicit SessionReader(SessionSink& sink) : sink_(sink) {}

    void feed(std::span<const std::uint8_t> bytes) { deframer_.feed(bytes, *this); }
    // The first byte of the frames that feed() gets next arrived between these two times of
    // utc_now_ns().
    struct Arrival {
        std::uint64_t from_ns = 0;
        std::uint64_t to_ns = 0;
    };
    void set_arrival(const Arrival& arrival) { arrival_ = arrival; }
    // The line has another rate from the next byte on.
    void change_rate() { deframer_.change_rate(*this); }
    void show_pending_text() { deframer_.show_pending_text(*this); }
    void finish();

    // True once every core of the session has sent its final stats.
    bool recording_is_over() const { return hello_seen_ && finals_ >= hello_.cores; }
    bool has_session() const { return hello_seen_; }
    const LineCounters& line() const { return deframer_.counters(); }
    // Includes the open session up to now.
    StreamCounters counters() const;
    // One core's counters in the open session: its records, gaps and calls.
    StreamCounters counters_of(unsigned core) const;
    // How far the reader is in a core's records of the open session.
    struct Position {
        std::uint64_t next_index = 0;
        std::uint64_t clock = 0;  // of the last record
    };
    std::optional<Position> position_of(unsigned core) const;
    // The open session's hello. Valid only while has_session().
    const HelloInfo& hello() const { return hello_; }

    // Deframer calls these three.
    void on_frame(const protocol::ParsedFrame& frame);
    void on_text(std::string_view text) { sink_.on_raw_text(text); }
    void on_corrupt(std::span<const std::uint8_t> chunk) { sink_.on_corrupt(chunk); }

private:
    // No real record index jumps further: 2^48 records at 10^9 a second take three days.
    static constexpr std::uint64_t index_jump_limit = std::uint64_t{1} << 48;

    struct Core {
        std::array<std::uint32_t, stream_slots> next_sequence{};  // by stream
        std::vector<std::uint8_t> last_trace;                     // payload of the last trace frame
        std::uint64_t next_index = 0;
        std::uint64_t delivered = 0;
        std::uint64_t dropped = 0;
        std::uint64_t overwritten = 0;
        std::uint64_t missing = 0;  // records: overwritten, or lost
        std::uint64_t gaps = 0;     // in the records
        bool started = false;
        std::uint64_t clock = 0;  // of the last record
        MissingPart told;         // sum of the reported parts; `to`: of the last stats frame
        bool has_stats = false;
        bool is_final = false;
        protocol::Stats stats;
        protocol::TraceDecoder trace;

        // Whether frames of this core came. A core that never recorded sends none, or only stats.
        bool has_frames() const { return has_stats || started || missing != 0; }
    };

    // A frame before the hello.
    struct Waiting {
        protocol::FrameHeader header;
        std::vector<std::uint8_t> payload;
    };

    // A gap in a stream's sequence numbers.
    struct Jump {
        protocol::Stream stream{};
        std::uint32_t from = 0, to = 0;  // the expected number and the received one
    };

    void begin_session(std::uint16_t id);
    void resume(const HelloInfo& info);
    void forgive(Jump& jump);
    void end_session();
    void on_known_frame(const protocol::ParsedFrame& frame);
    std::uint64_t unused_frames() const;
    template <typename Use>
    void use(const protocol::FrameHeader& header, std::span<const std::uint8_t> payload, Use use);
    void on_hello(const protocol::ParsedFrame& frame);
    bool set_aside(const protocol::ParsedFrame& frame);
    void replay();
    void in_session(const protocol::FrameHeader& header, const std::uint8_t* payload,
                    std::size_t count);
    enum class Order { next, jumped, seen };
    Order order_of(const protocol::FrameHeader& header, Core& core);
    void mind_repeated(Core& core, const protocol::FrameHeader& header,
                       std::span<const std::uint8_t> payload);
    void on_trace(unsigned number, Core& core, const std::uint8_t* payload, std::size_t count);
    bool deliver(unsigned number, Core& core);
    void on_stats(unsigned number, Core& core, const std::uint8_t* payload, std::size_t count);
    void tell_clock_pair(const protocol::Stats& stats);
    Core& core(unsigned number);
    void tell_missing(unsigned number, Core& core, MissingPart part);
    void tell_dropped(unsigned number, Core& core, std::uint64_t now, std::uint64_t dropped);
    void tell_end(unsigned number, Core& core);
    static void account(const Core& core, StreamCounters& counters);

    SessionSink& sink_;
    Deframer deframer_;
    bool open_ = false;
    bool hello_seen_ = false;
    bool ignored_ = false;  // the session has another format version or image
    std::uint16_t id_ = 0;
    HelloInfo hello_;
    std::optional<HelloInfo> first_;
    std::optional<Arrival> arrival_;
    unsigned finals_ = 0;
    std::uint32_t sequences_from_ = 0;  // first number after this session's last reset; 0: no reset
    std::vector<Jump> jumps_;           // the last few of this session
    std::size_t jump_count_ = 0;
    std::array<std::unique_ptr<Core>, 256> cores_{};
    std::vector<protocol::StampedRecord> records_;  // of one frame
    std::vector<Waiting> waiting_;
    std::size_t waiting_bytes_ = 0;
    StreamCounters done_;  // all counts except those in cores_
};

}  // namespace nopscope::host
