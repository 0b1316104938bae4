// SPDX-License-Identifier: Apache-2.0
// The independent times: a QEMU plugin that keeps a shadow of the calls of patch-site functions. It
// counts each function's instructions, with and without its callees', but not the tracer's (see
// call_shadow.hpp). With -icount shift=0 an instruction takes a nanosecond, so nopscope's corrected
// times must equal these counts.
//
//     qemu-system-aarch64 ... -plugin libtruth.so,map=MAP,out=OUT[,paths=on]
//
// MAP, hex, as tests/verification/oracle/truth.py writes it:
//     site WORD FUNCTION      the word that toggles, and the function's first instruction
//     tracer LOW HIGH         code of the tracer: from LOW to below HIGH
//     service ADDRESS         a function of the tracer that works for the program
//     longjmp ADDRESS         the C library's, in an image that tells the tracer of longjmp
//     boot ADDRESS            where cores begin after a reset
//     makes_room ADDRESS      a function of the tracer, which empties rings and has records of it
//     interrupt_begins, interrupt_ends, switches, destroys ADDRESS
//                             functions of the tracer by which the program tells of an interrupt, a
//                             switch to another context, and a context's end
//     switch LOW HIGH         code that switches stacks by MOV SP
//     vectors ADDRESS         of the vector table; without it, interrupts are not separate
//     stack LOW HIGH          the only stack on which calls are followed; without it, all stacks
//
// QEMU's exit writes OUT, for all cores together:
//     {"instructions": N, "program": N, "foreign": N, "unexplained": N, "told_of_longjmp": B,
//      "stacks": N, "functions": [{"address": "0x..", "calls": N, "self": N, ...}, ...],
//      "tasks": [[{"address": ...}, ...], ...]}
// `tasks` has the functions of each stack, if several stacks had calls.
//
// A stack that was switched from goes on where a switch leads to the same SP, on any core. So the
// plugin follows tasks. In a run of several cores they must take turns (-icount).
//
// With paths=on the plugin is faster: it counts no instructions, and OUT has no times. Instead it
// has "paths", numbered from 1. Each path has the number of the path around its last call, or 0,
// and this call's address.
#include "tests/verification/oracle/call_shadow.hpp"
#include "tests/verification/oracle/plugin.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

int qemu_plugin_version = 4;

