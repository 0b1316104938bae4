// SPDX-License-Identifier: Apache-2.0
// Implements the C headers with those of C++. c_layout.cpp asserts that values and objects are the
// same.
#include "nopscope/nopscope.h"

#include "nopscope/capture.hpp"
#include "nopscope/contexts.hpp"
#include "nopscope/events.hpp"
#include "nopscope/nopscope.hpp"
#include "nopscope/samples.hpp"
#include "nopscope/triggers.hpp"
#include "tracer/recorders/interrupts.hpp"

namespace nopscope {
namespace {

nopscope_status as_c(Status status) { return static_cast<nopscope_status>(status); }

Sites without_notrace(const nopscope_sites& sites) {
    return {.first = sites.first,
            .count = sites.count,
            .functions = {sites.functions, sites.function_count},
            .listed = sites.functions != nullptr,
            .pattern = sites.pattern};
}
// A request's sites for C++, and in the same place those that it leaves out.
class SitesForCpp {
public:
    explicit SitesForCpp(const nopscope_sites& sites) : sites_(without_notrace(sites)) {
        if (sites.notrace == nullptr) return;
        less_ = without_notrace(*sites.notrace);
        sites_.notrace = &less_;
    }
    SitesForCpp(const SitesForCpp&) = delete;
    operator const Sites&() const { return sites_; }

private:
    Sites sites_, less_;
};
SitesForCpp as_sites(const nopscope_sites& sites) { return SitesForCpp(sites); }

// Config::trace. All zero, as in a configuration that does not name it: all sites.
nopscope_sites all_if_zero(nopscope_sites sites) {
    if (sites.functions == nullptr && sites.pattern == nullptr && sites.count == 0)
        sites.count = ~std::uint32_t{0};
    return sites;
}

bool (*try_read)(std::uint8_t*) = nullptr;
bool read_byte(std::uint8_t& byte) { return try_read(&byte); }

// The same objects (c_layout.cpp).
Ops& as_ops(nopscope_ops* ops) { return *reinterpret_cast<Ops*>(ops); }
Context& as_context(nopscope_context* context) { return *reinterpret_cast<Context*>(context); }
ContextFacts as_facts(const nopscope_context_facts& facts) {
    return {.name = facts.name,
            .priority = facts.priority,
            .id = facts.id,
            .interrupts = facts.interrupts};
}

// for_each_ops() with a function of C.
struct VisitInC {
    void (*visit)(nopscope_ops* ops, void* user);
    void* user;
};
void visit_in_c(Ops& ops, void* user) {
    const auto& in_c = *static_cast<const VisitInC*>(user);
    in_c.visit(reinterpret_cast<nopscope_ops*>(&ops), in_c.user);
}

}  // namespace
}  // namespace nopscope

using namespace nopscope;

