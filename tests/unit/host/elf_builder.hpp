// SPDX-License-Identifier: Apache-2.0
// Builds a small ELF of arm64 code. The tests of the ELF reader and of `check` use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/image/arch/arm64/a64.hpp"
#include "tests/unit/host/target_stream.hpp"

namespace nopscope::host::test {

class ElfBuilder {
public:
    static constexpr std::uint64_t text_base = 0x40080000;
    static constexpr std::uint64_t data_base = 0x40100000;

    std::vector<std::uint32_t> text;
    std::vector<std::uint64_t> data;
    std::vector<std::uint64_t> sites;  // functions; the table holds the NOPs before them
    std::string build_id = "\xaa\xbb\xcc";
    std::uint16_t machine = 183;
    Bytes site_names;  // the section .nopscope.names; empty if there is none

    std::uint64_t here() const { return text_base + text.size() * 4; }
    std::uint64_t next() const { return (here() + 7) & ~std::uint64_t{7}; }

    // Adds a function with these `body` words before its ret. Returns its address.
    std::uint64_t function(const std::string& name, bool instrumented = true, bool with_bti = true,
                           std::vector<std::uint32_t> body = {}, bool with_site = true) {
        while (here() % 8 != 0) text.push_back(a64::nop + 0x20);  // yield: not like a NOP
        if (instrumented) text.insert(text.end(), 2, a64::nop);
        const std::uint64_t address = here();
        if (with_bti) text.push_back(a64::bti_c);
        if (instrumented) text.insert(text.end(), 2, a64::nop);
        text.insert(text.end(), body.begin(), body.end());
        text.push_back(0xd65f03c0);  // ret
        symbol(name, address, 2, here() - address);
        if (instrumented && with_site) sites.push_back(address);
        return address;
    }
    void symbol(const std::string& name, std::uint64_t address, std::uint8_t type,
                std::uint64_t size = 0, bool is_local = false, bool is_weak = false) {
        append(symbols_, add_name(names_, name),
               static_cast<std::uint8_t>((is_weak    ? 0x20
                                          : is_local ? 0
                                                     : 0x10) |
                                         type),
               std::uint8_t{0}, std::uint16_t{1}, address, size);
    }
    std::uint64_t data_word(std::uint64_t value) {
        data.push_back(value);
        return data_base + (data.size() - 1) * 8;
    }

    static std::uint32_t adr(unsigned rd, std::int64_t offset) {
        const auto bits = static_cast<std::uint32_t>(offset);
        return 0x10000000 | (bits & 3) << 29 | ((bits >> 2) & 0x7ffff) << 5 | rd;
    }
    static std::uint32_t adrp(unsigned rd, std::uint64_t from, std::uint64_t to) {
        const auto pages = static_cast<std::uint32_t>((to >> 12) - (from >> 12));
        return 0x90000000 | (pages & 3) << 29 | ((pages >> 2) & 0x7ffff) << 5 | rd;
    }
    static std::uint32_t add(unsigned rd, unsigned rn, std::uint64_t immediate) {
        return 0x91000000 | static_cast<std::uint32_t>(immediate & 0xfff) << 10 | rn << 5 | rd;
    }
    // `b` or `bl`, by the opcode.
    static std::uint32_t branch(std::uint32_t opcode, std::uint64_t from, std::uint64_t to) {
        return opcode | (static_cast<std::uint32_t>(to - from) >> 2 & 0x3ffffff);
    }
    static std::uint32_t ldr_literal(unsigned rt, std::int64_t offset) {
        return 0x58000000 | (static_cast<std::uint32_t>(offset >> 2) & 0x7ffff) << 5 | rt;
    }

    Bytes build() const {
        Bytes site_bytes;
        append(site_bytes, std::uint64_t{0});  // the entry of a unit without functions
        for (auto site = sites.rbegin(); site != sites.rend(); ++site)
            append(site_bytes, *site - 8);
        if (!sites.empty()) append(site_bytes, sites.front() - 8);  // a repeated entry
        Bytes note;
        if (!build_id.empty()) {
            append(note, std::uint32_t{4}, static_cast<std::uint32_t>(build_id.size()),
                   std::uint32_t{3}, std::uint32_t{0x554e47});
            note.insert(note.end(), build_id.begin(), build_id.end());
        }
        std::vector<Section> sections{
            {".text", 1, 6, text_base, bytes_of(text)},
            {".data", 1, 3, data_base, bytes_of(data)},
            {"__patchable_function_entries", 1, 3, 0x40200000, site_bytes},
            {".note.gnu.build-id", 7, 2, 0x40300000, note},
            {".symtab", 2, 0, 0, symbols_},
            {".bss", 8, 3, 0x40400000, {}},
        };
        if (!site_names.empty())
            sections.push_back({".nopscope.names", 1, 2, 0x40500000, site_names});
        sections.push_back({".strtab", 3, 0, 0, {}});  // the names of symbols and of sections
        const std::size_t count = sections.size();
        Bytes file(64, 0), names = names_, headers(64, 0);
        for (const Section& section : sections) {
            const std::uint32_t name = add_name(names, section.name);
            const Bytes& bytes = section.type == 3 ? names : section.bytes;
            append(headers, name, section.type, section.flags, section.address,
                   std::uint64_t{file.size()}, std::uint64_t{bytes.size()},
                   static_cast<std::uint32_t>(section.type == 2 ? count : 0), std::uint32_t{0},
                   std::uint64_t{8}, std::uint64_t{0});
            file.insert(file.end(), bytes.begin(), bytes.end());
        }
        Bytes head{0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
        append(head, std::uint64_t{0}, std::uint16_t{2}, machine, std::uint32_t{1}, text_base,
               std::uint64_t{0}, std::uint64_t{file.size()}, std::uint32_t{0}, std::uint16_t{64},
               std::uint32_t{0}, std::uint16_t{64}, static_cast<std::uint16_t>(count + 1),
               static_cast<std::uint16_t>(count));
        std::copy(head.begin(), head.end(), file.begin());
        file.insert(file.end(), headers.begin(), headers.end());
        return file;
    }

private:
    struct Section {
        std::string name;
        std::uint32_t type;
        std::uint64_t flags, address;
        Bytes bytes;
    };

    template <typename... Values>
    static void append(Bytes& to, Values... values) {
        protocol::Byte bytes[(sizeof(Values) + ...)];
        protocol::Writer out(bytes);
        (out.fixed(values), ...);
        to.insert(to.end(), bytes, bytes + sizeof bytes);
    }
    template <typename Words>
    static Bytes bytes_of(const Words& words) {
        Bytes all;
        for (const auto word : words) append(all, word);
        return all;
    }
    // Returns where the name begins in a table of names that end with 0.
    static std::uint32_t add_name(Bytes& names, const std::string& name) {
        const std::size_t at = names.size();
        names.insert(names.end(), name.begin(), name.end());
        names.push_back(0);
        return static_cast<std::uint32_t>(at);
    }

    Bytes names_{0};
    Bytes symbols_ = Bytes(24, 0);
};

}  // namespace nopscope::host::test
