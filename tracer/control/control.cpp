// SPDX-License-Identifier: Apache-2.0
// The board's side of control.hpp: executes each command.
#include "tracer/control/control.hpp"
#include "tracer/control/board_control.hpp"
#include "tracer/patching/requests.hpp"
#include "tracer/recorders/capture.hpp"
#include "tracer/recorders/profile_sender.hpp"

#include "nopscope/events.hpp"
#include "nopscope/triggers.hpp"
#include "tracer/arch/machine.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/ring.hpp"
#include "tracer/protocol/recorders.hpp"
#include "tracer/stream/board_pump.hpp"

#include <algorithm>
#include <iterator>

namespace nopscope {

constinit Replies command_replies;

namespace {

using protocol::Answer;
using protocol::Command;

constexpr Answer answer_of(Status status) {
    switch (status) {
    case Status::ok: return Answer::ok;
    case Status::unexpected_text: return Answer::unexpected_text;
    case Status::out_of_reach: return Answer::out_of_reach;
    case Status::too_many: return Answer::too_many;
    case Status::conflict: return Answer::conflict;
    case Status::no_profile_memory: return Answer::no_profile_memory;
    case Status::timeout: return Answer::timeout;
    case Status::events_refused: return Answer::events_refused;
    default: return Answer::malformed;
    }
}

// Read by poll_commands() only.
struct Input {
    bool (*try_read)(std::uint8_t&) = nullptr;
    bool (*set_baud)(std::uint32_t, bool) = nullptr;
    void (*reset)() = nullptr;
    std::uint32_t baud = 0;
    bool paced = false;
};
constinit Input input;

constinit SiteBits selected_sites;
// Not local: the compiler would call memset.
constexpr Sites chosen = Sites::chosen(selected_sites);
constexpr Sites others = Sites::all().without(chosen);

class BoardTarget {
public:
    std::uint32_t site_count() const { return nopscope::site_count(); }
    std::uint32_t baud() const { return input.baud; }

    std::optional<Answer> perform(const CommandRequest& request, const SiteBits& selected,
                                  protocol::Writer& result) {
        const auto outcome = answer_to(request, selected, result);
        if (!outcome) return std::nullopt;
        if (outcome->partly) result.fixed(static_cast<std::uint8_t>(outcome->answer));
        if (outcome->answer == Answer::unexpected_text) {
            const LastError where = last_error();
            result.fixed(where.address);
            result.fixed(where.found);
            result.fixed(where.expected);
        } else if (outcome->answer == Answer::events_refused) {
            const EventsRefusal refusal = events_refusal();
            result.fixed(static_cast<std::uint8_t>(refusal.why));
            result.fixed(refusal.event);
            result.fixed(refusal.counters);
        }
        return outcome->partly ? Answer::partly : outcome->answer;
    }

    bool switch_baud(std::uint32_t baud) {
        return with_quiet_line(
            [](void* user) {
                const std::uint32_t wanted = *static_cast<std::uint32_t*>(user);
                if (input.set_baud(wanted, false)) input.baud = wanted;
                return input.paced ? input.baud / 10 : 0;
            },
            &baud);
    }
    bool reset() {
        return with_quiet_line(
            [](void*) {
                prepare_reset();
                input.reset();
                return std::uint32_t{0};
            },
            nullptr);
    }

private:
    struct Outcome {
        constexpr Outcome(Answer answer) : answer(answer) {}
        constexpr Outcome(Steps steps)
            : answer(answer_of(steps.status())), partly(steps.partly()) {}
        Answer answer;  // if `partly`: of the refused step
        bool partly = false;
    };

    static std::optional<Outcome> answer_to(const CommandRequest& request, const SiteBits& selected,
                                            protocol::Writer& result) {
        static_assert(protocol::most_argument(Command::mark) <= ~std::uint32_t{0} &&
                      protocol::most_argument(Command::snapshot) <= ~std::uint32_t{0} &&
                      protocol::most_argument(Command::set_depth) <= ~std::uint32_t{0} &&
                      protocol::most_argument(Command::set_sample) <= ~std::uint32_t{0} &&
                      protocol::most_argument(Command::set_baud) <= ~std::uint32_t{0});
        const auto id = static_cast<std::uint32_t>(request.value);
        switch (request.what) {
        case Command::hello: send_hello_soon(); return Answer::ok;
        case Command::stats: report(selected, result); return Answer::ok;
        case Command::start: start(); return Answer::ok;
        case Command::stop: stop_and_say(result); return Answer::ok;
        case Command::mark: mark(id); return Answer::ok;
        case Command::snapshot: snapshot(id); return Answer::ok;
        case Command::set_mode: return set_mode_of(request.value);
        case Command::send_profile:
            result.varint(profile_sender.next_number());
            send_profile();
            return Answer::ok;
        case Command::set_depth: set_max_depth(id); return Answer::ok;
        case Command::set_min_duration: set_min_duration(request.value); return Answer::ok;
        case Command::set_sample: set_sample(id); return Answer::ok;
        case Command::set_recorder: return set_recorder(request);
        case Command::set_subtree:
            return change(request, [](const CommandRequest& asked) {
                return Steps().then([&] {
                    return asked.value != 0 ? trace_only_below(chosen) : trace_everywhere();
                });
            });
        case Command::set_capture: return change(request, capture);
        case Command::set_events: return change(request, count);
        case Command::set_baud:
            return input.set_baud != nullptr && input.set_baud(id, true) ? Answer::ok
                                                                         : Answer::unsupported;
        case Command::reset: return input.reset != nullptr ? Answer::ok : Answer::unsupported;
        default: return Answer::unsupported;
        }
    }

