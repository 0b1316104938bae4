// SPDX-License-Identifier: Apache-2.0
// So that a part of a long recording is shown without unpacking all of it: what the analysis knew
// at some points of the recording. A part is read from the last point before it. Blocks of records
// before that point, and those after the part, are counted and left out. A part of one task, or
// below one function, is read from the recording's begin: a point does not know which open calls
// belong to it. The same holds for a part of one core, while calls are open that began on another.
//
// The points lie between blocks of records, at about equal distances: `least` to `most` of them, if
// the recording has so many blocks and memory has room. One more lies at each session's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "host-tools/analysis/events/balanced_stream.hpp"
#include "host-tools/analysis/part/part_stream.hpp"
#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/base/memory.hpp"
#include "host-tools/recording/block.hpp"
#include "host-tools/recording/reader.hpp"
#include "host-tools/target/stream/moves_in_order.hpp"

namespace nopscope::host {

class Checkpoints {
public:
    static constexpr std::size_t least = 64;
    static constexpr std::size_t most = 2 * least;

    struct Point {
        std::size_t blocks = 0;     // of records that lie before it
        std::uint64_t session = 0;  // from 1
        Nanoseconds reached = 0;    // the latest time before it, since the first record
        std::vector<PartStream::Position> positions;
        std::vector<std::optional<std::uint64_t>> first_clocks;  // Profile's, of each position
        std::unique_ptr<const Profile> open;                     // Profile::open_calls()
        std::unique_ptr<const BalancedStream> stream;
        std::unique_ptr<const MovesInOrder> moves;
        std::uint64_t price = 0;
    };

    explicit Checkpoints(MemoryBudget budget) : budget_(budget) {}

    // The last point from where a part can be read that begins at `from`, ns since the first
    // record. Null: the recording's begin.
    const Point* before(Nanoseconds from) const;
    // The point at the end of a session before that. Null: that session must be read.
    const Point* at_end_of(std::uint64_t session) const;
    // By their number in the file.
    const std::vector<nsc::BlockCounts>& blocks() const { return blocks_; }
    // That have records.
    std::vector<unsigned> cores() const;

private:
    friend class CheckpointWriter;

    bool pay(std::uint64_t price);
    void thin_out();

    MemoryBudget budget_;
    std::vector<nsc::BlockCounts> blocks_;
    std::vector<Point> points_;
    std::vector<Point> ends_;   // of sessions
    std::size_t distance_ = 1;  // blocks from one point to the next
};

// Stands before MovesInOrder while the whole recording is read, and makes the points. `profile` and
// `stream` stand behind MovesInOrder.
class CheckpointWriter final : public Tee, public nsc::BlockWatcher {
public:
    CheckpointWriter(MovesInOrder& moves, Checkpoints& to, const Profile& profile,
                     const BalancedStream& stream)
        : Tee(static_cast<SessionSink&>(moves)),
          moves_(moves),
          to_(to),
          profile_(profile),
          stream_(stream) {}

    const nsc::BlockCounts* left_out(std::size_t) override { return nullptr; }
    void on_block(std::size_t block, const nsc::BlockCounts& counts) override;
    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;

private:
    std::optional<Checkpoints::Point> point();

    MovesInOrder& moves_;
    Checkpoints& to_;
    const Profile& profile_;
    const BalancedStream& stream_;
    std::uint64_t session_ = 0;
    std::vector<PartStream::Position> positions_;
    std::size_t last_ = 0;  // blocks before the last point
};

// Stands before MovesInOrder while a part is read: moves them, the part and its profile to a point.
class CheckpointReader final : public Tee, public nsc::BlockWatcher {
public:
    // `part` is the stream of `of`, whose bounds are resolved.
    CheckpointReader(MovesInOrder& moves, const Checkpoints& from, const Part& of, PartStream& part,
                     Profile& profile);

    const nsc::BlockCounts* left_out(std::size_t block) override;
    void on_block(std::size_t, const nsc::BlockCounts& counts) override { read_ += counts.records; }
    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;
    std::uint64_t records_read() const { return read_; }

private:
    void resume(const Checkpoints::Point& point);

    MovesInOrder& moves_;
    const Checkpoints& from_;
    PartStream& part_;
    Profile& profile_;
    std::optional<unsigned> core_;
    std::vector<unsigned> cores_;
    const Checkpoints::Point* begin_;           // where the part is read from
    const Checkpoints::Point* next_ = nullptr;  // of this session: blocks before it are left out
    std::uint64_t session_ = 0;
    std::uint64_t read_ = 0;  // records
};

}  // namespace nopscope::host
