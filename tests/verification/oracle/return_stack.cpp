// SPDX-License-Identifier: Apache-2.0
// Mispredicted returns: a QEMU plugin that gives each core a model of a return predictor
// (below). It counts the RETs that the model mispredicts, and what code they belong to.
// It is a model, not a measurement: docs/bench.md.
//
//     qemu-system-aarch64 -icount shift=0 ... -plugin libreturn_stack.so,map=MAP,out=OUT
//
// One thread must run all cores, as with -icount. MAP, hex, as tests/bench/returns.py writes it:
//     site WORD FUNCTION END  addresses: the toggling word, the function's begin and end
//     hook LOW HIGH           where hooked calls return to; the first instruction is LOW
//     tracer LOW HIGH         code of the tracer
//     mark ADDRESS            a function that the program calls with a string to begin a row of
//                             that name, with null to end it; none: only a row "all"
//     head ADDRESS            the first instruction of a loop whose 50th round, in each row, is
//                             written down instruction by instruction
//
// QEMU's exit writes OUT. Counts of missed returns are for stacks of 8, 16 and 31 entries:
//     {"depths": [8, 16, 31], "rows": [{"name": "..", "calls": N,
//      "returns": {"own": {"executed": N, "missed": [N, N, N]}, "hook": .., "unhooked": ..,
//      "traced": .., "tracer": ..}, "branches": {the same, of BR}, "path": [["0x..", "0x..",
//      MISSED], ..]}, ..]}
//
// `path` contains the address, the word, and a bit for each stack that mispredicts there. The
// prediction of a BR is its last target.
//
// A function is traced while its site's word is a BL. That word is executed right before the call
// is recorded. So its value at that time also holds at the function's RET.
#include "tests/verification/oracle/a64.hpp"
#include "tests/verification/oracle/plugin.hpp"

#include <array>
#include <deque>
#include <map>
#include <unordered_map>

int qemu_plugin_version = 4;

namespace {

using a64::Branch;
using plugin::call_before;
using plugin::Json;

constexpr std::uint64_t round_written = 50;

// A model of how a core predicts returns: a stack of return addresses, in three sizes.
//
//   BL, BLR      pushes the address behind it. A full stack overwrites its oldest entry.
//   RET          pops, whatever its register. An empty stack predicts nothing.
//   exceptions   They and ERET do not change the stack. All three rules are assumptions.
constexpr std::array<unsigned, 3> depths = {8, 16, 31};
// A bit for each of `depths` that mispredicted.
using Missed = unsigned;

// The stacks of one core.
struct ReturnStacks {
    std::array<std::deque<std::uint64_t>, depths.size()> all;

