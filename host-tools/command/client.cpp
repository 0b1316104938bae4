// SPDX-License-Identifier: Apache-2.0
#include "host-tools/command/client.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/arch.hpp"
#include "host-tools/image/arch/pmu_events.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {
namespace {

using Clock = std::chrono::steady_clock;

// Also begins with a zero byte, so that noise before it does not become part of the frame.
std::vector<std::uint8_t> encoded(std::uint16_t session, std::uint32_t number,
                                  protocol::Command what, std::span<const std::uint8_t> arguments) {
    protocol::FrameBuilder frame;
    protocol::Writer out(frame.payload());
    out.fixed(static_cast<std::uint8_t>(what));
    out.bytes(arguments.data(), arguments.size());
    std::vector<std::uint8_t> bytes(1 + protocol::max_encoded_bytes);
    bytes.resize(1 + frame.encode({protocol::Stream::command, 0, session, number}, out.size(),
                                  bytes.data() + 1));
    return bytes;
}

}  // namespace

std::vector<std::vector<std::uint8_t>> range_payloads(const std::vector<bool>& chosen) {
    std::vector<std::vector<std::uint8_t>> payloads;
    std::size_t behind = 0;  // end of the previous range in this payload
    for (std::size_t first = 0; first < chosen.size();) {
        if (!chosen[first]) {
            ++first;
            continue;
        }
        std::size_t end = first;
        while (end < chosen.size() && chosen[end]) ++end;
        protocol::Byte bytes[2 * protocol::max_varint_bytes];
        // The command itself needs one byte.
        if (payloads.empty() ||
            payloads.back().size() + sizeof bytes + 1 > protocol::max_command_bytes) {
            payloads.emplace_back();
            behind = 0;
        }
        protocol::Writer out(bytes);
        out.varint(first - behind);
        out.varint(end - first);
        payloads.back().insert(payloads.back().end(), bytes, bytes + out.size());
        behind = first = end;
    }
    return payloads;
}

namespace {

struct Meaning {
    const char* text;  // a part of a sentence
    bool changes_nothing = false;
};
// By protocol::Answer.
constexpr Meaning meanings[] = {
    {"ok"},
    {"its tracer is older and does not know this command"},
    {"the arguments make no sense to it: a value out of range, or a site it does not have"},
    {"it has been reset since: try again"},
    {"another host has sent it commands meanwhile: try again, from one host at a time"},
    {"its firmware does not offer this: see Config::input and docs/control.md"},
    {"for a second it found no moment in which it could be done: its pump must also run outside of "
     "callbacks, and Config::input needs interrupted_pc",
     true},
    {"another host has selected functions meanwhile: try again, from one host at a time"},
    {"a patch site does not hold what the tracer wrote there", true},
    {"a recorder is more than 128 MiB away from a function", true},
    {"too many ops on one function, or too many different sets of them", true},
    {"one of the functions has an ops with a direct entry of its own", true},
    {"its firmware gives the profile no memory: set Config::profile_memory", true},
    {"it is done, but a core of the target stayed in the tracer's code for a second"},
    {"it cannot count the PMU's events like that", true},
    {"a part of it is done, and the rest is refused"},
};
static_assert(std::size(meanings) == static_cast<std::size_t>(protocol::Answer::partly) + 1);

const Meaning& meaning_of(protocol::Answer answer) {
    static constexpr Meaning unknown{
        "it answers in a way that this nopscope does not know: use a newer one"};
    const auto number = static_cast<std::size_t>(answer);
    return number < std::size(meanings) ? meanings[number] : unknown;
}

// The details of events_refused.
std::string why_no_events(const Arch& arch, protocol::Reader in) {
    const auto why = static_cast<protocol::EventRefusal>(in.fixed<std::uint8_t>());
    const auto event = in.fixed<std::uint16_t>();
    const auto counters = in.fixed<std::uint8_t>();
    if (!in.ok()) return {};
    if (arch.pmu_name == nullptr)
        return fmt::format(": nopscope counts no events on {}", arch.name);
    switch (why) {
    case protocol::EventRefusal::none: break;
    case protocol::EventRefusal::no_pmu:
        return fmt::format(": its CPU has no performance monitors ({})", arch.pmu_name);
    case protocol::EventRefusal::too_few_counters:
        return fmt::format(
            ": its CPU, or what runs at {}, gives it {} event counters, and two are needed",
            arch.hypervisor_level, counters);
    case protocol::EventRefusal::absent:
        return fmt::format(": its CPU does not count {} ({:#x}), by {}", event_name(event), event,
                           arch.event_registers);
    case protocol::EventRefusal::too_many:
        return fmt::format(": at most {} events are counted at a time", protocol::max_events);
    case protocol::EventRefusal::recorder:
        return ": only the graph and the profile recorder count events, and another one is in use "
               "or was asked for: give --recorder graph or profile";
    case protocol::EventRefusal::mode:
        return ": adaptive mode and events exclude each other: give --mode stream";
    case protocol::EventRefusal::ring_too_small:
        return ": its ring is too small for all open calls' returns with their events "
               "(NOPSCOPE_RING_LOG2)";
    case protocol::EventRefusal::twice:
        return fmt::format(": {} ({:#x}) is named twice", event_name(event), event);
    }
    return {};
}

// The details of unexpected_text: the site and its contents. Older targets do not send them.
std::string what_is_there(const Arch& arch, protocol::Reader in) {
    const auto address = in.fixed<std::uint64_t>();
    const auto found = in.fixed<std::uint32_t>(), expected = in.fixed<std::uint32_t>();
    if (!in.ok()) return {};
    const std::string breakpoint =
        arch.is_breakpoint(found)
            ? fmt::format(" ({}: a debugger's breakpoint?)", arch.breakpoint_text)
            : "";
    return fmt::format(": at {} there is {:#010x}{}, not {:#010x}", hex_address(address), found,
                       breakpoint, expected);
}

std::string with_details(const Arch& arch, protocol::Answer answer, const protocol::Reader& in) {
    const bool is_there = answer == protocol::Answer::unexpected_text;
    return describe(answer) + (is_there ? what_is_there(arch, in)
                               : answer == protocol::Answer::events_refused
                                   ? why_no_events(arch, in)
                                   : "");
}

// A sentence: what the target refuses, why, and whether it has done a part.
std::string refusal(const Arch& arch, protocol::Answer answer, protocol::Reader in) {
    if (answer != protocol::Answer::partly) {
        return fmt::format("the target refuses: {}{}", with_details(arch, answer, in),
                           meaning_of(answer).changes_nothing ? "; nothing was changed" : "");
    }
    const auto rest = static_cast<protocol::Answer>(in.fixed<std::uint8_t>());
    return fmt::format("the target refuses a part: {}; what came before that part is done",
                       with_details(arch, rest, in));
}

}  // namespace

