// SPDX-License-Identifier: Apache-2.0
// Calls every public C++ function once. Each must return what an image without the tracer returns.
#include "tests/shipping/every.h"

#include <nopscope/capture.hpp>
#include <nopscope/contexts.hpp>
#include <nopscope/events.hpp>
#include <nopscope/interrupts.hpp>
#include <nopscope/nopscope.hpp>
#include <nopscope/return_ops.hpp>
#include <nopscope/samples.hpp>
#include <nopscope/triggers.hpp>

using namespace nopscope;

// No file has these: an image with something of nopscope would not link.
void seen(std::uint64_t, std::uint64_t, Ops*, Regs*);
bool began(std::uint64_t, std::uint64_t, ReturnOps*, Regs*, CallData*);
void ended(std::uint64_t, std::uint64_t, ReturnOps*, ReturnRegs*, CallData*);
bool try_write(std::uint8_t);
void drain();

namespace {

std::uint64_t count;
[[maybe_unused]] Ops ops{.func = seen, .user = &count};
[[maybe_unused]] ReturnOps returns(began, ended);
[[maybe_unused]] Trigger trigger(Action::snapshot, 3);
[[maybe_unused]] Context task;
[[maybe_unused]] ContextFrame frames[4];
[[maybe_unused]] std::byte memory[4096];
constexpr std::uint16_t events[] = {3, 16};

}  // namespace

int main() {
    EXPECT(init({.image = "nopscope: every.cpp",
                 .output = {try_write, drain},
                 .profile_memory = memory}) == Status::ok);
    EXPECT(join(0, 1) == Status::ok);
    EXPECT(enable(Recorder::graph, Sites::named("*")) == Status::ok);
    EXPECT(disable(Sites::all()) == Status::ok);
    EXPECT(attach(ops, Sites::all()) == Status::ok && attach(trigger, Sites::all()) == Status::ok);
    EXPECT(detach(ops) == Status::ok && detach(returns) == Status::ok);
    EXPECT(set_filter(returns, Sites::range(0, 1)) == Status::ok);
    EXPECT(!lookup(0));
    CALL(for_each_site([](std::uint32_t, const SiteInfo&) { fail(); });)
    CALL(for_each_ops(0, [](Ops&, void*) { fail(); });)
    EXPECT(set_mode(Mode::flight) == Status::ok);
    CALL(SiteProfile profile{}; EXPECT(!read_profile(0, 0, profile));)

    EXPECT(context_create(task, frames, 0, 1, {.name = "task"}) == Status::ok);
    EXPECT(context_switch(main_context(), SwitchReason::blocked) == Status::ok);
    CALL(context_describe(task, {.name = "task"});)
    CALL(context_event(ContextEvent::ready, 1);)
    EXPECT(context_destroy(task) == Status::ok);

    EXPECT(count_events(events) == Status::ok);
    EXPECT(events_refusal().why == protocol::EventRefusal::none &&
           describe(protocol::EventRefusal::none)[0] == 0);
    CALL(SiteEvents counted{}; EXPECT(!read_profile_events(0, 0, counted));)

    CALL(sample({});)

    CALL(count_down(0, 0, &trigger, nullptr);)
    CALL(hook_call(0, 0, &returns, nullptr);)

#define N(name) nopscope::name
#define OK Status::ok
#define ALL Sites::all()
#include "tests/shipping/alike.h"
    return 0;
}
