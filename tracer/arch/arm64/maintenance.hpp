// SPDX-License-Identifier: Apache-2.0
// Makes stores to text visible to instruction fetch, in batches (contract:
// tracer/arch/maintenance.hpp).
//
// Arm ARM DDI 0487, B2.2.5 and D7.5: clean each written data line to the point of unification, DSB,
// invalidate each instruction line, DSB, then a context synchronisation event on every core.
//
// A core may refetch a line between two invalidates. So a batch makes all its stores before its
// first invalidate: it remembers ranges of lines, and finish() maintains them. When its ranges are
// full, a new batch begins. On a CPU that needs no maintenance all stores are one batch.
#pragma once

#include "tracer/arch/machine.hpp"

#include <array>

namespace nopscope {

template <MachineConcept M>
class Maintenance {
public:
    explicit Maintenance(M& machine)
        : machine_(machine),
          dcache_bytes_(machine.dcache_line_bytes()),
          icache_bytes_(machine.icache_line_bytes()),
          line_bytes_(smaller(dcache_bytes_, icache_bytes_)) {}
    ~Maintenance() { finish(); }
    Maintenance(const Maintenance&) = delete;
    Maintenance& operator=(const Maintenance&) = delete;

    void note(Address address) {
        noted_ = true;
        if (line_bytes_ == 0) [[likely]]
            return;  // keeps the loops short on such CPUs
        const Address line = address & ~static_cast<Address>(line_bytes_ - 1);
        if (line == open_.end) {
            open_.end += line_bytes_;
        } else if (line - open_.begin >= open_.end - open_.begin) {
            open(line);
        }
    }

    [[gnu::noinline]] bool finish() {
        if (!noted_) return all_came_;
        ranges_[count_++] = open_;
        open_ = {};
        for_each_line(dcache_bytes_, [this](Address line) { machine_.clean_dcache_line(line); });
        machine_.data_barrier();
        for_each_line(icache_bytes_,
                      [this](Address line) { machine_.invalidate_icache_line(line); });
        machine_.data_barrier();
        machine_.instruction_barrier();
        if (!machine_.synchronize_other_cores()) all_came_ = false;
        count_ = 0;
        noted_ = false;
        return all_came_;
    }

private:
    struct Range {
        Address begin;
        Address end;
    };

    static std::size_t smaller(std::size_t one, std::size_t other) {
        return one == 0 || (other != 0 && other < one) ? other : one;
    }

    [[gnu::noinline]] void open(Address line) {
        if (count_ + 1 == ranges_.size()) {
            finish();
            noted_ = true;
        } else if (open_.begin != open_.end) {
            ranges_[count_++] = open_;
        }
        open_ = {line, line + line_bytes_};
    }

    template <typename Visit>
    void for_each_line(std::size_t line_bytes, Visit visit) {
        if (line_bytes == 0) return;
        const Address mask = ~static_cast<Address>(line_bytes - 1);
        Address done = ~Address{0};
        for (std::size_t i = 0; i < count_; ++i) {
            for (Address line = ranges_[i].begin & mask; line < ranges_[i].end;
                 line += line_bytes) {
                if (line == done) continue;
                visit(line);
                done = line;
            }
        }
    }

    M& machine_;
    std::size_t dcache_bytes_;
    std::size_t icache_bytes_;
    std::size_t line_bytes_;  // granule of ranges; 0: no maintenance is needed
    Range open_{};            // the last range
    std::array<Range, 64> ranges_;
    std::size_t count_ = 0;
    bool noted_ = false;
    bool all_came_ = true;
};

}  // namespace nopscope
