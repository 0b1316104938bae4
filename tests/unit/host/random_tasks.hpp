// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/unit/host/prelude.hpp"
#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host::test {

// Calls of three tasks on each of two cores. The cores' records arrive in turns. Functions 0 to 2
// are outermost, and only these are. `moves`: both cores run tasks 1 and 2, in turn, and each
// core's records arrive in blocks of their own. Then the tracer does not work: a part's end knows
// what it did on the core that a task left, and a move does not.
class RandomTasks {
public:
    explicit RandomTasks(unsigned seed, bool moves = false) : random_(seed), moves_(moves) {
        target.cores = 2;
        target.hello();
        for (unsigned i = 0; i < 400; ++i) {
            step(static_cast<std::uint8_t>(random_() % 2));
            if (random_() % 50 == 0 && !moves) target.flush();
            if (random_() % 50 == 0 && moves)
                target.flush(static_cast<std::uint8_t>(random_() % 2));
        }
        // A task's calls that wait between two cores have no time after the old core's last record.
        for (std::uint8_t core = 0; moves && core < 2; ++core)
            target.extended(Extended::sync, 1, core);
        target.finish();
    }

    TargetStream target;
    const Symbols symbols = numbered_symbols(target, 8);

private:
    void step(std::uint8_t core) {
        const std::uint32_t runs = running_[core];
        auto& stack = stacks_[{runs != 0 && moves_ ? 0 : core, runs}];
        const std::uint64_t ticks = 1 + random_() % 20;
        const unsigned what = random_() % 8;
        if (what == 0 && moves_) return change(core, ticks);
        if (what > 4) {
            const std::uint32_t site = stack.empty() ? random_() % 3 : 3 + random_() % 5;
            stack.push_back(target.entry(site, ticks, core));
        } else if (what > 1 && !stack.empty()) {
            target.ret(stack.back(), ticks, core);
            stack.pop_back();
        } else if (what == 1 && !moves_ && !stack.empty()) {
            target.extended(Extended::tracer_begin, ticks, core);
            target.extended(Extended::tracer_end, ticks, core);
        } else if (what == 0 && core == 0) {
            running_[core] = random_() % 3;
            target.argument(Extended::context, running_[core], ticks);
        }
    }

    // From a task to the main context, or from there to a task that does not run elsewhere.
    void change(std::uint8_t core, std::uint64_t ticks) {
        std::uint32_t& runs = running_[core];
        if (runs != 0) {
            left_[runs] = {core, target.leave(core, ticks)};
            runs = 0;
            return;
        }
        const std::uint32_t next = 1 + random_() % 2;
        if (running_[1 - core] == next) return;
        runs = next;
        const auto left = left_.find(next);
        if (left == left_.end() || left->second.first == core) {
            target.argument(Extended::context, next, ticks, core);
        } else {
            target.arrive(next, core, left->second.first, left->second.second, ticks);
        }
    }

    std::mt19937 random_;
    bool moves_;
    std::map<std::uint32_t, std::pair<std::uint8_t, std::uint64_t>> left_;  // core, index
    std::uint32_t running_[2] = {0, 0};
    std::map<std::pair<unsigned, std::uint32_t>, std::vector<std::uint64_t>> stacks_;
};

}  // namespace nopscope::host::test
