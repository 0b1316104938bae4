// SPDX-License-Identifier: Apache-2.0
// The coherence oracle: a QEMU plugin that watches a real image change its own text. It reports
// what would go wrong on a CPU with caches. QEMU itself executes new text at once.
//
//     qemu-system-aarch64 ... -plugin libcoherence.so,image=IMAGE,text=TEXT,out=OUT
//
// TEXT has the bytes of the image's text. This file finds out what cores do;
// coherence_model.hpp and coherence_rows.hpp say what it means. The oracle watches all
// stores, by physical address; instructions that order or maintain; entries of exception vectors
// (as VBAR_EL1 was written); the first instruction of each request function, and those behind calls
// (requests return there); and words of text that are sites or were modified.
//
// One lock makes one sequence of all cores' events, and keeps each core's order. A store is
// reported just after it, all else just before it. So if two cores have communicated, the earlier
// action of one also comes first here.
#include "tests/verification/oracle/a64.hpp"
#include "tests/verification/oracle/coherence_rows.hpp"
#include "tests/verification/oracle/plugin.hpp"

#include <memory>
#include <mutex>

int qemu_plugin_version = 4;

namespace {

using namespace coherence;
using a64::Op;
using plugin::call_before;
using plugin::Json;
using plugin::Numbers;

// The file that coherence.py makes from the ELF, numbers hex:
//
//     text BEGIN END           executable and physical addresses
//     alias OFFSET             distance of the writable mapping above the text
//     site WORD FUNCTION
//     request ADDRESS          a function that changes text, and then returns
//     reader BEGIN END         code that loads slots
//     holder BEGIN END         a reader that keeps the object
//     made ADDRESS             unguarded callbacks return there
//     switch BEGIN END         the function that switches stacks; its last instruction returns
//     lists BEGIN END          memory that contains lists
//     ops NONE WALK_LIST GUARDED CALLBACK UNGUARDED FAR
struct Oracle {
    Range text{}, holder{}, lists{}, switching{};
    Address alias = 0, made = 0;
    std::unordered_set<Address> request_functions;
    std::vector<Range> readers;

