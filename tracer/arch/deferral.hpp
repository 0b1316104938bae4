// SPDX-License-Identifier: Apache-2.0
// Whether interrupts are deferred while this core records, so that no task is preempted there. In
// nopscope::arch:
//
//     defers_interrupts       whether this library was built so
//     vector_defers()         whether this core's IRQ vector does its part. Interrupts must be
//                             masked, and the core's register be set (set_current_core)
//     deferral_missed()       whether the last interrupt of this core was taken where it should
//                             have been deferred: a vector does not do its part
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(deferral.hpp)
