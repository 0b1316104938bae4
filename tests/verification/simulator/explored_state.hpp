// SPDX-License-Identifier: Apache-2.0
// One state of the explorer: the site's slot and word, what each core may fetch, where each core is.
//
// A set of words is a byte, a bit for each word of the recording: all that may be there. Unequal
// states differ in their bytes, so they are compared and hashed as such.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace nopscope::sim {

constexpr std::uint8_t bit(unsigned n) { return static_cast<std::uint8_t>(1u << n); }

struct ExploredState {
    enum class Phase : std::uint8_t {
        idle, early, load, call, direct, unguarded_load, unguarded_call, far_load, far_direct
    };

    struct Execution {
        Phase phase;
        std::uint8_t object;
        std::uint8_t position;  // next member
        std::uint8_t start;     // requests that had returned
        std::uint16_t ran;      // parts
        bool operator==(const Execution&) const = default;
    };
    struct Core {
        std::uint8_t icache;    // sets of words
        std::uint8_t pipeline;
        bool acknowledged;      // of the patcher's interrupt
        bool interrupted;       // `below` waits
        std::uint8_t awaited;   // guards that were taken when it acknowledged: bits of depths
        std::uint8_t zero;
        Execution run;
        Execution below;
        bool operator==(const Core&) const = default;
    };
    static constexpr unsigned own = 2;  // the patcher's core: only what it may fetch

    std::uint64_t pending;  // stores not yet visible: bits of steps
    std::uint8_t at;        // the patcher's next step
    std::uint8_t slot;
    std::uint8_t word;
    std::uint8_t unified;  // set of words: the point of unification
    bool cleaning;
    bool invalidating;
    std::uint8_t zero[4];
    Core cores[3];

    bool operator==(const ExploredState&) const = default;

    // A line may be fetched at any time.
    void refill() {
        for (Core& core : cores) {
            core.icache |= unified;
            core.pipeline |= core.icache;
        }
    }
    // A DSB: what was queued is done, in the worst order.
    void complete() {
        if (std::exchange(invalidating, false)) {
            for (Core& core : cores) core.icache = unified;
        }
        if (std::exchange(cleaning, false)) unified = bit(word);
        refill();
    }
    // The two that execute are alike.
    void order_cores() {
        if (std::memcmp(&cores[1], &cores[0], sizeof(Core)) < 0) std::swap(cores[0], cores[1]);
    }

    struct Hash {
        std::size_t operator()(const ExploredState& state) const {
            return std::hash<std::string_view>()(
                {reinterpret_cast<const char*>(&state), sizeof state});
        }
    };
};
static_assert(std::has_unique_object_representations_v<ExploredState>);

}  // namespace nopscope::sim
