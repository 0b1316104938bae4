// SPDX-License-Identifier: Apache-2.0
// The coherence oracle: a QEMU plugin that watches a real image change its own text, and says where that would
// have gone wrong on a CPU with caches. QEMU itself never does: it runs new text at once.
//
//     qemu-system-aarch64 ... -plugin libcoherence.so,image=IMAGE,out=OUT
//
// IMAGE, OUT: coherence_files.hpp. Here is what is seen; what it means is in coherence_model.hpp and
// coherence_rows.hpp. All stores are looked at, by the physical address that they go to; of the instructions those
// that order or maintain, entries of exception vectors (as VBAR_EL1 was written), the first of the requests'
// functions, what follows a call (requests return there), and words of text that are sites or were modified.
//
// One lock makes the events of all cores one sequence, which keeps each core's order: a store is told just after
// it was made, all else just before. So what one core did before another, by what these two have said to each
// other, is before it here, too.
#include "tests/oracle/a64.hpp"
#include "tests/oracle/coherence_files.hpp"
#include "tests/oracle/qemu_plugin.hpp"
#include "tests/oracle/this_core.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

extern "C" {
__attribute__((visibility("default"))) int qemu_plugin_version = 4;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t, const qemu_info_t*,
                                                               int argc, char** argv);
}

