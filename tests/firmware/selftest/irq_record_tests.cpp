// SPDX-License-Identifier: Apache-2.0
// Interrupts in the recording, the longest time they were masked, and samples, which follow frame
// records.
#include "hal/symbols.hpp"
#include "nopscope/interrupts.hpp"
#include "nopscope/samples.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/ring_words.hpp"
#include "tests/firmware/selftest/tracing.hpp"
#include "tracer/core/here.hpp"

namespace {

constexpr unsigned outer = 3;
constexpr unsigned inner = 4;

void observe(bool on) {
    if (!on) interrupts_unmasked();  // no code does it later
    hal::set_interrupt_observer(on ? hal::InterruptObserver{interrupt_begin, interrupt_end,
                                                            interrupts_masked, interrupts_unmasked}
                                   : hal::InterruptObserver{});
}

void in_outer(unsigned) { hal::raise_interrupt(inner); }
void in_inner(unsigned) {}

void take(unsigned sgi) {
    hal::enable_interrupts();
    hal::raise_interrupt(sgi);
    for (unsigned spins = 0; spins < 1000; ++spins) hal::yield();
    hal::disable_interrupts();
}

// Of an address in a record, from the text's begin on.
std::int64_t offset_of(const protocol::Event& address) {
    return protocol::sampled_offset(address.data, instruction_bytes);
}
bool lies_in_text(std::int64_t offset) {
    const auto size = hal::address_of(__text_end) - hal::address_of(__text_start);
    return offset >= 0 && static_cast<std::uint64_t>(offset) < size;
}

}  // namespace

SELFTEST("irq_records.one_in_another") {
    REQUIRE(tracer_is_up());
    hal::set_handler(outer, 8, in_outer);
    hal::set_handler(inner, 4, in_inner);
    const Recording recording = record([] {
        observe(true);
        take(outer);
        observe(false);
    });
    REQUIRE(recording.reads("3(4())"));
}

SELFTEST("irq_records.what_began_while_stopped_has_no_end") {
    REQUIRE(tracer_is_up());
    const Recording recording = record([] {
        stop();
        const std::uint64_t begun = interrupt_begin(outer);
        start();
        interrupt_end(begun);
        const std::uint64_t other = interrupt_begin(inner);
        stop();
        interrupt_end(other);
        start();
    });
    REQUIRE(recording.reads("4()"));
}

// A traced function's return address is a hook. The record names the real caller behind the hook,
// with any recorder or ops on the function.
SELFTEST("irq_records.a_traced_function_names_its_caller") {
    REQUIRE(nothing_traced());
    static const void* const traced[] = {pointer(masks), pointer(calls_back)};
    constexpr Recorder recorders[] = {Recorder::none,     Recorder::graph,   Recorder::profile,
                                      Recorder::duration, Recorder::sampled, Recorder::graph};
    constexpr void (*caller)() = [] {
        masks(1000);
        asm volatile("");  // no jump
    };
    std::int64_t where[std::size(recorders)] = {};
    for (unsigned n = 0; n < std::size(recorders); ++n) {
        REQUIRE(is_ok(enable(recorders[n], Sites::of(traced))));
        // The last round has two hooks.
        if (n == 5) REQUIRE(is_ok(attach(counting_exits, Sites::of(traced))));
        const Recording recording = record([] {
            joined_core()->longest_masked = 0;
            calls_back(caller);
        });
        REQUIRE(recording.well_formed);
        for (std::size_t i = 0; i + 2 < recording.events.size(); ++i) {
            if (recording.events[i].extended == Extended::masked)
                where[n] = offset_of(recording.events[i + 1]);
        }
        const std::int64_t in_caller =
            where[n] - static_cast<std::int64_t>(address(caller) - hal::address_of(__text_start));
        REQUIRE(in_caller > 0 && in_caller < 64 && where[n] == where[0]);
    }
}

SELFTEST("irq_records.only_what_is_masked_longer_than_ever") {
    REQUIRE(tracer_is_up());
    static std::uint64_t least;
    least = hal::clock_hz() / 10;  // longer than any test before has masked them
    const Recording recording = record([] {
        observe(true);
        const auto mask_for = [](std::uint64_t ticks) {
            hal::disable_interrupts();
            hal::disable_interrupts();  // already masked: the first call counts
            // After the masking: the host may stop this core before it.
            wait_ticks(ticks);
            hal::enable_interrupts();
        };
        for (const unsigned times : {2, 4, 1}) mask_for(times * least);
        observe(false);
        hal::disable_interrupts();
    });
    REQUIRE(recording.well_formed);
    unsigned count = 0;
    for (std::size_t n = 0; n + 2 < recording.events.size(); ++n) {
        if (recording.events[n].extended != Extended::masked) continue;
        REQUIRE(lies_in_text(offset_of(recording.events[n + 1])));
        REQUIRE(recording.events[n + 2].data >= (count + 1) * 2 * least);
        ++count;
    }
    REQUIRE(count == 2);
}

