// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/file_kind.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {
namespace {

using namespace std::string_view_literals;

constexpr char give_elf[] = "give the ELF file that it was made from";

struct Magic {
    std::string_view bytes;
    const char* what;
    const char* give = give_elf;
    std::size_t offset = 0;
};

constexpr Magic magics[] = {
    {"\x1f\x8b"sv, "compressed by gzip", "unpack it first"},
    {"\xfd"
     "7zXZ"sv,
     "compressed by xz", "unpack it first"},
    {"\x28\xb5\x2f\xfd"sv, "compressed by zstd", "unpack it first"},
    {"BZh"sv, "compressed by bzip2", "unpack it first"},
    {"PK\3\4"sv, "a zip archive", "unpack it first"},
    {"!<arch>\n"sv, "a library of object files, not a linked image", "give the linked ELF file"},
    {"!<thin>\n"sv, "a library of object files, not a linked image", "give the linked ELF file"},
    {"BC\xc0\xde"sv, "LLVM bitcode, not a linked image", "give the linked ELF file"},
    {"\x89NSC"sv, "a recording, not an image", "nopscope info reads it"},
    {"UF2\n"sv, "a UF2 file, which has code without names"},
    {"\x27\x05\x19\x56"sv, "an image for U-Boot, which has code without names"},
    {"\xd0\x0d\xfe\xed"sv, "a device tree or a FIT image"},
    {"MZ"sv, "a PE file, not an ELF file"},
    {"\xcf\xfa\xed\xfe"sv, "a Mach-O file, not an ELF file"},
    {"ARM\x64"sv, "a raw image with Linux' header, which has code without names", give_elf, 56},
};

bool is_hex_record(std::string_view text) {
    const bool begins = text.size() > 8 && (text[0] == ':' || (text[0] == 'S' && text[1] == '0'));
    return begins && std::all_of(text.begin() + 2, text.begin() + 8, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
           });
}

std::string machine_text(unsigned machine) {
    switch (machine) {
    case EM_386: return "32-bit x86";
    case EM_ARM: return "32-bit Arm";
    case EM_X86_64: return "x86-64";
    default: return fmt::format("machine {}", machine);
    }
}

std::string no_elf(std::string_view head) {
    if (head.empty()) return "is empty";
    for (const Magic& magic : magics) {
        if (head.size() >= magic.offset && head.substr(magic.offset).starts_with(magic.bytes))
            return fmt::format("is {}: {}", magic.what, magic.give);
    }
    if (is_hex_record(head)) {
        return fmt::format("is {}, which has code without names: {}",
                           head[0] == ':' ? "an Intel HEX file" : "a file of S-records", give_elf);
    }
    return fmt::format("is not an ELF file for {}: if it is a raw binary, {}", arch_names(" or "),
                       give_elf);
}

}  // namespace

std::optional<std::string> no_image(std::span<const std::uint8_t> head) {
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    if (!text.starts_with(ELFMAG)) return no_elf(text);
    if (head.size() < sizeof(Elf64_Ehdr)) return "is an ELF file that ends in its header";
    const bool is_big = head[EI_DATA] == ELFDATA2MSB;
    const auto half = [&](std::size_t at) {
        return static_cast<unsigned>(head[at + is_big] | head[at + !is_big] << 8);
    };
    const unsigned machine = half(offsetof(Elf64_Ehdr, e_machine));
    const Arch* const arch = arch_of_machine(static_cast<std::uint16_t>(machine));
    const bool is_narrow = head[EI_CLASS] == ELFCLASS32;
    if (arch != nullptr && is_narrow && !is_big && arch->narrow_elf != nullptr)
        return arch->narrow_elf;
    if (arch == nullptr || is_big || head[EI_CLASS] != ELFCLASS64) {
        return fmt::format("is not an ELF file for {}: it is a {}{}-bit one for {}",
                           arch_names(" or "), is_big ? "big-endian " : "", is_narrow ? 32 : 64,
                           arch != nullptr ? arch->name : machine_text(machine));
    }
    switch (half(offsetof(Elf64_Ehdr, e_type))) {
    case ET_REL: return "is an object file, not yet linked: give the linked ELF file";
    case ET_CORE:
        return "is a core file, a copy of memory: give the ELF file of the program; a core file "
               "with rings is for --from file:";
    default: return std::nullopt;
    }
}

}  // namespace nopscope::host