    void push(std::uint64_t address) {
        for (unsigned i = 0; i < depths.size(); ++i) {
            all[i].push_back(address);
            if (all[i].size() > depths[i]) all[i].pop_front();
        }
    }
    Missed pop(std::uint64_t target) {
        Missed missed = 0;
        for (unsigned i = 0; i < depths.size(); ++i) {
            if (all[i].empty() || all[i].back() != target) missed |= 1u << i;
            if (!all[i].empty()) all[i].pop_back();
        }
        return missed;
    }
};

// The code that an indirect branch belongs to.
enum Class : unsigned {
    own,       // a hooked function's return, which goes to the hook
    hook,      // the hook's return to the function's caller
    unhooked,  // in a function that is not traced at the time
    traced,    // in a traced function whose call has no hook
    tracer,    // any other in the tracer
    classes
};
constexpr std::array<const char*, classes> class_names = {"own", "hook", "unhooked", "traced",
                                                          "tracer"};

struct Counted {
    std::uint64_t executed = 0;
    std::array<std::uint64_t, depths.size()> missed{};
    void add(Missed which) {
        ++executed;
        for (unsigned i = 0; i < depths.size(); ++i) missed[i] += which >> i & 1;
    }
};

struct Step {
    std::uint64_t address;
    std::uint32_t word;
    Missed missed;
};

// The counts from one mark to the next.
struct Row {
    std::string name;
    std::uint64_t calls = 0;                  // executions of a patch site's BL
    std::array<Counted, classes> returns{};   // RET
    std::array<Counted, classes> branches{};  // BR
    std::uint64_t heads = 0;
    std::vector<Step> path;
};

// RETAA uses x30. A pointer with a PAC has it above the 48 address bits.
constexpr bool has_pac(std::uint32_t word) { return (word & 0x800) != 0; }
constexpr unsigned register_of(std::uint32_t word) {
    return a64::branch_of(word) == a64::Branch::ret && has_pac(word) ? 30 : word >> 5 & 31;
}

struct Core {
    plugin::Registers registers = plugin::Registers::of_this_core();
    ReturnStacks stacks;
    bool writes = false;  // it writes each instruction to the path
};

struct Site {
    std::uint64_t word, function, end;
    bool traced = false;
};

// An indirect branch in the program's text.
struct Indirect {
    std::uint64_t address;
    std::uint32_t word;
    Class in;          // hook, tracer, or unhooked (in the program)
    const Site* site;  // of its function; null: none
    std::array<std::uint64_t, this_core::most> last{};  // the last target, by core
};

struct Model {
    std::deque<Site> sites;  // elements never move: callbacks have pointers to them
    std::unordered_map<std::uint64_t, Site*> site_at;  // by address of the word
    std::map<std::uint64_t, const Site*> function_at;  // by its address
    std::vector<Range> hooks, tracer;
    std::uint64_t mark = 0, head = 0;
    std::deque<Indirect> indirect;
    std::deque<Step> instructions;
    std::deque<Row> rows;
    Row* row = nullptr;  // the open row
    plugin::Cores<Core> cores;
    std::string out;
};

// Never destroyed: QEMU calls on_exit after this library's static destructors.
Model& model = *new Model;

bool read_map(const std::string& path) {
    const auto add_site = [](const plugin::Numbers& is) {
        Site& site = model.sites.emplace_back(Site{is[0], is[1], is[2]});
        model.site_at.emplace(is[0], &site);
        model.function_at.emplace(is[1], &site);
    };
    return plugin::read_map(path, {{"mark", model.mark},
                                   {"head", model.head},
                                   {"hook", model.hooks},
                                   {"tracer", model.tracer},
                                   {"site", 3, add_site}}) &&
           !model.sites.empty() && !model.hooks.empty() &&
           model.site_at.size() == model.sites.size();
}

Class class_of(const Indirect& branch, std::uint64_t target) {
    if (branch.in != unhooked) return branch.in;
    if (std::ranges::count(model.hooks, target, &Range::low) != 0) return own;
    return branch.site != nullptr && branch.site->traced ? traced : unhooked;
}

// ---- callbacks just before each execution ----

void on_call(unsigned vcpu, void* behind) {
    model.cores[vcpu].stacks.push(reinterpret_cast<std::uintptr_t>(behind));
}

// A return or a jump. A jump is predicted to go where it went last on this core.
template <std::array<Counted, classes> Row::*counts>
void on_indirect(unsigned vcpu, void* data) {
    auto& branch = *static_cast<Indirect*>(data);
    Core& core = model.cores[vcpu];
    std::uint64_t target = core.registers.x(register_of(branch.word));
    if (has_pac(branch.word)) target &= (std::uint64_t{1} << 48) - 1;
    const std::uint64_t last = std::exchange(branch.last[this_core::number(vcpu)], target);
    const Missed missed = counts == &Row::returns ? core.stacks.pop(target)
                          : last == target        ? 0
                                                  : (1u << depths.size()) - 1;
    if (model.row == nullptr) return;
    (model.row->*counts)[class_of(branch, target)].add(missed);
    if (core.writes) model.row->path.back().missed = missed;
}

template <bool is_bl>
void on_site(unsigned, void* data) {
    static_cast<Site*>(data)->traced = is_bl;
    if (is_bl && model.row != nullptr) ++model.row->calls;
}

void on_mark(unsigned vcpu, void*) {
    Core& core = model.cores[vcpu];
    const std::uint64_t name = core.registers.x(0);
    core.writes = false;
    model.row = nullptr;
    if (name == 0) return;
    model.row = &model.rows.emplace_back();
    char text[64];
    const bool is_mapped = plugin::read_memory(name, text, sizeof text);
    model.row->name = is_mapped ? std::string(text, strnlen(text, sizeof text)) : "?";
}

void on_head(unsigned vcpu, void*) {
    if (model.row != nullptr) model.cores[vcpu].writes = ++model.row->heads == round_written;
}

void on_instruction(unsigned vcpu, void* data) {
    if (model.cores[vcpu].writes) model.row->path.push_back(*static_cast<const Step*>(data));
}

// ---- translation ----

void* indirect_at(std::uint64_t address, std::uint32_t word) {
    const Class in = any_has(model.hooks, address)    ? hook
                     : any_has(model.tracer, address) ? tracer
                                                      : unhooked;
    return &model.indirect.emplace_back(
        Indirect{address, word, in, around(model.function_at, address)});
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    plugin::for_each_instruction(
        block, [](qemu_plugin_insn* instruction, std::uint64_t address, std::uint32_t word) {
            if (address == model.mark) {
                call_before(instruction, on_mark, nullptr, QEMU_PLUGIN_CB_R_REGS);
            }
            if (model.head != 0) {
                if (address == model.head) call_before(instruction, on_head);
                call_before(instruction, on_instruction,
                            &model.instructions.emplace_back(Step{address, word, 0}));
            }
            const Branch kind = a64::branch_of(word);
            if (const auto site = model.site_at.find(address); site != model.site_at.end()) {
                call_before(instruction, kind == Branch::call ? on_site<true> : on_site<false>,
                            site->second);
            }
            if (kind == Branch::call) {
                call_before(instruction, on_call, reinterpret_cast<void*>(address + 4));
            }
            if (kind == Branch::ret || (kind == Branch::jump && !a64::is_b(word))) {
                call_before(
                    instruction,
                    kind == Branch::ret ? on_indirect<&Row::returns> : on_indirect<&Row::branches>,
                    indirect_at(address, word), QEMU_PLUGIN_CB_R_REGS);
            }
        });
}

void on_core(qemu_plugin_id_t, unsigned vcpu) {
    if (!model.cores.add(vcpu).registers.known()) {
        qemu_plugin_outs("return_stack: this QEMU gives no x0 and x30: no return can be told\n");
    }
}

// ---- the result ----

Json json_of(const std::array<Counted, classes>& counts) {
    Json::Members all;
    for (unsigned i = 0; i < classes; ++i) {
        const auto& [executed, missed] = counts[i];
        const std::vector<Json> by_depth(missed.begin(), missed.end());
        all.emplace_back(class_names[i],
                         Json::Members{{"executed", executed}, {"missed", by_depth}});
    }
    return all;
}

void on_exit(qemu_plugin_id_t, void*) {
    std::vector<Json> rows;
    for (const Row& row : model.rows) {
        std::vector<Json> path;
        for (const auto& [address, word, missed] : row.path)
            path.push_back(std::vector<Json>{hex(address), hex(word), missed});
        rows.push_back(Json::Members{{"name", row.name},
                                     {"calls", row.calls},
                                     {"returns", json_of(row.returns)},
                                     {"branches", json_of(row.branches)},
                                     {"path", path}});
    }
    const std::vector<Json> by_depth(depths.begin(), depths.end());
    Json(Json::Members{{"depths", by_depth}, {"rows", rows}}).write(model.out);
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    model.out = plugin::argument(argc, argv, "out");
    const bool is_ready = !model.out.empty() && read_map(plugin::argument(argc, argv, "map"));
    if (model.mark == 0) {
        model.row = &model.rows.emplace_back();
        model.row->name = "all";
    }
    return plugin::start(id, is_ready,
                         "return_stack: needs out=FILE and map=FILE, with sites and hooks, as "
                         "tests/bench/returns.py writes it\n",
                         on_core, on_translation, on_exit);
}