namespace {

using namespace nopscope::host::truth;
using plugin::call_before;
using plugin::Json;

struct Core {
    Core(std::uint64_t& all_instructions, CallShadow& first)
        : clock{all_instructions}, shadow(&first) {
        shadow->go_on(clock);
    }
    plugin::Registers registers = plugin::Registers::of_this_core();
    CoreClock clock;
    CallShadow* shadow;
    Time passed;  // since the tracer's switch, while `shadow` has stopped
};

struct Site {
    std::uint64_t word, function;
};

struct Stack {
    std::vector<Counted> functions;  // by index of the site
    std::optional<CallShadow> shadow;
};

struct Truth {
    std::vector<Site> sites;
    std::unordered_map<std::uint64_t, std::uint32_t> site_at;  // by address of the word
    std::unordered_map<std::uint64_t, std::uint32_t> function_at;
    std::vector<Range> tracer;
    std::map<std::uint64_t, Place> known;  // what the map says of functions, by address
    Range stack, vectors;
    std::vector<Range> switching;
    std::set<std::uint64_t> behind_switch;         // addresses behind a MOV SP
    std::map<std::uint64_t, CallShadow*> stopped;  // by SP
    std::deque<Stack> stacks;                      // elements never move
    std::uint64_t instructions = 0;
    std::deque<Place> places;  // elements never move
    plugin::Cores<Core> cores;
    std::string out;
    CallPaths paths;
    bool keeps_paths = false;
};

// Never destroyed: QEMU calls on_exit after this library's static destructors.
Truth& truth = *new Truth;

using plugin::Numbers;

bool read_map(const std::string& path) {
    const auto is_a = [](std::string_view word, bool Place::*role) {
        return plugin::MapLine(word, 1,
                               [=](const Numbers& is) { truth.known[is[0]].*role = true; });
    };
    const auto tells = [](std::string_view word, Tells what) {
        return plugin::MapLine(word, 1,
                               [=](const Numbers& is) { truth.known[is[0]].tells = what; });
    };
    const auto add_site = [](const Numbers& is) {
        const auto index = static_cast<std::uint32_t>(truth.sites.size());
        truth.site_at.emplace(is[0], index);
        truth.function_at.emplace(is[1], index);
        truth.sites.push_back({is[0], is[1]});
    };
    const auto take_vectors = [](const Numbers& is) { truth.vectors = {is[0], is[0] + 0x800}; };
    return plugin::read_map(path, {{"site", 2, add_site},
                                   {"tracer", truth.tracer},
                                   is_a("service", &Place::service),
                                   is_a("longjmp", &Place::longjmp),
                                   is_a("boot", &Place::boot),
                                   is_a("makes_room", &Place::makes_room),
                                   tells("interrupt_begins", Tells::interrupt_begins),
                                   tells("interrupt_ends", Tells::interrupt_ends),
                                   tells("switches", Tells::switches),
                                   tells("destroys", Tells::destroys),
                                   {"switch", truth.switching},
                                   {"vectors", 1, take_vectors},
                                   {"stack", truth.stack}}) &&
           !truth.sites.empty() && !truth.tracer.empty();
}

CallShadow& shadow_of(unsigned vcpu) { return *truth.cores[vcpu].shadow; }
CallShadow& new_stack() {
    Stack& stack = truth.stacks.emplace_back();
    stack.functions.resize(truth.sites.size());
    return stack.shadow.emplace(stack.functions, truth.tracer, truth.stack,
                                truth.keeps_paths ? &truth.paths : nullptr);
}

void on_block(unsigned vcpu, void* place) {
    Core& core = truth.cores[vcpu];
    core.shadow->begin_block(*static_cast<const Place*>(place), core.registers);
}
void on_function(unsigned vcpu, void*) { shadow_of(vcpu).at_function(); }
void on_call(unsigned vcpu, void* index) {
    Core& core = truth.cores[vcpu];
    core.shadow->call(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(index)),
                      core.registers);
}
template <Branch kind>
void on_branch(unsigned vcpu, void*) {
    shadow_of(vcpu).branch(kind);
}
void on_instruction(unsigned vcpu, void*) { truth.cores[vcpu].clock.executed(); }
void on_eret(unsigned vcpu, void*) { shadow_of(vcpu).interrupt_ends(); }
void on_clock(unsigned vcpu, void*) { shadow_of(vcpu).reads_clock(); }
void on_wait(unsigned vcpu, void*) { shadow_of(vcpu).waits(); }
// A task that ended has left its stack to another, which may stop at the same SP.
void on_leaving(unsigned vcpu, void*) {
    Core& core = truth.cores[vcpu];
    core.passed = core.shadow->stop();
    truth.stopped[core.registers.sp()] = core.shadow;
}
void on_taking(unsigned vcpu, void*) {
    Core& core = truth.cores[vcpu];
    const auto found = truth.stopped.find(core.registers.sp());
    core.shadow = found == truth.stopped.end() ? &new_stack() : found->second;
    if (found != truth.stopped.end()) truth.stopped.erase(found);
    core.shadow->go_on(core.clock, core.passed);
}
bool switches_stacks(std::uint64_t address, std::uint32_t word) {
    return a64::is_mov_to_sp(word) && any_has(truth.switching, address);
}

Place& place_at(std::uint64_t address) {
    const auto known = truth.known.find(address);
    Place& place = truth.places.emplace_back(known == truth.known.end() ? Place{} : known->second);
    place.address = address;
    place.tracer = any_has(truth.tracer, address);
    place.vector = truth.vectors.has(address) && address % 0x80 == 0;
    place.body = truth.site_at.contains(address - 4);
    return place;
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    bool is_first = true;
    plugin::for_each_instruction(block, [&](qemu_plugin_insn* instruction, std::uint64_t address,
                                            std::uint32_t word) {
        if (truth.behind_switch.contains(address))
            call_before(instruction, on_taking, nullptr, QEMU_PLUGIN_CB_R_REGS);
        if (std::exchange(is_first, false)) {
            call_before(instruction, on_block, &place_at(address), QEMU_PLUGIN_CB_R_REGS);
        }
        if (truth.function_at.contains(address)) call_before(instruction, on_function);
        const auto site = truth.site_at.find(address);
        const Branch kind = a64::branch_of(word);
        if (site != truth.site_at.end() && kind == Branch::call) {
            call_before(instruction, on_call, reinterpret_cast<void*>(std::uintptr_t{site->second}),
                        QEMU_PLUGIN_CB_R_REGS);
        }
        if (kind == Branch::call) call_before(instruction, on_branch<Branch::call>);
        if (kind == Branch::jump) call_before(instruction, on_branch<Branch::jump>);
        if (kind == Branch::ret) call_before(instruction, on_branch<Branch::ret>);
        if (a64::reads_clock(word)) call_before(instruction, on_clock);
        if (word == a64::wfi) call_before(instruction, on_wait);
        if (!truth.keeps_paths) call_before(instruction, on_instruction);
        if (a64::op_of(word) == a64::Op::eret) call_before(instruction, on_eret);
        if (switches_stacks(address, word)) {
            call_before(instruction, on_leaving, nullptr, QEMU_PLUGIN_CB_R_REGS);
            truth.behind_switch.insert(address + 4);
        }
    });
}

