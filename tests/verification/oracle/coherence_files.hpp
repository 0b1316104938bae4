// SPDX-License-Identifier: Apache-2.0
// The coherence oracle's input (a description of the image) and its result.
#pragma once

#include "tests/verification/oracle/coherence_rows.hpp"

namespace coherence {

inline bool meets_page_of(const Range& range, Address address) {
    return (address | 0xfff) >= range.low && (address & ~Address{0xfff}) < range.high;
}

// The file that coherence.py makes from the ELF, numbers hex:
//
//     text BEGIN END           executable and physical addresses
//     alias OFFSET             distance of the writable mapping above the text
//     site WORD FUNCTION
//     request ADDRESS          a function that changes text, and then returns
//     reader BEGIN END         code that loads slots
//     holder BEGIN END MADE    a reader that keeps the object; unguarded callbacks return to MADE
//     switch BEGIN END         the function that switches stacks; its last instruction returns
//     lists BEGIN END          memory that contains lists
//     ops NONE WALK_LIST GUARDED CALLBACK UNGUARDED FAR
struct Image {
    Range text{};
    Address alias = 0;
    std::vector<std::pair<Address, Address>> sites;
    std::unordered_set<Address> requests;
    std::vector<Range> readers;
    Range holder{}, lists{}, switching{};
    Address made = 0;
    OpsOf ops;
};

// Writes JSON; docs/proof.md describes its names. `unknown`: a sentence about what the oracle could
// not find out of the machine, or empty. Returns false if the file cannot be written.
bool write_result(const std::string& path, const Model& model, const std::string& unknown);

}  // namespace coherence
