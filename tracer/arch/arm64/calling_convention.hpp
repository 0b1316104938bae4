// SPDX-License-Identifier: Apache-2.0
// AAPCS64 (contract: tracer/arch/calling_convention.hpp).
#pragma once

#include "nopscope/ops.hpp"
#include "nopscope/return_ops.hpp"
#include "nopscope/samples.hpp"

#include <cstdint>

namespace nopscope::arch {

inline constexpr unsigned argument_registers = 8;
inline std::uint64_t argument(const Regs& regs, unsigned n) { return regs.x[n]; }
inline std::uint64_t result(const ReturnRegs& regs) { return regs.x[0]; }
inline std::uint64_t& return_address(Regs& regs) { return regs.lr; }

inline std::uint64_t frame_pointer(const Interruption& at) { return at.x[29]; }
inline std::uint64_t link(const Interruption& at) { return at.x[30]; }
inline std::uint64_t site_body(const Interruption& at) { return at.x[30]; }
inline std::uint64_t site_link(const Interruption& at) { return at.x[9]; }

// AAPCS64, 6.4.6. The frame pointer is its address.
struct FrameRecord {
    std::uint64_t caller;
    std::uint64_t return_address;
};
constexpr std::uint64_t frame_record(std::uint64_t pointer) { return pointer; }

// Such a function has no record, or a whole one.
constexpr bool is_of_leaf(const FrameRecord&, std::uint64_t, std::uint64_t) { return false; }
constexpr std::uint64_t leaf_caller(const FrameRecord&) { return 0; }

// Without the authentication code (PAC).
template <typename M>
std::uint64_t without_signature(M& machine, std::uint64_t saved) {
    return machine.without_pac(saved);
}

}  // namespace nopscope::arch
