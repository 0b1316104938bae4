// SPDX-License-Identifier: Apache-2.0
// A simulated program: each function calls others in its own order, with random loops and branches,
// on a noisy clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "host-tools/bench/codec/ev13.hpp"

namespace nopscope::host::test {

class CallTrace {
public:
    CallTrace(unsigned seed, unsigned functions, double noise_ticks)
        : random_(seed), noise_(0, noise_ticks) {
        for (unsigned i = 0; i < functions; ++i) {
            Function function;
            function.ticks = 1 + random_() % 20;
            // Later functions are leaves.
            for (unsigned calls = random_() % 5; calls > 0 && i + 1 < functions; --calls) {
                const auto callee =
                    static_cast<std::uint32_t>(i + 1 + random_() % (functions - i - 1));
                function.steps.push_back({callee, 1 + random_() % 3, random_() % 8 == 0});
            }
            functions_.push_back(function);
        }
    }

    // Returns `count` records of calls of the first function, from record 0 on.
    std::vector<StampedRecord> records(std::size_t count) {
        std::vector<StampedRecord> result;
        while (result.size() < count) call(0, 0, result, count);
        return result;
    }

private:
    struct Step {
        std::uint32_t callee;
        std::size_t times;
        bool maybe;
    };
    struct Function {
        unsigned ticks = 1;
        std::vector<Step> steps;
    };

    void call(std::uint32_t id, unsigned depth, std::vector<StampedRecord>& to,
              std::size_t enough) {
        const auto entry = static_cast<std::uint32_t>(to.size());
        add(protocol::Kind::entry, id * 5 + 77, functions_[id].ticks, to);
        if (depth < 40) {
            for (const Step& step : functions_[id].steps) {
                if (step.maybe && random_() % 2 == 0) continue;
                for (std::size_t i = 0; i < step.times && to.size() < enough; ++i) {
                    call(step.callee, depth + 1, to, enough);
                }
            }
        }
        add(protocol::Kind::ret, entry << 1, functions_[id].ticks, to);
    }
    void add(protocol::Kind kind, std::uint32_t payload, unsigned ticks,
             std::vector<StampedRecord>& to) {
        time_ += ticks + std::max(-0.5, noise_(random_));
        const auto clock = static_cast<std::uint64_t>(time_ / 2.5);
        to.push_back({protocol::make_record(kind, payload, clock), clock});
    }

    std::mt19937 random_;
    std::normal_distribution<double> noise_;
    std::vector<Function> functions_;
    double time_ = 1e12;
};

}  // namespace nopscope::host::test
