// SPDX-License-Identifier: Apache-2.0
// The storm: core 0 randomly changes which ops trace which functions. The others run traced code
// with traced interrupts. A single core has the interrupts itself, within its requests, too.
#pragma once

#include <cstdint>

#include "tests/firmware/image.hpp"

namespace storm {

inline constexpr unsigned functions = 64;
inline constexpr unsigned cores = 4;
extern unsigned used;  // how many of them
inline constexpr unsigned all_ops = 8;

using Function = std::uint64_t (*)(std::uint64_t);
Function function(unsigned index);  // the thunk to call
std::uint64_t address_of(unsigned index);
unsigned index_of(std::uint64_t address);

using image::Random;

// ---- victims.cpp: the other cores ----

// Starts the other cores, which call functions in random order, also in their timers' handlers,
// and enables this core's interrupts. False: a core does not start.
bool start_victims();
void stop_victims();  // returns when they have stopped
void call_some(unsigned core, unsigned context, unsigned calls, Random& random);
extern unsigned calls_at_once;  // in thread context, between two sleeps
// How many calls the callers made of each function, in thread context and in interrupts.
extern std::uint64_t called[cores][2][functions];
extern volatile std::uint64_t interrupts[cores];

// A permanent ops. It must see each call of each function.
extern nopscope::Ops steady;
extern std::uint64_t steady_saw[cores][functions];
// Ops that are attached and detached. A call that `may_see` does not allow is foreign.
extern nopscope::Ops ops[all_ops];
extern volatile bool may_see[all_ops][functions];
extern std::uint64_t saw[all_ops];
extern std::uint64_t foreign;

}  // namespace storm
