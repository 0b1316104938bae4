// SPDX-License-Identifier: Apache-2.0
// The functions that adaptive mode has moved to the profile, and when. The class also remembers
// functions that came back, so that they do not move to and fro (load_meter.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#ifndef NOPSCOPE_MOVED_SITES
#define NOPSCOPE_MOVED_SITES 512  // 32 bytes each
#endif

namespace nopscope {

class DemotedSites {
public:
    enum class State : std::uint8_t {
        free,
        moved,
        back,
        forgotten,  // another request has changed its recorder
        barred,     // it cannot be moved
    };
    struct Site {
        std::uint32_t index = 0;
        State state = State::free;
        std::uint8_t times = 0;   // how often it was moved
        std::uint64_t since = 0;  // clock
        std::uint64_t calls = 0;  // as of note_calls()
        std::uint64_t rate = 0;   // calls a second
    };
    static constexpr unsigned capacity = NOPSCOPE_MOVED_SITES;

    void open(std::uint64_t clock_hz) { clock_hz_ = clock_hz; }

    // Needed to read the sites, or to change more than a state. Any context. False: it is taken.
    bool try_lock() { return __atomic_exchange_n(&locked_, 1, __ATOMIC_ACQUIRE) == 0; }
    void unlock() { __atomic_store_n(&locked_, 0, __ATOMIC_RELEASE); }

    bool may_demote(std::uint32_t index) {
        const Site* const known = find(index);
        return known == nullptr || is_here(*known);
    }
    // How many more may be moved or barred.
    std::size_t room() const {
        std::size_t room = capacity - count_;
        for (const Site& site : sites_) room += is_here(site);
        return room;
    }
    // The site was moved. Needs may_demote() and room(). `calls`: in the profile so far.
    void demote(std::uint32_t index, std::uint64_t now, std::uint64_t calls) {
        Site& site = place(index);
        const std::uint8_t times = site.times;
        site.state = State::moved;
        site.times = static_cast<std::uint8_t>(times + (times < most_times));
        site.since = now;
        site.calls = calls;
        site.rate = ~std::uint64_t{0};
        ++moves_;
        ++demoted_count_;
    }
    // The site cannot be moved.
    void bar(std::uint32_t index) { place(index).state = State::barred; }
    void promote(Site& site, std::uint64_t now) {
        site.state = State::back;
        site.since = now;
        ++moves_;
        --demoted_count_;
    }
    // Another request has changed the recorder of the sites [first, last). Only within a request.
    void forget(std::uint32_t first, std::uint32_t last) {
        for (Site& site : sites_) {
            if (site.state != State::moved || site.index < first || site.index >= last) continue;
            site.state = State::forgotten;
            --demoted_count_;
        }
    }

    // Computes how often moved functions were called since last time. False: that was too long ago.
    template <typename Calls>
    bool note_calls(std::uint64_t now, Calls calls_of) {
        const std::uint64_t ticks = now - noted_;
        noted_ = now;
        for (Site& site : sites_) {
            if (site.state != State::moved) continue;
            const std::uint64_t calls = calls_of(site.index);
            // Not right after the move: that rate is the one that caused the move.
            if (now - site.since >= ticks && ticks != 0) {
                site.rate = (calls - site.calls) * clock_hz_ / ticks;
            }
            site.calls = calls;
        }
        return ticks < 4 * clock_hz_;
    }
    // Chooses the coldest of the functions that have been moved for long enough, as many as make at
    // most `spare` records a second.
    std::size_t choose_to_promote(std::uint64_t spare, std::uint64_t now, std::span<Site*> out) {
        std::size_t chosen = 0;
        while (chosen < out.size()) {
            Site* coldest = nullptr;
            for (Site& site : sites_) {
                if (site.state != State::moved || now - site.since < stay(site)) continue;
                bool taken = site.rate > spare / 2;
                for (std::size_t i = 0; i < chosen; ++i) taken |= out[i] == &site;
                if (!taken && (coldest == nullptr || site.rate < coldest->rate)) coldest = &site;
            }
            if (coldest == nullptr) break;
            spare -= 2 * coldest->rate;
            out[chosen++] = coldest;
        }
        return chosen;
    }

    unsigned demoted_count() const { return demoted_count_; }
    std::uint64_t moves() const { return moves_; }  // both ways
    std::span<Site> all() { return sites_; }

private:
    static constexpr std::uint8_t most_times = 8;

    std::uint64_t stay(const Site& site) const { return clock_hz_ << site.times; }  // 2 s at first

    Site* find(std::uint32_t index) {
        for (Site& site : sites_) {
            if (site.state != State::free && site.index == index) return &site;
        }
        return nullptr;
    }
    static bool is_here(const Site& site) {
        return site.state == State::back || site.state == State::forgotten;
    }
    Site* oldest_here() {
        Site* oldest = nullptr;
        for (Site& site : sites_) {
            if (!is_here(site)) continue;
            if (oldest == nullptr || site.since < oldest->since) oldest = &site;
        }
        return oldest;
    }
    Site& place(std::uint32_t index) {
        if (Site* const known = find(index)) return *known;
        Site& site = count_ < capacity ? sites_[count_++] : *oldest_here();
        site.index = index;
        site.times = 0;
        return site;
    }

    Site sites_[capacity]{};
    unsigned count_ = 0;  // sites that are not free: the first ones
    unsigned demoted_count_ = 0;
    std::uint64_t moves_ = 0;
    std::uint64_t noted_ = 0;
    std::uint64_t clock_hz_ = 0;
    std::uint32_t locked_ = 0;  // a word: not every CPU exchanges a byte
};

}  // namespace nopscope
