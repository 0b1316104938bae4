// SPDX-License-Identifier: Apache-2.0
// Calls of a timeline as one list, in the order of their begins. Calls that begin together are
// ordered by track, depth and duration. The list finds a call by its number, and the number of a
// call, from how many calls each chunk of a row has (call_rows.hpp). So it looks at few calls, and
// sorts only those that it returns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host-tools/analysis/timeline/call_rows.hpp"

namespace nopscope::host {

// Some functions, by their numbers on tracks.
class FunctionSet {
public:
    void add(std::uint32_t function);
    bool has(std::uint32_t function) const { return function < has_.size() && has_[function]; }
    // False: no call of the chunk is of these functions.
    bool may_be_in(const CallRows::Chunk& chunk) const { return (chunk.functions & bits_) != 0; }

private:
    std::vector<bool> has_;
    std::uint64_t bits_ = 0;
};

struct PlacedCall {
    std::uint32_t track = 0;
    std::uint32_t depth = 0;
    TimelineCall call;
};

// If only sums are left of some calls, the list begins behind them.
class CallList {
public:
    struct Row {
        std::uint32_t track;
        std::uint32_t depth;
        std::uint32_t row;  // in the CallRows
    };
    // The rows are in the order of track and depth. `functions`: nothing: all. The calls must stay
    // as they are, as long as the list is used.
    CallList(const CallRows& calls, std::vector<Row> rows, std::optional<FunctionSet> functions);

    std::uint64_t size() const { return size_; }
    // It has all calls from here on. Nothing: it has all.
    std::optional<std::int64_t> begin() const {
        return begin_ == INT64_MIN ? std::nullopt : std::optional(begin_);
    }
    // How many calls begin before `time`, or come before a call like this one.
    std::uint64_t before(std::int64_t time) const;
    std::uint64_t before(const PlacedCall& call) const;
    // The number of the first call behind all calls like this one.
    std::uint64_t behind(const PlacedCall& call) const;
    // The calls with the numbers from `first` on, which is 0 for the list's first call.
    std::vector<PlacedCall> read(std::uint64_t first, std::size_t count) const;
    // Of the calls that begin in [from, to), end by `to`, and were seen from begin to end. The
    // longest may be before begin(): it stays where only sums are left of others.
    std::optional<PlacedCall> longest(std::int64_t from, std::int64_t to) const;
    std::optional<PlacedCall> shortest(std::int64_t from, std::int64_t to) const;

private:
    struct Piece {        // the list's calls of a chunk
        std::size_t row;  // in rows_
        std::size_t chunk;
        std::int64_t from;
        std::int64_t to;
        std::int64_t longest;
        std::uint64_t calls;
    };

    bool has(const TimelineCall& call) const {
        return call.from >= begin_ && (!functions_ || functions_->has(call.function));
    }
    static bool is_timed(const TimelineCall& call, std::int64_t from, std::int64_t to);
    template <typename Each>
    void each_call(const Piece& piece, Each each) const;
    std::uint64_t before(const Piece& piece, std::int64_t time) const;
    std::uint64_t tied(const PlacedCall& call, bool with_equal) const;
    std::int64_t begin_of(std::uint64_t number) const;

    const CallRows* calls_;
    std::vector<Row> rows_;
    std::optional<FunctionSet> functions_;
    std::int64_t begin_ = INT64_MIN;  // the list has calls from here on
    std::vector<Piece> pieces_;       // by row, and in its order
    std::vector<PlacedCall> longest_of_sums_;
    std::uint64_t size_ = 0;
};

}  // namespace nopscope::host
