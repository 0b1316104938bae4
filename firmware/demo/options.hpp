// SPDX-License-Identifier: Apache-2.0
// The demo's command line: words of the form key=value.
//
//     recorder=graph|function|profile|none  mode=lossless|stream|flight|adaptive  baud=N  rounds=N
//     samples=N  rtt=no|both|only  events=N[+N]  interrupts=0|1  pumps=N  every=N  cores=N
//
// samples: how many a second, by the timer. rtt: a debug probe has the line too (both) or alone
// (only): docs/openocd.md. pumps: how many a second, by the timer; 0: only a full ring runs the
// pump. every: records one function of N, by address. cores: how many run scripts; 0: all that the
// machine has and the tracer has rings for. baud=0: as fast as the UART takes bytes.
// Unknown words are ignored: the first is often the image's name.
#pragma once

#include <cstdint>

#include "nopscope/nopscope.hpp"

enum class Rtt : std::uint8_t { no, both, only };

struct Options {
    nopscope::Recorder recorder = nopscope::Recorder::graph;
    nopscope::Mode mode = nopscope::Mode::lossless;
    Rtt rtt = Rtt::no;
    std::uint32_t baud = 0;
    std::uint32_t rounds = 2;      // about ten seconds at 3 Mbaud
    std::uint32_t samples = 0;     // a second
    std::uint32_t pumps = 1000;    // a second, without samples
    std::uint32_t interrupts = 0;  // 1: records them, some 1000 a second: too many for a slow line
    std::uint32_t events[2] = {};  // numbers of PMU events
    std::uint32_t event_count = 0;
    std::uint32_t every = 1;
    std::uint32_t cores = 0;  // 0: all
};

// `baud`: the default. False: a word with a known key has an invalid value.
bool parse_options(const char* command_line, std::uint32_t baud, Options& options);
