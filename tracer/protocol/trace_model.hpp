// SPDX-License-Identifier: Apache-2.0
// What both sides of the line expect a core to do next: the adaptive model of format 2.
//
// Programs repeat themselves. Which event follows is nearly decided by the function on top of the
// stack and the last two calls that it completed, and how long it takes by that and by how the
// clock ticked last. So each such context has a slot with the two likeliest events, and, for the
// likelier, the two likeliest times. An event is a few yes-or-no decisions (is it this one? does it
// take so long?), each coded by a range coder in far less than a bit when it is what was expected:
//
//     main event? else other? else the guess of (function, last call)? else a token known in this
//     group? else 31 plain bits
//     likelier time a? else b? else below or above a, and by how much: bits, first bit, the rest
//
// A return needs no name: the model's own stack knows whose it is. What a data record holds comes
// after it, by its size; a site as a token. Everything is reset by a key
// frame, in both sides; nothing else moves but by what has been coded. code() is both directions:
// the coder decides. Bounded work, no division, no call of libc.
#pragma once

#include <bit>

#include "tracer/protocol/range_coder.hpp"
#include "tracer/protocol/record.hpp"

namespace nopscope::protocol {

// A call that is open, as the model sees it.
struct TraceFrame {
    std::uint32_t key;      // its token, multiplied: as good a name
    std::uint32_t index;    // of its entry
    std::uint32_t last;     // the call that it completed last: its key, multiplied
    std::uint32_t context;  // offset of its slot: by key and its last two calls, or who called it
};

// Where a side is, and its coder: what changes with each decision.
template <typename Coder>
struct TraceWalk : Coder {
    Coder& coder() { return *this; }

    std::uint64_t clock = 0;
    std::uint32_t index = 0;    // of the next record, its low bits
    TraceFrame* top = nullptr;  // in the model's stack
    std::size_t last_time = 0;  // how the last one was coded: the shorter, the longer, 2: neither
};

class TraceModel {
public:
    // Forgets everything. `index` and `clock`: of the first record to come, and what its delta
    // counts from.
    template <typename Walk>
    void reset(Walk& walk, std::uint32_t index, std::uint64_t clock);

    // One record and its 64-bit clock, whose low half is the record's. False: a decoder met what no
    // encoder writes; the rest of the group means nothing.
    template <typename Walk>
    [[gnu::always_inline]] bool code(Walk& walk, Record& record, std::uint64_t& clock) {
        Token token = 0;
        const auto upper = static_cast<Token>(record.word >> kind_shift);
        if constexpr (Walk::encodes) token = token_of(*walk.top, upper, clock);
        const std::uint32_t now = walk.top->context;
        Context& context = context_at(now);
        Times& times = context.times;
        Probability& as_expected = times.as_expected[walk.last_time];
        const std::size_t which = as_expected & 1;
        const std::uint64_t ticks = clock - walk.clock;
        if (walk.bit(as_expected, token == context.main && ticks == times.value[which]))
            [[likely]] {
            token = context.main;
            walk.last_time = which;
            walk.clock += times.value[which];
            walk.spent_on(Spent::time);
        } else {
            walk.spent_on(Spent::time);
            if (walk.bit(context.is_main, token == context.main)) {
                token = context.main;
                walk.spent_on(Spent::identity);
                walk.clock += code_second(walk, times, ticks);
            } else {
                token = unexpected(walk, context, token, ticks);
            }
            walk.spent_on(Spent::time);
        }
        return follow(walk, token, now, record, clock);
    }

private:
    // A record's upper half, as it can be expected: never 0, for bit 2 is set. A ret says
    // whether it is the top's, instead of its entry's index; a sync lacks what the clock says, and a data record its data.
    using Token = std::uint32_t;
    static constexpr Token token_mark = 4;
    static constexpr unsigned token_payload_shift = payload_shift - kind_shift;
    static constexpr Token ret_token = token_mark | static_cast<Token>(Kind::ret);
    static constexpr Token named_ret = 2 << token_payload_shift;  // not the top's: its index is next
    static constexpr Token unwound_ret = 1 << token_payload_shift;

