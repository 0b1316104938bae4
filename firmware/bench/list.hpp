// SPDX-License-Identifier: Apache-2.0
// The registry of the strategies `list` and `dynamic`.
#pragma once

#include "firmware/bench/strategies.hpp"
#include "nopscope/nopscope.hpp"

namespace bench {

// The common callback: walks the registry. To be attached to each function that anyone traces.
extern nopscope::Ops list_ops;

// Registers ops `number` with a filter of `function` alone.
void list_register(unsigned number, BenchFunction function);
void list_unregister(unsigned number);
// The registered ops that trace it; `first` is the lowest of their numbers.
unsigned list_tracing(BenchFunction function, unsigned& first);

}  // namespace bench
