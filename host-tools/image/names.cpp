// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host-tools/base/error.hpp"
#include "host-tools/image/function_names.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/image/symbols.hpp"
#include "tracer/protocol/names.hpp"

namespace nopscope::host {
namespace {

void append(std::vector<std::uint8_t>& to, std::uint32_t value) {
    protocol::Byte bytes[sizeof value];
    protocol::Writer(bytes).fixed(value);
    to.insert(to.end(), bytes, bytes + sizeof bytes);
}

std::size_t shared_bytes(std::string_view before, std::string_view name) {
    const auto ends = std::mismatch(before.begin(), before.end(), name.begin(), name.end());
    return static_cast<std::size_t>(ends.first - before.begin());
}

}  // namespace

std::vector<std::uint8_t> name_table(const ElfFile& elf) {
    const auto addresses = site_addresses(elf);
    std::vector<std::uint8_t> blocks;
    std::vector<std::uint8_t> names;
    std::string_view before;
    const auto add = [&](std::string_view name) {
        name = name.substr(0, protocol::max_name_bytes);
        const std::size_t shared =
            std::min<std::size_t>(shared_bytes(before, name), protocol::alias_mark - 1);
        names.push_back(static_cast<std::uint8_t>(shared));
        names.push_back(static_cast<std::uint8_t>(name.size() - shared));
        names.insert(names.end(), name.begin() + static_cast<std::ptrdiff_t>(shared), name.end());
        before = name;
    };
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (i % protocol::names_per_block == 0) {
            append(blocks, static_cast<std::uint32_t>(names.size()));
            before = {};
        }
        const ElfSymbol* symbol = symbol_at(elf, addresses[i]);
        const std::string_view first = symbol != nullptr ? symbol->name : std::string_view();
        add(first);
        std::set<std::string_view> aliases;
        for (const ElfSymbol* const other : symbols_at(elf, addresses[i]))
            aliases.insert({other->name, clone_name(other->name).origin});
        aliases.erase(first);
        for (const std::string_view alias : aliases) {
            names.push_back(protocol::alias_mark);
            add(alias);
        }
    }
    std::vector<std::uint8_t> table;
    append(table, protocol::names_magic);
    append(table, static_cast<std::uint32_t>(addresses.size()));
    append(table, site_table_crc(addresses));
    append(table, static_cast<std::uint32_t>(names.size()));
    table.insert(table.end(), blocks.begin(), blocks.end());
    table.insert(table.end(), names.begin(), names.end());
    return table;
}

std::string name_table_source(const ElfFile& elf) {
    if (site_addresses(elf).empty()) throw Error(elf.path() + " has no patch sites to name");
    std::string text =
        "/* Written by `nopscope names`: for the second link of the image it was made from. */\n"
        "    .file \"nopscope names\"\n"
        "    .section .note.GNU-stack, \"\", %progbits\n"
        "    .section .nopscope.names, \"a\", %progbits\n"
        "    .balign 4\n";
    const std::vector<std::uint8_t> table = name_table(elf);
    constexpr std::size_t bytes_per_line = 16;
    for (std::size_t at = 0; at < table.size(); at += bytes_per_line) {
        const auto* const begin = table.data() + at;
        const auto* const end = begin + std::min(bytes_per_line, table.size() - at);
        text += fmt::format("    .byte {}\n", fmt::join(begin, end, ","));
    }
    return text;
}

}  // namespace nopscope::host