// Between these two the time is the interrupt's.
SELFTEST("irq_records.an_interrupt_cuts_the_tracers_work") {
    REQUIRE(only_traced(Recorder::graph, Sites::of(leaf_only)));
    (void)record([] {});
    unsigned marked = 0;
    std::uint64_t at = 0;
    const auto interrupt_work = [&](std::uint32_t mark) {
        Core& core = *joined_core();
        core.tracer_marked = mark;
        const std::uint64_t begun = interrupt_begin(9);
        marked = marked * 10 + core.tracer_marked;
        interrupt_end(begun);
        marked = marked * 10 + std::exchange(core.tracer_marked, 0);
    };
    {
        const hal::InterruptsMasked masked;
        Core& core = *joined_core();
        core.longest_masked = ~std::uint64_t{0};  // no record of that
        at = core.cursor;
        interrupt_work(1);
        interrupt_work(2);  // in steps: the next one begins again
        core.longest_masked = 0;
    }
    REQUIRE(marked == 100);
    const auto next = [&at] {
        return record_at(*joined_core(), std::exchange(at, at + record_bytes));
    };
    REQUIRE(next().is(Extended::tracer_end) && next().is(Extended::interrupt));
    REQUIRE(next().kind() == Kind::ret && next().is(Extended::tracer_begin));
    REQUIRE(next().is(Extended::tracer_end) && next().is(Extended::interrupt));
    REQUIRE(next().kind() == Kind::ret && at == joined_core()->cursor);
}

// ---- samples: tests/e2e/samples_test.py checks the callers' names ----

namespace {

void take_sample(unsigned) {
    const hal::InterruptedRegisters at = hal::interrupted_registers();
    sample({at.x, at.sp, at.pc});
}

[[gnu::noinline]] unsigned deep(unsigned calls) {
    if (calls == 0) {
        hal::set_handler(outer, 8, take_sample);
        hal::enable_interrupts();
        hal::raise_interrupt(outer);
        hal::disable_interrupts();
        return 0;
    }
    const unsigned result = deep(calls - 1);
    asm volatile("");  // not a loop
    return result + 1;
}

struct Sample {
    std::uint32_t argument = 0;
    unsigned addresses = 0;
    unsigned in_text = 0;
};
bool only_sample(const Recording& recording, Sample& sample) {
    if (!recording.well_formed || recording.events.empty()) return false;
    sample.argument = recording.events[0].argument;
    for (const protocol::Event& event : recording.events.subspan(1)) {
        if (event.extended != protocol::Extended::data) return false;
        ++sample.addresses;
        sample.in_text += lies_in_text(offset_of(event));
    }
    return recording.events[0].extended == protocol::Extended::sample &&
           sample.addresses == protocol::sample_addresses(sample.argument);
}

}  // namespace

SELFTEST("samples.a_few_callers") {
    REQUIRE(tracer_is_up());
    Sample sample;
    REQUIRE(only_sample(record([] { (void)deep(5); }), sample));
    REQUIRE(sample.addresses >= 8 && sample.addresses < max_sampled_addresses);
    REQUIRE(sample.in_text == sample.addresses && !protocol::sample_is_cut(sample.argument));
}

SELFTEST("samples.of_many_callers_the_outermost_are_cut") {
    REQUIRE(tracer_is_up());
    Sample sample;
    REQUIRE(only_sample(record([] { (void)deep(40); }), sample));
    REQUIRE(sample.addresses == max_sampled_addresses && protocol::sample_is_cut(sample.argument));
}

SELFTEST("samples.what_is_no_frame_record_is_not_followed") {
    REQUIRE(tracer_is_up());
    const Recording recording = record([] {
        const std::uint64_t pc = hal::address_of(__text_start);
        hal::FrameRecord own{.caller_record = 0, .return_address = pc + 4};
        const auto sp = reinterpret_cast<std::uint64_t>(&own);
        SampledRegisters at;
        // Unmapped, below SP, misaligned, and a record that points to itself.
        for (const std::uint64_t record : {std::uint64_t{16}, sp - 64, sp + 4, sp}) {
            at.set_frame(record);
            own.caller_record = at.frame();
            sample({at.x, sp, pc});
        }
    });
    REQUIRE(recording.events.size() == 3 * 2 + 3);
}

SELFTEST("samples.none_while_stopped") {
    REQUIRE(tracer_is_up());
    const Recording recording = record([] {
        stop();
        (void)deep(1);
        start();
    });
    REQUIRE(recording.events.empty());
}
