// SPDX-License-Identifier: Apache-2.0
// Makes stores to text visible to instruction fetch on all cores, in batches. In nopscope:
//
//     Maintenance(machine)    begins a batch
//       .note(address)        the word at `address` has been written; ascending addresses cost
//                             least
//       .finish()             completes the batch: no core executes an old word any more. False:
//                             so far some core did not answer within the Machine's timeout, and
//                             may still execute old words. The destructor calls finish()
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(maintenance.hpp)
