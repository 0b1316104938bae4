// SPDX-License-Identifier: Apache-2.0
// Makes stores to text visible to instruction fetch, in batches.
//
// Arm ARM DDI 0487, B2.2.5 and D7.5: clean each written data line to the point of unification, DSB,
// invalidate each instruction line, DSB, then a context synchronisation event on every core. The
// words of a batch are noted as they are written, in ascending order as far as the caller can, and
// each line is cleaned and invalidated once; finish() (or the destructor) completes it.
//
// The stores have all been made before the first invalidate of a batch, for a core may refetch a line
// between two invalidates. So a batch remembers ranges and maintains them in finish().
#pragma once

#include "hal/machine.hpp"

#include <array>

namespace nopscope {

template <MachineConcept M>
class Maintenance {
public:
    explicit Maintenance(M& machine) : machine_(machine) {}
    ~Maintenance() { finish(); }
    Maintenance(const Maintenance&) = delete;
    Maintenance& operator=(const Maintenance&) = delete;

    // `bytes` at `address` have been written. Neighbours merge into one range.
    void note(Address address, std::size_t bytes) {
        if (count_ > 0 && address >= ranges_[count_ - 1].begin &&
            address <= ranges_[count_ - 1].end + merge_distance) {
            if (ranges_[count_ - 1].end < address + bytes) ranges_[count_ - 1].end = address + bytes;
            return;
        }
        if (count_ == ranges_.size()) finish();
        ranges_[count_++] = {address, address + bytes};
    }

    void finish() {
        if (count_ == 0) return;
        for_each_line(machine_.dcache_line_bytes(),
                      [this](Address line) { machine_.clean_dcache_line(line); });
        machine_.data_barrier();
        for_each_line(machine_.icache_line_bytes(),
                      [this](Address line) { machine_.invalidate_icache_line(line); });
        machine_.data_barrier();
        machine_.instruction_barrier();
        machine_.synchronize_other_cores();
        count_ = 0;
    }

private:
    struct Range {
        Address begin;
        Address end;
    };
    // Less than a line of any core, so merging never adds a line between two ranges.
    static constexpr std::size_t merge_distance = 16;

    template <typename Visit>
    void for_each_line(std::size_t line_bytes, Visit visit) {
        if (line_bytes == 0) return;
        const Address mask = ~static_cast<Address>(line_bytes - 1);
        Address done = ~Address{0};
        for (std::size_t i = 0; i < count_; ++i) {
            for (Address line = ranges_[i].begin & mask; line < ranges_[i].end; line += line_bytes) {
                if (line == done) continue;
                visit(line);
                done = line;
            }
        }
    }

    M& machine_;
    std::array<Range, 64> ranges_;
    std::size_t count_ = 0;
};

}  // namespace nopscope
