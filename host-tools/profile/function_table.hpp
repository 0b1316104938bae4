// SPDX-License-Identifier: Apache-2.0
// Site offset -> small function number, in two loads. Pages are made as functions appear, so the
// table needs no symbols and a hostile offset costs no more than a page. Interrupts have numbers among them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace nopscope {

// An interrupt is a function, too; this is what stands for its site's offset.
constexpr std::uint32_t interrupt_offset(std::uint32_t interrupt) { return interrupt << 3 | 1; }
constexpr bool is_interrupt(std::uint32_t offset) { return (offset & 1) != 0; }
constexpr std::uint32_t interrupt_of(std::uint32_t offset) { return offset >> 3; }

class FunctionTable {
public:
    // More functions than any image has; what comes after is all function `none`.
    static constexpr std::uint32_t max_functions = std::uint32_t{1} << 18;
    static constexpr std::uint32_t none = 0;

    FunctionTable() : pages_(1), offsets_{0} {}

    std::uint32_t number(std::uint32_t offset) {
        const std::size_t page = offset >> page_shift;
        if (page < directory_.size()) [[likely]] {
            const std::uint32_t known = pages_[directory_[page]][(offset >> 3) & page_mask];
            if (known != none) [[likely]]
                return known;
        }
        return add(offset);
    }

    // Of any offset.
    std::uint32_t number_of_any(std::uint32_t offset) {
        if (!is_interrupt(offset)) return number(offset);
        const auto known = interrupts_.find(offset);
        if (known != interrupts_.end()) return known->second;
        if (offsets_.size() >= max_functions) return none;
        offsets_.push_back(offset);
        return interrupts_[offset] = size() - 1;
    }
    // By their offsets: their numbers.
    const std::map<std::uint32_t, std::uint32_t>& interrupts() const { return interrupts_; }

    // Numbers run from 1; 0 stands for the functions that found no room.
    std::uint32_t size() const { return static_cast<std::uint32_t>(offsets_.size()); }
    std::uint32_t offset(std::uint32_t number) const { return offsets_[number]; }

private:
    static constexpr unsigned page_bits = 8;
    static constexpr unsigned page_shift = page_bits + 3;
    static constexpr std::uint32_t page_mask = (1u << page_bits) - 1;
    using Page = std::array<std::uint32_t, 1u << page_bits>;

    [[gnu::noinline, gnu::cold]] std::uint32_t add(std::uint32_t offset) {
        if (offsets_.size() >= max_functions) return none;
        const std::size_t page = offset >> page_shift;
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

    std::vector<std::uint32_t> directory_;  // offset / 2 KiB -> page; page 0 is always empty
    std::vector<Page> pages_;
    std::vector<std::uint32_t> offsets_;
    std::map<std::uint32_t, std::uint32_t> interrupts_;
};

}  // namespace nopscope