    // The two likeliest times, the shorter first. One is expected, by how the time before was met
    // (TraceWalk::last_time): bit 0 of as_expected says which.
    struct Times {
        std::uint16_t value[2];
        Probability as_expected[3], is_second;
    };
    struct Context {
        Token main, other;
        Probability is_main;  // given that it is not main in the expected time
        Probability is_other;
        Times times;  // of main; its as_expected: and it is main
    };
    struct Guess {
        Token token;
        Probability is_it;
    };
    // Times that are neither, by the size of the longer.
    struct Rest {
        Probability below, more_bits[15], first_bit[16];
    };
    static constexpr unsigned context_bits = 11;
    static constexpr unsigned guess_bits = 9;
    static constexpr unsigned times_bits = 8;
    static constexpr unsigned known_bits = 9;
    static constexpr unsigned stack_frames = 256;
    static constexpr Probability unlikely_odds = even_odds / 8;
    static constexpr Probability unexpected_odds = 3 * (even_odds / 4);
    static constexpr Probability likely_odds = even_odds + even_odds / 2;

    static constexpr std::uint32_t entry_mask = (1u << entry_index_bits) - 1;
    static constexpr std::uint32_t no_entry = ~0u;

    // In units of 8 bytes: so the multiplication is out of the way where the slot is used.
    static constexpr std::uint32_t context_offset(std::uint32_t hash) {
        return (hash >> (32 - context_bits)) * static_cast<std::uint32_t>(sizeof(Context) / 8);
    }
    Context& context_at(std::uint32_t offset) {
        return *reinterpret_cast<Context*>(reinterpret_cast<Byte*>(contexts_) +
                                           std::size_t{offset} * 8);
    }

    // Of hashes by multiplication the upper bits are the better ones.
    static constexpr std::uint32_t token_factor = 0x9e3779b1u;
    static constexpr std::uint32_t caller_factor = 0x85ebca6bu << 3;
    static constexpr std::uint32_t call_factor = 0xc2b2ae35u;
    static constexpr std::uint32_t sync_high(std::uint64_t clock) {
        return (static_cast<std::uint32_t>(clock >> 32) & 0x1ffffffu) << 7;
    }
    static constexpr Token sync_token = token_mark | static_cast<Token>(Kind::extended);
    static constexpr Token data_token =
        static_cast<Token>(Extended::data) << token_payload_shift | sync_token;
    static constexpr Extended extended_of(Token token) {
        return static_cast<Extended>((token >> token_payload_shift) & 15);
    }
    static constexpr bool is_sync(Token token) {
        return (token & 0x7f) == sync_token;
    }

    static Token token_of(const TraceFrame& top, Token upper, std::uint64_t clock) {
        const Token token = upper | token_mark;
        if ((upper & 3) == static_cast<Token>(Kind::ret)) {
            const Token unnamed = (token & unwound_ret) | ret_token;
            if (top.index != entry_of(upper)) [[unlikely]]
                return unnamed | named_ret;
            return unnamed;
        }
        if ((upper & 3) != static_cast<Token>(Kind::extended)) [[likely]]
            return token;
        if ((token & data_token) == data_token) return data_token;
        return is_sync(token) ? token ^ sync_high(clock) : token;
    }
    // Of a ret.
    static constexpr std::uint32_t entry_of(Token upper) {
        return upper >> (token_payload_shift + 1);
    }
    static constexpr Token encoded_ret(std::uint32_t entry, Token token) {
        return static_cast<Token>(Kind::ret) | entry << (token_payload_shift + 1) |
               (token & unwound_ret);
    }

