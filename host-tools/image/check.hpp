// SPDX-License-Identifier: Apache-2.0
// Checks whether an image can be traced. The linker does not report these faults: --gc-sections or
// a misaligned section removed patch sites, a site lies where the target refuses it, or a function
// without a landing pad is called through a pointer. A CPU that enforces landing pads faults on
// that call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/image/symbols.hpp"

namespace nopscope::host {

struct CheckResult {
    std::size_t sites = 0;
    std::size_t functions = 0;                // FUNC symbols, one for each address
    std::size_t address_taken = 0;            // functions whose address the image takes
    std::vector<Problem> problems;            // by address
    std::vector<Problem> broken_by_tracing;   // sites, by address; problems unless allowed
    std::vector<std::string> uninstrumented;  // demangled; except the HAL's and the tracer's
    std::vector<std::string> prebuilt;  // of these: the source file has no site, or is unknown
    std::vector<Problem> without_pad;   // would be problems if pads were enforced
    std::vector<std::string> unused;    // demangled: with a site, and nothing refers to them
    std::size_t relocated_sites = 0;    // entries of the site table that relocations fill
    bool pads_are_enforced = false;
    bool has_build_id = false;
    bool has_tracer = false;  // by its symbols
};

// `pads_are_enforced`: whether the CPU faults on an indirect call to a function without a landing
// pad; nothing: if the image has pads. `allowed_without_pad`: functions to accept without one.
CheckResult check_image(const ElfFile& elf, const std::vector<std::string>& allowed_without_pad,
                        std::optional<bool> pads_are_enforced = {});

// A place where the image makes a function's address into a value.
struct TakenAddress {
    std::uint64_t target = 0;
    std::uint64_t where = 0;  // the instruction that completes it, or the data word
    bool is_in_code = false;
};
// Each function whose address the image's data or code makes, once, by code if there is some; calls
// and branches make none.
std::vector<TakenAddress> taken_addresses(const ElfFile& elf);

// What an image's words refer to: `to` is any address, and `where` is in code or in data.
struct References {
    // Each address that code or data makes, but for the site table.
    std::function<void(const TakenAddress&)> made;
    // Each call or jump whose target is in the instruction.
    std::function<void(std::uint64_t target, std::uint64_t where)> branches = {};
};
void scan_references(const ElfFile& elf, const References& visit);

}  // namespace nopscope::host
