// SPDX-License-Identifier: Apache-2.0
// The adaptive model of formats 2 and 3: both sides of the line predict what a core does next.
//
// Programs repeat themselves. The function on top of the stack, and the last two calls that it
// completed, nearly decide the next record. They and the last time step nearly decide its time. So
// each such context has a slot with the two likeliest records (tokens), and the two likeliest times
// of the likelier one. A record is a few yes-or-no decisions. The range coder codes an expected
// decision in far less than a bit:
//
//     main token? else other? else the guess of (function, last call)? else a token known in this
//     group? else 31 plain bits
//     likelier time a? else b? else below or above a, and by how much: bits, first bit, the rest
//
// A return does not name its entry: the model's stack knows it. A data record's content follows it,
// by its size; a site follows as a token. Both sides reset the model at a key frame, and otherwise
// change it only by what was coded. code() encodes and decodes, depending on the coder. The work
// per record is bounded, without division or a call of libc.
#pragma once

#include <bit>
#include <iterator>
#include <span>

#include "tracer/protocol/range_coder.hpp"
#include "tracer/protocol/record.hpp"

namespace nopscope::protocol {

// An open call in the model's stack.
struct TraceFrame {
    std::uint32_t key;      // its token times token_factor, which identifies it as well
    std::uint32_t index;    // of its entry
    std::uint32_t last;     // key times call_factor of the call that it completed last
    std::uint32_t context;  // offset of its slot: from key and its last two calls, or its caller's
};

// The state that changes with each decision: the coder, and the position in the records.
template <typename Coder>
struct TraceWalk : Coder {
    Coder& coder() { return *this; }

    std::uint64_t clock = 0;
    std::uint32_t index = 0;    // low bits of the next record's index
    TraceFrame* top = nullptr;  // in the model's stack
    std::size_t last_time = 0;  // the last time was: 0: the shorter, 1: the longer, 2: neither
};

class TraceModel {
public:
    // Forgets everything. `index`: of the next record. `clock`: its delta counts from it.
    template <typename Walk>
    void reset(Walk& walk, std::uint32_t index, std::uint64_t clock) {
        for (unsigned piece = 0; piece < pieces; ++piece) forget(piece);
        start(walk, index, clock);
    }
    // reset() in pieces of about the same work: forget() each of them, and start() before them or
    // after them.
    static constexpr unsigned pieces = 256;
    void forget(unsigned piece);
    template <typename Walk>
    void start(Walk& walk, std::uint32_t index, std::uint64_t clock);

    // Codes one record and its 64-bit clock, whose low half is in the record. False: a decoder
    // found something that no encoder writes; the rest of the group means nothing.
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
    // A record's upper half in a form that repeats. Bit 2 is set, so a token is never 0. A ret's
    // token says whether it ends the top call, and lacks the index of its entry. A sync's token
    // lacks the clock's bits, a data record's token its data.
    using Token = std::uint32_t;
    static constexpr Token token_mark = 4;
    static constexpr unsigned token_payload_shift = payload_shift - kind_shift;
    static constexpr Token ret_token = token_mark | static_cast<Token>(Kind::ret);
    static constexpr Token named_ret = 2 << token_payload_shift;  // not the top's: an index follows
    static constexpr Token unwound_ret = 1 << token_payload_shift;

    // The two likeliest times, the shorter first. as_expected is indexed by TraceWalk::last_time.
    // Its bit 0 says which time is expected, its value is the probability.
    struct Times {
        std::uint16_t value[2];
        Probability as_expected[3], is_second;
    };
    struct Context {
        Token main, other;
        Probability is_main;  // given that it is not main at the expected time
        Probability is_other;
        Times times;  // of main; as_expected: that it is main, and at the expected time
    };
    struct Guess {
        Token token;
        Probability is_it;
    };
    // For other times. rest_ is indexed by the size of the longer of the two times.
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

