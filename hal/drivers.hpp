// SPDX-License-Identifier: Apache-2.0
// The drivers of an architecture's boards, in nopscope::hal:
//
//     with_uart(operation), with_controller(operation)
//                         call `operation` with the board's UART or interrupt controller. Their
//                         branch is the whole cost of a table of boards
//     core_call_refused   why the controller does not enable the interrupt of core calls
#pragma once

#include "hal/arch.hpp"

#include NOPSCOPE_HAL_FILE(drivers.hpp)
