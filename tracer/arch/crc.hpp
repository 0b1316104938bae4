// SPDX-License-Identifier: Apache-2.0
// CRC-32C by an instruction of the CPU. In nopscope::arch:
//
//     has_crc_instruction()   false: the CPU has none, and crc32c_step() must not be called
//     crc32c_step(crc, bytes)
//                             adds eight bytes, least significant first. The caller inverts the CRC
//                             before the first step and after the last
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(crc.hpp)
