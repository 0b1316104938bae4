// SPDX-License-Identifier: Apache-2.0
// The tracer on a board: its one instance, the public functions, and what the recorders call.
#include "tracer/arm64/system.hpp"
#include "tracer/image.hpp"
#include "tracer/nopscope.hpp"
#include "tracer/patcher.hpp"
#include "tracer/pump.hpp"
#include "tracer/selection.hpp"
#include "tracer/shadow_stack.hpp"

// Labels in arm64/recorders.S.
extern "C" const char nopscope_function_entry[], nopscope_graph_entry[], nopscope_return_hook[];

namespace nopscope {
namespace {

Address address_of(const char* label) { return reinterpret_cast<std::uintptr_t>(label); }

[[gnu::section(".nopscope.ring")]] alignas(64) std::uint64_t ring[ring_bytes / sizeof(std::uint64_t)];
[[gnu::section(".nopscope.ring")]] alignas(64) ShadowFrame shadow[shadow_frames + 1];

constinit Machine machine;
constinit Core core{};
constinit SiteTable sites;
// Their entries are filled in by init(), since an address is no constant expression in every ABI.
constinit Ops none_ops, function_ops, graph_ops;
constexpr const Ops* all_ops[] = {&none_ops, &function_ops, &graph_ops};
constinit Patcher<Machine> patcher(machine, sites, all_ops);
constinit Pump<Machine> line_pump(machine, core);
constinit wire::Hello hello;
constinit Counters boot_counters{};
void (*panic_handler)(const char*) = nullptr;
constinit bool initialised = false;

[[noreturn]] void panic(const char* message) {
    if (panic_handler != nullptr) panic_handler(message);
    breakpoint();
}

const Ops& ops_of(Recorder recorder) {
    switch (recorder) {
        case Recorder::function: return function_ops;
        case Recorder::graph: return graph_ops;
        case Recorder::none: break;
    }
    return none_ops;
}

wire::Text text_of(const char* string) {
    wire::Text text{reinterpret_cast<const wire::Byte*>(string), 0};
    while (text.size < 255 && string[text.size] != 0) ++text.size;
    return text;
}

void prepare_core(const Config& config) {
    for (std::uint64_t& word : ring) word = 0;
    reset_shadow_stack(core, shadow, shadow_frames + 1);
    core.ring = reinterpret_cast<std::uintptr_t>(ring);
    core.cursor = core.tail = ring_bytes;
    core.limit = 0;
    core.stack_low = config.stack_low;
    core.stack_bytes = config.stack_high - config.stack_low;
    core.lossless = config.mode == Mode::lossless ? 1 : 0;
    core.pumped_clock = core.last_sync = core.last_trace_frame = machine.clock();
    set_current_core(&core);
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
    hello.cores = static_cast<std::uint8_t>(config.cores);
    hello.clock_hz = config.clock_hz;
    hello.text_base = address_of(__text_start) & ~std::uint64_t{7};
    hello.site_count = sites.size();
    hello.site_table_crc = sites.crc(hello.load_bias);
    hello.line_bytes_per_second = config.line_bytes_per_second;
    hello.build_id = build_id(__build_id_note_start, __build_id_note_end);
    hello.board = text_of(config.board);
    hello.image = text_of(config.image);
}

Status change(Recorder recorder, const Sites& which, std::span<const void* const> except) {
    const Selection selection(sites, which, except);
    if (!selection.known()) return Status::unknown_function;
    return patcher.set_ops(ops_of(recorder), [&](auto visit) { selection.for_each(visit); });
}

}  // namespace

Status init(const Config& config) {
    if (initialised) return Status::already_initialised;
    if (exception_level() == 0 || !mmu_and_cache_on()) return Status::mmu_or_cache_off;
    // The shadow stack compares SPs as signed numbers (core.hpp), so stacks are in the low half.
    const bool low_half = config.stack_high <= sentinel_sp || config.stack_high == ~std::uint64_t{0};
    if (config.output.try_write == nullptr || config.clock_hz == 0 || config.cores != 1 ||
        config.stack_low >= config.stack_high || !low_half) {
        return Status::bad_config;
    }
    if (+__nopscope_sites_start == +__nopscope_sites_end) return Status::no_sites;

    panic_handler = config.panic;
    function_ops.entry = address_of(nopscope_function_entry);
    graph_ops.entry = address_of(nopscope_graph_entry);
    prepare_core(config);
    prepare_sites();
    prepare_hello(config);
    const std::uint64_t now = machine.clock();
    core.limit = 1;  // not stopped; open() sets the real one
    line_pump.open(config, hello, static_cast<std::uint16_t>(now ^ now >> 16 ^ now >> 32));
    initialised = true;
    line_pump.run();
    return change(config.recorder, config.trace, config.except);
}

Status enable(Recorder recorder, const Sites& which) {
    if (!initialised) return Status::not_initialised;
    return change(recorder, which, {});
}

Status disable(const Sites& which) { return enable(Recorder::none, which); }

void stop() { __atomic_store_n(&core.limit, 0, __ATOMIC_RELAXED); }

void start() {
    if (!initialised) return;
    std::uint64_t stopped = 0;
    __atomic_compare_exchange_n(&core.limit, &stopped, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    ring_set_limit(core);
}

void pump() {
    if (initialised) line_pump.run();
}

void finish() {
    if (!initialised) return;
    stop();
    line_pump.finish();
}

void console_write(const char* bytes, std::size_t count) {
    if (initialised) line_pump.console(bytes, count);
}

void enter_panic() {
    if (!initialised) return;
    stop();
    line_pump.enter_panic();
}

std::uint64_t return_hook_address() { return address_of(nopscope_return_hook); }

std::uint64_t hooked_return_address(unsigned depth) {
    if (!initialised) return 0;
    const ShadowFrame* frame = top_frame(core);
    // A call that tail-called another returns to the hook itself: not an address to show.
    for (; frame > shadow; --frame) {
        if (frame->sp == free_frame_sp || frame->return_address == return_hook_address()) continue;
        if (depth-- == 0) return frame->return_address;
    }
    return 0;
}

Counters counters() {
    Counters now = boot_counters;
    now.enabled = patcher.enabled();
    now.dropped = core.dropped;
    now.generated = initialised ? record_index(core.cursor) + core.dropped : 0;
    now.unhooked = core.unhooked;
    now.foreign = core.foreign;
    return now;
}

LastError last_error() { return patcher.last_error(); }

const char* describe(Status status) {
    switch (status) {
        case Status::ok: return "ok";
        case Status::mmu_or_cache_off:
            return "the tracer needs EL1 with the MMU and the data cache on: call init() after them";
        case Status::no_sites:
            return "the image has no patch sites: build it with nopscope_instrument(TARGET)";
        case Status::already_initialised: return "init() was called before";
        case Status::not_initialised: return "init() has not been called, or did not succeed";
        case Status::unknown_function:
            return "an address in the list is not the entry of an instrumented function";
        case Status::unexpected_text:
            return "a patch site does not hold what the tracer wrote: see last_error()";
        case Status::out_of_reach: return "a recorder is more than 128 MiB away from a patch site";
        case Status::bad_config:
            return "the configuration lacks an output or the clock's rate, or asks for more than one core";
    }
    return "unknown status";
}

// ---- slow paths of arm64/recorders.S -------------------------------------------------------------

extern "C" {

bool nopscope_wait_for_room(Core*) { return line_pump.make_room(); }

// At a function's entry; its SP and return address. Returns the shadow stack's top.
std::uint64_t nopscope_unwind_at_entry(Core* here, std::uint64_t sp, std::uint64_t return_address) {
    return unwind(machine, *here, sp, return_address != return_hook_address());
}

// At a hooked call's return. Returns the top; the frame below it is this call's.
std::uint64_t nopscope_unwind_at_return(Core* here, std::uint64_t sp) {
    const std::uint64_t top = unwind(machine, *here, sp, false);
    if (top_frame(*here)->sp != sp) {
        panic("nopscope: a function returned to the hook, but no open call has its stack pointer");
    }
    return top;
}
}

}  // namespace nopscope