    std::mutex lock;
    std::unique_ptr<Rows> model;
    std::string out;
    plugin::Cores<plugin::Registers> cores;
    bool knows_caches = false;
    bool knows_core = false;              // not needed with a thread for each core: plugin.hpp
    std::unordered_set<Address> vectors;  // values that VBAR_EL1 had
    std::atomic<std::uint64_t> executions = 0;       // of words that are sites or were modified
    std::atomic<unsigned> requests[max_cores] = {};  // open requests
    // Pages of virtual memory that contain neither text nor lists, by number; 0: unknown.
    std::atomic<std::uint64_t> elsewhere[1 << 14] = {};
};
// Never destroyed: QEMU calls on_exit after this library's static destructors.
Oracle& oracle = *new Oracle;

// Makes the model. Returns false if the files are not as they should be.
bool read_image(const std::string& path, const std::string& text_path) {
    std::vector<std::pair<Address, Address>> sites;
    const auto add_request = [](const Numbers& is) { oracle.request_functions.insert(is[0]); };
    OpsOf ops;
    const auto take_ops = [&](const Numbers& is) {
        ops = {is[0], is[1], is[2], is[3], is[4], is[5]};
    };
    const auto add_site = [&](const Numbers& is) { sites.emplace_back(is[0], is[1]); };
    const Range& text = oracle.text;
    const bool is_read = plugin::read_map(path, {{"text", oracle.text},
                                                 {"alias", oracle.alias},
                                                 {"site", 2, add_site},
                                                 {"request", 1, add_request},
                                                 {"reader", oracle.readers},
                                                 {"holder", oracle.holder},
                                                 {"made", oracle.made},
                                                 {"switch", oracle.switching},
                                                 {"lists", oracle.lists},
                                                 {"ops", 6, take_ops}});
    if (!is_read || text.low >= text.high || text.low % 8 != 0) return false;
    std::vector<std::uint8_t> bytes(text.high - text.low);
    std::ifstream file(text_path, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    oracle.model = std::make_unique<Rows>(text.low, std::move(bytes));
    oracle.model->ops = ops;
    for (const auto& [word, function] : sites) oracle.model->add_site(word, function);
    return file && !oracle.request_functions.empty();
}

// ---- memory. `told`: the core that QEMU names (plugin.hpp) ----

bool meets_page_of(const Range& range, Address address) {
    return (address | 0xfff) >= range.low && (address & ~Address{0xfff}) < range.high;
}

std::uint64_t low_bytes(const qemu_plugin_mem_value& value) {
    const std::uint64_t low = value.data.u128.low;
    return value.type < 3 ? low & ((std::uint64_t{1} << (8u << value.type)) - 1) : low;
}

void on_store(unsigned told, qemu_plugin_meminfo_t info, std::uint64_t address, void*) {
    const std::uint64_t page = address >> 12;
    std::atomic<std::uint64_t>& known = oracle.elsewhere[page % std::size(oracle.elsewhere)];
    if (known.load(std::memory_order_relaxed) == page) return;
    const qemu_plugin_hwaddr* const where = qemu_plugin_get_hwaddr(info, address);
    if (where == nullptr) return;
    const Address physical =
        qemu_plugin_hwaddr_is_io(where) ? 0 : qemu_plugin_hwaddr_phys_addr(where);
    if (!meets_page_of(oracle.text, physical) && !meets_page_of(oracle.lists, physical)) {
        known.store(page, std::memory_order_relaxed);
        return;
    }
    const unsigned bytes = 1u << qemu_plugin_mem_size_shift(info);
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    if (oracle.text.has(physical)) {
        oracle.model->store(core, physical, bytes, low_bytes(qemu_plugin_mem_get_value(info)));
    } else if (oracle.lists.has(physical)) {
        oracle.model->list_stored(core, physical, bytes);
    }
}

void on_load(unsigned told, qemu_plugin_meminfo_t info, std::uint64_t address, void* holds) {
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    if (holds != nullptr) oracle.model->loaded(core, address);
    if (!oracle.text.has(address)) return;
    Site* const site = oracle.model->site_of_slot(address);
    if (site == nullptr) return;
    oracle.model->slot_read(core, *site, low_bytes(qemu_plugin_mem_get_value(info)),
                            holds != nullptr);
}

// ---- instructions ----

void maintain(unsigned core, Op op, Address address) {
    Model& model = *oracle.model;
    const bool by_alias = oracle.text.has(address - oracle.alias);
    if (by_alias) address -= oracle.alias;
    // If an alias is invalidated, a virtually indexed instruction cache keeps the text's line.
    if (!oracle.text.has(address) || (by_alias && op == Op::invalidate)) {
        ++model.events["maintenance_elsewhere"];
    } else if (op == Op::zero) {
        model.fault("torn-word", core, address, "DC ZVA clears text");
    } else if (op != Op::invalidate) {
        model.clean(core, address, op == Op::clean_beyond);
    } else {
        model.invalidate(core, address);
    }
}

void on_system(unsigned told, void* instruction) {
    const auto word = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(instruction));
    const Op op = a64::op_of(word);
    const std::uint64_t operand = oracle.cores[told].x(a64::target_register(word));
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    Model& model = *oracle.model;
    if (const std::uint64_t type = oracle.knows_caches ? 0 : oracle.cores[told].cache_type()) {
        model.caches = Caches::of(type);
        oracle.knows_caches = true;
    }
    constexpr std::uint32_t psci_cpu_off = 0x84000002;
    switch (op) {
    case Op::dsb: model.barrier(core); break;
    case Op::isb: model.synchronise(core, "isbs"); break;
    case Op::eret: model.synchronise(core, "erets"); break;
    case Op::clean:
    case Op::clean_beyond:
    case Op::zero:
    case Op::invalidate: maintain(core, op, operand); break;
    case Op::invalidate_all: model.invalidate_all(core); break;
    case Op::translation: std::ranges::fill(oracle.elsewhere, 0); break;
    case Op::vectors: oracle.vectors.insert(operand); break;
    case Op::firmware:
        if (static_cast<std::uint32_t>(oracle.cores[told].x(0)) == psci_cpu_off) model.go_off(core);
        break;
    case Op::weaker_dsb:
    case Op::invalidate_all_of_core:  // no other core runs during boot
    case Op::other: break;
    }
}

void on_exception(unsigned told, void*) {
    const std::lock_guard lock(oracle.lock);
    oracle.model->synchronise(this_core::number(told), "exceptions");
}

void count_requests(unsigned core) {
    oracle.requests[core] = static_cast<unsigned>(oracle.model->cores[core].requests.size());
}
void on_request(unsigned told, void*) {
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    oracle.model->begin_request(core, oracle.cores[told].x(30));
    count_requests(core);
}

void on_return_address(unsigned told, void* address) {
    const unsigned core = this_core::number(told);
    if (oracle.requests[core].load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(oracle.lock);
    oracle.model->reach(core, reinterpret_cast<Address>(address), oracle.cores[told].x(0));
    count_requests(core);
}

void on_callback_made(unsigned told, void*) {
    const std::lock_guard lock(oracle.lock);
    oracle.model->let_go(this_core::number(told));
}

template <void (Rows::*leave_or_take)(unsigned core, Address sp)>
void on_switch(unsigned told, void*) {
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    (*oracle.model.*leave_or_take)(core, oracle.cores[told].sp());
    count_requests(core);
}

void on_word(unsigned told, void* of) {
    Word& word = *static_cast<Word*>(of);
    const unsigned core = this_core::number(told);
    oracle.executions.fetch_add(1, std::memory_order_relaxed);
    if ((word.settled.load(std::memory_order_relaxed) >> core & 1) != 0) return;
    const std::lock_guard lock(oracle.lock);
    oracle.model->execute(core, word);
}

// ---- translation ----

bool is_vector(Address address) {
    return address % 0x80 == 0 && std::ranges::any_of(oracle.vectors, [=](Address base) {
               return address - base < 0x800;
           });
}

void watch_text(qemu_plugin_insn* instruction, Address address, std::uint32_t word) {
    Model& model = *oracle.model;
    if (model.holds(address - 4) && a64::branch_of(model.value(address - 4)) == a64::Branch::call) {
        call_before(instruction, on_return_address, reinterpret_cast<void*>(address),
                    QEMU_PLUGIN_CB_R_REGS);
    }
    if (oracle.request_functions.contains(address)) {
        call_before(instruction, on_request, nullptr, QEMU_PLUGIN_CB_R_REGS);
    }
    // With threads, the store that changed the word may not be reported yet.
    if (word != model.value(address)) model.watch(address);
    if (Word* const known = model.find(address)) call_before(instruction, on_word, known);
    if (address == oracle.made) call_before(instruction, on_callback_made);
    const Range& switching = oracle.switching;
    if (address == switching.low)
        call_before(instruction, on_switch<&Rows::leave_stack>, nullptr, QEMU_PLUGIN_CB_R_REGS);
    if (address + 4 == switching.high)
        call_before(instruction, on_switch<&Rows::take_stack>, nullptr, QEMU_PLUGIN_CB_R_REGS);
    const bool holds = oracle.holder.has(address);
    if (holds || any_has(oracle.readers, address)) {
        qemu_plugin_register_vcpu_mem_cb(instruction, on_load, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_R, holds ? &oracle : nullptr);
    }
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    const std::lock_guard lock(oracle.lock);
    plugin::for_each_instruction(
        block, [](qemu_plugin_insn* instruction, Address address, std::uint32_t word) {
            if (is_vector(address)) call_before(instruction, on_exception);
            if (oracle.model->holds(address)) watch_text(instruction, address, word);
            if (a64::op_of(word) != Op::other) {
                call_before(instruction, on_system, reinterpret_cast<void*>(std::uintptr_t{word}),
                            QEMU_PLUGIN_CB_R_REGS);
            }
            qemu_plugin_register_vcpu_mem_cb(instruction, on_store, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_W, nullptr);
        });
}

// ---- the result ----

// docs/proof.md describes the names.
void on_exit(qemu_plugin_id_t, void*) {
    Model& model = *oracle.model;
    std::string unknown;  // what the oracle could not find out of the machine
    if (!oracle.knows_caches) unknown = "CTR_EL0 could not be read. ";
    if (!oracle.knows_core) unknown += "QEMU does not say which core runs: take --threads. ";
    const auto seen = std::ranges::count_if(model.cores, std::identity(), &Core::barrier);
    const Caches& caches = model.caches;
    const Json::Members needs = {{"clean", caches.clean},
                                 {"invalidate", caches.invalidate},
                                 {"dcache_line_bytes", caches.dcache_line_bytes},
                                 {"icache_line_bytes", caches.icache_line_bytes}};
    std::vector<Json> lines, faults;
    for (const auto& [address, line] : model.lines) {
        if (line.cleans == 0 && line.invalidates == 0) continue;
        lines.push_back(std::vector<Json>{hex(address), line.cleans, line.invalidates});
    }
    model.events["executions"] = oracle.executions.load();
    Json::Members figures;
    for (const auto& [name, number] : model.events) figures.emplace_back(name, number);
    for (const Fault& fault : model.faults) {
        faults.push_back(Json::Members{{"kind", std::string(fault.kind)},
                                       {"core", fault.core},
                                       {"address", hex(fault.address)},
                                       {"times", fault.times},
                                       {"sentence", fault.sentence}});
    }
    const Json::Members all = {{"unknown", unknown}, {"cores", seen},  {"needs", needs},
                               {"events", figures},  {"lines", lines}, {"faults", faults}};
    Json(all).write(oracle.out);
}

void on_core(qemu_plugin_id_t, unsigned core) {
    oracle.cores.add(core, plugin::Registers::of_this_core());
    oracle.knows_core = this_core::running() != nullptr;
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    const auto argument = [=](std::string_view name) { return plugin::argument(argc, argv, name); };
    oracle.out = argument("out");
    const bool is_ready = read_image(argument("image"), argument("text")) && !oracle.out.empty();
    return plugin::start(
        id, is_ready,
        "coherence: needs out=FILE, and image= and text= as coherence.py makes them\n", on_core,
        on_translation, on_exit);
}