extern "C" {

const char* nopscope_describe(nopscope_status status) {
    return describe(static_cast<Status>(status));
}

nopscope_status nopscope_init(const nopscope_config* from) {
    try_read = from->try_read;
    const SitesForCpp trace = as_sites(all_if_zero(from->trace));
    // One initializer: to copy a Config of defaults and change it, the compiler would call memcpy.
    return as_c(
        init({.image = from->image != nullptr ? from->image : "",
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
              .mode = static_cast<Mode>(from->mode),
              .recorder = static_cast<Recorder>(from->recorder),
              .trace = trace,
              .except = {from->except, from->except_count},
              .profile_memory = {static_cast<std::byte*>(from->profile_memory),
                                 from->profile_memory_bytes},
              .profile_period_ms = from->profile_period_ms,
              .calibrate = !from->uncalibrated,
              .keep_over_reset = !from->forgets_at_reset,
              .interrupt_depth = from->interrupt_depth,
              .while_waiting = from->while_waiting,
              .pump_budget = from->pump_budget != 0 ? from->pump_budget : Config{}.pump_budget,
              .panic = from->panic}));
}

nopscope_status nopscope_enable(nopscope_recorder recorder, nopscope_sites sites) {
    return as_c(enable(static_cast<Recorder>(recorder), as_sites(sites)));
}
nopscope_status nopscope_disable(nopscope_sites sites) { return as_c(disable(as_sites(sites))); }
nopscope_status nopscope_join(std::uint64_t stack_low, std::uint64_t stack_high) {
    return as_c(join(stack_low, stack_high));
}

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

std::uint32_t nopscope_site_count() { return site_count(); }
nopscope_site_info nopscope_site(std::uint32_t index) {
    const SiteInfo info = site(index);
    return {.address = info.address, .usable = info.usable};
}
bool nopscope_lookup(std::uint64_t address, std::uint32_t* index) {
    const auto found = lookup(address);
    if (found) *index = *found;
    return found.has_value();
}
std::size_t nopscope_site_name(std::uint32_t index, char* to, std::size_t room) {
    return site_name(index, to, room);
}
void nopscope_for_each_ops(std::uint32_t index, void (*visit)(nopscope_ops*, void*), void* user) {
    VisitInC in_c{visit, user};
    for_each_ops(index, visit_in_c, &in_c);
}

void nopscope_stop() { stop(); }
void nopscope_start() { start(); }
nopscope_status nopscope_set_mode(nopscope_mode mode) {
    return as_c(set_mode(static_cast<Mode>(mode)));
}

void nopscope_set_min_duration(std::uint64_t ticks) { set_min_duration(ticks); }
void nopscope_set_max_depth(std::uint32_t calls) { set_max_depth(calls); }
void nopscope_set_sample(std::uint32_t n) { set_sample(n); }
nopscope_status nopscope_trace_only_below(nopscope_sites sites) {
    return as_c(trace_only_below(as_sites(sites)));
}
nopscope_status nopscope_trace_everywhere() { return as_c(trace_everywhere()); }

void nopscope_pump() { pump(); }
std::size_t nopscope_profile_bytes(unsigned cores) { return profile_bytes(cores); }
void nopscope_send_profile() { send_profile(); }
bool nopscope_read_profile(std::uint32_t index, unsigned core, nopscope_site_profile* out) {
    return read_profile(index, core, *reinterpret_cast<SiteProfile*>(out));
}
void nopscope_finish() { finish(); }
void nopscope_prepare_reset() { prepare_reset(); }

void nopscope_console_write(const char* bytes, std::size_t count) { console_write(bytes, count); }
void nopscope_enter_panic() { enter_panic(); }

bool nopscope_is_return_hook(std::uint64_t address) { return is_return_hook(address); }
std::uint64_t nopscope_hooked_return_address_of(std::uint64_t low, std::uint64_t high) {
    return hooked_return_address_of(low, high);
}
std::uint64_t nopscope_hooked_return_address(unsigned depth) {
    return hooked_return_address(depth);
}
bool nopscope_is_entry_code(std::uint64_t pc) { return is_entry_code(pc); }

struct nopscope_counters nopscope_counters() {
    const Counters now = counters();
    return {.sites = now.sites,
            .refused_misaligned = now.refused_misaligned,
            .refused_outside = now.refused_outside,
            .refused_words = now.refused_words,
            .duplicates = now.duplicates,
            .enabled = now.enabled,
            .reset_records = now.reset_records,
            .reset_refused = now.reset_refused,
            .reset_headers_refused = now.reset_headers_refused,
            .generated = now.generated,
            .dropped = now.dropped,
            .overflowed = now.overflowed,
            .filtered = now.filtered,
            .shadow_stack_full = now.shadow_stack_full,
            .off_stack = now.off_stack,
            .recursions = now.recursions,
            .stray_returns = now.stray_returns,
            .undeferred = now.undeferred};
}
struct nopscope_last_error nopscope_last_error() {
    const LastError error = last_error();
    return {.address = error.address, .found = error.found, .expected = error.expected};
}

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

nopscope_status nopscope_context_create(nopscope_context* context, nopscope_context_frame* frames,
                                        std::size_t count, std::uint64_t stack_low,
                                        std::uint64_t stack_high,
                                        const nopscope_context_facts* facts) {
    return as_c(context_create(as_context(context),
                               {reinterpret_cast<ContextFrame*>(frames), count}, stack_low,
                               stack_high, facts != nullptr ? as_facts(*facts) : ContextFacts{}));
}
nopscope_status nopscope_context_switch(nopscope_context* to, nopscope_switch_reason why) {
    return as_c(context_switch(as_context(to), static_cast<SwitchReason>(why)));
}
void nopscope_context_describe(nopscope_context* context, const nopscope_context_facts* facts) {
    context_describe(as_context(context), as_facts(*facts));
}
void nopscope_context_event(enum nopscope_context_event what, std::uint64_t subject) {
    context_event(static_cast<ContextEvent>(what), subject);
}
bool nopscope_name_object(std::uint64_t id, const char* name) { return name_object(id, name); }
nopscope_context* nopscope_main_context() {
    return reinterpret_cast<nopscope_context*>(&main_context());
}
nopscope_status nopscope_context_destroy(nopscope_context* context) {
    return as_c(context_destroy(as_context(context)));
}

nopscope_status nopscope_count_events(const std::uint16_t* numbers, std::size_t count) {
    return as_c(count_events({numbers, count}));
}
struct nopscope_events_refusal nopscope_events_refusal() {
    const EventsRefusal refusal = events_refusal();
    return {.why = static_cast<nopscope_event_refusal>(refusal.why),
            .event = refusal.event,
            .counters = refusal.counters};
}
const char* nopscope_describe_event_refusal(nopscope_event_refusal why) {
    return describe(static_cast<protocol::EventRefusal>(why));
}
bool nopscope_read_profile_events(std::uint32_t index, unsigned core, nopscope_site_events* out) {
    return read_profile_events(index, core, *reinterpret_cast<SiteEvents*>(out));
}

std::uint64_t nopscope_interrupt_begin(std::uint32_t number) {
    return interrupt_begin_at(number, reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
}
void nopscope_interrupt_end(std::uint64_t begun) { interrupt_end(begun); }
void nopscope_interrupts_masked(std::uint64_t where) { interrupts_masked(where); }
void nopscope_interrupts_unmasked() { interrupts_unmasked(); }

void nopscope_sample(const nopscope_interruption* at) { sample({at->x, at->sp, at->pc}); }

void nopscope_mark(std::uint32_t id) { mark(id); }
void nopscope_snapshot(std::uint32_t id) { snapshot(id); }
void nopscope_count_down(std::uint64_t ip, std::uint64_t parent_ip, nopscope_ops* ops,
                         nopscope_regs* regs) {
    count_down(ip, parent_ip, &as_ops(ops), reinterpret_cast<Regs*>(regs));
}
}