namespace {

using namespace coherence;
using a64::Op;

struct Registers {
    qemu_plugin_register* x[31] = {};
    qemu_plugin_register* cache_type = nullptr;
};

constexpr std::size_t known_pages = 1 << 14;

struct Oracle {
    std::mutex lock;
    Image image;
    std::unique_ptr<Model> model;
    std::unique_ptr<Rows> rows;
    std::string out;
    Registers registers[max_cores];
    bool knows_caches = false;
    std::unordered_set<Address> vectors;
    std::atomic<unsigned> requests[max_cores] = {};  // open
    // Pages of virtual memory that are not text, by their number; 0: unknown.
    std::atomic<std::uint64_t> elsewhere[known_pages] = {};
};

// Never destroyed: QEMU calls on_exit after this library's static destructors.
Oracle& oracle = *new Oracle;

std::uint64_t read(qemu_plugin_register* handle) {
    thread_local GByteArray* const bytes = g_byte_array_new();
    g_byte_array_set_size(bytes, 0);
    std::uint64_t value = 0;
    if (handle != nullptr && qemu_plugin_read_register(handle, bytes) > 0) {
        std::memcpy(&value, bytes->data, bytes->len < sizeof value ? bytes->len : sizeof value);
    }
    return value;
}
std::uint64_t read_x(unsigned core, unsigned number) {
    return number == 31 ? 0 : read(oracle.registers[core].x[number]);
}
bool read_memory(Address address, void* to, std::size_t bytes) {
    thread_local GByteArray* const buffer = g_byte_array_new();
    if (!qemu_plugin_read_memory_vaddr(address, buffer, bytes)) return false;
    std::memcpy(to, buffer->data, bytes);
    return true;
}

// ---- memory ------------------------------------------------------------------------------------------------

void forget_pages() {
    for (auto& page : oracle.elsewhere) page.store(0, std::memory_order_relaxed);
}

std::uint64_t low_bytes(const qemu_plugin_mem_value& value) {
    switch (value.type) {
        case 0: return value.data.u8;
        case 1: return value.data.u16;
        case 2: return value.data.u32;
        case 3: return value.data.u64;
        default: return value.data.u128.low;
    }
}

void on_store(unsigned told, qemu_plugin_meminfo_t info, std::uint64_t address, void*) {
    const std::uint64_t page = address >> 12;
    std::atomic<std::uint64_t>& known = oracle.elsewhere[page % known_pages];
    if (known.load(std::memory_order_relaxed) == page) return;
    const qemu_plugin_hwaddr* const where = qemu_plugin_get_hwaddr(info, address);
    if (where == nullptr) return;
    const Address physical = qemu_plugin_hwaddr_is_io(where) ? 0 : qemu_plugin_hwaddr_phys_addr(where);
    if (!oracle.image.text.meets_page_of(physical) && !oracle.image.lists.meets_page_of(physical)) {
        known.store(page, std::memory_order_relaxed);
        return;
    }
    const unsigned bytes = 1u << qemu_plugin_mem_size_shift(info);
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    if (oracle.image.text.has(physical)) {
        oracle.model->store(core, physical, bytes, low_bytes(qemu_plugin_mem_get_value(info)));
    } else if (oracle.image.lists.has(physical)) {
        oracle.rows->list_stored(core, physical, bytes);
    }
}

// Of code that reads slots. `holds`: not null, and uses the object on.
void on_load(unsigned told, qemu_plugin_meminfo_t info, std::uint64_t address, void* holds) {
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    if (holds != nullptr) oracle.rows->loaded(core, address);
    if (!oracle.image.text.has(address)) return;
    Site* const site = oracle.model->site_of_slot(address);
    if (site == nullptr) return;
    oracle.rows->slot_read(core, *site, low_bytes(qemu_plugin_mem_get_value(info)),
                           holds != nullptr);
}

// ---- instructions ------------------------------------------------------------------------------------------

void learn_caches(unsigned core) {
    oracle.knows_caches = true;
    oracle.model->set_caches(Caches::of(read(oracle.registers[core].cache_type)));
}

// The address of text that maintenance by virtual address is for; by its alias, too.
Address text_of(Address address, bool* by_alias) {
    *by_alias = oracle.image.text.has(address - oracle.image.alias) && !oracle.image.text.has(address);
    return *by_alias ? address - oracle.image.alias : address;
}

// Which instruction: its operation, and the register with its operand.
void* packed(Op op, std::uint32_t word) {
    return reinterpret_cast<void*>(std::uintptr_t{static_cast<unsigned>(op)} << 8 | a64::target_register(word));
}

void maintain(unsigned core, Op op, unsigned number) {
    Model& model = *oracle.model;
    bool by_alias = false;
    const Address address = text_of(read_x(core, number), &by_alias);
    if (!oracle.image.text.has(address)) {
        ++model.events.elsewhere;
    } else if (op == Op::zero) {
        model.fault("torn-word", core, address, "DC ZVA clears text");
    } else if (op != Op::invalidate) {
        model.clean(core, address, op == Op::clean_beyond);
    } else if (by_alias) {
        // A virtually indexed instruction cache keeps the line of the other address: not counted.
        ++model.events.elsewhere;
    } else {
        model.invalidate(core, address);
    }
}

void on_system(unsigned told, void* what) {
    const auto op = static_cast<Op>(reinterpret_cast<std::uintptr_t>(what) >> 8);
    const auto number = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(what) & 31);
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    Model& model = *oracle.model;
    if (!oracle.knows_caches) learn_caches(core);
    constexpr std::uint32_t psci_cpu_off = 0x84000002;
    switch (op) {
        case Op::dsb: model.barrier(core); break;
        case Op::weaker_dsb: ++model.events.weaker_barriers; break;
        case Op::isb: ++model.events.isbs, model.synchronise(core); break;
        case Op::eret: ++model.events.erets, model.synchronise(core); break;
        case Op::clean: case Op::clean_beyond: case Op::zero: case Op::invalidate: maintain(core, op, number); break;
        case Op::invalidate_all: model.invalidate_all(core); break;
        // Of one core alone, which is all there is while it boots.
        case Op::invalidate_all_of_core: break;
        case Op::translation: forget_pages(); break;
        case Op::vectors: oracle.vectors.insert(read_x(core, number)); break;
        case Op::firmware: if (static_cast<std::uint32_t>(read_x(core, 0)) == psci_cpu_off) model.go_off(core); break;
        case Op::other: break;
    }
}

void on_exception(unsigned told, void*) {
    const std::lock_guard lock(oracle.lock);
    ++oracle.model->events.exceptions;
    oracle.model->synchronise(this_core::number(told));
}

void on_request(unsigned told, void*) {
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    oracle.model->begin_request(core, read_x(core, 30));
    oracle.requests[core] = static_cast<unsigned>(oracle.model->cores[core].requests.size());
}

