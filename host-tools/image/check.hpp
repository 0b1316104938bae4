// SPDX-License-Identifier: Apache-2.0
// Is this image fit to be traced? Two ways a build goes wrong without a word from the linker: sites
// that --gc-sections or a misaligned section took away, and functions that are called through
// pointers but have no landing pad, on which a CPU that enforces these faults.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

struct Problem {
    std::uint64_t address = 0;
    std::string function;  // demangled
    std::string what;      // a phrase: "is instrumented but has no site"
};

struct CheckResult {
    std::size_t sites = 0;
    std::size_t functions = 0;                // FUNC symbols, one for each address
    std::size_t address_taken = 0;            // of them
    std::vector<Problem> problems;            // by address
    std::vector<std::string> uninstrumented;  // demangled; without the HAL's and the tracer's
    std::vector<std::string>
        prebuilt;  // of these, those whose source file has no site at all, or is not known
    std::vector<Problem> without_pad;  // as problems, where pads are not enforced
    bool pads_are_enforced = false;
    bool has_build_id = false;
    bool has_tracer = false;  // by its symbols
};

// `pads_are_enforced`: whether the CPU faults where an indirect call finds no landing pad; nothing:
// as the image tells (has_landing_pads()).
CheckResult check_image(const ElfFile& elf, const std::vector<std::string>& allowed_without_pad,
                        std::optional<bool> pads_are_enforced = {});

// True if the linker's property note says that all code has landing pads, or, without such a note,
// if a patch site has one.
bool has_landing_pads(const ElfFile& elf);

// One way in which a function's address comes to be a value at run time.
struct TakenAddress {
    std::uint64_t target = 0;
    std::uint64_t where = 0;  // the instruction that completes it, or the data word
};
// Each function whose address the image's data or code makes, once. Not calls, not branches.
std::vector<TakenAddress> taken_addresses(const ElfFile& elf);

}  // namespace nopscope::host
