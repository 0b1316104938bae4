// SPDX-License-Identifier: Apache-2.0
// A patch site: the slot of 8 bytes before a function, and the words at its entry. The compiler
// leaves NOPs there. Boot initialisation writes the setup word, once. Later only the toggling word
// changes, by one aligned store of 4 bytes, while other cores may execute it. In nopscope:
//
//     slot_bytes              from the slot to the function
//     site_bytes              from the slot to the end of the longest site
//     body_offset             from a function to its body, rounded down to 8 bytes: recorders
//                             store that address
//     PatchSite               a function, and whether a landing pad precedes its two words
//       .slot()               address of the slot
//       .setup(), .toggle()   addresses of the two words
//       .body()               address of the first instruction behind them
//       .setup_word()         what boot initialisation writes at setup()
//     SiteEntry               the same in 8 bytes, for the site table; see the class
//     is_unset(machine, site) whether slot and words are as the compiler leaves them
//     write_idle_words(machine, site)
//                             makes an unset site idle, but for its slot. Before any core runs it
//     function_of_body(body)  the function, from the address of its body
//     way_to_entries()        the addresses [begin, end) of code between a site's call and what it
//                             calls; empty: there is none
//     patch_site(machine, function)
//                             the PatchSite of a function, read from its text
//     is_site_call(machine, address)
//                             whether the call that ends at `address`, which is text, is a patch
//                             site's
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(patch_site.hpp)
