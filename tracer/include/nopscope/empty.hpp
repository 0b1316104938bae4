// SPDX-License-Identifier: Apache-2.0
// The functions of nopscope.hpp in a build without the tracer (enabled.h). Each request succeeds at
// once. There are no sites, names, counts and hooks. tests/shipping compares this file with the
// declarations.
#pragma once

#include "nopscope/nopscope.hpp"

#if !NOPSCOPE_ENABLED
namespace nopscope {

NOPSCOPE_EMPTY const char* describe(Status) { return ""; }

NOPSCOPE_EMPTY Status init(const Config&) { return Status::ok; }
NOPSCOPE_EMPTY Status join(std::uint64_t, std::uint64_t) { return Status::ok; }
NOPSCOPE_EMPTY Status enable(Recorder, const Sites&) { return Status::ok; }
NOPSCOPE_EMPTY Status disable(const Sites&) { return Status::ok; }

NOPSCOPE_EMPTY Status attach(Ops&, const Sites&) { return Status::ok; }
NOPSCOPE_EMPTY Status detach(Ops&, const Sites&) { return Status::ok; }
NOPSCOPE_EMPTY Status set_filter(Ops&, const Sites&) { return Status::ok; }
NOPSCOPE_EMPTY bool synchronize() { return true; }

NOPSCOPE_EMPTY std::uint32_t site_count() { return 0; }
NOPSCOPE_EMPTY SiteInfo site(std::uint32_t) { return {}; }
NOPSCOPE_EMPTY std::optional<std::uint32_t> lookup(std::uint64_t) { return {}; }
NOPSCOPE_EMPTY std::size_t site_name(std::uint32_t, char*, std::size_t) { return 0; }
NOPSCOPE_EMPTY void for_each_ops(std::uint32_t, void (*)(Ops&, void*), void*) {}

NOPSCOPE_EMPTY void stop() {}
NOPSCOPE_EMPTY void start() {}
NOPSCOPE_EMPTY Status set_mode(Mode) { return Status::ok; }
NOPSCOPE_EMPTY void set_min_duration(std::uint64_t) {}
NOPSCOPE_EMPTY void set_max_depth(std::uint32_t) {}
NOPSCOPE_EMPTY void set_sample(std::uint32_t) {}
NOPSCOPE_EMPTY Status trace_only_below(const Sites&) { return Status::ok; }
NOPSCOPE_EMPTY Status trace_everywhere() { return Status::ok; }
NOPSCOPE_EMPTY void pump() {}
NOPSCOPE_EMPTY std::size_t profile_bytes(unsigned) { return 0; }
NOPSCOPE_EMPTY void send_profile() {}
NOPSCOPE_EMPTY bool read_profile(std::uint32_t, unsigned, SiteProfile&) { return false; }
NOPSCOPE_EMPTY void finish() {}
NOPSCOPE_EMPTY void prepare_reset() {}

// Drops the text: a firmware that sends its console through here checks NOPSCOPE_ENABLED first.
NOPSCOPE_EMPTY void console_write(const char*, std::size_t) {}
NOPSCOPE_EMPTY void enter_panic() {}

NOPSCOPE_EMPTY bool is_return_hook(std::uint64_t) { return false; }
NOPSCOPE_EMPTY std::uint64_t hooked_return_address_of(std::uint64_t, std::uint64_t) { return 0; }
NOPSCOPE_EMPTY std::uint64_t hooked_return_address(unsigned) { return 0; }
NOPSCOPE_EMPTY bool is_entry_code(std::uint64_t) { return false; }

NOPSCOPE_EMPTY Counters counters() { return {}; }
NOPSCOPE_EMPTY LastError last_error() { return {}; }

}  // namespace nopscope
#endif