void on_return_address(unsigned told, void* address) {
    const unsigned core = this_core::number(told);
    if (oracle.requests[core].load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(oracle.lock);
    oracle.model->reach(core, reinterpret_cast<Address>(address), read_x(core, 0));
    oracle.requests[core] = static_cast<unsigned>(oracle.model->cores[core].requests.size());
}

void on_callback_made(unsigned told, void*) {
    const std::lock_guard lock(oracle.lock);
    oracle.rows->let_go(this_core::number(told));
}

void on_word(unsigned told, void* of) {
    Word& word = *static_cast<Word*>(of);
    const unsigned core = this_core::number(told);
    oracle.model->events.executions.fetch_add(1, std::memory_order_relaxed);
    if ((word.settled.load(std::memory_order_relaxed) >> core & 1) != 0) return;
    const std::lock_guard lock(oracle.lock);
    oracle.model->execute(core, word);
}

// ---- translation -------------------------------------------------------------------------------------------

bool is_vector(Address address) {
    for (const Address base : oracle.vectors) {
        if (address - base < 0x800 && address % 0x80 == 0) return true;
    }
    return false;
}
bool reads_slots(Address address) {
    for (const Range& reader : oracle.image.readers) {
        if (reader.has(address)) return true;
    }
    return false;
}

void watch_text(qemu_plugin_insn* instruction, Address address, std::uint32_t word) {
    Model& model = *oracle.model;
    const auto call = [&](qemu_plugin_vcpu_udata_cb_t callback, qemu_plugin_cb_flags flags, void* user) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, flags, user);
    };
    if (model.holds(address - 4) && a64::is_call(model.value(address - 4))) {
        call(on_return_address, QEMU_PLUGIN_CB_R_REGS, reinterpret_cast<void*>(address));
    }
    if (oracle.image.requests.count(address) != 0) call(on_request, QEMU_PLUGIN_CB_R_REGS, nullptr);
    // With threads the store that changed it may not have been told yet.
    if (word != model.value(address)) model.watch(address);
    if (Word* const known = model.find(address)) call(on_word, QEMU_PLUGIN_CB_NO_REGS, known);
    if (address == oracle.image.made) call(on_callback_made, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    const bool holds = oracle.image.holder.has(address);
    if (holds || reads_slots(address)) {
        qemu_plugin_register_vcpu_mem_cb(instruction, on_load, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R,
                                         holds ? &oracle : nullptr);
    }
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    const std::lock_guard lock(oracle.lock);
    const std::size_t instructions = qemu_plugin_tb_n_insns(block);
    for (std::size_t i = 0; i < instructions; ++i) {
        qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
        const Address address = qemu_plugin_insn_vaddr(instruction);
        std::uint32_t word = 0;
        qemu_plugin_insn_data(instruction, &word, sizeof word);
        if (is_vector(address)) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_exception, QEMU_PLUGIN_CB_NO_REGS, nullptr);
        }
        if (oracle.model->holds(address)) watch_text(instruction, address, word);
        if (const Op op = a64::op_of(word); op != Op::other) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_system, QEMU_PLUGIN_CB_R_REGS, packed(op, word));
        }
        qemu_plugin_register_vcpu_mem_cb(instruction, on_store, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, nullptr);
    }
}

void on_core(qemu_plugin_id_t, unsigned core) {
    if (core >= max_cores) return;
    this_core::is_there(core);
    const GArray* const all = qemu_plugin_get_registers();
    const auto* const registers = reinterpret_cast<const qemu_plugin_reg_descriptor*>(all->data);
    for (unsigned i = 0; i < all->len; ++i) {
        const char* const name = registers[i].name;
        unsigned number = 0;
        if (name[0] == 'x' && std::sscanf(name + 1, "%u", &number) == 1 && number < 31) {
            oracle.registers[core].x[number] = registers[i].handle;
        } else if (std::strcmp(name, "CTR_EL0") == 0) {
            oracle.registers[core].cache_type = registers[i].handle;
        }
    }
}

void on_exit(qemu_plugin_id_t, void*) {
    if (!write_result(oracle.out, *oracle.model)) std::fputs("coherence: cannot write the file named by out=\n", stderr);
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    std::string path;
    for (int i = 0; i < argc; ++i) {
        if (std::strncmp(argv[i], "image=", 6) == 0) path = argv[i] + 6;
        if (std::strncmp(argv[i], "out=", 4) == 0) oracle.out = argv[i] + 4;
    }
    std::vector<std::uint8_t> text;
    if (oracle.out.empty() || !read_image(path, oracle.image) || !read_text(oracle.image, text)) {
        std::fputs("coherence: needs out=FILE and image=FILE, as coherence.py makes it\n", stderr);
        return -1;
    }
    oracle.model = std::make_unique<Model>(oracle.image.text.begin, std::move(text));
    for (const auto& [word, function] : oracle.image.sites) oracle.model->add_site(word, function);
    oracle.rows = std::make_unique<Rows>(*oracle.model, oracle.image.ops, read_memory);
    if (oracle.image.ops.none != 0) oracle.rows->watch();
    qemu_plugin_register_vcpu_init_cb(id, on_core);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    return 0;
}
