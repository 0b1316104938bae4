// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "host-tools/image/symbols.hpp"
#include "tests/unit/host/target_stream.hpp"

namespace nopscope::host::test {

// Calls of three tasks on each of two cores. The cores' records arrive in turns. Functions 0 to 2
// are outermost, and only these are.
class RandomTasks {
public:
    explicit RandomTasks(unsigned seed) : random_(seed) {
        target.cores = 2;
        symbols.build_id = target.build_id;
        symbols.site_table_crc = target.site_table_crc;
        for (std::uint32_t i = 0; i < 8; ++i) {
            symbols.sites.push_back(
                {TargetStream::text_base + 8 * i, 8, "f" + std::to_string(i), "", 0});
        }
        target.hello();
        for (unsigned i = 0; i < 400; ++i) {
            step(static_cast<std::uint8_t>(random_() % 2));
            if (random_() % 50 == 0) target.flush();
        }
        target.finish();
    }

    TargetStream target;
    Symbols symbols;

private:
    void step(std::uint8_t core) {
        auto& stack = stacks_[{core, running_[core]}];
        const std::uint64_t ticks = 1 + random_() % 20;
        switch (random_() % 8) {
        case 0:
            if (core != 0) return;  // TargetStream::argument() is of core 0
            running_[core] = random_() % 3;
            target.argument(protocol::Extended::context, running_[core], ticks);
            return;
        case 1:
            if (!stack.empty()) target.extended(protocol::Extended::tracer_begin, ticks, core);
            if (!stack.empty()) target.extended(protocol::Extended::tracer_end, ticks, core);
            return;
        case 2:
        case 3:
        case 4:
            if (stack.empty()) return;
            target.ret(stack.back(), ticks, core);
            stack.pop_back();
            return;
        default:
            const std::uint32_t site = stack.empty() ? random_() % 3 : 3 + random_() % 5;
            stack.push_back(target.entry(site, ticks, core));
        }
    }

    std::mt19937 random_;
    std::uint32_t running_[2] = {0, 0};
    std::map<std::pair<unsigned, std::uint32_t>, std::vector<std::uint64_t>> stacks_;
};

}  // namespace nopscope::host::test
