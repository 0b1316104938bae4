// SPDX-License-Identifier: Apache-2.0
// A page's section `code`: the hottest functions' instructions and their source lines.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host-tools/image/arch/disassembler.hpp"
#include "host-tools/image/elf_file.hpp"
#include "host-tools/image/source_lines.hpp"
#include "host-tools/image/symbols.hpp"
#include "host-tools/views/json/json.hpp"

namespace nopscope::host {

class CodeView {
public:
    // Limits: functions of a page; instructions of a function.
    static constexpr std::size_t max_functions = 40;
    static constexpr std::size_t max_instructions = 4096;
    static constexpr std::int64_t max_bytes = 200'000;  // all instructions, their lines and targets
    static constexpr std::size_t max_files = 256;
    static constexpr std::size_t max_source_bytes = 60'000;
    static constexpr std::size_t max_line_bytes = 200;

    // Reads the image once. Reads the files that its DWARF names when they are needed, relative
    // ones below `source_roots`; without a root, there is no source. Throws Error.
    CodeView(const std::string& image, std::vector<std::string> source_roots);

    // The view's section `code` (web/src/code_model.ts).
    Json json(const Report& report, const PositionOf& position) const;

private:
    std::vector<std::uint64_t> hottest(const Report& report) const;
    bool is_data(std::uint64_t address) const;
    Json function(const Function& of, std::int64_t& room, const PositionOf& position,
                  std::vector<LinePlace>& places) const;
    Json source(std::vector<LinePlace> places, const std::vector<std::uint32_t>& files) const;

    ElfFile elf_;
    Symbols symbols_;
    Disassembler disassembler_;
    LineTable lines_;
    std::vector<std::pair<std::uint64_t, bool>> data_;  // ascending: data (true) or code from here
    std::vector<std::string> source_roots_;
    std::int64_t modified_ = 0;  // time of the image, in seconds
};

}  // namespace nopscope::host
