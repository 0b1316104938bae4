// SPDX-License-Identifier: Apache-2.0
// CRC-32C by an instruction of the CPU. In nopscope::arch:
//
//     has_crc_instruction()   false: there is none, and nobody may call crc32c_step()
//     crc32c_step(crc, bytes)
//                             eight bytes, least significant first; makes neither the first nor
//                             the last inversion
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(crc.hpp)
