// SPDX-License-Identifier: Apache-2.0
// A patch site: the slot of 8 bytes before a function, and the words at its entry. The compiler
// leaves NOPs there. Boot initialisation writes the setup word, once. Later only the toggling word
// changes, by one aligned store of 4 bytes, while other cores may execute it. In nopscope:
//
//     slot_bytes              from the slot to the function
//     unset_slot              the slot as the compiler leaves it
//     site_bytes              from the slot to the end of the longest site
//     body_offset             from a function to its body, rounded down to 8 bytes: recorders
//                             store that address
//     PatchSite               a function, and whether a landing pad precedes its two words
//       .slot()               address of the slot
//       .setup(), .toggle()   addresses of the two words
//       .body()               address of the first instruction behind them
//       .setup_word()         what boot initialisation writes at setup()
//     SiteEntry               the same in 8 bytes, for the site table; see the class
//     function_of_body(body)  the function, from the address of its body
//     patch_site(machine, function)
//                             the PatchSite of a function, read from its text
//     is_site_call(machine, address)
//                             whether the call that ends at `address`, which is text, is a patch
//                             site's
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(patch_site.hpp)
