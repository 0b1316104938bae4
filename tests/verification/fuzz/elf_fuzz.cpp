// SPDX-License-Identifier: Apache-2.0
// The ELF reader, the site table and every check. libdw reads DWARF, so DWARF is not tested here.
#include "host-tools/base/error.hpp"
#include "host-tools/image/check.hpp"
#include "host-tools/image/names.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "tracer/protocol/names.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace nopscope;
    using namespace nopscope::host;
    try {
        const ElfFile elf({data, data + size}, "/dev/null/no-such-file");
        const Symbols symbols = read_symbols(elf);
        for (const Function& site : symbols.sites)
            if (symbols.find(site.address) != &site) __builtin_trap();
        check_image(elf, {});
        const auto names = name_table(elf);
        const protocol::NameTable table(names.data(), names.size(),
                                        static_cast<std::uint32_t>(symbols.sites.size()),
                                        symbols.site_table_crc);
        if (table.size() != symbols.sites.size()) __builtin_trap();
        protocol::NameCursor cursor(table);
        for (std::uint32_t i = 0; i < table.size(); ++i) {
            const ElfSymbol* symbol = symbol_at(elf, symbols.sites[i].address);
            const bool has_name = symbol != nullptr && !symbol->name.empty();
            if (cursor.seek(i) != has_name) __builtin_trap();
            if (has_name && !symbol->name.starts_with({cursor.data(), cursor.size()}))
                __builtin_trap();
        }
    } catch (const Error&) {
    }
    return 0;
}
