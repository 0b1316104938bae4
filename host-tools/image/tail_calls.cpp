// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/tail_calls.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace nopscope::host {
namespace {

struct Code {
    std::uint64_t begin = 0, end = 0;
};

// For all functions together. An image that claims more is hostile.
constexpr std::uint64_t most_cold_bytes = std::uint64_t{1} << 26;

// Collects the calls and jumps of one function.
class Scan {
public:
    Scan(const ElfFile& elf, const std::vector<std::uint64_t>& sites, CodeScan& code)
        : elf_(elf), sites_(sites), code_(code) {}

    void take(const Code& of) {
        const auto bytes = elf_.bytes_at(of.begin, of.end - of.begin);
        code_.forget();
        code_.each(of.begin, bytes, [this](std::uint64_t, const Instruction& one) {
            switch (one.flow.kind) {
            case Flow::Kind::call: add(one.flow.target, calls_); break;
            case Flow::Kind::jump: add(one.flow.target, jumps_); break;
            case Flow::Kind::indirect_call: calls_others_ = true; break;
            case Flow::Kind::indirect_jump: jumps_to_others_ = true; break;
            case Flow::Kind::next: break;
            }
        });
    }

    TailCalls result() const {
        TailCalls tails;
        if (jumps_to_others_) tails.others = calls_others_ ? Tail::maybe : Tail::always;
        std::map<std::uint32_t, Tail> direct;
        for (const std::uint32_t site : jumps_) direct[site] = Tail::always;
        for (const std::uint32_t site : calls_) {
            const auto [at, only_called] = direct.try_emplace(site, Tail::never);
            if (!only_called) at->second = Tail::maybe;
        }
        for (const auto& [site, tail] : direct) {
            if (tail != Tail::never || tails.others != Tail::never)
                tails.direct.push_back({site, tail});
        }
        return tails;
    }

private:
    void add(std::uint64_t address, std::set<std::uint32_t>& to) const {
        const auto at = std::lower_bound(sites_.begin(), sites_.end(), address);
        if (at != sites_.end() && *at == address)
            to.insert(static_cast<std::uint32_t>(at - sites_.begin()));
    }

    const ElfFile& elf_;
    const std::vector<std::uint64_t>& sites_;
    CodeScan& code_;
    std::set<std::uint32_t> calls_, jumps_;
    bool calls_others_ = false, jumps_to_others_ = false;
};

}  // namespace

Tail TailCalls::of(std::uint32_t site) const {
    const auto at =
        std::lower_bound(direct.begin(), direct.end(), site,
                         [](const Target& target, std::uint32_t s) { return target.site < s; });
    return at != direct.end() && at->site == site ? at->tail : others;
}

std::vector<TailCalls> tail_calls(const ElfFile& elf, const std::vector<std::uint64_t>& sites) {
    std::multimap<std::string_view, Code> cold;  // by the name of the whole function
    std::multimap<std::uint64_t, const ElfSymbol*> at;
    for (const ElfSymbol& symbol : elf.symbols()) {
        if (!symbol.is_function() || symbol.size == 0) continue;
        at.emplace(symbol.address, &symbol);
        const std::size_t part = symbol.name.find(".cold");
        if (part == symbol.name.npos) continue;
        cold.emplace(symbol.name.substr(0, part),
                     Code{symbol.address, symbol.address + symbol.size});
    }
    const auto code = elf.arch().scan(elf);
    std::vector<TailCalls> tails;
    std::uint64_t cold_bytes = 0;
    for (std::size_t site = 0; site < sites.size(); ++site) {
        const std::uint64_t address = sites[site];
        // Ends each function at the next site, whatever its symbol says, to read each word once.
        const std::uint64_t room =
            site + 1 < sites.size() ? sites[site + 1] - address : ~std::uint64_t{0};
        Scan scan(elf, sites, *code);
        const auto [first, last] = at.equal_range(address);
        for (auto symbol = first; symbol != last; ++symbol) {
            if (symbol == first)
                scan.take({address, address + std::min(symbol->second->size, room)});
            const auto [from, to] = cold.equal_range(symbol->second->name);
            for (auto part = from; part != to; ++part) {
                cold_bytes += std::min(part->second.end - part->second.begin, most_cold_bytes);
                if (cold_bytes > most_cold_bytes) return {};
                scan.take(part->second);
            }
        }
        tails.push_back(scan.result());
    }
    return tails;
}

}  // namespace nopscope::host
