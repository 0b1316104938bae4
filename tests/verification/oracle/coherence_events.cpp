// SPDX-License-Identifier: Apache-2.0
#include "tests/verification/oracle/coherence_events.hpp"

namespace coherence {

using a64::Op;

Oracle& oracle = *new Oracle;

// ---- memory ----

static void forget_pages() {
    for (auto& page : oracle.elsewhere) page.store(0, std::memory_order_relaxed);
}

static std::uint64_t low_bytes(const qemu_plugin_mem_value& value) {
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
    const Address physical =
        qemu_plugin_hwaddr_is_io(where) ? 0 : qemu_plugin_hwaddr_phys_addr(where);
    if (!meets_page_of(oracle.image.text, physical) &&
        !meets_page_of(oracle.image.lists, physical)) {
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

// ---- instructions ----

static void learn_caches(unsigned core) {
    const std::uint64_t type = oracle.registers[core].cache_type();
    if (type != 0) oracle.model->set_caches(Caches::of(type));
    oracle.knows_caches = type != 0;
}

// Returns the address of the text that maintenance by virtual address concerns, also for its alias.
static Address text_of(Address address, bool* by_alias) {
    *by_alias =
        oracle.image.text.has(address - oracle.image.alias) && !oracle.image.text.has(address);
    return *by_alias ? address - oracle.image.alias : address;
}

static void maintain(unsigned core, Op op, unsigned number) {
    Model& model = *oracle.model;
    bool by_alias = false;
    const Address address = text_of(oracle.registers[core].x(number), &by_alias);
    if (!oracle.image.text.has(address)) {
        ++model.events.elsewhere;
    } else if (op == Op::zero) {
        model.fault("torn-word", core, address, "DC ZVA clears text");
    } else if (op != Op::invalidate) {
        model.clean(core, address, op == Op::clean_beyond);
    } else if (by_alias) {
        // A virtually indexed instruction cache keeps the other address's line: not counted.
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
    case Op::clean:
    case Op::clean_beyond:
    case Op::zero:
    case Op::invalidate: maintain(core, op, number); break;
    case Op::invalidate_all: model.invalidate_all(core); break;
    // It affects one core only. No other core runs during boot.
    case Op::invalidate_all_of_core: break;
    case Op::translation: forget_pages(); break;
    case Op::vectors: oracle.vectors.insert(oracle.registers[core].x(number)); break;
    case Op::firmware:
        if (static_cast<std::uint32_t>(oracle.registers[core].x(0)) == psci_cpu_off)
            model.go_off(core);
        break;
    case Op::other: break;
    }
}

void on_exception(unsigned told, void*) {
    const std::lock_guard lock(oracle.lock);
    ++oracle.model->events.exceptions;
    oracle.model->synchronise(this_core::number(told));
}

static void count_requests(unsigned core) {
    oracle.requests[core] = static_cast<unsigned>(oracle.model->cores[core].requests.size());
}
void on_request(unsigned told, void*) {
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    oracle.model->begin_request(core, oracle.registers[core].x(30));
    count_requests(core);
}

void on_return_address(unsigned told, void* address) {
    const unsigned core = this_core::number(told);
    if (oracle.requests[core].load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(oracle.lock);
    oracle.model->reach(core, reinterpret_cast<Address>(address), oracle.registers[core].x(0));
    count_requests(core);
}

void on_callback_made(unsigned told, void*) {
    const std::lock_guard lock(oracle.lock);
    oracle.rows->let_go(this_core::number(told));
}

void on_stack_left(unsigned told, void*) {
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    oracle.rows->leave_stack(core, oracle.registers[core].sp());
    count_requests(core);
}
void on_stack_taken(unsigned told, void*) {
    const unsigned core = this_core::number(told);
    const std::lock_guard lock(oracle.lock);
    oracle.rows->take_stack(core, oracle.registers[core].sp());
    count_requests(core);
}

void on_word(unsigned told, void* of) {
    Word& word = *static_cast<Word*>(of);
    const unsigned core = this_core::number(told);
    oracle.model->events.executions.fetch_add(1, std::memory_order_relaxed);
    if ((word.settled.load(std::memory_order_relaxed) >> core & 1) != 0) return;
    const std::lock_guard lock(oracle.lock);
    oracle.model->execute(core, word);
}

void on_core(qemu_plugin_id_t, unsigned core) {
    if (core >= max_cores) return;
    this_core::is_there(core);
    oracle.knows_core = this_core::running() != nullptr;
    oracle.registers[core] = plugin::Registers::of_this_core();
}

}  // namespace coherence
