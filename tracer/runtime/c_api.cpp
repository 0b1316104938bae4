// SPDX-License-Identifier: Apache-2.0
// Implements nopscope.h with nopscope.hpp. Asserts that shared objects have the same layout.
#include "nopscope/nopscope.h"

#include "nopscope/capture.hpp"
#include "nopscope/events.hpp"
#include "nopscope/nopscope.hpp"
#include "nopscope/samples.hpp"
#include "nopscope/triggers.hpp"
#include "tracer/arch/machine.hpp"
#include "tracer/recorders/interrupts.hpp"

namespace nopscope {
namespace {

#define SAME_VALUE(c, cpp) static_assert(static_cast<int>(c) == static_cast<int>(cpp))
SAME_VALUE(NOPSCOPE_OK, Status::ok);
SAME_VALUE(NOPSCOPE_MMU_OR_CACHE_OFF, Status::mmu_or_cache_off);
SAME_VALUE(NOPSCOPE_NO_SITES, Status::no_sites);
SAME_VALUE(NOPSCOPE_ALREADY_INITIALISED, Status::already_initialised);
SAME_VALUE(NOPSCOPE_NOT_INITIALISED, Status::not_initialised);
SAME_VALUE(NOPSCOPE_UNKNOWN_FUNCTION, Status::unknown_function);
SAME_VALUE(NOPSCOPE_NO_NAMES, Status::no_names);
SAME_VALUE(NOPSCOPE_UNEXPECTED_TEXT, Status::unexpected_text);
SAME_VALUE(NOPSCOPE_OUT_OF_REACH, Status::out_of_reach);
SAME_VALUE(NOPSCOPE_TOO_MANY, Status::too_many);
SAME_VALUE(NOPSCOPE_CONFLICT, Status::conflict);
SAME_VALUE(NOPSCOPE_TIMEOUT, Status::timeout);
SAME_VALUE(NOPSCOPE_NO_PROFILE_MEMORY, Status::no_profile_memory);
SAME_VALUE(NOPSCOPE_BAD_CONFIG, Status::bad_config);
SAME_VALUE(NOPSCOPE_WRONG_LEVEL, Status::wrong_level);
SAME_VALUE(NOPSCOPE_WRONG_MEMORY, Status::wrong_memory);
SAME_VALUE(NOPSCOPE_TEXT_NOT_WRITABLE, Status::text_not_writable);
SAME_VALUE(NOPSCOPE_CORES_RUNNING, Status::cores_running);
SAME_VALUE(NOPSCOPE_EVENTS_REFUSED, Status::events_refused);
SAME_VALUE(NOPSCOPE_RING_TOO_SMALL, Status::ring_too_small);
SAME_VALUE(NOPSCOPE_NO_RECORDER, Recorder::none);
SAME_VALUE(NOPSCOPE_FUNCTION, Recorder::function);
SAME_VALUE(NOPSCOPE_GRAPH, Recorder::graph);
SAME_VALUE(NOPSCOPE_PROFILE, Recorder::profile);
SAME_VALUE(NOPSCOPE_DURATION, Recorder::duration);
SAME_VALUE(NOPSCOPE_SAMPLED, Recorder::sampled);
SAME_VALUE(NOPSCOPE_OPS_REDIRECTS, ops_redirects);
SAME_VALUE(NOPSCOPE_OPS_UNGUARDED, ops_unguarded);

#define SAME_TYPE(c, cpp) static_assert(sizeof(c) == sizeof(cpp) && alignof(c) == alignof(cpp))
#define SAME_PLACE(c, cpp, member)                                \
    static_assert(offsetof(c, member) == offsetof(cpp, member) && \
                  sizeof(c::member) == sizeof(cpp::member))
SAME_TYPE(nopscope_ops, Ops);
SAME_PLACE(nopscope_ops, Ops, func);
SAME_PLACE(nopscope_ops, Ops, direct);
SAME_PLACE(nopscope_ops, Ops, user);
SAME_PLACE(nopscope_ops, Ops, flags);
SAME_PLACE(nopscope_ops, Ops, sites);
SAME_TYPE(nopscope_regs, Regs);
SAME_PLACE(nopscope_regs, Regs, x);
SAME_PLACE(nopscope_regs, Regs, fp);
SAME_PLACE(nopscope_regs, Regs, lr);
SAME_PLACE(nopscope_regs, Regs, sp);
SAME_PLACE(nopscope_regs, Regs, pc);
SAME_TYPE(nopscope_interruption, Interruption);
SAME_PLACE(nopscope_interruption, Interruption, x);
SAME_PLACE(nopscope_interruption, Interruption, sp);
SAME_PLACE(nopscope_interruption, Interruption, pc);
SAME_TYPE(nopscope_interrupted, Interrupted);
SAME_PLACE(nopscope_interrupted, Interrupted, core);
SAME_PLACE(nopscope_interrupted, Interrupted, pc);
SAME_PLACE(nopscope_interrupted, Interrupted, depth);

nopscope_status as_c(Status status) { return static_cast<nopscope_status>(status); }

Sites as_sites(const nopscope_sites& sites) {
    return {.first = sites.first,
            .count = sites.count,
            .functions = {sites.functions, sites.function_count},
            .listed = sites.functions != nullptr,
            .pattern = sites.pattern};
}
bool (*try_read)(std::uint8_t*) = nullptr;
bool read_byte(std::uint8_t& byte) { return try_read(&byte); }

Ops& as_ops(nopscope_ops* ops) { return *reinterpret_cast<Ops*>(ops); }

}  // namespace
}  // namespace nopscope

using namespace nopscope;

