// SPDX-License-Identifier: Apache-2.0
// Counts the leaf calls of functions: in the rings' newest records, and among the calls that found
// no room there (load_meter.hpp).
#pragma once

#include "tracer/core/ring.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nopscope {

class LeafSample {
public:
    void clear() {
        for (Leaf& leaf : leaves_) leaf = {};
        records_ = 0;
    }
    // Counts in the records of a ring in [from, to), without those that are not written (yet).
    void scan(const Core& core, std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t at = from; at < to; at += record_bytes) {
            const auto record = ring_peek(core, at);
            if (!record) continue;
            ++records_;
            if (record->kind() != protocol::Kind::entry) continue;
            const auto next = ring_peek(core, at + record_bytes);
            if (!next || next->kind() != protocol::Kind::ret) continue;
            const auto index =
                static_cast<std::uint32_t>(record_index(at)) & protocol::entry_index_mask;
            if (next->entry_index() == index) count(record->site_low());
        }
    }
    // Counts one leaf call. Without a free place all counts there decrease, so the hottest stay.
    void count(std::uint32_t site) {
        const std::uint32_t first = ((site >> 3) * 0x9e3779b1u) >> 25;
        for (unsigned n = 0; n < probes; ++n) {
            Leaf& leaf = leaves_[(first + n) % places];
            if (leaf.calls != 0 && leaf.site != site) continue;
            leaf.site = site;
            ++leaf.calls;
            return;
        }
        for (unsigned n = 0; n < probes; ++n) {
            Leaf& leaf = leaves_[(first + n) % places];
            if (leaf.calls != 0) --leaf.calls;  // an interrupt may have set it to 0
        }
    }
    // Adds the counts of another sample, which was taken from `calls` calls without a record.
    void add(const LeafSample& other, std::uint64_t calls) {
        records_ += 2 * calls;
        for (const Leaf& leaf : other.leaves_) {
            if (leaf.calls == 0) continue;
            for (Leaf& own : leaves_) {
                if (own.calls != 0 && own.site != leaf.site) continue;
                own.site = leaf.site;
                own.calls += leaf.calls;
                break;
            }
        }
    }
    // Puts the hottest functions into `out` until they make `excess` 1024ths of the records; once a
    // sample. index_of() returns the index for the low half of an address; nullopt: it must stay.
    template <typename IndexOf>
    std::size_t choose(std::uint64_t excess, std::span<std::uint32_t> out, IndexOf index_of) {
        std::size_t chosen = 0;
        for (std::uint64_t gone = 0; chosen < out.size() && gone * 1024 < excess * records_;) {
            Leaf* hottest = nullptr;
            for (Leaf& leaf : leaves_) {
                if (leaf.calls >= least_calls &&
                    (hottest == nullptr || leaf.calls > hottest->calls)) {
                    hottest = &leaf;
                }
            }
            if (hottest == nullptr) break;
            const std::uint64_t records = std::uint64_t{2} * hottest->calls;
            hottest->calls = 0;
            const std::optional<std::uint32_t> index = index_of(hottest->site);
            if (!index) continue;
            out[chosen++] = *index;
            gone += records;
        }
        return chosen;
    }

private:
    struct Leaf {
        std::uint32_t site = 0;
        std::uint32_t calls = 0;
    };
    // One call may look like a leaf only because the ring was full inside it.
    static constexpr std::uint32_t least_calls = 2;
    static constexpr unsigned places = 128;
    static constexpr unsigned probes = 8;

    Leaf leaves_[places]{};
    std::uint64_t records_ = 0;
};

}  // namespace nopscope
