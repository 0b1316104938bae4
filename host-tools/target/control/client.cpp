// SPDX-License-Identifier: Apache-2.0
#include "host-tools/target/control/client.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"
#include "host-tools/base/pmu_events.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/target/stream/session.hpp"

namespace nopscope::host {
namespace {

using Clock = std::chrono::steady_clock;

// With a zero byte before it, too: what noise has left on the line is not taken for its beginning.
std::vector<std::uint8_t> encoded(std::uint16_t session, std::uint32_t number, wire::Command what,
                                  std::span<const std::uint8_t> arguments) {
    wire::FrameBuilder frame;
    wire::Writer out(frame.payload());
    out.fixed(static_cast<std::uint8_t>(what));
    out.bytes(arguments.data(), arguments.size());
    std::vector<std::uint8_t> bytes(1 + wire::max_encoded_bytes);
    bytes.resize(1 + frame.encode({wire::Stream::command, 0, session, number}, out.size(),
                                  bytes.data() + 1));
    return bytes;
}

}  // namespace

const char* describe(wire::Answer answer) {
    switch (answer) {
    case wire::Answer::ok:
        return "ok";
    case wire::Answer::unknown:
        return "its tracer is older and does not know this command";
    case wire::Answer::malformed:
        return "the arguments make no sense to it: a value out of range, or a site it does not have";
    case wire::Answer::foreign_session:
        return "it has been reset since: try again";
    case wire::Answer::stale:
        return "another host has sent it commands meanwhile: try again, from one host at a time";
    case wire::Answer::unsupported:
        return "its firmware does not offer this: see Config::input and docs/control.md";
    case wire::Answer::busy:
        return "for a second it found no moment in which it could be done: its pump must also run "
               "outside of callbacks, and Config::input needs interrupted_pc";
    case wire::Answer::selection:
        return "another host has selected functions meanwhile: try again, from one host at a time";
    case wire::Answer::unexpected_text:
        return "a patch site does not hold what the tracer wrote there";
    case wire::Answer::out_of_reach:
        return "a recorder is more than 128 MiB away from a function";
    case wire::Answer::too_many:
        return "too many ops on one function, or too many different sets of them";
    case wire::Answer::conflict:
        return "one of the functions has an ops with a direct entry of its own";
    case wire::Answer::no_profile_memory:
        return "its firmware gives the profile no memory: set Config::profile_memory";
    case wire::Answer::events_refused:
        return "it cannot count the PMU's events like that";
    case wire::Answer::timeout:
        return "it is done, but a core of the target stayed in the tracer's code for a second";
    case wire::Answer::partly:
        return "a part of it is done, and the rest is refused";
    }
    return "it answers in a way that this nopscope does not know: use a newer one";
}

namespace {

bool changes_nothing(wire::Answer answer) {
    switch (answer) {
    case wire::Answer::busy:
    case wire::Answer::unexpected_text:
    case wire::Answer::out_of_reach:
    case wire::Answer::too_many:
    case wire::Answer::conflict:
    case wire::Answer::no_profile_memory:
    case wire::Answer::events_refused:
        return true;
    default:
        return false;
    }
}

// Of events_refused.
std::string why_no_events(wire::Reader in) {
    const auto why = static_cast<wire::EventRefusal>(in.fixed<std::uint8_t>());
    const auto event = in.fixed<std::uint16_t>();
    const auto counters = in.fixed<std::uint8_t>();
    if (!in.ok()) return {};
    switch (why) {
    case wire::EventRefusal::none:
        break;
    case wire::EventRefusal::no_pmu:
        return ": its CPU has no performance monitors (PMUv3)";
    case wire::EventRefusal::too_few_counters:
        return fmt::format(": its CPU, or what runs at EL2, gives it {} event counters, and two are needed", counters);
    case wire::EventRefusal::absent:
        return fmt::format(": its CPU does not count {} ({:#x}), by PMCEID0_EL0 and PMCEID1_EL0", event_name(event),
                           event);
    case wire::EventRefusal::too_many:
        return fmt::format(": at most {} events are counted at a time", wire::max_events);
    case wire::EventRefusal::recorder:
        return ": only the graph and the profile recorder count events, and another one is in use or was asked for: "
               "give --recorder graph or profile";
    case wire::EventRefusal::mode:
        return ": adaptive mode and events exclude each other: give --mode stream";
    case wire::EventRefusal::ring_too_small:
        return ": its ring is too small for all open calls' returns with their events (NOPSCOPE_RING_LOG2)";
    case wire::EventRefusal::twice:
        return fmt::format(": {} ({:#x}) is named twice", event_name(event), event);
    }
    return {};
}

// Of unexpected_text: which site, and what is there. Older targets do not say.
std::string what_is_there(wire::Reader in) {
    const auto address = in.fixed<std::uint64_t>();
    const auto found = in.fixed<std::uint32_t>(), expected = in.fixed<std::uint32_t>();
    if (!in.ok()) return {};
    constexpr std::uint32_t brk = 0xd4200000, immediate = 0x001fffe0;  // BRK #imm16
    return fmt::format(": at {} there is {:#010x}{}, not {:#010x}", hex_address(address), found,
                       (found & ~immediate) == brk ? " (BRK: a debugger's breakpoint?)" : "", expected);
}

std::string with_details(wire::Answer answer, const wire::Reader& in) {
    switch (answer) {
    case wire::Answer::unexpected_text:
        return describe(answer) + what_is_there(in);
    case wire::Answer::events_refused:
        return describe(answer) + why_no_events(in);
    default:
        return describe(answer);
    }
}

// A sentence that says what the target refuses, why, and whether a part was done.
std::string refusal(wire::Answer answer, wire::Reader in) {
    if (answer != wire::Answer::partly) {
        return fmt::format("the target refuses: {}{}", with_details(answer, in),
                           changes_nothing(answer) ? "; nothing was changed" : "");
    }
    const auto rest = static_cast<wire::Answer>(in.fixed<std::uint8_t>());
    return fmt::format("the target refuses a part: {}; what came before that part is done",
                       with_details(rest, in));
}

}  // namespace

void CommandClient::on_session(std::uint16_t session) {
    if (session_ != session) last_number_.reset();
    session_ = session;
}

void CommandClient::on_frames(std::uint64_t count) {
    if (count != frames_) frames_at_ = Clock::now();
    frames_ = count;
}

void CommandClient::on_reply(const wire::Reply& reply) {
    if (!awaiting_ || reply.number != awaited_ || reply.what != awaited_what_) return;
    answered_ns_ = utc_now_ns();
    answered_ = {reply.answer, Bytes(reply.result, reply.result + reply.result_bytes)};
    awaiting_ = false;
}

void CommandClient::wait_for_target() {
    const auto begin = Clock::now();
    while (!session_) {
        if (!turn_()) throw Error("the line closed before a target was heard");
        const auto now = Clock::now();
        if (now > std::max(begin, frames_at_) + patience_.hello || now > begin + patience_.hello_behind) {
            throw Error("no hello was heard: is this line a nopscope target's, at this rate, and does "
                        "its firmware call pump()?");
        }
    }
}

void CommandClient::wait_for_other_session() {
    const auto old = session_;
    for (const auto end = Clock::now() + patience_.hello; session_ == old;) {
        if (!turn_()) throw Error("the line closed before the target was heard again");
        if (Clock::now() > end) throw Error("the target was reset, and has not been heard since");
    }
}

std::optional<CommandClient::Answered> CommandClient::exchange(
    std::uint32_t number, wire::Command what, std::span<const std::uint8_t> arguments,
    unsigned attempts) {
    answered_.reset();
    awaited_ = number;
    awaited_what_ = what;
    const std::uint16_t session = *session_;
    const auto bytes = encoded(session, number, what, arguments);
    sent_ns_ = utc_now_ns();
    for (unsigned attempt = 0; attempt < attempts && session_ == session; ++attempt) {
        awaiting_ = true;
        repeated_ += attempt != 0;
        line_.write(bytes);
        for (const auto end = Clock::now() + patience_.answer; Clock::now() < end;) {
            if (!turn_()) throw Error("the line closed before the target answered");
            if (answered_) return answered_;
            if (session_ != session) break;
        }
    }
    awaiting_ = false;
    return std::nullopt;
}

// Any number will do, so one that no other ping's late answer has.
std::optional<CommandClient::Answered> CommandClient::ping(unsigned attempts) {
    return exchange(++pings_, wire::Command::ping, {}, attempts);
}

std::uint32_t CommandClient::next_number() {
    while (!last_number_) {
        const std::uint16_t session = *session_;
        const auto pong = ping(patience_.attempts);
        if (session_ != session) continue;
        if (!pong) {
            throw Error("the target does not answer commands: does its firmware set Config::input, and "
                        "does the line carry bytes to it, too?");
        }
        wire::Reader in(pong->result.data(), pong->result.size());
        last_number_ = static_cast<std::uint32_t>(in.varint());
    }
    return ++*last_number_;
}

CommandClient::Bytes CommandClient::request(wire::Command what, std::span<const std::uint8_t> arguments) {
    wait_for_target();
    constexpr unsigned tries_when_busy = 3;
    for (unsigned attempt = 1;; ++attempt) {
        const auto answered = exchange(next_number(), what, arguments, patience_.attempts);
        if (!answered) {
            last_number_.reset();
            throw Error("the target has not answered the command, which it may have done or not: see "
                        "`ctl stats`, then try again");
        }
        late_ |= answered->answer == wire::Answer::timeout;
        if (answered->answer == wire::Answer::ok || answered->answer == wire::Answer::timeout) {
            return answered->result;
        }
        const bool again = answered->answer == wire::Answer::busy && attempt < tries_when_busy;
        if (answered->answer == wire::Answer::stale) last_number_.reset();
        if (!again) {
            throw Error(refusal(answered->answer, {answered->result.data(), answered->result.size()}));
        }
    }
}

void CommandClient::wait(std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        if (!turn_()) throw Error("the line closed");
    }
}

void CommandClient::set_baud(std::uint32_t baud) {
    Bytes arguments(4);
    wire::Writer(arguments.data()).fixed(baud);
    request(wire::Command::set_baud, arguments);
    const std::uint32_t old_baud = line_.baud();
    bool set = true;
    try {
        line_.set_baud(baud);
    } catch (const Error&) {
        set = false;
    }
    // Well before the target gives it up.
    const auto attempts = static_cast<unsigned>(patience_.trial * 3 / 5 / patience_.answer);
    if (set && ping(attempts < 1 ? 1 : attempts)) return;
    line_.set_baud(old_baud);
    wait(patience_.trial);
    const bool back = ping(patience_.attempts).has_value();
    throw Error(fmt::format("the line does not work at {} baud both ways: {}", baud,
                            back ? "host and target are back at the rate before"
                                 : "and the target is not heard at the rate before; reset it"));
}

}  // namespace nopscope::host