    template <typename Walk>
    [[gnu::always_inline]] Token unexpected(Walk& walk, Context& context, Token token,
                                            std::uint64_t ticks);
    template <typename Walk>
    [[gnu::always_inline]] Token unexpected_token(Walk& walk, Context& context, Token token);
    template <typename Coder>
    [[gnu::noinline]] Token spell(Coder& coder, Token token);
    // Not the time that was expected.
    template <typename Walk>
    [[gnu::always_inline]] std::uint64_t code_second(Walk& walk, Times& times,
                                                     std::uint64_t ticks) {
        Probability& as_expected = times.as_expected[walk.last_time];
        const std::size_t second = ~as_expected & 1;
        if (walk.bit(times.is_second, ticks == times.value[second])) [[likely]] {
            // The other one from now on, and as likely as this one was not.
            if (as_expected < even_odds) as_expected = static_cast<Probability>(~as_expected);
            walk.last_time = second;
            return times.value[second];
        }
        auto copy = walk.coder();  // so that walk itself can live in registers
        ticks = unexpected_time(copy, times, as_expected, ticks);
        walk.coder() = copy;
        walk.last_time = 2;
        return ticks;
    }
    template <typename Coder>
    [[gnu::noinline]] std::uint64_t unexpected_time(Coder& coder, Times& times,
                                                    Probability& as_expected, std::uint64_t ticks);
    static void forget(Rest& rest);
    // A number that is not 0, sign apart: how many bits, the first after the leading one, the rest.
    template <typename Coder>
    static std::uint64_t code_size(Coder& coder, Rest& rest, std::uint64_t size);

    // What the event does to the stack; a decoder gets its record.
    template <typename Walk>
    [[gnu::always_inline]] bool follow(Walk& walk, Token token, std::uint32_t now, Record& record,
                                       std::uint64_t& clock) {
        Token upper = token & ~token_mark;
        if ((token & 3) == static_cast<Token>(Kind::entry)) {
            const std::uint32_t key = token * token_factor;
            if (++walk.top == stack_ + stack_frames) [[unlikely]]
                walk.top = stack_;
            *walk.top = {key, walk.index & entry_mask, 0,
                         context_offset(key ^ now * caller_factor)};
        } else if ((token & ~unwound_ret) == ret_token) {
            const std::uint32_t entry = walk.top->index;
            if (!Walk::encodes && entry == no_entry) return false;
            const std::uint32_t key = walk.top->key;
            pop(walk);
            completed(*walk.top, key);
            upper = encoded_ret(entry, token);
        } else if ((token & 3) == static_cast<Token>(Kind::call)) {
            completed(*walk.top, token * token_factor);
        } else {
            Walk copy = walk;  // so that walk itself can live in registers
            const bool ok = follow_rare(copy, token, record);
            walk = copy;
            if constexpr (!Walk::encodes) {
                clock = walk.clock;
                record = decoded_;
            }
            return ok;
        }
        ++walk.index;
        if constexpr (!Walk::encodes) {
            clock = walk.clock;
            record.word = std::uint64_t{upper} << kind_shift | static_cast<std::uint32_t>(clock);
        }
        return true;
    }

    // Frames below the lowest known, and those that fell off the far end, have no_entry.
    template <typename Walk>
    void pop(Walk& walk) {
        walk.top->index = no_entry;
        if (walk.top == stack_) [[unlikely]]
            walk.top += stack_frames;
        --walk.top;
    }
    static void completed(TraceFrame& top, std::uint32_t key) {
        key *= call_factor;
        top.context = context_offset((top.key ^ std::rotl(top.last, 16)) + key);
        top.last = key;
    }
    // The same of an extended record, and of a ret that names its entry. A decoder's goes to decoded_.
    template <typename Walk>
    [[gnu::noinline]] bool follow_rare(Walk& walk, Token token, Record record);
    // The index of the entry that a ret names: that call is over, and so are those above it.
    template <typename Walk>
    std::uint32_t code_entry(Walk& walk, std::uint32_t entry);
    // What a data record holds: `data`, of an encoder. False: a site that is none.
    template <typename Walk>
    bool code_data(Walk& walk, std::uint64_t data);

    Context contexts_[1 << context_bits]{};
    Guess guesses_[1 << guess_bits]{};
    Times times_[1 << times_bits]{};
    Token known_tokens_[1 << known_bits]{};
    Probability known_tree_[1 << known_bits]{};
    Rest rest_[17]{};
    Rest entry_rest_{};
    Rest data_rest_[4]{};  // by what it is of: its lower two bits
    Probability is_known_ = 0;
    TraceFrame stack_[stack_frames]{};
    std::uint32_t named_entry_ = 0;  // the last that was
    Extended data_of_{};             // the last record that may have data
    Record decoded_;
    bool site_next_ = false;         // in the next data record
};

}  // namespace nopscope::protocol

#include "tracer/protocol/trace_model_rare.hpp"
