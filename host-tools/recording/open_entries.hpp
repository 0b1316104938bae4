// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tracer/protocol/record.hpp"

namespace nopscope::host::nsc {

// The open entries of a block, for token 0. Its writer and reader update them in the same way. Each
// entry is stored as the word of its return, without the clock.
class OpenEntries {
public:
    void reset(std::size_t most) {
        if (words_.size() < most) words_.resize(most);
        top_ = words_.data();
    }
    bool empty() const { return top_ == words_.data(); }
    // The word of the innermost entry. Only if !empty().
    std::uint64_t innermost() const { return top_[-1]; }

    static constexpr std::uint64_t word_of(std::uint64_t index) {
        return protocol::make_record(
                   protocol::Kind::ret,
                   (static_cast<std::uint32_t>(index) & protocol::entry_index_mask) << 1, 0)
            .word;
    }
    // Updates the entries for record `index`. Not for token 0, which removes the innermost entry.
    void follow(protocol::Record record, std::uint64_t index) {
        if (record.kind() == protocol::Kind::entry) *top_++ = word_of(index);
        if (record.kind() != protocol::Kind::ret) return;
        const auto age = [index](std::uint64_t word) {
            return (index - protocol::Record{word}.entry_index()) & protocol::entry_index_mask;
        };
        while (!empty() && age(innermost()) <= age(record.word)) --top_;
    }

    std::uint64_t*& top() { return top_; }  // one after the innermost
    const std::uint64_t* bottom() const { return words_.data(); }

private:
    std::vector<std::uint64_t> words_;
    std::uint64_t* top_ = nullptr;
};

}  // namespace nopscope::host::nsc
