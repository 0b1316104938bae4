// SPDX-License-Identifier: Apache-2.0
// What an ELF file says of the architecture that it is for. The headers of this folder say what the
// other rooms need to know of an architecture. Its own folder defines that, and nothing else here
// names it.
#pragma once

#include <cstdint>

namespace nopscope::host::arch {

// Whether images with this e_machine can be read.
bool is_known_machine(std::uint16_t machine);

// The property of .note.gnu.property that says of which features all code makes use, and its bit
// for landing pads.
struct FeatureProperty {
    std::uint32_t type;
    std::uint32_t landing_pads;
};
FeatureProperty feature_property();

}  // namespace nopscope::host::arch
