// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "host-tools/recording/block.hpp"

namespace nopscope::host::nsc {
namespace {

using protocol::StampedRecord;

constexpr std::size_t batch_records = 4096;
constexpr std::uint64_t index_limit = std::uint64_t{1} << 60;

// A dictionary word's low half, later the record's clock, has the token's kind. 0 is an entry.
constexpr std::uint64_t is_other = 1;  // a record that opens no call
constexpr std::uint64_t is_rare = 2;   // token 1
constexpr std::uint64_t is_none = 3;   // there is no such token
constexpr std::uint64_t low_half = 0xffffffff;

// Clears the bit that is zero in every record.
constexpr std::uint64_t record_word(std::uint64_t upper) {
    return (upper & ~std::uint64_t{4}) << 32;
}

template <typename Value>
Value element(const std::uint8_t* column, std::size_t i) {
    Value value;
    std::memcpy(&value, column + i * sizeof value, sizeof value);  // hosts are little-endian
    return value;
}

}  // namespace

bool BlockReader::open(std::span<const std::uint8_t> body) {
    protocol::Reader in(body.data(), body.size());
    ok_ = false;
    at_ = next_gap_ = 0;
    if (!read_header(in) || !read_dictionary(in)) return false;
    const std::uint64_t rare_bytes = in.varint();
    if (rare_bytes > in.left()) return false;
    rare_ = protocol::Reader(in.bytes(rare_bytes), rare_bytes);
    tokens_ = in.bytes(count_ << (wide_tokens_ ? 1 : 0));
    deltas_ = in.bytes(count_ << (wide_deltas_ ? 1 : 0));
    if (!in.ok()) return false;
    index_ = header_.first_index;
    clock_ = header_.base;
    open_.reset(count_ + 1);
    records_.resize(batch_records);
    return ok_ = true;
}

bool BlockReader::read_header(protocol::Reader& in) {
    header_.session = in.varint();
    header_.core = static_cast<unsigned>(in.varint()) & 0xff;
    header_.first_index = in.varint();
    header_.missing = in.varint();
    header_.context = static_cast<std::uint32_t>(in.varint());
    header_.base = in.varint();
    const std::uint64_t count = in.varint();
    const std::uint64_t gaps = in.varint();
    if (count == 0 || count > max_block_records || gaps >= count) return false;
    if (header_.first_index > index_limit || header_.missing > header_.first_index) return false;
    count_ = count;
    header_.gaps.resize(gaps);
    std::uint64_t at = 0;
    std::uint64_t index = header_.first_index + count;
    for (BlockGap& gap : header_.gaps) {
        const std::uint64_t step = in.varint();
        if (step == 0 || step >= count - at) return false;
        gap.at = at += step;
        gap.missing = in.varint();
        gap.context = static_cast<std::uint32_t>(in.varint());
        gap.base = in.varint();
        if (gap.missing > index_limit || (index += gap.missing) > index_limit) return false;
    }
    const std::uint64_t flags = in.varint();
    wide_tokens_ = (flags & 1) != 0;
    wide_deltas_ = (flags & 2) != 0;
    delta_base_ = static_cast<std::uint64_t>(protocol::unzigzag(in.varint()));
    return in.ok() && flags < 4;
}

bool BlockReader::read_dictionary(protocol::Reader& in) {
    const std::size_t tokens = wide_tokens_ ? 0x10000 : 0x100;
    const std::uint64_t count = in.varint();
    if (count > tokens - 2) return false;
    dictionary_.resize(0x10000, is_none);
    dictionary_[1] = is_rare;
    for (std::uint64_t i = count; i < words_; ++i) dictionary_[i + 2] = is_none;
    words_ = count;
    for (std::uint64_t i = 0; i < count; ++i) {
        const protocol::Record record{record_word(in.varint())};
        dictionary_[i + 2] = record.word | (record.kind() == protocol::Kind::entry ? 0 : is_other);
    }
    return in.ok();
}

TraceBatch BlockReader::next() {
    TraceBatch batch;
    if (!ok_ || at_ == count_) return batch;
    const auto& gaps = header_.gaps;
    if (next_gap_ < gaps.size() && gaps[next_gap_].at == at_) {
        const BlockGap& gap = gaps[next_gap_++];
        index_ += gap.missing;
        clock_ = gap.base;
        batch.gap = true;
        batch.context = gap.context;
        batch.base = gap.base;
    }
    const std::size_t end = next_gap_ < gaps.size() ? gaps[next_gap_].at : count_;
    const std::size_t count = std::min(end - at_, batch_records);
    batch.first_index = index_;
    std::size_t done = 0;
    if (wide_tokens_) {
        done = wide_deltas_ ? unpack<std::uint16_t, std::uint16_t>(count)
                            : unpack<std::uint16_t, std::uint8_t>(count);
    } else {
        done = wide_deltas_ ? unpack<std::uint8_t, std::uint16_t>(count)
                            : unpack<std::uint8_t, std::uint8_t>(count);
    }
    ok_ = done == count;
    at_ += done;
    index_ += done;
    batch.records = {records_.data(), done};
    return batch;
}

// Returns how many records it read: fewer than `count` if one is malformed. The loop has all its
// state in registers; rare cases are in functions of their own.
template <typename Token, typename Delta>
std::size_t BlockReader::unpack(std::size_t count) {
    const std::uint8_t* const tokens = tokens_ + at_ * sizeof(Token);
    const std::uint8_t* const deltas = deltas_ + at_ * sizeof(Delta);
    const std::uint64_t* const dictionary = dictionary_.data();
    const std::uint64_t* const outermost = open_.bottom();
    const std::uint64_t delta_base = delta_base_;
    StampedRecord* to = records_.data();
    std::uint64_t open_word = OpenEntries::word_of(index_);  // for an entry with this index
    std::uint64_t* open = open_.top();
    std::uint64_t clock = clock_;
    std::size_t i = 0;
    for (; i < count; ++i, ++to, open_word += OpenEntries::word_of(1) - OpenEntries::word_of(0)) {
        const Token token = element<Token>(tokens, i);
        const Delta delta = element<Delta>(deltas, i);
        std::uint64_t word;
        if (token == 0) {
            if (open == outermost) [[unlikely]]
                break;
            word = *--open;
        } else if (word = dictionary[token]; static_cast<std::uint32_t>(word) == 0) [[likely]] {
            *open++ = open_word;
        } else {
            if ((word & low_half) == is_none) break;
            open_.top() = open;
            word = other_record(word, index_ + i);
            open = open_.top();
            if (protocol::Record{word}.is(protocol::Extended::data)) {
                *to = {{word}, clock};  // data has the clock of its head
                continue;
            }
        }
        clock += delta_base + delta;
        if (delta == std::numeric_limits<Delta>::max()) [[unlikely]] {
            clock += rare_delta() - delta_base - delta;
        }
        *to = {{word | static_cast<std::uint32_t>(clock)}, clock};
    }
    open_.top() = open;
    clock_ = clock;
    return rare_.ok() ? i : 0;  // !ok(): some values were read after the column's end
}

// The record of a dictionary word, without the clock; data with its lower half.
std::uint64_t BlockReader::other_record(std::uint64_t word, std::uint64_t index) {
    if ((word & low_half) == is_other) return word & ~low_half;
    word = record_word(rare_.varint());
    open_.follow({word}, index);
    if (protocol::Record{word}.is(protocol::Extended::data)) word |= rare_.varint() & low_half;
    return word;
}

std::uint64_t BlockReader::rare_delta() {
    return static_cast<std::uint64_t>(protocol::unzigzag(rare_.varint()));
}

}  // namespace nopscope::host::nsc
