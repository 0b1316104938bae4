// SPDX-License-Identifier: Apache-2.0
// Commands from the host. Pumps in interrupts execute them on top of traced code.
#include "tests/firmware/selftest/tracing.hpp"

#include <atomic>
#include <numeric>

using protocol::Answer;
using protocol::Command;

namespace {

using Words = std::initializer_list<std::uint64_t>;

std::uint8_t commands[32768];
std::size_t written = 0;
std::uint32_t number = 0;
std::atomic<bool> ends;

// The arguments are varints. Only those of ranges are above 127.
void command(Command what, Words words = {}) {
    static protocol::FrameBuilder builder;
    protocol::Writer out(builder.payload());
    out.fixed(static_cast<std::uint8_t>(what));
    for (const std::uint64_t word : words) out.varint(word);
    if (written + protocol::max_encoded_command_bytes > sizeof commands) return;
    written += builder.encode({protocol::Stream::command, 0, captured_session(), ++number},
                              out.size(), commands + written);
}

void on_timer(unsigned) {
    hal::timer_arm(hal::clock() + hal::clock_hz() / 5000);
    pump();
}

// Slow enough for a pump to finish.
void run_traced() {
    for (std::uint64_t i = 0; i < 3; ++i) (void)(calls_leaf(i) + sum_to(5) + tail_calls_leaf(i));
    wait_ticks(hal::clock_hz() / 2000);
}

// Records while the timer pumps, until all commands are read and `also` has returned.
template <typename Also>
Recording with_commands(Also also) {
    static Also also_run = also;
    return record([] {
        ends = false;
        on_other_cores([](unsigned) {
            while (joined_here() && !ends) run_traced();
        });
        hal::set_handler(hal::timer_interrupt, 8, on_timer);
        feed_line({commands, written});
        hal::timer_arm(hal::clock());
        (void)wait_for([] {
            for (unsigned i = 0; i < 20; ++i) run_traced();  // pumps find the lock free
            also_run();
            return line_is_fed();
        });
        wait_ticks(hal::clock_hz() / 50);
        hal::timer_disarm();
        hal::disable_interrupt(hal::timer_interrupt);
        ends = true;
        (void)workers_done();
        written = 0;
    });
}

bool begin() {
    if (!nothing_traced()) return false;
    (void)record([] {});  // learns the session number
    return true;
}

}  // namespace

// Three kinds of requests at once: the host's in the timer interrupt, the firmware's in thread
// context, and open callbacks below some of the interrupts.
SELFTEST_OF_CORES("control.beside_requests_of_the_firmware") {
    REQUIRE(begin());
    static std::atomic<unsigned> calls;
    static Ops counting{.func = [](std::uint64_t, std::uint64_t, Ops*, Regs*) { ++calls; }};
    static const void* const others[] = {pointer(tail_calls_leaf)};
    static std::atomic<bool> failed;
    const std::uint32_t site = index_of(pointer(calls_leaf));
    constexpr unsigned rounds = 12;
    for (unsigned round = 0; round < rounds; ++round) {
        command(Command::select_clear);
        command(Command::select_add, {site, 1});
        command(Command::set_recorder, {round % 4, 0, 1});
        command(round % 2 == 0 ? Command::stop : Command::start);
    }
    const Recording recording = with_commands([] {
        const auto is_bad = [](Status status) {
            return status != Status::ok && status != Status::timeout;
        };
        if (is_bad(attach(counting, Sites::of(others))) ||
            (run_traced(), is_bad(enable(Recorder::graph, Sites::of(others)))) ||
            is_bad(detach(counting)) || is_bad(disable(Sites::of(others)))) {
            failed = true;
        }
    });
    start();
    REQUIRE(!failed && calls != 0);
    const auto count = [&](Answer answer) {
        return recording.answers[static_cast<unsigned>(answer)];
    };
    // An emulator may not run a core for a second.
    const auto answered = std::accumulate(recording.answers, std::end(recording.answers), 0u);
    REQUIRE(answered == 4 * rounds && count(Answer::ok) > 3 * rounds);
    REQUIRE(count(Answer::ok) + count(Answer::timeout) + count(Answer::busy) == 4 * rounds);
}

// The first half of a request times out because a core stays in a callback. The second half
// follows.
SELFTEST_OF_CORES("control.after_a_timeout_the_rest_is_done") {
    REQUIRE(begin());
    if (other_cores() == 0) return;
    static std::atomic<bool> inside, held;
    static Ops holding{.func = [](std::uint64_t, std::uint64_t, Ops*, Regs*) {
        inside = true;
        while (held) hal::yield();
    }};
    static Ops noting{.func = [](std::uint64_t, std::uint64_t, Ops*, Regs*) {}};
    const std::uint32_t chosen = index_of(pointer(calls_leaf));
    // A callback that takes a second, and not much more.
    const auto asked = [&](Command what, Words words) {
        const bool attached = is_ok(attach(holding, Sites::of(leaf_only)));
        inside = false;
        held = true;
        command(Command::select_clear);
        command(Command::select_add, {chosen, 1});
        command(what, words);
        const Recording recording = record([] {
            on_core(static_cast<unsigned>(__builtin_ctz(other_cores())), [](unsigned) {
                if (joined_here()) (void)leaf(1);
            });
            (void)wait_for([] { return inside.load(); });
            feed_line({commands, written});
            (void)wait_for([] { return pump(), line_is_fed(); });
            held = false;
            (void)workers_done();
        });
        written = 0;
        return attached && recording.answers[static_cast<unsigned>(Answer::timeout)] == 1 &&
               is_ok(detach(holding));
    };
    // With a list to free, the first change has to wait.
    REQUIRE(is_ok(attach(noting, Sites::all())) &&
            is_ok(enable(Recorder::graph, Sites::of(sum_only))));
    REQUIRE(asked(Command::set_recorder, {1, 1, 1}));
    REQUIRE(ops_at(index_of(pointer(sum_to))) == 1);  // noting
    REQUIRE(asked(Command::set_capture, {1, 1, 1}));
    REQUIRE(ops_at(chosen) == 4);  // noting, the recorder, arguments, the result
    command(Command::set_capture, {0, 0, 1});
    (void)with_commands([] {});
    REQUIRE(detach(noting) == Status::ok && ops_at(chosen) == 1);  // the recorder
}
