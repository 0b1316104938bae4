// SPDX-License-Identifier: Apache-2.0
// Finds the functions whose address a linked image takes. Relocations are gone there.
//
// In data, an address is an aligned 8-byte word of an allocated section that equals the address of
// a function. In code, CodeScan finds the addresses.
#include <algorithm>
#include <unordered_map>

#include "host-tools/image/check.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {
namespace {

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

void scan_data(const ElfFile& elf, std::uint64_t begin, std::uint64_t end,
               const References& visit) {
    const auto bytes = elf.bytes_at(begin, end - begin);
    const std::uint64_t first = (begin + 7) & ~std::uint64_t{7};
    for (std::uint64_t at = first; at + 8 <= begin + bytes.size(); at += 8) {
        protocol::Reader in(bytes.data() + (at - begin), 8);
        if (const auto value = in.fixed<std::uint64_t>(); value != 0)
            visit.made({value, at, false});
    }
}

// The addresses of all functions, ascending.
std::vector<std::uint64_t> entries_of(const ElfFile& elf) {
    std::vector<std::uint64_t> entries;
    for (const ElfSymbol& symbol : elf.symbols()) {
        if (symbol.is_function()) entries.push_back(symbol.address);
    }
    return entries;
}

void scan_code(const ElfFile& elf, const ElfSection& section, const Run& run,
               const std::vector<std::uint64_t>& entries, const References& visit) {
    auto next_entry = std::lower_bound(entries.begin(), entries.end(), run.begin);
    const auto scan = elf.arch().scan(elf);
    const std::uint64_t unit = elf.arch().least_bytes;
    std::uint64_t at = (run.begin + unit - 1) & ~(unit - 1);
    const std::uint64_t end = std::min(run.end, section.address + section.bytes.size());
    for (unsigned bytes = 0; at < end; at += bytes) {
        while (next_entry != entries.end() && *next_entry <= at) {
            if (*next_entry++ == at) scan->forget();
        }
        const auto code = section.bytes.subspan(at - section.address, end - at);
        const Instruction one = scan->step(at, CodeScan::first_word(code));
        bytes = one.bytes;
        if (bytes > code.size()) break;
        if (one.made) visit.made({*one.made, at, true});
        if (visit.branches && one.flow.has_target()) visit.branches(one.flow.target, at);
    }
}

}  // namespace

void scan_references(const ElfFile& elf, const References& visit) {
    const std::vector<std::uint64_t> entries = entries_of(elf);
    const std::uint64_t sites_begin = elf.symbol_address("__nopscope_sites_start").value_or(0);
    const std::uint64_t sites_end = elf.symbol_address("__nopscope_sites_end").value_or(0);
    References outside = visit;
    outside.made = [&](const TakenAddress& one) {
        if (one.where < sites_begin || one.where >= sites_end) visit.made(one);
    };
    for (const ElfSection& section : elf.sections()) {
        if (!section.is_allocated() || section.bytes.empty()) continue;
        if (section.name == "__patchable_function_entries") continue;
        if (section.name == ".nopscope.names") continue;
        if (!section.is_code()) {
            scan_data(elf, section.address, section.address + section.bytes.size(), outside);
            continue;
        }
        for (const Run& run : runs_of(elf, section)) {
            if (run.is_data) {
                scan_data(elf, run.begin, run.end, outside);
            } else {
                scan_code(elf, section, run, entries, outside);
            }
        }
    }
}

std::vector<TakenAddress> taken_addresses(const ElfFile& elf) {
    const std::vector<std::uint64_t> entries = entries_of(elf);
    std::unordered_map<std::uint64_t, std::size_t> places;  // in `list`
    std::vector<TakenAddress> list;
    scan_references(elf, {.made = [&](const TakenAddress& one) {
                        if (!std::binary_search(entries.begin(), entries.end(), one.target)) return;
                        const auto [seen, is_new] = places.try_emplace(one.target, list.size());
                        if (is_new) {
                            list.push_back(one);
                        } else if (one.is_in_code && !list[seen->second].is_in_code) {
                            list[seen->second] = one;
                        }
                    }});
    return list;
}

}  // namespace nopscope::host
