// SPDX-License-Identifier: Apache-2.0
// The independent counts and times: a QEMU plugin that shares no code with the tracer, and of which
// the firmware does not know.
//
// It counts how often each patch site's word is executed while it is a call. In a deterministic run
// (-icount shift=0) these numbers must equal nopscope's, function by function. If the map says
// where the tracer is, it also keeps a shadow of the calls (call_shadow.hpp). This counts each
// function's instructions, with and without its callees', but not the tracer's. An instruction
// takes a nanosecond then, so nopscope's corrected times must equal these counts.
//
//     qemu-system-ARCH ... -plugin liboracle.so,map=MAP,out=OUT[,paths=on]
//
// MAP, hex, as machines.py and truth.py write it:
//     site WORD FUNCTION END  addresses: of the word that toggles, of the function's first
//                             instruction, and behind its last one; END 0: `own` is not counted
//     stop ADDRESS            OUT also has `before`: the calls when this was first executed
//     switch LOW HIGH         code that switches stacks by a move to SP
// For the shadow, which needs at least `tracer`:
//     tracer LOW HIGH         code of the tracer: from LOW to below HIGH
//     service ADDRESS         a function of the tracer that works for the program
//     longjmp ADDRESS         the C library's, in an image that tells the tracer of longjmp
//     boot ADDRESS            where cores begin after a reset
//     makes_room ADDRESS      a function of the tracer, which empties rings and has records of it
//     interrupt_begins, interrupt_ends, switches, destroys ADDRESS
//                             functions of the tracer by which the program tells of an interrupt, a
//                             switch to another context, and a context's end
//     vectors ADDRESS         of the vector table; without it, interrupts are not separate
//     stack LOW HIGH          the only stack on which calls are followed; without it, all stacks
//
// QEMU's exit writes OUT, for all cores together:
//     {"program": N, "foreign": N, "unexplained": N, "told_of_longjmp": B,
//      "functions": [{"address": "0x..", "calls": N, "own": N, "self": N, ...}, ...],
//      "tasks": [[{"address": ...}, ...], ...]}
// A function without a call and own instructions is left out, and so is a number that is 0, except
// `calls` and `own`. `own` counts the function's own instructions, by address. `tasks` has the
// functions of each stack that had calls. A stack that was switched from goes on where a switch
// leads to the same SP, on any core. An interrupt's stack is one, too. With the shadow, cores must
// take turns (-icount).
//
// With paths=on the shadow is faster: it counts no instructions, and OUT has no times. Instead it
// has "paths", numbered from 1. Each path has the number of the path around its last call, or 0,
// and this call's address.
//
// The bytes seen at translation are the bytes that are executed. QEMU keys a translated block by
// the physical page that it was read from, and write-protects this page at every virtual address.
// So a store through the tracer's writable alias also discards the page's overlapping blocks. (For
// this reason QEMU cannot prove cache maintenance.)
//
// Callbacks add to the counters. QEMU's inline additions go to wrong addresses when one thread runs
// several vCPUs, as with -icount (QEMU 10.0, gen_plugin_u64_ptr).
#include "tests/verification/oracle/call_shadow.hpp"
#include "tests/verification/oracle/isa.hpp"
#include "tests/verification/oracle/plugin.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

int qemu_plugin_version = 4;

