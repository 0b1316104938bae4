// SPDX-License-Identifier: Apache-2.0
// The ELF reader, the site table and every check. DWARF is libdw's to read, and is not here.
#include "host-tools/base/error.hpp"
#include "host-tools/elf/check.hpp"
#include "host-tools/elf/symbols.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace nopscope;
    try {
        const ElfFile elf({data, data + size}, "/dev/null/no-such-file");
        const Symbols symbols = read_symbols(elf);
        for (const Function& site : symbols.sites) {
            if (symbols.find(site.address) != &site) __builtin_trap();
        }
        check_image(elf, {});
    } catch (const Error&) {
    }
    return 0;
}
