// SPDX-License-Identifier: Apache-2.0
// Makes frames of all moves for the pump, every few seconds and within a second after a move.
#pragma once

#include "tracer/adaptive/demoted_sites.hpp"
#include "tracer/core/site_table.hpp"
#include "tracer/protocol/moved.hpp"

namespace nopscope {

class DemotedSender {
public:
    constexpr DemotedSender(DemotedSites& moved, const SiteTable& sites)
        : moved_(moved), sites_(sites) {}

    void open(std::uint64_t text_base, std::uint64_t clock_hz) {
        text_base_ = text_base;
        clock_hz_ = clock_hz;
    }
    // Nothing is sent before this call. Any context.
    void begin() { __atomic_store_n(&begun_, true, __ATOMIC_RELAXED); }
    // Makes all moves due now. Any context.
    void request() { __atomic_store_n(&requested_, true, __ATOMIC_RELAXED); }

    bool waits(std::uint64_t now) const {
        if (!__atomic_load_n(&begun_, __ATOMIC_RELAXED)) return false;
        if (at_ != 0 || __atomic_load_n(&requested_, __ATOMIC_RELAXED)) return true;
        const std::uint64_t since = now - sent_;
        return since >= again_seconds * clock_hz_ ||
               (moved_.moves() != sent_moves_ && since >= clock_hz_);
    }
    // Writes the next payload (room for protocol::max_payload_bytes) and returns its size; 0: not
    // now. Only the pump calls it, while waits() is true.
    std::size_t next(std::uint64_t now, protocol::Byte* payload) {
        if (!moved_.try_lock()) return 0;
        if (at_ == 0) {
            __atomic_store_n(&requested_, false, __ATOMIC_RELAXED);
            sent_moves_ = moved_.moves();
            sent_ = now;
        }
        protocol::MovedWriter out(payload, moved_.moves());
        const auto all = moved_.all();
        for (; at_ < all.size() && out.has_room(); ++at_) put(out, all[at_]);
        if (at_ == all.size()) at_ = 0;
        moved_.unlock();
        return out.size();
    }

private:
    static constexpr std::uint64_t again_seconds = 4;

    void put(protocol::MovedWriter& out, const DemotedSites::Site& site) const {
        using State = DemotedSites::State;
        if (site.state == State::free || site.state == State::barred) return;
        out.put({static_cast<std::uint32_t>(sites_.function(site.index) - text_base_),
                 site.state != State::back, site.since});
    }

    DemotedSites& moved_;
    const SiteTable& sites_;
    std::uint64_t text_base_ = 0;
    std::uint64_t clock_hz_ = 1;
    std::uint64_t sent_ = 0;  // clock
    std::uint64_t sent_moves_ = 0;
    std::size_t at_ = 0;  // the next site to send; 0: none is being sent
    bool begun_ = false;
    bool requested_ = false;
};

}  // namespace nopscope
