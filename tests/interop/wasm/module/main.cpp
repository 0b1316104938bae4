// SPDX-License-Identifier: Apache-2.0
// Prints a recording's figures: a line for each function, with what report --format json says.
#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "host-tools/calls/moves_in_order.hpp"
#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/report/make_report.hpp"
#include "host-tools/line/stream/origins.hpp"
#include "host-tools/recording/reader.hpp"

// Debian's compiler-rt was built with a stack protector, which its wasi-libc does not have.
extern "C" {
[[gnu::weak]] extern const std::uintptr_t __stack_chk_guard = 0x5bd1e995;
[[gnu::weak, noreturn]] void __stack_chk_fail() { __builtin_trap(); }
}

namespace {

using namespace nopscope::host;

Result<Report> report_of(const std::string& path) {
    nsc::Reader ahead, reader;
    FirstClocks first;
    ahead.only_first_records();
    if (const auto read = ahead.read_file(path, first); !read) return std::unexpected(read.error());
    Profile profile;
    profile.know_code(
        code_of_calls([&] { return reader.symbols() ? &*reader.symbols() : nullptr; }));
    MovesInOrder in_order(profile);
    OriginsAhead origins(in_order, std::move(first));
    if (const auto read = reader.read_file(path, origins); !read)
        return std::unexpected(read.error());
    return make_report(profile, reader.counters(), reader.symbols() ? &*reader.symbols() : nullptr);
}

void print_times(const RowTimes& of) {
    fmt::print("\t{}\t{}", of.total_ns, of.self_ns);
    const CallTimes call = of.call.value_or(CallTimes{});
    fmt::print(fmt::runtime(of.call ? "\t{}\t{}\t{}" : "\tnull\tnull\tnull"), call.min_ns,
               call.mean_ns, call.max_ns);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return static_cast<int>(Exit::usage);
    const Result<Report> report = report_of(arguments[1]);
    if (!report) {
        fmt::print(stderr, "{}\n", report.error().what());
        return static_cast<int>(report.error().code());
    }
    for (const FunctionRow& row : report->functions) {
        if (row.interrupt) continue;
        fmt::print("{}\t{}", row.name, row.calls);
        print_times(row);
        print_times(row.corrected);
        fmt::print("\n");
    }
}