namespace {

using namespace nopscope::host::truth;
using plugin::call_before;
using plugin::Json;
using plugin::Numbers;

struct Site {
    std::uint64_t function, end;
    std::uint32_t index;
};

// One core at a time runs it.
struct Stack {
    std::vector<Counted> functions;  // by index of the site
    std::optional<CallShadow> shadow;
};

struct Core {
    Core(std::uint64_t& all_instructions, Stack& first) : clock{all_instructions}, stack(&first) {
        stack->shadow->go_on(clock);
    }
    plugin::Registers registers = plugin::Registers::of_this_core();
    CoreClock clock;
    Stack* stack;
    Time passed;  // since the tracer's switch, while `stack` has stopped
};

struct Oracle {
    const Isa* isa = &isa_of_arm64;
    std::deque<Site> sites;                            // a std::deque moves no element
    std::unordered_map<std::uint64_t, Site*> site_at;  // by address of the word
    std::map<std::uint64_t, Site*> function_at;
    std::uint64_t stop = 0;  // address; 0: none
    std::optional<std::vector<Counted>> before;
    std::vector<Range> tracer, switching;
    std::unordered_map<std::uint64_t, Role> roles;  // by address
    Range stack, vectors;
    std::set<std::uint64_t> behind_switch;  // addresses behind a move to SP
    std::mutex lock;                        // of all below, and of translations
    std::deque<Stack> stacks;
    std::map<std::uint64_t, Stack*> stopped;  // by SP
    CallPaths paths;
    std::deque<Place> places;
    std::uint64_t instructions = 0;
    plugin::Cores<Core> cores;
    std::string out;
    bool keeps_paths = false;
};

// Never destroyed: QEMU calls on_exit after this library's static destructors.
Oracle& oracle = *new Oracle;

bool read_map(const std::string& path) {
    const auto is_a = [](std::string_view word, Role role) {
        return plugin::MapLine(word, 1, [=](const Numbers& is) { oracle.roles[is[0]] = role; });
    };
    const auto add_site = [](const Numbers& is) {
        const auto index = static_cast<std::uint32_t>(oracle.sites.size());
        Site& site = oracle.sites.emplace_back(Site{is[1], is[2], index});
        oracle.site_at.emplace(is[0], &site);
        oracle.function_at.emplace(is[1], &site);
    };
    const auto take_vectors = [](const Numbers& is) {
        oracle.vectors = {is[0], is[0] + oracle.isa->vector_table_bytes};
    };
    return plugin::read_map(path, {{"site", 3, add_site},
                                   {"stop", oracle.stop},
                                   {"switch", oracle.switching},
                                   {"tracer", oracle.tracer},
                                   is_a("service", Role::service),
                                   is_a("longjmp", Role::longjmp),
                                   is_a("boot", Role::boot),
                                   is_a("makes_room", Role::makes_room),
                                   is_a("interrupt_begins", Role::interrupt_begins),
                                   is_a("interrupt_ends", Role::interrupt_ends),
                                   is_a("switches", Role::switches),
                                   is_a("destroys", Role::destroys),
                                   {"vectors", 1, take_vectors},
                                   {"stack", oracle.stack}}) &&
           !oracle.sites.empty() && oracle.site_at.size() == oracle.sites.size();
}

// ---- callbacks just before each execution ----

CallShadow& shadow_of(unsigned vcpu) { return *oracle.cores[vcpu].stack->shadow; }
template <std::uint64_t Counted::*number>
void count(unsigned vcpu, void* site) {
    ++(oracle.cores[vcpu].stack->functions[static_cast<Site*>(site)->index].*number);
}
std::vector<Counted> functions_of_all_stacks() {
    std::vector<Counted> sums(oracle.sites.size());
    for (const Stack& stack : oracle.stacks) {
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += stack.functions[i];
    }
    return sums;
}
// If the target has one core, nothing else runs meanwhile.
void on_stop(unsigned, void*) {
    const std::lock_guard lock(oracle.lock);
    if (!oracle.before) oracle.before = functions_of_all_stacks();
}
void on_block(unsigned vcpu, void* place) {
    Core& core = oracle.cores[vcpu];
    core.stack->shadow->begin_block(*static_cast<const Place*>(place), core.registers);
}
void on_function(unsigned vcpu, void*) { shadow_of(vcpu).at_function(); }
void on_call(unsigned vcpu, void* site) {
    Core& core = oracle.cores[vcpu];
    const std::lock_guard lock(oracle.lock);
    core.stack->shadow->call(static_cast<const Site*>(site)->index, core.registers);
}
template <Branch kind>
void on_branch(unsigned vcpu, void*) {
    shadow_of(vcpu).branch(kind);
}
void on_instruction(unsigned vcpu, void*) { oracle.cores[vcpu].clock.executed(); }
void on_eret(unsigned vcpu, void*) { shadow_of(vcpu).interrupt_ends(); }
void on_clock(unsigned vcpu, void*) { shadow_of(vcpu).reads_clock(); }
void on_wait(unsigned vcpu, void*) { shadow_of(vcpu).waits(); }

Stack& new_stack() {
    Stack& stack = oracle.stacks.emplace_back();
    stack.functions.resize(oracle.sites.size());
    stack.shadow.emplace(stack.functions, oracle.tracer, oracle.stack,
                         oracle.keeps_paths ? &oracle.paths : nullptr);
    return stack;
}
// A task that ended has left its stack to another, which may stop at the same SP.
void on_leaving(unsigned vcpu, void*) {
    Core& core = oracle.cores[vcpu];
    const std::lock_guard lock(oracle.lock);
    core.passed = core.stack->shadow->stop();
    oracle.stopped[core.registers.sp()] = core.stack;
}
void on_taking(unsigned vcpu, void*) {
    Core& core = oracle.cores[vcpu];
    const std::lock_guard lock(oracle.lock);
    const auto found = oracle.stopped.extract(core.registers.sp());
    core.stack = found ? found.mapped() : &new_stack();
    core.stack->shadow->go_on(core.clock, core.passed);
}

// ---- translation ----

Place& place_at(std::uint64_t address) {
    const auto known = oracle.roles.find(address);
    return oracle.places.emplace_back(
        Place{.address = address,
              .tracer = any_has(oracle.tracer, address),
              .vector = oracle.vectors.has(address) &&
                        (address - oracle.vectors.low) % oracle.isa->vector_bytes == 0,
              .body = oracle.site_at.contains(address - 4),
              .role = known == oracle.roles.end() ? Role::other : known->second});
}

// `called`: the site whose word this is, if it is a BL.
void follow(qemu_plugin_insn* instruction, std::uint64_t address, std::uint32_t word, Site* called,
            bool begins_block) {
    if (begins_block) call_before(instruction, on_block, &place_at(address), QEMU_PLUGIN_CB_R_REGS);
    if (oracle.function_at.contains(address)) call_before(instruction, on_function);
    if (called != nullptr) call_before(instruction, on_call, called, QEMU_PLUGIN_CB_R_REGS);
    const Branch kind = oracle.isa->branch_of(word);
    if (kind == Branch::call) call_before(instruction, on_branch<Branch::call>);
    if (kind == Branch::jump) call_before(instruction, on_branch<Branch::jump>);
    if (kind == Branch::ret) call_before(instruction, on_branch<Branch::ret>);
    if (oracle.isa->reads_clock(word)) call_before(instruction, on_clock);
    if (oracle.isa->waits(word)) call_before(instruction, on_wait);
    if (!oracle.keeps_paths) call_before(instruction, on_instruction);
    if (oracle.isa->ends_interrupt(word)) call_before(instruction, on_eret);
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    const std::lock_guard lock(oracle.lock);
    bool is_first = true;
    plugin::for_each_instruction(
        block, [&](qemu_plugin_insn* instruction, std::uint64_t address, std::uint32_t word) {
            if (oracle.behind_switch.contains(address))
                call_before(instruction, on_taking, nullptr, QEMU_PLUGIN_CB_R_REGS);
            if (oracle.stop != 0 && address == oracle.stop) call_before(instruction, on_stop);
            if (Site* const function = around(oracle.function_at, address))
                call_before(instruction, count<&Counted::own>, function);
            const auto site = oracle.site_at.find(address);
            const bool is_call = site != oracle.site_at.end() && oracle.isa->is_site_call(word);
            if (is_call) call_before(instruction, count<&Counted::calls>, site->second);
            const bool begins_block = std::exchange(is_first, false);
            if (!oracle.tracer.empty())
                follow(instruction, address, word, is_call ? site->second : nullptr, begins_block);
            if (!oracle.isa->is_move_to_sp(word) || !any_has(oracle.switching, address)) return;
            call_before(instruction, on_leaving, nullptr, QEMU_PLUGIN_CB_R_REGS);
            oracle.behind_switch.insert(address + qemu_plugin_insn_size(instruction));
        });
}

void on_core(qemu_plugin_id_t, unsigned vcpu) {
    const std::lock_guard lock(oracle.lock);
    if (!oracle.cores.add(vcpu, oracle.instructions, new_stack()).registers.known())
        qemu_plugin_outs("oracle: this QEMU gives no sp and no link register\n");
}

// ---- the result ----

std::vector<Json> json_of(const std::vector<Counted>& functions) {
    std::vector<Json> all;
    for (const Site& site : oracle.sites) {
        const Counted& of = functions[site.index];
        if (of.calls == 0 && of.own == 0) continue;
        Json::Members function = {
            {"address", hex(site.function)}, {"calls", of.calls}, {"own", of.own}};
        const auto add = [&](const std::string& name, std::uint64_t number) {
            if (number != 0) function.emplace_back(name, number);
        };
        for (const auto& [name, value] : Counted::times) add(name, of.*value);
        for (const auto& [name, value] : Reasons::all) {
            add(name, of.*value);
            add(name + std::string("_below"), of.below.*value);
        }
        if (oracle.before) function.emplace_back("before", (*oracle.before)[site.index].calls);
        all.emplace_back(function);
    }
    return all;
}

void on_exit(qemu_plugin_id_t, void*) {
    const std::lock_guard lock(oracle.lock);
    std::uint64_t program = 0, foreign = 0, unexplained = 0;
    std::vector<Json> tasks, paths;
    for (auto& [functions, shadow] : oracle.stacks) {
        program += shadow->program();
        shadow->finish();
        foreign += shadow->foreign;
        unexplained += shadow->unexplained;
        if (std::ranges::any_of(functions, &Counted::calls)) tasks.emplace_back(json_of(functions));
    }
    for (const auto& [around, function] : std::span(oracle.paths.paths()).subspan(1))
        paths.push_back(std::vector<Json>{around, hex(oracle.sites[function].function)});
    const bool told_of_longjmp =
        std::ranges::any_of(oracle.roles, [](auto& of) { return of.second == Role::longjmp; });
    Json(Json::Members{{"program", program},
                       {"foreign", foreign},
                       {"unexplained", unexplained},
                       {"told_of_longjmp", told_of_longjmp},
                       {"functions", json_of(functions_of_all_stacks())},
                       {"tasks", tasks},
                       {"paths", paths}})
        .write(oracle.out);
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* qemu, int argc, char** argv) {
    oracle.isa = &isa_of(qemu->target_name);
    oracle.out = plugin::argument(argc, argv, "out");
    oracle.keeps_paths = plugin::argument(argc, argv, "paths") == "on";
    const bool is_ready = !oracle.out.empty() && read_map(plugin::argument(argc, argv, "map"));
    return plugin::start(id, is_ready, "oracle: needs out=FILE and map=FILE, with each site once\n",
                         on_core, on_translation, on_exit);
}
