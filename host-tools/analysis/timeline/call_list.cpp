// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/timeline/call_list.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace nopscope::host {
namespace {

auto order(const PlacedCall& one) {
    return std::tuple(one.call.from, one.track, one.depth, one.call.duration);
}

}  // namespace

bool CallList::is_timed(const TimelineCall& call, std::int64_t from, std::int64_t to) {
    return !call.is_point && (call.how == Left::returned || call.how == Left::unwound) &&
           call.from >= from && call.from < to && call.to() <= to;
}

void FunctionSet::add(std::uint32_t function) {
    if (function >= has_.size()) has_.resize(function + 1);
    has_[function] = true;
    bits_ |= CallRows::function_bit(function);
}

CallList::CallList(const CallRows& calls, std::vector<Row> rows,
                   std::optional<FunctionSet> functions)
    : calls_(&calls), rows_(std::move(rows)), functions_(std::move(functions)) {
    if (calls.forgotten() != 0) begin_ = calls.forgotten_to() + 1;
    for (std::size_t number = 0; number < rows_.size(); ++number) {
        const Row& row = rows_[number];
        for (std::size_t at = 0; at < calls.chunks(row.row); ++at) {
            const CallRows::Chunk chunk = calls.chunk(row.row, at);
            if (functions_ && !functions_->may_be_in(chunk)) continue;
            if (chunk.is_sums) {
                const TimelineCall& longest = chunk.sums.longest;
                if (!functions_ || functions_->has(longest.function))
                    longest_of_sums_.push_back({row.track, row.depth, longest});
                continue;
            }
            Piece piece{number,          at, chunk.from, chunk.to, chunk.sums.longest.duration,
                        chunk.sums.calls};
            if (functions_ || chunk.from < begin_) {
                piece.calls = 0;
                each_call(piece, [&piece](const PlacedCall&) { ++piece.calls; });
            }
            if (piece.calls == 0) continue;
            size_ += piece.calls;
            pieces_.push_back(piece);
        }
    }
}

template <typename Each>
void CallList::each_call(const Piece& piece, Each each) const {
    const Row& row = rows_[piece.row];
    calls_->each_call_of(row.row, piece.chunk, [&](const TimelineCall& call) {
        if (has(call)) each(PlacedCall{row.track, row.depth, call});
    });
}

std::uint64_t CallList::before(const Piece& piece, std::int64_t time) const {
    if (piece.to < time) return piece.calls;
    std::uint64_t calls = 0;
    if (piece.from >= time) return calls;
    each_call(piece, [&](const PlacedCall& one) { calls += one.call.from < time ? 1 : 0; });
    return calls;
}

std::uint64_t CallList::before(std::int64_t time) const {
    std::uint64_t calls = 0;
    for (const Piece& piece : pieces_) calls += before(piece, time);
    return calls;
}

// How many calls that begin with `call` come before it.
std::uint64_t CallList::tied(const PlacedCall& call, bool with_equal) const {
    std::uint64_t calls = 0;
    for (const Piece& piece : pieces_) {
        if (piece.from > call.call.from || piece.to < call.call.from) continue;
        each_call(piece, [&](const PlacedCall& one) {
            if (one.call.from != call.call.from) return;
            calls += order(one) < order(call) || (with_equal && order(one) == order(call)) ? 1 : 0;
        });
    }
    return calls;
}

std::uint64_t CallList::before(const PlacedCall& call) const {
    return before(call.call.from) + tied(call, false);
}

std::uint64_t CallList::behind(const PlacedCall& call) const {
    return before(call.call.from) + tied(call, true);
}

// When the call with this number begins. It must exist.
std::int64_t CallList::begin_of(std::uint64_t number) const {
    std::vector<Piece> pieces = pieces_;  // in which the call may be
    std::uint64_t left_out = 0;           // calls that are before it, in other pieces
    std::int64_t low = INT64_MAX;
    std::int64_t high = INT64_MIN;
    for (const Piece& piece : pieces) {
        low = std::min(low, piece.from);
        high = std::max(high, piece.to);
    }
    while (low < high) {
        const std::int64_t middle = std::midpoint(low, high);
        std::uint64_t calls = left_out;
        for (const Piece& piece : pieces) calls += before(piece, middle + 1);
        if (calls > number) {
            high = middle;
            std::erase_if(pieces, [&](const Piece& piece) { return piece.from > high; });
        } else {
            low = middle + 1;
            std::erase_if(pieces, [&](const Piece& piece) {
                if (piece.to >= low) return false;
                left_out += piece.calls;
                return true;
            });
        }
    }
    return low;
}

std::vector<PlacedCall> CallList::read(std::uint64_t first, std::size_t count) const {
    std::vector<PlacedCall> list;
    if (first >= size_ || count == 0) return list;
    const std::uint64_t last = first + std::min<std::uint64_t>(count, size_ - first) - 1;
    const std::int64_t from = begin_of(first);
    const std::int64_t to = begin_of(last);
    std::uint64_t at_from = before(from);  // the number of the next call that begins then
    std::uint64_t at_to = before(to);
    for (const Piece& piece : pieces_) {
        if (piece.from > to || piece.to < from) continue;
        each_call(piece, [&](const PlacedCall& one) {
            if (one.call.from < from || one.call.from > to) return;
            std::uint64_t& tie = one.call.from == from ? at_from : at_to;
            if (one.call.from == from || one.call.from == to) {
                const std::uint64_t number = tie++;
                if (number < first || number > last) return;
            }
            list.push_back(one);
        });
    }
    std::ranges::stable_sort(list, {}, [](const PlacedCall& one) { return one.call.from; });
    return list;
}

std::optional<PlacedCall> CallList::longest(std::int64_t from, std::int64_t to) const {
    std::optional<PlacedCall> found;
    const auto add = [&](const PlacedCall& one) {
        if (!is_timed(one.call, from, to)) return;
        if (!found || one.call.duration > found->call.duration ||
            (one.call.duration == found->call.duration && order(one) < order(*found)))
            found = one;
    };
    for (const PlacedCall& one : longest_of_sums_) add(one);
    for (const Piece& piece : pieces_) {
        const bool may_be = !found || piece.longest >= found->call.duration;
        if (may_be && piece.from <= to && piece.to >= from) each_call(piece, add);
    }
    return found;
}

std::optional<PlacedCall> CallList::shortest(std::int64_t from, std::int64_t to) const {
    std::optional<PlacedCall> found;
    const auto key = [](const PlacedCall& one) {
        return std::tuple(one.call.duration, order(one));
    };
    for (const Piece& piece : pieces_) {
        if (piece.from > to || piece.to < from) continue;
        each_call(piece, [&](const PlacedCall& one) {
            if (!is_timed(one.call, from, to)) return;
            if (!found || key(one) < key(*found)) found = one;
        });
    }
    return found;
}

}  // namespace nopscope::host
