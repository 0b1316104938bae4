// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host::riscv64 {

extern const Arch arch;

// instructions.cpp
std::unique_ptr<CodeScan> scan(const ElfFile& elf);
std::optional<std::uint64_t> pc_relative_target(std::uint64_t address, std::uint32_t word);
bool takes_register_of_caller(const ElfFile& elf, std::uint64_t body);
void* new_disassembler();

// patch_site.cpp
std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address);
const char* site_remedy(const ElfFile& elf, std::uint64_t address);

}  // namespace nopscope::host::riscv64
