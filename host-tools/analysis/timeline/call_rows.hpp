// SPDX-License-Identifier: Apache-2.0
// All calls of a timeline in rows, one for each depth of each track, and the part of them that a
// picture of some width needs. A call takes 20 bytes. Each chunk of a row has the sums of its
// calls, so the whole recording is drawn without a look at each call. If the memory is short, the
// oldest chunks lose their calls and keep their sums. If the sums take half of it, they join in
// pairs.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "host-tools/analysis/events/event_sink.hpp"
#include "host-tools/base/memory.hpp"

namespace nopscope::host {

// Times are nanoseconds since any origin.
struct TimelineCall {
    std::int64_t from = 0;
    std::int64_t duration = -1;  // below 0: none
    std::uint32_t function = 0;
    Left how{};
    bool is_point = false;  // how long it took is not known

    std::int64_t to() const { return from + duration; }
};

// A picture of [from, to), cut into slots of `width` ns.
struct TimelineSlots {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t width = 1;

    std::size_t count() const { return static_cast<std::size_t>((to - from - 1) / width + 1); }
    // The end of the slot in which `time` lies.
    std::int64_t end_of_slot(std::int64_t time) const {
        const std::int64_t begin = time - (time - from) % width;
        return to - begin <= width ? to : begin + width;
    }
};

// What a row's calls are in one slot.
struct TimelineCell {
    TimelineCall longest;     // of those that begin in it
    std::uint64_t busy = 0;   // ns in which a call is open
    std::uint64_t calls = 0;  // that begin in it
};

class CallRows {
public:
    static constexpr std::size_t chunk_calls = 256;
    static constexpr std::size_t max_rows = std::size_t{1} << 14;

    explicit CallRows(MemoryBudget budget) : budget_(budget), most_sums_bytes_(budget.left() / 2) {}

    std::optional<std::uint32_t> make_row();  // nothing: there is no room
    // Gives a part of the budget to another container. False: there is no room.
    bool take(std::uint64_t bytes) { return budget_.take(bytes); }
    // Calls of a row come in the order of their ends. Only calls of duration records may overlap.
    void add(std::uint32_t row, const TimelineCall& call) {
        Row& of = rows_[row];
        if (of.count == of.last.size()) [[unlikely]]
            make_place(row);
        of.last[of.count++] = Stored(call);
    }

    // False: no call lies in [from, to).
    bool any(std::uint32_t row, std::int64_t from, std::int64_t to) const;
    // How many calls lie in [from, to), at least in part. Nothing: only sums are left of some.
    std::optional<std::uint64_t> count(std::uint32_t row, std::int64_t from, std::int64_t to) const;
    // Appends them to `list`.
    void read(std::uint32_t row, std::int64_t from, std::int64_t to,
              std::vector<TimelineCall>& list) const;
    // Adds the row's calls to the cells of a picture: a cell for each slot. Appends to `list` those
    // calls that take at least `least` ns, or that began before the picture.
    void draw(std::uint32_t row, const TimelineSlots& slots, std::int64_t least,
              std::vector<TimelineCell>& cells, std::vector<TimelineCall>& list) const;
    // Calls of which only sums are left. All that begin later than forgotten_to() are there.
    std::uint64_t forgotten() const { return forgotten_; }
    std::int64_t forgotten_to() const { return forgotten_to_; }

    // What a row consists of: its chunks, and behind them the calls that are no chunk yet.
    struct Chunk {
        std::int64_t from = 0;  // of its first call
        std::int64_t to = 0;    // of its last end
        TimelineCell sums;
        std::uint64_t functions = 0;  // function_bit() of each call
        bool is_sums = false;         // only the sums are left
    };
    static std::uint64_t function_bit(std::uint32_t function) {
        return std::uint64_t{1} << function % 64;
    }
    std::size_t chunks(std::uint32_t row) const { return rows_[row].chunks.size() + 1; }
    Chunk chunk(std::uint32_t row, std::size_t at) const;
    // Passes the chunk's calls to `each`, in the order of their ends.
    template <typename Each>
    void each_call_of(std::uint32_t row, std::size_t at, Each each) const {
        for (const Stored& call : calls_of(row, at)) each(call.call());
    }

private:
    // A call in 20 bytes.
    class Stored {
    public:
        Stored() = default;
        explicit Stored(const TimelineCall& call)
            : words_{low(call.from), high(call.from), low(call.duration), high(call.duration),
                     call.function << 3 | (call.is_point ? 4u : 0u) |
                         static_cast<std::uint32_t>(call.how)} {}
        std::int64_t from() const { return whole(words_[0], words_[1]); }
        std::int64_t duration() const { return whole(words_[2], words_[3]); }
        TimelineCall call() const {
            return {from(), duration(), words_[4] >> 3, static_cast<Left>(words_[4] & 3),
                    (words_[4] & 4) != 0};
        }

    private:
        static std::uint32_t low(std::int64_t value) { return static_cast<std::uint32_t>(value); }
        static std::uint32_t high(std::int64_t value) {
            return static_cast<std::uint32_t>(value >> 32);
        }
        static std::int64_t whole(std::uint32_t low, std::uint32_t high) {
            return static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
        }
        std::uint32_t words_[5];
    };
    struct StoredChunk : Chunk {
        std::vector<Stored> calls;
    };
    // Prices in bytes, the same on machines of 32 and 64 bits.
    static constexpr std::uint64_t price_of_row = 512;  // also pays for some calls
    static constexpr std::uint64_t price_of_calls = chunk_calls * sizeof(Stored);
    static constexpr std::uint64_t price_of_sums = 112;
    static_assert(sizeof(StoredChunk) <= price_of_sums);
    struct Row {
        std::vector<StoredChunk> chunks;
        std::size_t sums = 0;      // the first chunks, which are only sums
        std::vector<Stored> last;  // `count` calls that are not a chunk yet, and room for more
        std::size_t count = 0;

        std::span<const Stored> last_calls() const { return std::span(last).first(count); }
    };

    static void add_to(Chunk& chunk, const TimelineCall& call);
    std::span<const Stored> calls_of(std::uint32_t row, std::size_t at) const {
        const Row& of = rows_[row];
        return at < of.chunks.size() ? of.chunks[at].calls : of.last_calls();
    }
    void forget(const Chunk& chunk);
    void make_place(std::uint32_t row);
    void close(std::uint32_t row);
    void make_room(std::uint64_t bytes);
    std::uint64_t join_sums();
    void forget_oldest();
    template <typename Each>
    static void each_call(std::span<const Stored> calls, std::int64_t from, std::int64_t to,
                          Each each);

    MemoryBudget budget_;
    std::uint64_t most_sums_bytes_;
    std::uint64_t sums_bytes_ = 0;
    std::vector<Row> rows_;
    std::deque<std::uint32_t> whole_;  // rows of the chunks that have their calls, the oldest first
    std::uint64_t forgotten_ = 0;
    std::int64_t forgotten_to_ = INT64_MIN;
};

}  // namespace nopscope::host
