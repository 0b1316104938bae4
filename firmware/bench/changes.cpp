// SPDX-License-Identifier: Apache-2.0
// The cost of one change to one function's ops, from the request to the last barrier: none to one,
// one to two, and back. `relevant` in a row is the number of ops after the change.
#include "firmware/bench/functions.hpp"
#include "firmware/bench/strategies.hpp"

namespace bench {

void measure_changes() {
    for (const Strategy& strategy : strategies) {
        const unsigned most = strategy.most < 2 ? strategy.most : 2;
        for (unsigned number = 0; number < most; ++number) {
            const char* wrong = nullptr;
            const Reading cost = cost_of([&] { wrong = strategy.add(number, traced); });
            need(wrong == nullptr, wrong);
            print({"change: add", strategy.name, number + 1, 0}, cost, {}, 1);
        }
        for (unsigned number = most; number-- > 0;) {
            const Reading cost = cost_of([&] { strategy.remove(number, traced); });
            print({"change: remove", strategy.name, number, 0}, cost, {}, 1);
        }
    }
}

}  // namespace bench
