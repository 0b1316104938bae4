// SPDX-License-Identifier: Apache-2.0
// Which functions' calls are leaves, and how often: among the newest records of the rings, and among the
// calls that found no room there (load_meter.hpp).
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
    // The records of a ring in [from, to); those that are not written (yet) are left out.
    void scan(const Core& core, std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t at = from; at < to; at += record_bytes) {
            const auto record = ring_peek(core, at);
            if (!record) continue;
            ++records_;
            if (record->kind() != protocol::Kind::entry) continue;
            const auto next = ring_peek(core, at + record_bytes);
            if (!next || next->kind() != protocol::Kind::ret) continue;
            const auto index = static_cast<std::uint32_t>(record_index(at)) & protocol::entry_index_mask;
            if (next->entry_index() == index) count(record->site_low());
        }
    }
    // One call of a leaf. Where there is no place, those there lose one each: the hottest stay.
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
            if (leaf.calls != 0) --leaf.calls;  // an interrupt may have, meanwhile
        }
    }
    // What was counted among `calls` that made no record.
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
    // The hottest, to `out`, until they make up for `excess` 1024ths of the records. index_of(site), with the
    // low half of the function's address, is what `out` gets, or nothing: it may not go. Once for each sample.
    template <typename IndexOf>
    std::size_t choose(std::uint64_t excess, std::span<std::uint32_t> out, IndexOf index_of) {
        std::size_t chosen = 0;
        for (std::uint64_t gone = 0; chosen < out.size() && gone * 1024 < excess * records_;) {
            Leaf* hottest = nullptr;
            for (Leaf& leaf : leaves_) {
                if (leaf.calls >= least_calls && (hottest == nullptr || leaf.calls > hottest->calls)) {
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
    // One call in the sample may be one that looks like a leaf because the ring was full inside it.
    static constexpr std::uint32_t least_calls = 2;
    static constexpr unsigned places = 128;
    static constexpr unsigned probes = 8;

    Leaf leaves_[places]{};
    std::uint64_t records_ = 0;
};

}  // namespace nopscope
