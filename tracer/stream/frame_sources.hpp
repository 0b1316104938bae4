// SPDX-License-Identifier: Apache-2.0
// The pump's interface to sources of frames in rooms above it: the profile's read-outs
// (recorders/profile_sender.hpp), adaptive mode's moves (adaptive/demoted_sender.hpp), and the
// facts of tasks (recorders/task_sender.hpp).
#pragma once

#include "tracer/protocol/bytes.hpp"
#include "tracer/protocol/frame.hpp"

#include <concepts>

namespace nopscope {

// `waits`: true if there is a frame to send. `next`, only if so: writes the frame's payload, and
// returns its stream, core and size. `request`: requests a read-out. `keep_period`: requests one if
// its period has ended. `keeps`, `last_whole` and `aggregated` are for stats frames.
template <typename S>
concept ProfileSource = requires(S source, const S seen, std::uint64_t now, protocol::Byte* payload,
                                 unsigned core) {
    { seen.waits() } -> std::same_as<bool>;
    { source.next(now, payload).stream } -> std::convertible_to<protocol::Stream>;
    { source.next(now, payload).core } -> std::convertible_to<unsigned>;
    { source.next(now, payload).payload_bytes } -> std::convertible_to<std::size_t>;
    source.request();
    source.keep_period(now);
    { seen.keeps() } -> std::same_as<bool>;
    { seen.last_whole() } -> std::same_as<std::uint64_t>;
    { seen.aggregated(core) } -> std::same_as<std::uint64_t>;
};

// `next` returns the payload's size; 0: not now.
template <typename S>
concept FactSource = requires(S source, const S seen, std::uint64_t now, protocol::Byte* payload) {
    { seen.waits(now) } -> std::same_as<bool>;
    { source.next(now, payload) } -> std::same_as<std::size_t>;
    source.request();
};

// For a pump without these sources.
struct NoProfile {
    struct Frame {
        protocol::Stream stream;
        unsigned core;
        std::size_t payload_bytes;
    };
    static bool waits() { return false; }
    static Frame next(std::uint64_t, protocol::Byte*) { return {}; }
    static void request() {}
    static void keep_period(std::uint64_t) {}
    static bool keeps() { return false; }
    static std::uint64_t last_whole() { return 0; }
    static std::uint64_t aggregated(unsigned) { return 0; }
};
struct NoFacts {
    static bool waits(std::uint64_t) { return false; }
    static std::size_t next(std::uint64_t, protocol::Byte*) { return 0; }
    static void request() {}
};

}  // namespace nopscope