const char* describe(protocol::Answer answer) { return meaning_of(answer).text; }

void CommandClient::on_session(std::uint16_t session, protocol::Architecture architecture) {
    architecture_ = architecture;
    if (session_ != session) last_number_.reset();
    session_ = session;
}

void CommandClient::on_frames(std::uint64_t count) {
    if (count != frames_) frames_at_ = Clock::now();
    frames_ = count;
}

void CommandClient::on_reply(const protocol::Reply& reply) {
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
        if (now > std::max(begin, frames_at_) + patience_.hello ||
            now > begin + patience_.hello_behind) {
            throw Error(
                "no hello was heard: is this line a nopscope target's, at this rate, and does its "
                "firmware call pump()?");
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
    std::uint32_t number, protocol::Command what, std::span<const std::uint8_t> arguments,
    unsigned attempts) {
    answered_.reset();
    awaited_ = number;
    awaited_what_ = what;
    const std::uint16_t session = *session_;
    const auto bytes = encoded(session, number, what, arguments);
    sent_ns_ = utc_now_ns();
    for (unsigned attempt = 0; attempt < attempts && session_ == session; ++attempt) {
        awaiting_ = true;
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

// Each ping has its own number, so that a late answer to another ping does not count.
std::optional<CommandClient::Answered> CommandClient::ping(unsigned attempts) {
    return exchange(++pings_, protocol::Command::ping, {}, attempts);
}

std::uint32_t CommandClient::next_number() {
    while (!last_number_) {
        const std::uint16_t session = *session_;
        const auto pong = ping(patience_.attempts);
        if (session_ != session) continue;
        if (!pong) {
            throw Error(
                "the target does not answer commands: does its firmware set Config::input, and "
                "does the line carry bytes to it, too?");
        }
        protocol::Reader in(pong->result.data(), pong->result.size());
        last_number_ = static_cast<std::uint32_t>(in.varint());
    }
    return ++*last_number_;
}

CommandClient::Bytes CommandClient::request(protocol::Command what,
                                            std::span<const std::uint8_t> arguments) {
    wait_for_target();
    constexpr unsigned tries_when_busy = 3;
    for (unsigned attempt = 1;; ++attempt) {
        const auto answered = exchange(next_number(), what, arguments, patience_.attempts);
        if (!answered) {
            last_number_.reset();
            throw Error(
                "the target has not answered the command, which it may have done or not: see `ctl "
                "stats`, then try again");
        }
        late_ |= answered->answer == protocol::Answer::timeout;
        if (answered->answer == protocol::Answer::ok ||
            answered->answer == protocol::Answer::timeout) {
            return answered->result;
        }
        const bool again = answered->answer == protocol::Answer::busy && attempt < tries_when_busy;
        if (answered->answer == protocol::Answer::stale) last_number_.reset();
        if (!again) {
            throw Error(refusal(arch_of(architecture_), answered->answer,
                                {answered->result.data(), answered->result.size()}));
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
    protocol::Writer(arguments.data()).fixed(baud);
    request(protocol::Command::set_baud, arguments);
    const std::uint32_t old_baud = line_.baud();
    bool set = true;
    try {
        line_.set_baud(baud);
    } catch (const Error&) {
        set = false;
    }
    // Ends well before the target gives up the new rate.
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