void on_core(qemu_plugin_id_t, unsigned vcpu) {
    if (!truth.cores.add(vcpu, truth.instructions, new_stack()).registers.known())
        qemu_plugin_outs("truth: this QEMU gives no sp and x30\n");
}

constexpr struct {
    const char* name;
    std::uint64_t Counted::*value;
} fields[] = {{"calls", &Counted::calls},         {"self", &Counted::self},
              {"inclusive", &Counted::inclusive}, {"interrupted", &Counted::interrupted},
              {"asked", &Counted::asked},         {"interrupts", &Counted::interrupts},
              {"made", &Counted::made},           {"unwound", &Counted::unwound},
              {"landings", &Counted::landings}};

// Functions without a call are left out.
Json functions_of(const std::vector<Counted>& functions) {
    std::vector<Json> all;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const Counted& of = functions[i];
        if (of.calls == 0) continue;
        Json::Members function = {{"address", hex(truth.sites[i].function)}};
        for (const auto& [name, value] : fields) function.emplace_back(name, of.*value);
        for (const auto& [name, value] : Reasons::all) {
            function.emplace_back(name, of.*value);
            function.emplace_back(std::string(name) + "_below", of.below.*value);
        }
        all.emplace_back(function);
    }
    return all;
}

void add(std::vector<Counted>& to, const std::vector<Counted>& more) {
    to.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) {
        for (const auto& [name, value] : fields) to[i].*value += more[i].*value;
        to[i] += more[i];
        to[i].below += more[i].below;
    }
}

void on_exit(qemu_plugin_id_t, void*) {
    std::uint64_t program = 0, foreign = 0, unexplained = 0, stacks = 0;
    std::vector<Counted> functions;
    for (auto& [of_stack, shadow] : truth.stacks) {
        stacks += shadow->has_called();
        program += shadow->program();
        shadow->finish();
        foreign += shadow->foreign;
        unexplained += shadow->unexplained;
        add(functions, of_stack);
    }
    std::vector<Json> tasks, paths;
    for (const Stack& stack : truth.stacks) {
        if (stacks >= 2 && stack.shadow->has_called())
            tasks.push_back(functions_of(stack.functions));
    }
    for (const auto& [around, function] : std::span(truth.paths.paths()).subspan(1))
        paths.push_back(std::vector<Json>{around, hex(truth.sites[function].function)});
    const bool told_of_longjmp =
        std::ranges::any_of(truth.known, [](const auto& known) { return known.second.longjmp; });
    Json::Members all = {{"instructions", truth.instructions},
                         {"program", program},
                         {"foreign", foreign},
                         {"unexplained", unexplained},
                         {"told_of_longjmp", told_of_longjmp},
                         {"stacks", stacks},
                         {"functions", functions_of(functions)},
                         {"tasks", tasks}};
    if (truth.keeps_paths) all.emplace_back("paths", paths);
    Json(all).write(truth.out);
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    truth.out = plugin::argument(argc, argv, "out");
    truth.keeps_paths = plugin::argument(argc, argv, "paths") == "on";
    const bool is_ready = !truth.out.empty() && read_map(plugin::argument(argc, argv, "map"));
    return plugin::start(id, is_ready,
                         "truth: needs out=FILE and map=FILE, with sites and the tracer's ranges, "
                         "as truth.py writes it\n",
                         on_core, on_translation, on_exit);
}
