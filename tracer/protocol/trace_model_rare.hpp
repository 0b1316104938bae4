// SPDX-License-Identifier: Apache-2.0
// The model where it was wrong, and its beginning. Part of trace_model.hpp.
#pragma once

#include "tracer/protocol/trace_model.hpp"

namespace nopscope::protocol {

template <typename Walk>
void TraceModel::reset(Walk& walk, std::uint32_t index, std::uint64_t clock) {
    const Times times{{0, 1}, {even_odds, even_odds, even_odds}, even_odds};
    for (Context& context : contexts_) context = {0, 0, unlikely_odds, unlikely_odds, times};
    for (Guess& guess : guesses_) guess = {0, unlikely_odds};
    for (Times& each : times_) each = times;
    for (unsigned i = 0; i < 1u << known_bits; ++i) {
        known_tokens_[i] = 0;
        known_tree_[i] = even_odds;
    }
    for (Rest& rest : rest_) forget(rest);
    for (Rest& rest : data_rest_) forget(rest);
    forget(entry_rest_);
    is_known_ = even_odds;
    for (TraceFrame& frame : stack_) frame = {0, no_entry, 0, 0};
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

// By its place among the tokens of this group, or plainly.
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
        // It and its data move the context as calls do: else each would be as likely as the others.
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
