// SPDX-License-Identifier: Apache-2.0
// What the demo's command line may say, in words of the form key=value:
//
//     recorder=graph|function|profile|none   mode=lossless|stream|flight|adaptive   baud=N   rounds=N
//     samples=N   rtt=no|both|only   events=N[+N]   interrupts=0|1   pumps=N   every=N
//
// samples: a second, of where the timer finds the core. rtt: a debug probe has the line, too, or it alone
// (docs/openocd.md). pumps: a second, by a timer; 0: none, the pump runs where a ring is full. every: one function of N is
// recorded, by ascending address. baud=0 sends as fast as the UART takes bytes. Words it does not know are ignored: the first
// is often the image's name.
#pragma once

#include <cstdint>

#include "nopscope/nopscope.hpp"

enum class Rtt : std::uint8_t { no, both, only };

struct Options {
    nopscope::Recorder recorder = nopscope::Recorder::graph;
    nopscope::Mode mode = nopscope::Mode::lossless;
    Rtt rtt = Rtt::no;
    std::uint32_t baud = 0;
    std::uint32_t rounds = 2;  // about ten seconds at 3 Mbaud
    std::uint32_t samples = 0;  // a second
    std::uint32_t pumps = 1000;  // a second, without samples
    std::uint32_t interrupts = 0;  // 1: recorded, too: a thousand a second, which a slow line has no room for
    std::uint32_t events[2] = {};  // of the PMU's
    std::uint32_t event_count = 0;
    std::uint32_t every = 1;
};

// `baud` is the default. False: a word with a known key has a value that means nothing.
bool parse_options(const char* command_line, std::uint32_t baud, Options& options);
