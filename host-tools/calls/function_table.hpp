// SPDX-License-Identifier: Apache-2.0
// Site offset -> small function number, in two loads. Functions get a page when they first appear,
// so the table needs no symbols, and a hostile offset costs a page at most. Interrupts are in it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "host-tools/base/memory.hpp"
#include "host-tools/calls/prices.hpp"

namespace nopscope::host {

// An interrupt is a function, too: this value takes the place of its site offset.
constexpr std::uint32_t interrupt_offset(std::uint32_t interrupt) { return interrupt << 3 | 1; }
constexpr bool is_interrupt(std::uint32_t offset) { return (offset & 1) != 0; }
constexpr std::uint32_t interrupt_of(std::uint32_t offset) { return offset >> 3; }

class FunctionTable {
public:
    // "(others)": the first function that the budget refused, and all new ones after it.
    static constexpr std::uint32_t none = 0;

    FunctionTable() : pages_(1), offsets_{0} {}

    // Bytes that the budget is charged for each function from now on.
    void set_price(std::uint64_t bytes) { price_ = bytes; }

    [[gnu::always_inline]] std::uint32_t number(std::uint32_t offset, MemoryBudget& budget) {
        const std::size_t page = offset >> page_shift;
        if (page < directory_.size()) [[likely]] {
            const std::uint32_t known = pages_[directory_[page]][(offset >> 3) & page_mask];
            if (known != none) [[likely]]
                return known;
        }
        return add(offset, budget);
    }

    // The same for any offset, also an interrupt's.
    std::uint32_t number_of_any(std::uint32_t offset, MemoryBudget& budget) {
        if (!is_interrupt(offset)) return number(offset, budget);
        const auto known = interrupts_.find(offset);
        if (known != interrupts_.end()) return known->second;
        if (!charge(budget, price_)) return none;
        offsets_.push_back(offset);
        return interrupts_[offset] = size() - 1;
    }
    // Offset -> number.
    const std::map<std::uint32_t, std::uint32_t>& interrupts() const { return interrupts_; }

    // Numbers run from 1; 0 is `none`.
    std::uint32_t size() const { return static_cast<std::uint32_t>(offsets_.size()); }
    std::uint32_t offset(std::uint32_t number) const { return offsets_[number]; }

private:
    static constexpr unsigned page_bits = 8;
    static constexpr unsigned page_shift = page_bits + 3;
    static constexpr std::uint32_t page_mask = (1u << page_bits) - 1;
    using Page = std::array<std::uint32_t, 1u << page_bits>;

    [[gnu::noinline, gnu::cold]] std::uint32_t add(std::uint32_t offset, MemoryBudget& budget) {
        const std::size_t page = offset >> page_shift;
        const bool has_page = page < directory_.size() && directory_[page] != 0;
        if (!charge(budget, price_ + (has_page ? 0 : price::function_page))) return none;
        if (page >= directory_.size()) directory_.resize(page + 1, 0);
        if (directory_[page] == 0) {
            directory_[page] = static_cast<std::uint32_t>(pages_.size());
            pages_.emplace_back();
        }
        const auto number = static_cast<std::uint32_t>(offsets_.size());
        pages_[directory_[page]][(offset >> 3) & page_mask] = number;
        offsets_.push_back(offset);
        return number;
    }

    // A refused function stays `none` for ever, so all its calls add up there.
    bool charge(MemoryBudget& budget, std::uint64_t bytes) {
        full_ = full_ || !budget.take(bytes);
        return !full_;
    }

    std::uint64_t price_ = price::function;
    bool full_ = false;
    std::vector<std::uint32_t> directory_;  // offset / 2 KiB -> page; page 0 is always empty
    std::vector<Page> pages_;
    std::vector<std::uint32_t> offsets_;
    std::map<std::uint32_t, std::uint32_t> interrupts_;
};

}  // namespace nopscope::host
