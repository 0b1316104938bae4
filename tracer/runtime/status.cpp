// SPDX-License-Identifier: Apache-2.0
#include "nopscope/nopscope.hpp"

#include "tracer/arch/messages.hpp"

namespace nopscope {

const char* describe(Status status) {
    switch (status) {
    case Status::ok: return "ok";
    case Status::mmu_or_cache_off:
        return "the tracer needs the MMU and the data cache on: call init() after them";
    case Status::no_sites:
        return "the image has no patch sites: build it with nopscope_instrument(TARGET)";
    case Status::already_initialised: return "init() was called before";
    case Status::not_initialised: return "init() has not been called, or did not succeed";
    case Status::unknown_function:
        return "no instrumented function begins at an address in the list, or has such a name";
    case Status::no_names:
        return "the image has no name table of its own: build it with nopscope_name_table(TARGET)";
    case Status::unexpected_text:
        return "a patch site does not hold what the tracer wrote: see last_error()";
    case Status::out_of_reach: return arch::out_of_reach_text;
    case Status::bad_config:
        return "the configuration lacks an output or the clock's rate, has too many cores, or the "
               "image records the PMU's cycles and this CPU has none";
    case Status::wrong_level: return arch::wrong_level_text;
    case Status::wrong_memory: return arch::wrong_memory_text;
    case Status::text_not_writable:
        return "text is neither writable nor is there an alias that is: map one, both write-back, "
               "and give its distance in Config::machine";
    case Status::cores_running:
        return "other cores are on already: call init() before they are started, and join() on "
               "each";
    case Status::events_refused:
        return "the PMU's events cannot be counted like that: events_refusal() says why";
    case Status::no_profile_memory:
        return "the profile recorder needs profile_bytes() of Config::profile_memory";
    case Status::too_many:
        return "too many ops on one function, or too many different sets of them";
    case Status::conflict:
        return "a function can have one direct entry, or one ops that redirects, not two of these";
    case Status::ring_too_small:
        return "the ring has no room for the returns of all contexts' calls: give contexts fewer "
               "frames, or a larger ring (NOPSCOPE_RING_LOG2)";
    case Status::not_deferred:
        return "this core's IRQ vector does not begin with nopscope_defer (nopscope/defer.h)";
    case Status::timeout:
        return "a core did not leave the tracer's code within a second, or took no inter-processor "
               "call";
    }
    return "unknown status";
}

}  // namespace nopscope
