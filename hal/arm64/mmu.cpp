// SPDX-License-Identifier: Apache-2.0
#include "hal/arm64/mmu.hpp"

#include "hal/arm64/machine.hpp"
#include "hal/arm64/page_table.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/board.hpp"
#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

struct alignas(page_bytes) Table {
    std::uint64_t entries[table_entries];
};

// The root, two middle tables for image and alias, one or two for devices, and one table for each 2
// MiB that the image or the alias covers only partly. In bss, so zero.
constexpr unsigned pool_tables = 24;
Table pool[pool_tables];
unsigned tables_used;
std::uint64_t heap_end;

Table& new_table() {
    if (tables_used == pool_tables) panic("mmu: the table pool is too small");
    return pool[tables_used++];
}

Table& table_below(std::uint64_t& entry) {
    if (entry == 0) entry = table_descriptor(address_of(&new_table()));
    return *reinterpret_cast<Table*>(next_table(entry));
}

// Ranges never overlap, so an entry that is not 0 is a table.
void map(std::uint64_t virtual_start, std::uint64_t physical_start, std::uint64_t bytes,
         Mapping mapping) {
    if ((virtual_start | physical_start | bytes) % page_bytes != 0) {
        panic("mmu: a range that is not whole pages");
    }
    std::uint64_t done = 0;
    while (done < bytes) {
        const std::uint64_t from = virtual_start + done;
        const std::uint64_t to = physical_start + done;
        Table* table = &pool[0];
        for (unsigned level = first_level;; ++level) {
            std::uint64_t& entry = table->entries[table_index(from, level)];
            const bool fits =
                (from | to) % level_bytes(level) == 0 && bytes - done >= level_bytes(level);
            if (fits && !is_table(entry, level)) {
                entry = leaf_descriptor(to, level, mapping);
                done += level_bytes(level);
                break;
            }
            table = &table_below(entry);
        }
    }
}

void map_symbols(const char* start, const char* end, Mapping mapping) {
    map(address_of(start), address_of(start), address_of(end) - address_of(start), mapping);
}

// Descriptors with more than 48 bits have another layout.
unsigned physical_address_size() {
    constexpr unsigned bits_48 = 5;
    const unsigned range = field(read_id_aa64mmfr0_el1(), 0, 4);
    return range < bits_48 ? range : bits_48;
}

}  // namespace

HeapBounds heap_bounds() { return {.low = address_of(__heap_start), .high = heap_end}; }

void mmu_prepare() {
    new_table();  // the root
    const bool guarded = CpuFeatures::read().bti;
    map_symbols(__text_start, __text_end, {.executable = true, .guarded = guarded});
    map(address_of(__text_start) + text_alias_offset, address_of(__text_start),
        address_of(__text_end) - address_of(__text_start), {.writable = true});
    map_symbols(__rodata_start, __rodata_end, {});
    map_symbols(__data_start, __writable_end, {.writable = true});
    map_symbols(__rtt_start, __rtt_end, {.type = MemoryType::uncached, .writable = true});
    for (unsigned core = 0; core < max_cores; ++core) {
        for (const StackBounds stack : {emergency_stack_bounds(core), stack_bounds(core)}) {
            map(stack.low, stack.low, stack.high - stack.low, {.writable = true});
        }
    }

    heap_end = address_of(__heap_end);
    if (board.ram_end != nullptr) {
        const std::uint64_t end = board.ram_end() & ~(page_bytes - 1);
        if (end < heap_end) heap_end = end;
    }
    if (heap_end < address_of(__heap_start)) panic("mmu: the image does not fit the memory");
    map(address_of(__heap_start), address_of(__heap_start), heap_end - address_of(__heap_start),
        {.writable = true});
    // Mapped at text's alias offset: the words may be in page 0, and address 0 stays unmapped.
    if (board.core_start.spin_table.cores > 1) {
        const std::uint64_t page = board.core_start.spin_table.first_word & ~(page_bytes - 1);
        map(page + text_alias_offset, page, page_bytes, {.writable = true});
    }
    for (const DeviceRange& device : board.devices) {
        map(device.base, device.base, device.bytes, {.type = MemoryType::device, .writable = true});
    }

    write_mair_el1(mair_bits);
    write_tcr_el1(Tcr{.t0sz = 25, .physical_address_size = physical_address_size()}.bits());
    write_ttbr0_el1(address_of(&pool[0]));
    isb();
}

}  // namespace nopscope::hal
