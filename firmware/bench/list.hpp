// SPDX-License-Identifier: Apache-2.0
// The registry of the strategies `list` and `dynamic`.
#pragma once

#include "firmware/bench/strategies.hpp"
#include "nopscope/nopscope.hpp"

namespace bench {

// The common callback: walks the registry. Attach it to each function that any ops traces.
extern nopscope::Ops list_ops;

// Registers ops `number` with a filter for `function` only.
void list_register(unsigned number, BenchFunction function);
void list_unregister(unsigned number);
// The number of registered ops that trace `function`. `first`: the lowest of their numbers.
unsigned list_tracing(BenchFunction function, unsigned& first);

}  // namespace bench
