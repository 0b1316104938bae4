// SPDX-License-Identifier: Apache-2.0
// How an ELF file describes its architecture. The headers of this folder declare all that other
// rooms need to know of an architecture. An architecture's own folder defines it; only such folders
// name an architecture.
#pragma once

#include <cstdint>

namespace nopscope::host::arch {

// Whether images with this e_machine can be read.
bool is_known_machine(std::uint16_t machine);

// The property of .note.gnu.property that lists the features used by all code, and its bit for
// landing pads.
struct FeatureProperty {
    std::uint32_t type;
    std::uint32_t landing_pads;
};
FeatureProperty feature_property();

// The r_info of a relocation that writes the load bias plus its addend.
std::uint64_t relative_relocation();

}  // namespace nopscope::host::arch
