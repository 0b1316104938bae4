// SPDX-License-Identifier: Apache-2.0
// Makes an image's name table (tracer/protocol/names.hpp) after its link.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

std::vector<std::uint8_t> name_table(const ElfFile& elf);

// The same as a source file for the second link: it fills the section .nopscope.names.
std::string name_table_source(const ElfFile& elf);

}  // namespace nopscope::host
