// SPDX-License-Identifier: Apache-2.0
// init(), and the board's pump, which is built from its parts here.
#include "nopscope/nopscope.hpp"
#include "nopscope/return_ops.hpp"
#include "tracer/adaptive/adaptive.hpp"
#include "tracer/arch/deferral.hpp"
#include "tracer/control/board_control.hpp"
#include "tracer/core/descriptor.hpp"
#include "tracer/core/guard.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/core/image.hpp"
#include "tracer/patching/requests.hpp"
#include "tracer/recorders/event_choice.hpp"
#include "tracer/recorders/profile_sender.hpp"
#include "tracer/recorders/shadow_stack.hpp"
#include "tracer/recorders/task_sender.hpp"
#include "tracer/runtime/calibration.hpp"
#include "tracer/runtime/cycle_clock.hpp"
#include "tracer/runtime/requirements.hpp"
#include "tracer/stream/board_pump.hpp"
#include "tracer/stream/pump.hpp"

namespace nopscope {

#ifdef NOPSCOPE_MACHINE_GIVEN
constinit nopscope_machine given_machine{};
#endif

namespace {

[[gnu::section(".nopscope.ring")]] WarmResetHeader kept;

constinit Machine machine;
constinit protocol::TraceEncoder encoders[max_cores]{};
constinit Pump<Machine, ProfileSender, DemotedSender, TaskSender> line_pump(
    machine, core_states, encoders, &profile_sender, &command_replies, &demoted_sender,
    &task_sender, &in_force);
constinit CycleClock cycle_clock;
constinit Counters boot_counters{};
constinit protocol::Byte hello_payload[protocol::max_hello_bytes]{};

void prepare_core(unsigned number, const Config& config) {
    Core& core = core_states[number];
    clear(core);
    CoreMemory& own = core_memory[number];
    for (std::uint64_t& word : own.ring) word = 0;
    reset_shadow_stack(core, own.shadow, shadow_frames + 1, ~std::uint64_t{0});
    set_ring(core, reinterpret_cast<std::uintptr_t>(own.ring));
    core.cursor = core.tail = core.seen = ring_bytes;
    core.cells = profile_memory.distance(number);
    core.profile_cost = profile_memory.cost();
    core.stops = stopped_absent;
    core.number = number;
    core.reserve = return_reserve_bytes;
    core.return_bytes = record_bytes;
    core.pumped_clock = core.last_sync = core.seen_clock = machine.clock();
    core.last_trace_frame = core.last_key_frame = core.seen_clock;
    set_interrupt_depth(
        core, config.interrupt_depth != nullptr ? config.interrupt_depth(number) : nullptr);
    core.graves = reinterpret_cast<std::uintptr_t>(own.graves);
    for (std::uint64_t& guard : core.guards) guard = reinterpret_cast<std::uintptr_t>(&guard);
}

// Sends the session before a warm reset, and makes its header invalid.
void send_what_was_kept(const Config& config) {
    const WarmResetImage mine =
        kept_image(hello, config.clock_hz, reinterpret_cast<std::uintptr_t>(core_memory));
    const Recovered found = recover(
        kept, mine, core_states,
        [](unsigned n) { return reinterpret_cast<std::uintptr_t>(core_memory[n].ring); },
        [](std::uint32_t low) { return sites.has_low(hello.text_base, low); });
    boot_counters.reset_records = found.records;
    boot_counters.reset_refused = found.refused;
    boot_counters.reset_headers_refused = found.headers_refused;
    if (found.records != 0) line_pump.send_recovered(config, hello, kept);
    begin_keeping(machine, kept, mine);
}

// False: interrupts must be deferred, and this core's vector does not do that.
bool defers_interrupts(Core& core) {
    if (!arch::defers_interrupts) return true;
    const InterruptsMasked masked(machine);
    Core* const before = arch::current_core();
    arch::set_current_core(&core);
    const bool defers = arch::vector_defers();
    arch::set_current_core(before);
    return defers;
}

// Starts recording on this core.
void enter_core(std::uint64_t stack_low, std::uint64_t stack_high) {
    Core& core = this_core();
    core.stack_low = core.lowest_sp = stack_low;
    reset_shadow_stack(core, core_memory[machine.core()].shadow, shadow_frames + 1, stack_high);
    arch::set_current_core(&core);
    set_joined(machine.core());
    start_core(machine, core, stopped_absent);
}

void prepare_hello(const Config& config) {
    hello.architecture = arch::architecture;
    hello.version = protocol::format_version_of(arch::architecture);
    hello.takes_commands = config.input.try_read != nullptr;
    hello.refused_sites = {true, boot_counters.refused_misaligned, boot_counters.refused_outside,
                           boot_counters.refused_words};
    hello.lossless = config.mode == Mode::lossless;
    hello.flight = config.mode == Mode::flight;
    hello.cores = static_cast<std::uint8_t>(config.cores);
    hello.text_base = address_of(__text_start) & ~std::uint64_t{7};
    hello.site_count = sites.size();
    hello.site_table_crc = sites.crc(hello.load_bias);
    open_names();
    hello.line_bytes_per_second = config.line_bytes_per_second;
    hello.build_id = build_id(__build_id_note_start, __build_id_note_end);
    hello.board = text_of(config.board);
    hello.event_costs = {true,
                         nopscope_graph_events_costs[0],
                         nopscope_graph_events_costs[1],
                         nopscope_graph_events_costs[2],
                         nopscope_profile_events_costs[0],
                         nopscope_profile_events_costs[1]};
    hello.image = text_of(config.image);
}

}  // namespace

extern "C" {
constinit Descriptor nopscope_descriptor =
    describe_cores(core_states, core_memory[0].ring, sizeof(CoreMemory), hello_payload);
}

Status init(const Config& config) {
    if (initialised) return Status::already_initialised;
    if (const Status status = check_processor(); status != Status::ok) return status;
#ifdef NOPSCOPE_MACHINE_GIVEN
    machine.open(config.machine);
#endif
    if (config.output.try_write == nullptr || config.clock_hz == 0 || config.cores == 0 ||
        config.cores > max_cores || machine.core() >= config.cores ||
        config.stack_low >= config.stack_high) {
        return Status::bad_config;
    }
    if (+__nopscope_sites_start == +__nopscope_sites_end) return Status::no_sites;
    if (const Status status = check_surroundings(machine, std::as_bytes(std::span(core_memory)),
                                                 std::as_bytes(all_cores()), config);
        status != Status::ok) {
        return status;
    }
    if (!defers_interrupts(core_states[machine.core()])) return Status::not_deferred;
    const auto all_sites =
        static_cast<std::uint32_t>(__nopscope_sites_end - __nopscope_sites_start);
    if (!config.profile_memory.empty() &&
        !profile_memory.open(config.profile_memory, all_sites, config.cores)) {
        return Status::no_profile_memory;
    }
    if (config.mode == Mode::adaptive && !profile_memory.is_open())
        return Status::no_profile_memory;

    hello.clock_hz = config.clock_hz;
    if (arch::clock_is_cycles && !cycle_clock.open(hello)) return Status::bad_config;
    open_cores(config);
    machine.use_caches_of_this_core();
    prepare_sites(boot_counters);
    prepare_hello(config);
    const bool is_warm = is_after_reset(kept);
    const std::uint16_t session = session_after(kept, machine.clock());
    if (config.keep_over_reset) {
        send_what_was_kept(config);
    } else {
        keep_number_only(machine, kept, session);
    }
    if (config.calibrate) calibrate(hello, core_memory[0].ring, core_memory[0].shadow, config);
    const std::int32_t cost =
        hello.overheads[protocol::overhead_index(protocol::Recorder::profile)].outside;
    profile_memory.set_cost(cost > 0 ? static_cast<std::uint64_t>(cost) : 0);
    for (unsigned core = 0; core < max_cores; ++core) prepare_core(core, config);
    const std::uint64_t now = machine.clock();
    profile_sender.open(hello.text_base, config.profile_period_ms * (hello.clock_hz / 1000), now);
    task_sender.open(hello.clock_hz, all_cores().first(config.cores), all_contexts);
    line_pump.open(config, hello, session, config.keep_over_reset ? &kept : nullptr);
    if (is_warm && boot_counters.reset_records == 0) line_pump.end_cut_frame();
    open_control(config, session, hello.clock_hz);
    open_adaptive(config);
    enter_core(config.stack_low, config.stack_high);
    initialised = true;
    nopscope_descriptor.session = session;
    nopscope_descriptor.hello_bytes = static_cast<std::uint32_t>(write_hello(hello, hello_payload));
    __atomic_store_n(&nopscope_descriptor.ready, 1, __ATOMIC_RELEASE);
    line_pump.run();
    if (config.recorder == Recorder::none) return Status::ok;
    const Status status = set_recorder(config.recorder, config.trace, config.except);
    note_recorders();
    return status;
}

Status join(std::uint64_t stack_low, std::uint64_t stack_high) {
    if (!initialised) return Status::not_initialised;
    const unsigned core = machine.core();
    if (core >= hello.cores || stack_low >= stack_high) return Status::bad_config;
    if (has_joined(core)) return Status::already_initialised;
    if (!defers_interrupts(core_states[core])) return Status::not_deferred;
    machine.use_caches_of_this_core();
    if (arch::clock_is_cycles) cycle_clock.join(machine);
    enter_core(stack_low, stack_high);
    count_events_here();
    return Status::ok;
}

void stop() {
    for (Core& core : all_cores()) {
        stop_core(core, stopped_by_request);
        // A start() meanwhile may have seen a limit that was not 0 yet.
        if (stops_of(core) == 0) apply_stops(machine, core);
    }
    in_force.set_stopped_at(machine.clock());
    if (initialised) send_stats_soon();
}
void start() {
    if (!initialised) return;
    in_force.set_stopped_at(0);
    for (Core& core : all_cores()) start_core(machine, core, stopped_by_request);
    send_stats_soon();
}

void pump() {
    if (!initialised) return;
    const Moment began = line_pump.now();
    poll_commands();
    adapt();
    line_pump.run(began);
}

Status set_mode(Mode mode) {
    if (!initialised) return Status::not_initialised;
    if (mode == Mode::adaptive && !profile_memory.is_open()) return Status::no_profile_memory;
    if (mode == Mode::adaptive && events_chosen().any())
        return refuse_events(protocol::EventRefusal::mode);
    if (!line_pump.set_mode(mode)) return Status::bad_config;
    want_adaptive(mode == Mode::adaptive);
    return Status::ok;
}

void charge_to_tracer(void (*work)(void* user), void* user) {
    line_pump.charge_to_tracer([&] { work(user); });
}
std::uint64_t trace_bytes_sent() { return line_pump.trace_bytes(); }

// Also sends the moves: from them a reader knows which functions are only in the profile.
void send_profile() {
    demoted_sender.request();
    profile_sender.request();
}
void finish() {
    if (!initialised) return;
    stop();
    line_pump.finish();
}

void console_write(const char* bytes, std::size_t count) {
    if (initialised) line_pump.console(bytes, count);
}

void prepare_reset() {
    if (!initialised) return;
    stop();
    line_pump.prepare_reset();
}

void enter_panic() {
    if (!initialised) return;
    stop();
    line_pump.enter_panic();
}

Counters counters() {
    Counters now = boot_counters;
    now.enabled = enabled_sites();
    if (!initialised) return now;
    for (const Core& core : all_cores()) {
        now.dropped += core.dropped;
        now.overflowed += core.overflowed;
        now.filtered += filtered_of(core);
        now.generated += record_index(core.cursor) + core.dropped + filtered_of(core);
        now.shadow_stack_full += core.shadow_stack_full;
        now.off_stack += core.off_stack;
        now.recursions += core.recursions;
        now.stray_returns += core.stray_returns;
        now.undeferred += core.undeferred;
    }
    return now;
}

void send_hello_soon() {
    line_pump.send_hello();
    line_pump.send_keys();
}
void send_stats_soon() { line_pump.send_stats(); }
bool with_quiet_line(std::uint32_t (*use)(void*), void* user) {
    return line_pump.with_quiet_line([&] { return hello.line_bytes_per_second = use(user); });
}

void send_soon() {
    for (Core& core : all_cores()) {
        __atomic_store_n(&core.send_to, __atomic_load_n(&core.cursor, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    }
}
void send_snapshot() {
    send_soon();
    line_pump.send_snapshot();
}
void guarded(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs) {
    const Guard guard;
    if (guard.taken()) {
        ops->func(ip, parent_ip, ops, regs);
    } else {
        const Here here;
        add_one(here.core().recursions);
    }
}

// A slow path of arch/arm64/recorders.S. slow_paths.cpp has the others.

bool nopscope_wait_for_room(const Core* began_on, std::uint64_t, Moment began,
                            std::uint32_t before) {
    if (began_on != arch::current_core()) began = {};  // the task has moved since
    return line_pump.make_room(began, before);
}

}  // namespace nopscope
