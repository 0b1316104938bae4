// SPDX-License-Identifier: Apache-2.0
// The coherence oracle's input (a description of the image) and its result.
#pragma once

#include "tests/verification/oracle/coherence_rows.hpp"

namespace coherence {

struct Range {
    Address begin, end;
    bool has(Address address) const { return address >= begin && address < end; }
    bool meets_page_of(Address address) const {
        return (address | 0xfff) >= begin && (address & ~Address{0xfff}) < end;
    }
};

// The file that coherence.py makes from the ELF, numbers hex:
//
//     text BEGIN END PATH      executable and physical addresses; a file with the bytes there
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
    std::string bytes;
    Address alias = 0;
    std::vector<std::pair<Address, Address>> sites;
    std::unordered_set<Address> requests;
    std::vector<Range> readers;
    Range holder{}, lists{}, switching{};
    Address made = 0;
    OpsOf ops;
};

// Returns false if it is not such a file.
bool read_image(const std::string& path, Image& image);
bool read_text(const Image& image, std::vector<std::uint8_t>& text);
// Writes JSON; docs/proof.md describes its names. `unknown`: a sentence about what the oracle could
// not find out of the machine, or empty. Returns false if the file cannot be written.
bool write_result(const std::string& path, const Model& model, const std::string& unknown);

}  // namespace coherence
