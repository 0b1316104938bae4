// SPDX-License-Identifier: Apache-2.0
// Makes read-outs of the profile, one frame at a time, for the pump.
#pragma once

#include "tracer/core/site_table.hpp"
#include "tracer/protocol/profile_events.hpp"
#include "tracer/recorders/profile.hpp"

namespace nopscope {

class ProfileSender {
public:
    constexpr ProfileSender(const ProfileMemory& memory, const SiteTable& sites)
        : memory_(memory), sites_(sites) {}

    void open(std::uint64_t text_base, std::uint64_t period_ticks, std::uint64_t now) {
        text_base_ = text_base;
        period_ticks_ = period_ticks;
        due_ = now + period_ticks;
    }

    // The cells' events are those of `set` from here on.
    void count(EventSet set) { events_ = set; }

    // Requests a read-out. It begins when the current one has ended. Any context.
    void request() { __atomic_store_n(&requested_, true, __ATOMIC_RELAXED); }

    // True if there is a frame to send.
    bool waits() const {
        if (!memory_.made()) return false;
        return part_ != none || __atomic_load_n(&requested_, __ATOMIC_RELAXED);
    }
    // Requests a read-out if its period has ended. A flush on a slow line would not end with it.
    void keep_period(std::uint64_t now) {
        if (period_ticks_ != 0 && static_cast<std::int64_t>(now - due_) >= 0) request();
    }

    // True if there are cells, which may have calls.
    bool keeps() const { return memory_.made(); }
    // Number of the last read-out that is complete for all cores; 0: none.
    std::uint64_t last_whole() const { return part_ == none ? number_ : number_ - 1; }
    // Number of the first read-out that begins after this call; 0: no profile is kept.
    std::uint64_t next_number() const { return keeps() ? number_ + 1 : 0; }

    // Calls in the core's last complete read-out.
    std::uint64_t aggregated(unsigned core) const { return aggregated_[core]; }

    struct Frame {
        protocol::Stream stream;
        unsigned core;
        std::size_t payload_bytes;
    };
    // Writes the next frame to `payload` (room for protocol::max_payload_bytes): each core's
    // profile, then its events if they are counted. Only the pump calls it, while waits() is true.
    Frame next(std::uint64_t now, protocol::Byte* payload) {
        if (part_ == none) begin();
        if (of_events_) return next_events(payload);
        protocol::ProfileWriter out(payload);
        for (; site_ < sites_.size() && out.has_room(); ++site_)
            put(out, memory_.cell(core_, site_));
        const bool last = site_ == sites_.size();
        const Frame frame{protocol::Stream::profile, core_,
                          out.finish({number_, part_, last, now})};
        ++part_;
        if (last) {
            aggregated_[core_] = calls_;
            calls_ = 0;
            due_ = now + period_ticks_;
            set_ = events_;
            of_events_ = set_.any();
            if (!of_events_) ++core_;
            end_part();
        }
        return frame;
    }

private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    Frame next_events(protocol::Byte* payload) {
        protocol::ProfileEventsWriter out(payload, set_.argument());
        for (; site_ < sites_.size() && out.has_room(); ++site_)
            put(out, memory_.cell(core_, site_));
        const bool last = site_ == sites_.size();
        const Frame frame{protocol::Stream::profile_events, core_,
                          out.finish({number_, part_, last, set_.choice(), set_.argument()})};
        ++part_;
        if (last) {
            of_events_ = false;
            ++core_;
            end_part();
        }
        return frame;
    }
    void end_part() {
        site_ = 0;
        part_ = core_ == memory_.cores() ? none : 0;
    }
    void begin() {
        __atomic_store_n(&requested_, false, __ATOMIC_RELAXED);
        ++number_;
        part_ = core_ = site_ = 0;
    }
    static std::uint64_t read(const std::uint64_t& word) {
        return __atomic_load_n(&word, __ATOMIC_RELAXED);
    }
    void put(protocol::ProfileWriter& out, const ProfileCell& cell) {
        const std::uint64_t min = read(cell.min);
        if (min == ~std::uint64_t{0}) return;  // never called
        std::uint64_t calls = 0;
        for (unsigned bin = 0; bin < protocol::profile_bins; ++bin) calls += cell.count(bin);
        out.put(static_cast<std::uint32_t>(sites_.function(site_) - text_base_), read(cell.total),
                cell.self_ticks(calls, memory_.cost()), min, read(cell.max), [&](unsigned bin) {
                    const std::uint64_t count = cell.count(bin);
                    calls_ += count;
                    return count;
                });
    }

    void put(protocol::ProfileEventsWriter& out, const ProfileCell& cell) {
        const std::uint64_t calls = read(cell.counted);
        if (calls == 0) return;
        protocol::ProfileEventsEntry entry{
            static_cast<std::uint32_t>(sites_.function(site_) - text_base_), calls, {}, {}};
        for (unsigned n = 0; n < protocol::max_events; ++n) {
            entry.total[n] = read(cell.events[n].total);
            entry.self[n] = read(cell.events[n].self);
        }
        out.put(entry);
    }

    const ProfileMemory& memory_;
    const SiteTable& sites_;
    std::uint64_t text_base_ = 0;
    std::uint64_t period_ticks_ = 0;
    std::uint64_t due_ = 0;
    std::uint64_t number_ = 0;
    std::uint64_t part_ = none;  // of the current read-out
    std::uint64_t aggregated_[max_cores]{};
    std::uint64_t calls_ = 0;  // in the parts of this core's read-out so far
    EventSet events_{};
    EventSet set_{};  // in this core's read-out
    bool of_events_ = false;
    std::uint32_t core_ = 0;
    std::uint32_t site_ = 0;
    bool requested_ = false;
};
extern ProfileSender profile_sender;  // of this image

}  // namespace nopscope