extern "C" {

const char* nopscope_describe(nopscope_status status) {
    return describe(static_cast<Status>(status));
}

nopscope_status nopscope_init(const nopscope_config* from) {
    try_read = from->try_read;
    // One initializer: to copy a Config of defaults and change it, the compiler would call memcpy.
    return as_c(init({.image = from->image != nullptr ? from->image : "",
                      .board = from->board != nullptr ? from->board : "",
                      .clock_hz = from->clock_hz,
                      .cores = from->cores != 0 ? from->cores : 1,
                      .machine = from->machine,
                      .output = {from->try_write, from->drain},
                      .line_bytes_per_second = from->line_bytes_per_second,
                      .input = {.try_read = from->try_read != nullptr ? read_byte : nullptr,
                                .interrupted_pc = from->interrupted_pc,
                                .baud = from->baud,
                                .set_baud = from->set_baud,
                                .reset = from->reset},
                      .stack_low = from->stack_low,
                      .stack_high = from->stack_high != 0 ? from->stack_high : ~std::uint64_t{0},
                      .mode = from->lossless ? Mode::lossless : Mode::stream,
                      .recorder = static_cast<Recorder>(from->recorder),
                      .trace = as_sites(from->trace),
                      .except = {},
                      .profile_memory = {static_cast<std::byte*>(from->profile_memory),
                                         from->profile_memory_bytes},
                      .profile_period_ms = from->profile_period_ms,
                      .calibrate = !from->uncalibrated,
                      .keep_over_reset = !from->forgets_at_reset,
                      .interrupt_depth = from->interrupt_depth,
                      .panic = from->panic}));
}
nopscope_status nopscope_join(std::uint64_t stack_low, std::uint64_t stack_high) {
    return as_c(join(stack_low, stack_high));
}

nopscope_status nopscope_enable(nopscope_recorder recorder, nopscope_sites sites) {
    return as_c(enable(static_cast<Recorder>(recorder), as_sites(sites)));
}
nopscope_status nopscope_disable(nopscope_sites sites) { return as_c(disable(as_sites(sites))); }

nopscope_status nopscope_attach(nopscope_ops* ops, nopscope_sites sites) {
    return as_c(attach(as_ops(ops), as_sites(sites)));
}
nopscope_status nopscope_detach(nopscope_ops* ops, nopscope_sites sites) {
    return as_c(detach(as_ops(ops), as_sites(sites)));
}
nopscope_status nopscope_set_filter(nopscope_ops* ops, nopscope_sites sites) {
    return as_c(set_filter(as_ops(ops), as_sites(sites)));
}
bool nopscope_synchronize() { return synchronize(); }

bool nopscope_lookup(std::uint64_t address, std::uint32_t* index) {
    const auto found = lookup(address);
    if (found) *index = *found;
    return found.has_value();
}

void nopscope_stop() { stop(); }
void nopscope_start() { start(); }
void nopscope_pump() { pump(); }
void nopscope_set_min_duration(std::uint64_t ticks) { set_min_duration(ticks); }
void nopscope_set_max_depth(std::uint32_t calls) { set_max_depth(calls); }
void nopscope_set_sample(std::uint32_t n) { set_sample(n); }
nopscope_status nopscope_trace_only_below(nopscope_sites sites) {
    return as_c(trace_only_below(as_sites(sites)));
}
nopscope_status nopscope_trace_everywhere() { return as_c(trace_everywhere()); }
void nopscope_mark(std::uint32_t id) { mark(id); }
void nopscope_counter(std::uint32_t id, std::int64_t value) { counter(id, value); }
nopscope_status nopscope_capture_arguments(nopscope_sites sites, std::uint8_t mask) {
    return as_c(capture_arguments(as_sites(sites), mask));
}
nopscope_status nopscope_capture_result(nopscope_sites sites) {
    return as_c(capture_result(as_sites(sites)));
}
nopscope_status nopscope_capture_nothing(nopscope_sites sites) {
    return as_c(capture_nothing(as_sites(sites)));
}
nopscope_status nopscope_count_events(const std::uint16_t* numbers, std::size_t count) {
    return as_c(count_events({numbers, count}));
}
const char* nopscope_events_refusal() { return describe(events_refusal().why); }
std::size_t nopscope_profile_bytes(unsigned cores) { return profile_bytes(cores); }
void nopscope_send_profile() { send_profile(); }
std::uint64_t nopscope_interrupt_begin(std::uint32_t number) {
    return interrupt_begin_at(number, reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
}
void nopscope_interrupt_end(std::uint64_t begun) { interrupt_end(begun); }
void nopscope_interrupts_masked(std::uint64_t where) { interrupts_masked(where); }
void nopscope_interrupts_unmasked() { interrupts_unmasked(); }
void nopscope_finish() { finish(); }
void nopscope_console_write(const char* bytes, std::size_t count) { console_write(bytes, count); }
void nopscope_enter_panic() { enter_panic(); }

void nopscope_sample(const nopscope_interruption* at) { sample({at->x, at->sp, at->pc}); }
struct nopscope_counters nopscope_counters() {
    const Counters now = counters();
    return {.sites = now.sites,
            .refused_misaligned = now.refused_misaligned,
            .refused_outside = now.refused_outside,
            .refused_words = now.refused_words,
            .duplicates = now.duplicates,
            .enabled = now.enabled,
            .generated = now.generated,
            .dropped = now.dropped,
            .filtered = now.filtered,
            .shadow_stack_full = now.shadow_stack_full,
            .off_stack = now.off_stack,
            .recursions = now.recursions,
            .stray_returns = now.stray_returns};
}
struct nopscope_last_error nopscope_last_error() {
    const LastError error = last_error();
    return {.address = error.address, .found = error.found, .expected = error.expected};
}
}
