// SPDX-License-Identifier: Apache-2.0
// Finds the functions whose address a linked image takes. Relocations are gone there.
//
// In data, an address is an aligned 8-byte word of an allocated section that equals the address of
// a function. In code, arch::AddressScan finds the addresses.
#include <algorithm>
#include <unordered_map>

#include "host-tools/image/arch/instructions.hpp"
#include "host-tools/image/check.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {
namespace {

// Holds, for each function, the first place that takes its address, by code if there is some.
class AddressTaken {
public:
    explicit AddressTaken(const ElfFile& elf)
        : sites_begin_(elf.symbol_address("__nopscope_sites_start").value_or(0)),
          sites_end_(elf.symbol_address("__nopscope_sites_end").value_or(0)) {
        for (const ElfSymbol& symbol : elf.symbols()) {
            if (symbol.is_function()) entries_.push_back(symbol.address);
        }
    }
    // Ignores a `where` in the site table: that table takes no addresses.
    void add(std::uint64_t target, std::uint64_t where, bool is_in_code) {
        if (where >= sites_begin_ && where < sites_end_) return;
        if (!std::binary_search(entries_.begin(), entries_.end(), target)) return;
        const auto [seen, is_new] = places_.try_emplace(target, list_.size());
        if (is_new) {
            list_.push_back({target, where, is_in_code});
        } else if (is_in_code && !list_[seen->second].is_in_code) {
            list_[seen->second] = {target, where, is_in_code};
        }
    }
    // The addresses of all functions, ascending.
    const std::vector<std::uint64_t>& entries() const { return entries_; }
    const std::vector<TakenAddress>& list() const { return list_; }

private:
    std::uint64_t sites_begin_, sites_end_;
    std::vector<std::uint64_t> entries_;
    std::unordered_map<std::uint64_t, std::size_t> places_;  // in list_
    std::vector<TakenAddress> list_;
};

// A part of a code section: instructions or data, according to the mapping symbols.
struct Run {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_data = false;
};

std::vector<Run> runs_of(const ElfFile& elf, const ElfSection& section) {
    const std::uint64_t end = section.address + section.bytes.size();
    std::vector<Run> runs{{section.address, end, false}};
    const auto& symbols = elf.symbols();
    auto at = std::lower_bound(
        symbols.begin(), symbols.end(), section.address,
        [](const ElfSymbol& s, std::uint64_t address) { return s.address < address; });
    for (; at != symbols.end() && at->address < end; ++at) {
        const ElfSymbol& symbol = *at;
        if (!symbol.is_mapping()) continue;
        const bool is_data = symbol.name[1] == 'd';
        if (runs.back().is_data == is_data) continue;
        runs.back().end = symbol.address;
        runs.push_back({symbol.address, end, is_data});
    }
    return runs;
}

void scan_data(const ElfFile& elf, std::uint64_t begin, std::uint64_t end, AddressTaken& taken) {
    const auto bytes = elf.bytes_at(begin, end - begin);
    const std::uint64_t first = (begin + 7) & ~std::uint64_t{7};
    for (std::uint64_t at = first; at + 8 <= begin + bytes.size(); at += 8) {
        protocol::Reader in(bytes.data() + (at - begin), 8);
        if (const auto value = in.fixed<std::uint64_t>(); value != 0) taken.add(value, at, false);
    }
}

}  // namespace

std::vector<TakenAddress> taken_addresses(const ElfFile& elf) {
    AddressTaken taken(elf);
    const auto& entries = taken.entries();
    for (const ElfSection& section : elf.sections()) {
        if (!section.is_allocated() || section.bytes.empty()) continue;
        if (section.name == "__patchable_function_entries") continue;
        if (section.name == ".nopscope.names") continue;
        if (!section.is_code()) {
            scan_data(elf, section.address, section.address + section.bytes.size(), taken);
            continue;
        }
        auto next_entry = std::lower_bound(entries.begin(), entries.end(), section.address);
        for (const Run& run : runs_of(elf, section)) {
            if (run.is_data) {
                scan_data(elf, run.begin, run.end, taken);
                continue;
            }
            arch::AddressScan scan(elf);
            for (std::uint64_t at = (run.begin + 3) & ~std::uint64_t{3}; at + 4 <= run.end;
                 at += 4) {
                while (next_entry != entries.end() && *next_entry <= at) {
                    if (*next_entry++ == at) scan.forget();
                }
                const auto offset = at - section.address;
                if (offset + 4 > section.bytes.size()) break;
                protocol::Reader in(section.bytes.data() + offset, 4);
                if (const auto made = scan.step(at, in.fixed<std::uint32_t>()))
                    taken.add(*made, at, true);
            }
        }
    }
    return taken.list();
}

}  // namespace nopscope::host
