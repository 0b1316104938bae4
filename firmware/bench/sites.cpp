// SPDX-License-Identifier: Apache-2.0
// Requests for many sites at once, and the memory that a site takes.
#include "firmware/bench/functions.hpp"
#include "firmware/bench/strategies.hpp"
#include "nopscope/nopscope.hpp"

// The linker script.
extern "C" const char __nopscope_sites_start[], __nopscope_sites_end[];

namespace bench {

namespace {

using nopscope::Ops;
using nopscope::Recorder;
using nopscope::Sites;
using nopscope::Status;

template <typename Request>
void measure_request(const char* name, const char* strategy, unsigned relevant, Request request) {
    Status status;
    const Reading cost = cost_of([&] { status = request(); });
    need(status == Status::ok, nopscope::describe(status));
    print({name, strategy, relevant, 0}, cost, {}, many);
}

}  // namespace

void measure_sites() {
    const Sites all = Sites::range(index_of(functions[0]), many);
    const auto callback = reinterpret_cast<nopscope::Callback>(bench_empty_callback);
    static Ops one{.func = callback};
    static Ops other{.func = callback};
    static Ops direct{.direct = reinterpret_cast<std::uintptr_t>(bench_empty_direct)};

    const auto enable = [&](Recorder recorder) { return nopscope::enable(recorder, all); };
    const auto disable = [&] { return nopscope::disable(all); };
    measure_request("enable 1024", "function", 1, [&] { return enable(Recorder::function); });
    measure_request("replace 1024", "graph", 1, [&] { return enable(Recorder::graph); });
    measure_request("disable 1024", "graph", 0, disable);
    measure_request("enable 1024", "graph", 1, [&] { return enable(Recorder::graph); });
    measure_request("replace 1024", "function", 1, [&] { return enable(Recorder::function); });
    measure_request("disable 1024", "function", 0, disable);

    measure_request("enable 1024", "call_ops", 1, [&] { return nopscope::attach(one, all); });
    measure_request("enable 1024", "call_ops", 2, [&] { return nopscope::attach(other, all); });
    measure_request("disable 1024", "call_ops", 1, [&] { return nopscope::detach(other, all); });
    measure_request("disable 1024", "call_ops", 0, [&] { return nopscope::detach(one, all); });
    measure_request("enable 1024", "direct", 1, [&] { return nopscope::attach(direct, all); });
    measure_request("disable 1024", "direct", 0, [&] { return nopscope::detach(direct, all); });

    // Bytes, in the field for instructions.
    Reading bytes{};
    bytes.instructions = static_cast<std::uint64_t>(__nopscope_sites_end - __nopscope_sites_start);
    print({"table bytes", "", 0, 0}, bytes, {}, nopscope::site_count());
}

}  // namespace bench
