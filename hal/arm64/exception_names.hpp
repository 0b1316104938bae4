// SPDX-License-Identifier: Apache-2.0
// Texts for ESR_EL1: Arm ARM DDI 0487, D19.2 (EC and ISS encodings).
#pragma once

#include <cstdint>

#include "hal/arm64/registers.hpp"

namespace nopscope::hal {

inline constexpr unsigned vector_synchronous = 4;

const char* vector_name(unsigned vector);
const char* exception_class_name(Esr esr);
bool is_data_abort(Esr esr);
bool is_abort(Esr esr);  // data or instruction
const char* fault_status_name(Esr esr);
bool is_in_stack_guard(std::uint64_t address);

}  // namespace nopscope::hal
