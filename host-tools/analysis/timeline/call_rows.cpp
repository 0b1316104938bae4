// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/timeline/call_rows.hpp"

#include <algorithm>
#include <utility>

namespace nopscope::host {
namespace {

// Adds a time to the slots that it lies in.
void spread(const TimelineSlots& slots, std::int64_t from, std::int64_t to,
            std::vector<TimelineCell>& cells) {
    from = std::max(from, slots.from);
    to = std::min(to, slots.to);
    while (from < to) {
        const std::int64_t slot = (from - slots.from) / slots.width;
        const std::int64_t end = std::min(to, slots.end_of_slot(from));
        cells[static_cast<std::size_t>(slot)].busy += static_cast<std::uint64_t>(end - from);
        from = end;
    }
}

// A call without duration lies where it begins.
bool overlaps(std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t end) {
    return from < end && (to > begin || from >= begin);
}

void add_longest(TimelineCell& cell, const TimelineCall& call) {
    if (call.duration > cell.longest.duration) cell.longest = call;
}

// Where the calls of a chunk lie is not known: they count as if they were spread evenly.
void spread_sums(const TimelineSlots& slots, std::int64_t from, std::int64_t to,
                 const TimelineCell& sums, std::vector<TimelineCell>& cells) {
    const auto length = static_cast<double>(std::max<std::int64_t>(1, to - from));
    const auto until = [&](std::uint64_t all, std::int64_t at) {
        return at >= to ? all
                        : static_cast<std::uint64_t>(static_cast<double>(all) *
                                                     (static_cast<double>(at - from) / length));
    };
    const std::int64_t end = std::min(std::max(to, from + 1), slots.to);
    for (std::int64_t at = std::max(from, slots.from); at < end;) {
        const std::int64_t slot = (at - slots.from) / slots.width;
        const std::int64_t next = std::min(end, slots.end_of_slot(at));
        TimelineCell& cell = cells[static_cast<std::size_t>(slot)];
        cell.busy += until(sums.busy, next) - until(sums.busy, at);
        cell.calls += until(sums.calls, next) - until(sums.calls, at);
        at = next;
    }
}

}  // namespace

template <typename Each>
void CallRows::each_call(std::span<const Stored> calls, std::int64_t from, std::int64_t to,
                         Each each) {
    for (const Stored& call : calls) {
        const std::int64_t begin = call.from();
        if (overlaps(begin, begin + call.duration(), from, to)) each(call.call());
    }
}

std::optional<std::uint32_t> CallRows::make_row() {
    if (rows_.size() == max_rows || !budget_.take(price_of_row)) return std::nullopt;
    rows_.emplace_back();
    return static_cast<std::uint32_t>(rows_.size() - 1);
}

void CallRows::add_to(Chunk& chunk, const TimelineCall& call) {
    const bool is_first = chunk.sums.calls++ == 0;
    chunk.from = is_first ? call.from : std::min(chunk.from, call.from);
    chunk.to = is_first ? call.to() : std::max(chunk.to, call.to());
    chunk.sums.busy += static_cast<std::uint64_t>(call.duration);
    chunk.functions |= function_bit(call.function);
    add_longest(chunk.sums, call);
}

CallRows::Chunk CallRows::chunk(std::uint32_t row, std::size_t at) const {
    const Row& of = rows_[row];
    if (at < of.chunks.size()) return of.chunks[at];
    Chunk last;
    each_call_of(row, at, [&last](const TimelineCall& call) { add_to(last, call); });
    return last;
}

// A row begins small, because there may be many.
void CallRows::make_place(std::uint32_t row) {
    Row& of = rows_[row];
    if (of.count == chunk_calls) return close(row);
    of.last.resize(of.count == 0 ? chunk_calls / 16 : 2 * of.count);
}

void CallRows::close(std::uint32_t row) {
    Row& of = rows_[row];
    of.count = 0;
    StoredChunk chunk;
    for (const Stored& stored : of.last) add_to(chunk, stored.call());
    // The row's first chunk pays for `last`, too.
    const std::uint64_t bytes = price_of_sums + price_of_calls * (of.chunks.empty() ? 2 : 1);
    if (!budget_.take(bytes)) {
        make_room(bytes);
        if (!budget_.take(bytes)) {  // rows without a chunk have it all
            forget(chunk);
            return;
        }
    }
    chunk.calls = std::move(of.last);
    of.last = std::vector<Stored>(chunk_calls);
    whole_.push_back(row);
    of.chunks.push_back(std::move(chunk));
}

void CallRows::forget(const Chunk& chunk) {
    forgotten_ += chunk.sums.calls;
    forgotten_to_ = std::max(forgotten_to_, chunk.to);
}

void CallRows::make_room(std::uint64_t bytes) {
    while (budget_.left() < bytes) {
        if ((whole_.empty() || sums_bytes_ > most_sums_bytes_) && join_sums() != 0) continue;
        if (whole_.empty()) return;
        forget_oldest();
    }
}

void CallRows::forget_oldest() {
    Row& row = rows_[whole_.front()];
    whole_.pop_front();
    StoredChunk& oldest = row.chunks[row.sums++];
    forget(oldest);
    oldest.is_sums = true;
    budget_.release(price_of_calls);
    sums_bytes_ += price_of_sums;
    std::vector<Stored>().swap(oldest.calls);
}

// Returns how many bytes that gave.
std::uint64_t CallRows::join_sums() {
    std::uint64_t bytes = 0;
    for (Row& row : rows_) {
        std::vector<StoredChunk> joined;
        joined.reserve(row.chunks.size());
        for (std::size_t at = 0; at < row.chunks.size(); ++at) {
            StoredChunk& chunk = row.chunks[at];
            if (at >= row.sums || at % 2 == 0) {
                joined.push_back(std::move(chunk));
                continue;
            }
            StoredChunk& into = joined.back();
            into.from = std::min(into.from, chunk.from);
            into.to = std::max(into.to, chunk.to);
            into.sums.busy += chunk.sums.busy;
            into.sums.calls += chunk.sums.calls;
            into.functions |= chunk.functions;
            add_longest(into.sums, chunk.sums.longest);
            bytes += price_of_sums;
        }
        row.sums = (row.sums + 1) / 2;
        row.chunks = std::move(joined);
    }
    budget_.release(bytes);
    sums_bytes_ -= bytes;
    return bytes;
}

bool CallRows::any(std::uint32_t row, std::int64_t from, std::int64_t to) const {
    const Row& of = rows_[row];
    const auto overlaps_it = [&](const auto& one) { return overlaps(one.from, one.to, from, to); };
    return std::any_of(of.chunks.begin(), of.chunks.end(), overlaps_it) ||
           std::ranges::any_of(of.last_calls(), [&](const Stored& one) {
               return overlaps(one.from(), one.from() + one.duration(), from, to);
           });
}

std::optional<std::uint64_t> CallRows::count(std::uint32_t row, std::int64_t from,
                                             std::int64_t to) const {
    const Row& of = rows_[row];
    std::uint64_t calls = 0;
    const auto add = [&calls](const TimelineCall&) { ++calls; };
    for (const StoredChunk& chunk : of.chunks) {
        if (!overlaps(chunk.from, chunk.to, from, to)) continue;
        if (chunk.is_sums) return std::nullopt;
        if (chunk.from >= from && chunk.to < to) {
            calls += chunk.sums.calls;
        } else {
            each_call(chunk.calls, from, to, add);
        }
    }
    each_call(of.last_calls(), from, to, add);
    return calls;
}

void CallRows::read(std::uint32_t row, std::int64_t from, std::int64_t to,
                    std::vector<TimelineCall>& list) const {
    const Row& of = rows_[row];
    const auto add = [&list](const TimelineCall& call) { list.push_back(call); };
    for (const StoredChunk& chunk : of.chunks) {
        if (overlaps(chunk.from, chunk.to, from, to)) each_call(chunk.calls, from, to, add);
    }
    each_call(of.last_calls(), from, to, add);
}

void CallRows::draw(std::uint32_t row, const TimelineSlots& slots, std::int64_t least,
                    std::vector<TimelineCell>& cells, std::vector<TimelineCall>& list) const {
    const Row& of = rows_[row];
    const auto slot_of = [&](std::int64_t time) {
        return static_cast<std::size_t>((time - slots.from) / slots.width);
    };
    const auto add = [&](const TimelineCall& call) {
        spread(slots, call.from, call.to(), cells);
        if (call.duration >= least || call.from < slots.from) list.push_back(call);
        if (call.from < slots.from) return;
        TimelineCell& cell = cells[slot_of(call.from)];
        ++cell.calls;
        add_longest(cell, call);
    };
    for (const StoredChunk& chunk : of.chunks) {
        if (!overlaps(chunk.from, chunk.to, slots.from, slots.to)) continue;
        const bool is_inside = chunk.from >= slots.from && chunk.to < slots.to;
        if (is_inside && slot_of(chunk.from) == slot_of(chunk.to) &&
            chunk.sums.longest.duration < least) {
            TimelineCell& cell = cells[slot_of(chunk.from)];
            cell.busy += chunk.sums.busy;
            cell.calls += chunk.sums.calls;
            add_longest(cell, chunk.sums.longest);
        } else if (!chunk.is_sums) {
            each_call(chunk.calls, slots.from, slots.to, add);
        } else {
            spread_sums(slots, chunk.from, chunk.to, chunk.sums, cells);
            const TimelineCall& longest = chunk.sums.longest;
            if (longest.from < slots.from || longest.from >= slots.to) continue;
            add_longest(cells[slot_of(longest.from)], longest);
            if (longest.duration >= least) list.push_back(longest);
        }
    }
    each_call(of.last_calls(), slots.from, slots.to, add);
}

}  // namespace nopscope::host