    // In units of 8 bytes: the multiplication is then done before the slot is needed.
    static constexpr std::uint32_t context_offset(std::uint32_t hash) {
        return (hash >> (32 - context_bits)) * static_cast<std::uint32_t>(sizeof(Context) / 8);
    }
    Context& context_at(std::uint32_t offset) {
        return *reinterpret_cast<Context*>(reinterpret_cast<Byte*>(contexts_) +
                                           std::size_t{offset} * 8);
    }

    // Factors of hashes. The upper bits of a product are the better hash.
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
    static constexpr bool is_sync(Token token) { return (token & 0x7f) == sync_token; }

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
    // The index that a ret names.
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
    // Codes a time that is not the expected one.
    template <typename Walk>
    [[gnu::always_inline]] std::uint64_t code_second(Walk& walk, Times& times,
                                                     std::uint64_t ticks) {
        Probability& as_expected = times.as_expected[walk.last_time];
        const std::size_t second = ~as_expected & 1;
        if (walk.bit(times.is_second, ticks == times.value[second])) [[likely]] {
            // From now on the other time is expected, with the complement of the probability.
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
    // Codes a number above 0: how many bits follow the leading one, the first of them, the rest.
    template <typename Coder>
    static std::uint64_t code_size(Coder& coder, Rest& rest, std::uint64_t size);

    // Updates the stack by the record. A decoder gets the record from here.
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

    // The stack is circular. Frames that were popped, or never pushed, have no_entry.
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
    // follow() for an extended record, and for a ret that names its entry. Sets decoded_.
    template <typename Walk>
    [[gnu::noinline]] bool follow_rare(Walk& walk, Token token, Record record);
    // Codes the index of the entry that a ret names, and pops that call and the calls above it.
    template <typename Walk>
    std::uint32_t code_entry(Walk& walk, std::uint32_t entry);
    // Codes a data record's content; an encoder's is `data`. False: a site's token is not a site.
    template <typename Walk>
    bool code_data(Walk& walk, std::uint64_t data);

    Context contexts_[1 << context_bits]{};
    Guess guesses_[1 << guess_bits]{};
    Times times_[1 << times_bits]{};
    Token known_tokens_[1 << known_bits]{};
    Probability known_tree_[1 << known_bits]{};
    Rest rest_[17]{};
    Rest entry_rest_{};
    Rest data_rest_[4]{};  // indexed by the lower two bits of data_of_
    Probability is_known_ = 0;
    TraceFrame stack_[stack_frames]{};
    std::uint32_t named_entry_ = 0;  // the last entry that a ret named
    Extended data_of_{};             // the last record that may have data
    Record decoded_;
    bool site_next_ = false;  // the next data record holds a site
};

// reset(), and the code for wrong predictions.

inline void TraceModel::forget(unsigned piece) {
    const auto part_of = [piece]<typename T, std::size_t count>(T(&array)[count]) {
        static_assert(count % pieces == 0);
        constexpr std::size_t each = count / pieces;
        return std::span(array).subspan(piece * each).template first<each>();
    };
    const Times times{{0, 1}, {even_odds, even_odds, even_odds}, even_odds};
    for (Context& context : part_of(contexts_))
        context = {0, 0, unlikely_odds, unlikely_odds, times};
    for (Guess& guess : part_of(guesses_)) guess = {0, unlikely_odds};
    for (Times& each : part_of(times_)) each = times;
    for (Token& token : part_of(known_tokens_)) token = 0;
    for (Probability& p : part_of(known_tree_)) p = even_odds;
    for (TraceFrame& frame : part_of(stack_)) frame = {0, no_entry, 0, 0};
    if (piece < std::size(rest_)) forget(rest_[piece]);
    if (piece < std::size(data_rest_)) forget(data_rest_[piece]);
    if (piece == 0) forget(entry_rest_);
}

template <typename Walk>
void TraceModel::start(Walk& walk, std::uint32_t index, std::uint64_t clock) {
    is_known_ = even_odds;
    named_entry_ = 0;
    data_of_ = {};
    site_next_ = false;
    walk.clock = clock;
    walk.index = index;
    walk.top = stack_;
    walk.last_time = 0;
}

inline void TraceModel::forget(Rest& rest) {
    rest.below = even_odds;
    for (Probability& p : rest.more_bits) p = even_odds;
    for (Probability& p : rest.first_bit) p = even_odds;
}

template <typename Walk>
[[gnu::always_inline]] inline TraceModel::Token TraceModel::unexpected(Walk& walk, Context& context,
                                                                       Token token,
                                                                       std::uint64_t ticks) {
    token = unexpected_token(walk, context, token);
    walk.spent_on(Spent::identity);
    Times& times =
        times_[(token * token_factor ^ walk.top->key * caller_factor) >> (32 - times_bits)];
    Probability& as_expected = times.as_expected[walk.last_time];
    const std::size_t which = as_expected & 1;
    if (walk.bit(as_expected, ticks == times.value[which])) {
        walk.last_time = which;
        walk.clock += times.value[which];
    } else {
        walk.clock += code_second(walk, times, ticks);
    }
    if (token == context.main) context.times = times;
    return token;
}

template <typename Walk>
[[gnu::always_inline]] inline TraceModel::Token TraceModel::unexpected_token(Walk& walk,
                                                                             Context& context,
                                                                             Token token) {
    const bool demote =
        context.is_main < even_odds && context.times.as_expected[walk.last_time] < unexpected_odds;
    Guess& guess = guesses_[(walk.top->key ^ std::rotl(walk.top->last, 16)) >> (32 - guess_bits)];
    if (walk.bit(context.is_other, token == context.other)) {
        token = context.other;
        if (demote) {
            context.other = context.main;
            context.main = token;
        }
        return token;
    }
    const bool is_new = guess.token != context.main && guess.token != context.other;
    if (is_new && walk.bit(guess.is_it, token == guess.token)) {
        token = guess.token;
    } else {
        auto copy = walk.coder();
        token = spell(copy, token);
        walk.coder() = copy;
        if (guess.is_it < even_odds) guess.token = token;
    }
    if (demote) {
        context.other = context.main;
        context.main = token;
        context.is_main = likely_odds;
    } else {
        context.other = token;
    }
    return token;
}

// Codes a token by its place among the tokens of this group, or as plain bits.
template <typename Coder>
TraceModel::Token TraceModel::spell(Coder& coder, Token token) {
    constexpr unsigned places = 1 << known_bits;
    unsigned place = static_cast<unsigned>(token * token_factor >> (32 - known_bits));
    if (coder.bit(is_known_, known_tokens_[place] == token)) {
        unsigned node = 1;
        while (node < places) {
            place <<= 1;
            node = node << 1 | coder.bit(known_tree_[node], (place & places) != 0);
        }
        return known_tokens_[node - places];
    }
    const std::uint32_t high = coder.plain(token >> 16, 16);
    token = high << 16 | coder.plain(token, 16) | token_mark;
    known_tokens_[token * token_factor >> (32 - known_bits)] = token;
    return token;
}

template <typename Coder>
std::uint64_t TraceModel::unexpected_time(Coder& coder, Times& times, Probability& as_expected,
                                          std::uint64_t ticks) {
    Rest& rest = rest_[std::bit_width(times.value[1])];
    const std::uint64_t above = ticks - times.value[0];
    const bool below = coder.bit(rest.below, static_cast<std::int64_t>(above) < 0);
    const std::uint64_t size = code_size(coder, rest, below ? -above : above);
    ticks = times.value[0] + (below ? -size : size);
    if (ticks > 0xffff) return ticks;
    const std::size_t expected = as_expected & 1;
    if (as_expected < even_odds / 8) {
        times.value[expected] = static_cast<std::uint16_t>(ticks);
    } else if (times.is_second < even_odds) {
        times.value[1 - expected] = static_cast<std::uint16_t>(ticks);
        times.is_second = likely_odds;
    }
    if (times.value[0] > times.value[1]) {
        const std::uint16_t longer = times.value[0];
        times.value[0] = times.value[1];
        times.value[1] = longer;
        for (Probability& p : times.as_expected) p ^= 1;
    }
    return ticks;
}

template <typename Coder>
std::uint64_t TraceModel::code_size(Coder& coder, Rest& rest, std::uint64_t size) {
    const unsigned leading = size == 0 ? 0 : static_cast<unsigned>(std::bit_width(size)) - 1;
    unsigned bits = 0;
    while (bits < 63 && coder.bit(rest.more_bits[bits < 14 ? bits : 14], bits < leading)) ++bits;
    std::uint64_t result = 1;
    unsigned left = bits;
    if (left != 0) {
        --left;
        Probability& first = rest.first_bit[bits < 15 ? bits : 15];
        result = result << 1 | coder.bit(first, ((size >> left) & 1) != 0);
    }
    while (left != 0) {
        const unsigned now = left < max_plain_bits ? left : max_plain_bits;
        left -= now;
        result = result << now | coder.plain(static_cast<std::uint32_t>(size >> left), now);
    }
    return result;
}

template <typename Walk>
std::uint32_t TraceModel::code_entry(Walk& walk, std::uint32_t entry) {
    const std::uint32_t back = ((named_entry_ - entry) & entry_mask) + 1;
    entry = (named_entry_ - (static_cast<std::uint32_t>(code_size(walk, entry_rest_, back)) - 1)) &
            entry_mask;
    while (walk.top->index != no_entry &&
           static_cast<std::int32_t>((walk.top->index - entry) << (32 - entry_index_bits)) >= 0) {
        pop(walk);
    }
    return named_entry_ = entry;
}

template <typename Walk>
bool TraceModel::follow_rare(Walk& walk, Token token, Record record) {
    ++walk.index;
    if (token == data_token) return code_data(walk, record.data());
    Token upper = token & ~token_mark;
    if ((token & 3) == static_cast<Token>(Kind::ret)) {
        if ((token & ~unwound_ret) != (ret_token | named_ret)) return false;
        const auto encoded = static_cast<Token>(record.word >> kind_shift);
        upper = encoded_ret(code_entry(walk, entry_of(encoded)), token);
        completed(*walk.top, token);
    } else if (is_sync(token)) {
        upper ^= sync_high(walk.clock);
    } else if (extended_of(token) >= Extended::duration) {
        // It and its data change the context, as a call does. Otherwise their order is unknown.
        data_of_ = extended_of(token);
        if (data_of_ == Extended::data) return false;
        site_next_ = has_site(data_of_);
        completed(*walk.top, token * token_factor);
    }
    decoded_ = {std::uint64_t{upper} << kind_shift | static_cast<std::uint32_t>(walk.clock)};
    return true;
}

template <typename Walk>
bool TraceModel::code_data(Walk& walk, std::uint64_t data) {
    constexpr Token site_token = token_mark | static_cast<Token>(Kind::entry);
    Token token = data_token;
    if (site_next_) {
        token = spell(walk.coder(), static_cast<Token>(data) << token_payload_shift | site_token);
        data = token >> token_payload_shift;
    } else {
        Rest& rest = data_rest_[static_cast<unsigned>(data_of_) & 3];
        const std::uint64_t value = narrow_value(data);
        const bool below = walk.bit(rest.below, static_cast<std::int64_t>(value) < 0);
        const std::uint64_t size = code_size(walk.coder(), rest, (below ? ~value : value) + 1) - 1;
        data = below ? ~size : size;
    }
    const bool ok = !site_next_ || (token & 7) == site_token;
    site_next_ = false;
    decoded_ = make_data(data);
    completed(*walk.top, token * token_factor);
    return ok;
}

}  // namespace nopscope::protocol
