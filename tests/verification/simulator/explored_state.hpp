// SPDX-License-Identifier: Apache-2.0
// A state of the explorer: the site's slot and word, what each core may fetch, where each core is.
//
// A set of words is one byte. Each bit stands for a word of the recording that may be there.
// Different states have different bytes, so they are compared and hashed as bytes.
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
        idle,
        early,
        load,
        call,
        direct,
        unguarded_load,
        unguarded_call,
        far_load,
        far_direct
    };

    struct Execution {
        Phase phase;
        std::uint8_t object;
        std::uint8_t position;  // the next member of the list
        std::uint8_t start;     // number of requests that had returned
        std::uint16_t ran;      // parts that it has run
        bool operator==(const Execution&) const = default;
    };
    struct Core {
        std::uint8_t icache;  // a set of words
        std::uint8_t pipeline;
        bool acknowledged;     // it has taken the patcher's interrupt
        bool interrupted;      // `below` is the interrupted execution
        std::uint8_t awaited;  // bits of depths whose guards were taken when it acknowledged
        std::uint8_t zero;
        Execution run;
        Execution below;
        bool operator==(const Core&) const = default;
    };
    static constexpr unsigned own = 2;  // the patcher's core, which only fetches

    std::uint64_t pending;  // stores that are not visible yet: bits of steps
    std::uint8_t at;        // the patcher's next step
    std::uint8_t slot;
    std::uint8_t word;
    std::uint8_t unified;  // a set of words: at the point of unification
    bool cleaning;
    bool invalidating;
    std::uint8_t zero[4];
    Core cores[3];

    bool operator==(const ExploredState&) const = default;

    // A core may fetch a line at any time.
    void refill() {
        for (Core& core : cores) {
            core.icache |= unified;
            core.pipeline |= core.icache;
        }
    }
    // A DSB completes the queued operations, in the worst order.
    void complete() {
        if (std::exchange(invalidating, false))
            for (Core& core : cores) core.icache = unified;
        if (std::exchange(cleaning, false)) unified = bit(word);
        refill();
    }
    // Sorts the two executing cores, which are alike.
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
