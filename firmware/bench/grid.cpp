// SPDX-License-Identifier: Apache-2.0
// The grid: calls of a function that `relevant` ops trace, while `irrelevant` ops trace others.
#include "firmware/bench/functions.hpp"
#include "firmware/bench/strategies.hpp"

namespace bench {

namespace {

constexpr unsigned sizes[] = {0, 1, 2, 10, 100};
static_assert(sizes[4] * 2 <= max_ops);

// The first `relevant` ops trace the called function. Each other one traces its own function.
BenchFunction target(unsigned number, unsigned relevant) {
    return number < relevant ? traced : functions[number];
}

void measure_one(const Strategy& strategy, unsigned relevant, unsigned irrelevant) {
    const Row row = {"grid", strategy.name, relevant, irrelevant};
    if (relevant > strategy.most) return;
    const Reading off = loop_of(traced);
    const unsigned wanted = relevant + irrelevant;
    const char* wrong = nullptr;
    unsigned added = 0;
    for (; added < wanted && wrong == nullptr; ++added) {
        wrong = strategy.add(added, target(added, relevant));
        if (wrong != nullptr) break;
    }
    if (wrong == nullptr) {
        print(row, loop_of(traced), off, calls);
    } else {
        print_missing(row, wrong);
    }
    while (added-- > 0) strategy.remove(added, target(added, relevant));
    const Reading after = loop_of(traced) - off;
    need(after.instructions == 0, "bench: not as it was before");
}

}  // namespace

void measure_grid() {
    for (const Strategy& strategy : strategies) {
        for (const unsigned relevant : sizes) {
            for (const unsigned irrelevant : sizes) measure_one(strategy, relevant, irrelevant);
        }
        // One more point, to check the formula for several ops.
        if (strategy.most > 3) measure_one(strategy, 3, 0);
    }
}

}  // namespace bench