    // Makes all records due. Result: the stop's clock, and the index of each core's next record.
    static void stop_and_say(protocol::Writer& result) {
        stop();
        send_soon();
        result.varint(in_force.stopped_at());
        result.varint(hello.cores);
        for (const Core& core : all_cores().first(hello.cores)) {
            result.varint(record_index(__atomic_load_n(&core.cursor, __ATOMIC_RELAXED)));
        }
    }
    static Answer set_mode_of(std::uint64_t number) {
        if (number > static_cast<std::uint64_t>(Mode::adaptive)) return Answer::unsupported;
        return answer_of(set_mode(static_cast<Mode>(number)));
    }
    static void report(const SiteBits& selected, protocol::Writer& result) {
        const Counters now = counters();
        const Core* const here = joined_core();
        result.varint(Machine().clock());
        result.varint(here != nullptr && !is_stopped(*here) ? 1 : 0);
        result.varint(now.enabled);
        result.varint(selected.count());
        result.varint(now.generated);
        result.varint(now.dropped);
        result.varint(now.shadow_stack_full);
        result.varint(now.off_stack);
        result.varint(command_replies.refused());
        send_stats_soon();
    }

    // Makes a request that needs thread context, if that is possible now.
    static std::optional<Outcome> change(const CommandRequest& request,
                                         Steps (*make)(const CommandRequest&)) {
        struct Work {
            const CommandRequest& request;
            Steps (*make)(const CommandRequest&);
            Steps steps;
        };
        Work work{request, make, {}};
        const bool done = try_request(
            [](void* user) {
                Work& work = *static_cast<Work*>(user);
                work.steps = work.make(work.request);
            },
            &work);
        if (!done) return std::nullopt;
        return work.steps;
    }
    static Steps capture(const CommandRequest& request) {
        const auto mask = static_cast<std::uint8_t>(request.value);
        if (mask == 0 && request.flags == 0) return end_captures(chosen);
        return change_captures(chosen, mask, request.flags != 0);
    }
    static Steps count(const CommandRequest& request) {
        std::uint16_t numbers[protocol::max_events + 1]{};
        for (unsigned n = 0; n < protocol::max_events; ++n) {
            numbers[n] = static_cast<std::uint16_t>(request.value >> 16 * n);
        }
        return count_in_steps({numbers, std::min<std::size_t>(request.flags, std::size(numbers))});
    }
    static Recorder recorder_of(const CommandRequest& request) {
        if (request.value == protocol::recorder_as_before) return recorder_set_last();
        return static_cast<Recorder>(request.value);
    }
    static std::optional<Outcome> set_recorder(const CommandRequest& request) {
        const bool known = request.value < std::size(protocol::recorder_names);
        if (!known && request.value != protocol::recorder_as_before)
            return Outcome(Answer::unsupported);
        return change(request, [](const CommandRequest& asked) {
            Steps steps;
            steps.then([&] { return enable(recorder_of(asked), chosen); });
            if ((asked.flags & protocol::only_selected) != 0)
                steps.then([] { return disable(others); });
            return steps;
        });
    }
};

constinit BoardTarget target;
constinit Control<BoardTarget> control(target, command_replies, selected_sites);

}  // namespace

void open_control(const Config& config, std::uint16_t session, std::uint64_t clock_hz) {
    input.try_read = config.input.try_read;
    input.set_baud = config.input.set_baud;
    input.reset = config.input.reset;
    input.baud = config.input.baud;
    input.paced = config.line_bytes_per_second != 0;
    control.open(session, clock_hz);
}

void poll_commands() {
    if (input.try_read != nullptr) control.run(input.try_read, Machine().clock());
}

}  // namespace nopscope
