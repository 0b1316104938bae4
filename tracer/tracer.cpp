// SPDX-License-Identifier: Apache-2.0
// The tracer on a board: its one instance, the public functions, and what the recorders call.
#include "tracer/calibration.hpp"
#include "tracer/cycle_clock.hpp"
#include "tracer/guard.hpp"
#include "tracer/image.hpp"
#include "tracer/instance.hpp"
#include "tracer/named.hpp"
#include "tracer/nopscope.hpp"
#include "tracer/patcher.hpp"
#include "tracer/pump.hpp"
#include "tracer/requests.hpp"
#include "tracer/return_ops.hpp"
#include "tracer/shadow_stack.hpp"

namespace nopscope {
namespace {

Address address_of(const char* label) { return reinterpret_cast<std::uintptr_t>(label); }

struct CoreMemory {
    alignas(64) std::uint64_t ring[ring_bytes / sizeof(std::uint64_t)];
    alignas(64) ShadowFrame shadow[shadow_frames + 1];
};
[[gnu::section(".nopscope.ring")]] CoreMemory memory[max_cores];
[[gnu::section(".nopscope.ring")]] Kept kept;

// The object of sites that nobody traces. A BL that finds it was left over by a change of the set.
void no_callback(std::uint64_t, std::uint64_t, Ops*, Regs*) {}

constinit Machine machine;
constinit Core cores[max_cores]{};
constinit SiteTable sites;
constinit wire::NameTable names;
constinit Ops none_ops{.func = no_callback, .unguarded = no_callback};
// Their entries are filled in by init(), since an address is no constant expression in every ABI.
constinit Ops function_ops, graph_ops, duration_ops, sampled_ops, no_profile_ops;
constinit ProfileMemory profile_memory;
constinit ProfileSender profile_sender(profile_memory, sites);
// By Recorder, less one. The profile's is nobody's before it is enabled.
constinit Family recorders[] = {Family::of(function_ops), Family::of(graph_ops),
                                Family::of(no_profile_ops), Family::of(duration_ops),
                                Family::of(sampled_ops)};
constinit Patcher<Machine> patcher(machine, sites, none_ops);
constinit wire::TraceEncoder encoders[max_cores]{};
constinit Pump<Machine> line_pump(machine, cores, encoders, &profile_sender, &command_replies);
constinit RequestLock<Machine> request_lock(machine);
constinit wire::Hello hello;
constinit CycleClock cycle_clock;
constinit Counters boot_counters{};
void (*panic_handler)(const char*) = nullptr;
constinit bool initialised = false;
constinit std::uint32_t joined = 0;  // cores, a bit each
constexpr std::uint32_t thread_context = 0;
constinit Recorder last_recorder = Recorder::graph;

Core& this_core() { return cores[machine.core()]; }
bool has_joined(unsigned core) { return (__atomic_load_n(&joined, __ATOMIC_RELAXED) >> core & 1) != 0; }

void prepare_core(unsigned number, const Config& config) {
    Core& core = cores[number];
    clear(core);
    CoreMemory& own = memory[number];
    for (std::uint64_t& word : own.ring) word = 0;
    reset_shadow_stack(core, own.shadow, shadow_frames + 1, ~std::uint64_t{0});
    core.ring = reinterpret_cast<std::uintptr_t>(own.ring);
    core.cursor = core.tail = core.seen = ring_bytes;
    core.cells = profile_memory.distance(number);
    core.stops = stopped_absent;
    core.reserve = return_reserve_bytes;
    core.pumped_clock = core.last_sync = core.seen_clock = machine.clock();
    core.last_trace_frame = core.last_key_frame = core.seen_clock;
    const volatile std::uint32_t* depth = &thread_context;
    if (config.interrupt_depth != nullptr) depth = config.interrupt_depth(number);
    core.depth = reinterpret_cast<std::uintptr_t>(depth);
    for (std::uint64_t& guard : core.guards) guard = reinterpret_cast<std::uintptr_t>(&guard);
}

// What a warm reset has left is sent, as the session that it was; then nothing of it is left.
void send_what_was_kept(const Config& config) {
    const KeptImage mine = kept_image(hello, reinterpret_cast<std::uintptr_t>(memory));
    const Recovered found = recover(
        kept, mine, cores, [](unsigned n) { return reinterpret_cast<std::uintptr_t>(memory[n].ring); },
        [](std::uint32_t low) { return sites.has_low(hello.text_base, low); });
    boot_counters.reset_records = found.records;
    boot_counters.reset_refused = found.refused;
    boot_counters.reset_headers_refused = found.headers_refused;
    if (found.records != 0) line_pump.send_recovered(config, hello, kept);
    begin_keeping(kept, mine);
}

// On the core itself: from here on it records.
void enter_core(std::uint64_t stack_low, std::uint64_t stack_high) {
    Core& core = this_core();
    core.stack_low = stack_low;
    reset_shadow_stack(core, memory[machine.core()].shadow, shadow_frames + 1, stack_high);
    set_current_core(&core);
    __atomic_fetch_or(&joined, 1u << machine.core(), __ATOMIC_RELAXED);
    start_core(machine, core, stopped_absent);
}

void prepare_sites() {
    boot_counters.duplicates =
        sites.prepare({__nopscope_sites_start, __nopscope_sites_end});
    const Refusals refused =
        patcher.initialise({address_of(__text_start), address_of(__text_end)});
    boot_counters.refused_misaligned = refused.misaligned;
    boot_counters.refused_outside = refused.outside;
    boot_counters.refused_words = refused.words;
    boot_counters.sites = sites.size() - refused.misaligned - refused.outside - refused.words;
}

void prepare_hello(const Config& config) {
    hello.lossless = config.mode == Mode::lossless;
    hello.flight = config.mode == Mode::flight;
    hello.cores = static_cast<std::uint8_t>(config.cores);
    hello.text_base = address_of(__text_start) & ~std::uint64_t{7};
    hello.site_count = sites.size();
    hello.site_table_crc = sites.crc(hello.load_bias);
    names = wire::NameTable(__nopscope_names_start, __nopscope_names_end - __nopscope_names_start,
                            sites.size(), hello.site_table_crc);
    hello.line_bytes_per_second = config.line_bytes_per_second;
    hello.build_id = build_id(__build_id_note_start, __build_id_note_end);
    hello.board = text_of(config.board);
    hello.image = text_of(config.image);
}

// Code that reads slots and marks nothing, as far as it is in use.
class Unmarked {
public:
    Unmarked() {
        if (patcher.uses_far()) add(nopscope_far, nopscope_far_end);
        if (profile_memory.made()) add(nopscope_profile_entry, nopscope_profile_entry_end);
    }
    std::span<const Quiescence<Machine>::Code> all() const { return {code_, count_}; }

private:
    void add(const char* begin, const char* end) {
        code_[count_++] = {address_of(begin), address_of(end)};
    }
    Quiescence<Machine>::Code code_[2];
    std::size_t count_ = 0;
};

bool wait_until_quiescent() {
    const Unmarked unmarked;
    return Quiescence<Machine>(machine, cores, unmarked.all()).wait(machine.clock() + hello.clock_hz);
}

// ---- requests -----------------------------------------------------------------------------------

Status change_sets(const Change& change, NamedSelection&& selection) {
    Status status = selection.status();
    if (status != Status::ok) return status;
    bool quiescent = true;
    status = patcher.change(change, [&](auto visit) { selection.for_each_run(visit); },
                       [&] { return quiescent = wait_until_quiescent(); });
    return status == Status::ok && !quiescent ? Status::timeout : status;
}

// A site has one recorder: each has a direct entry.
Status set_recorder(Recorder recorder, const Sites& which, std::span<const void* const> except) {
    const Requesting<Machine> alone(request_lock);
    if (recorder == Recorder::profile) {
        if (!profile_memory.is_open()) return Status::no_profile_memory;
        recorders[2] = profile_memory.family(address_of(nopscope_profile_entry));
    }
    Change change{.remove = recorders};
    if (recorder != Recorder::none) {
        change.add = recorders[static_cast<unsigned>(recorder) - 1];
        last_recorder = recorder;
    }
    return change_sets(change, {sites, names, which, except});
}

}  // namespace

Status init(const Config& config) {
    if (initialised) return Status::already_initialised;
    if (exception_level() == 0 || !mmu_and_cache_on()) return Status::mmu_or_cache_off;
    if (config.output.try_write == nullptr || config.clock_hz == 0 || config.cores == 0 ||
        config.cores > max_cores || config.stack_low >= config.stack_high) {
        return Status::bad_config;
    }
    if (+__nopscope_sites_start == +__nopscope_sites_end) return Status::no_sites;
    const auto all_sites = static_cast<std::uint32_t>(__nopscope_sites_end - __nopscope_sites_start);
    if (!config.profile_memory.empty() &&
        !profile_memory.open(config.profile_memory, all_sites, config.cores)) {
        return Status::no_profile_memory;
    }

    hello.clock_hz = config.clock_hz;
    if (clock_is_cycles && !cycle_clock.open(hello)) return Status::bad_config;
    panic_handler = config.panic;
    function_ops.direct = address_of(nopscope_function_entry);
    graph_ops.direct = address_of(nopscope_graph_entry);
    duration_ops.direct = address_of(nopscope_duration_entry);
    sampled_ops.direct = address_of(nopscope_sampled_entry);
    patcher.set_trampolines({address_of(nopscope_callback), address_of(nopscope_callback_unguarded),
                             address_of(nopscope_far)});
    prepare_sites();
    prepare_hello(config);
    send_what_was_kept(config);
    if (config.calibrate) calibrate(hello, memory[0].ring, memory[0].shadow, config);
    for (unsigned core = 0; core < max_cores; ++core) prepare_core(core, config);
    const std::uint64_t now = machine.clock();
    auto session = static_cast<std::uint16_t>(now ^ now >> 16 ^ now >> 32);
    session += session == kept.session;
    profile_sender.open(hello.text_base, config.profile_period_ms * (hello.clock_hz / 1000), now);
    line_pump.open(config, hello, session, &kept);
    open_control(config, session, hello.clock_hz);
    enter_core(config.stack_low, config.stack_high);
    initialised = true;
    line_pump.run();
    if (config.recorder == Recorder::none) return Status::ok;
    return set_recorder(config.recorder, config.trace, config.except);
}

Status join(std::uint64_t stack_low, std::uint64_t stack_high) {
    if (!initialised) return Status::not_initialised;
    const unsigned core = machine.core();
    if (core >= hello.cores || stack_low >= stack_high) return Status::bad_config;
    if (has_joined(core)) return Status::already_initialised;
    if (clock_is_cycles) cycle_clock.join(machine);
    enter_core(stack_low, stack_high);
    return Status::ok;
}

Status enable(Recorder recorder, const Sites& which) {
    if (!initialised) return Status::not_initialised;
    return set_recorder(recorder, which, {});
}

Status disable(const Sites& which) { return enable(Recorder::none, which); }

Status attach(Ops& ops, const Sites& which) {
    if (!initialised) return Status::not_initialised;
    if (ops.func == nullptr && ops.direct == 0) return Status::bad_config;
    const Requesting<Machine> alone(request_lock);
    return change_sets({.add = Family::of(ops)}, {sites, names, which, {}});
}

Status detach(Ops& ops, const Sites& which) {
    if (!initialised) return Status::not_initialised;
    const Requesting<Machine> alone(request_lock);
    const Family one[] = {Family::of(ops)};
    const Status status = change_sets({.remove = one}, {sites, names, which, {}});
    if (status != Status::ok || ops.sites != 0 || ops.func != hook_call) return status;
    // Calls that are open will return to the hook. Whoever takes a guard from here on finds no ops
    // there.
    for (CoreMemory& core : memory) forget_ops(core.shadow, static_cast<ReturnOps&>(ops));
    forget_ops_of_contexts(static_cast<ReturnOps&>(ops));
    return wait_until_quiescent() ? Status::ok : Status::timeout;
}

Status set_filter(Ops& ops, const Sites& which) {
    const Requesting<Machine> alone(request_lock);
    const Status status = attach(ops, which);
    if (status != Status::ok) return status;
    const Family one[] = {Family::of(ops)};
    return change_sets({.remove = one}, NamedSelection::others(sites, names, which));
}

bool synchronize() { return initialised && wait_until_quiescent(); }

std::uint32_t site_count() { return sites.size(); }
SiteInfo site(std::uint32_t index) { return {sites.function(index), sites.usable(index)}; }
std::optional<std::uint32_t> lookup(std::uint64_t address) { return sites.find(address); }

void for_each_ops(std::uint32_t index, void (*visit)(Ops& ops, void* user), void* user) {
    if (!initialised || index >= sites.size() || !sites.usable(index)) return;
    patcher.for_each_ops(index, [&](Ops& ops) { visit(ops, user); });
}

std::size_t site_name(std::uint32_t index, char* to, std::size_t room) {
    wire::NameCursor cursor(names);
    const std::size_t size = cursor.seek(index) ? cursor.size() : 0;
    for (std::size_t i = 0; i < size && i + 1 < room; ++i) to[i] = cursor.data()[i];
    if (room != 0) to[size < room ? size : room - 1] = 0;
    return size;
}

void start() {
    if (!initialised) return;
    for (Core& core : cores) start_core(machine, core, stopped_by_request);
}

Status set_mode(Mode mode) {
    if (!initialised) return Status::not_initialised;
    return line_pump.set_mode(mode) ? Status::ok : Status::bad_config;
}

void pump() {
    if (!initialised) return;
    line_pump.run();
    poll_commands();
}

bool try_request(void (*request)(void* user), void* user) {
    if (!request_lock.try_lock()) return false;
    const Core& core = this_core();
    const auto* const count = reinterpret_cast<const volatile std::uint32_t*>(core.depth);
    const unsigned depth = count == &thread_context ? unknown_depth : *count;
    const bool may = may_request<Machine>(core, depth, interrupted_pc(), Unmarked().all());
    if (may) line_pump.as_tracers([&] { request(user); });
    request_lock.unlock();
    return may;
}
Recorder recorder_set_last() { return last_recorder; }

std::size_t profile_bytes(unsigned config_cores) {
    return ProfileMemory::bytes(
        static_cast<std::size_t>(__nopscope_sites_end - __nopscope_sites_start), config_cores);
}
void send_profile() { profile_sender.request(); }
bool read_profile(std::uint32_t index, unsigned core, SiteProfile& out) {
    if (!profile_memory.made() || index >= sites.size() || core >= profile_memory.cores()) return false;
    const ProfileCell& cell = profile_memory.cell(core, index);
    out.total = cell.total;
    out.self = cell.self;
    out.min = cell.min;
    out.max = cell.max;
    out.calls = 0;
    for (unsigned n = 0; n < wire::profile_bins; ++n) out.calls += out.bins[n] = cell.count(n);
    return true;
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
    now.enabled = patcher.enabled();
    if (!initialised) return now;
    for (const Core& core : cores) {
        now.dropped += core.dropped;
        now.filtered += filtered_of(core);
        now.generated += record_index(core.cursor) + core.dropped + filtered_of(core);
        now.unhooked += core.unhooked;
        now.foreign += core.foreign;
        now.recursions += core.recursions;
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
LastError last_error() { return patcher.last_error(); }

[[noreturn]] void panic(const char* message) {
    if (panic_handler != nullptr) panic_handler(message);
    breakpoint();
}
std::span<Core> all_cores() { return cores; }

Core* joined_core() {
    return initialised && has_joined(machine.core()) ? &this_core() : nullptr;
}

void send_snapshot() { send_soon(), line_pump.send_snapshot(); }
void guarded(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs) {
    Core& core = this_core();
    const Guard guard(core);
    if (guard.taken()) {
        ops->func(ip, parent_ip, ops, regs);
    } else {
        __atomic_fetch_add(&core.recursions, 1, __ATOMIC_RELAXED);
    }
}

// ---- slow paths of arm64/recorders.S: this, and slow_paths.cpp ------------------------------------------

extern "C" bool nopscope_wait_for_room(Core*) { return line_pump.make_room(); }

}  // namespace nopscope
