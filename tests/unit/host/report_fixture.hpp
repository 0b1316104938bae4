// SPDX-License-Identifier: Apache-2.0
// A target's stream and the report of it.
#pragma once

#include "host-tools/figures/report/make_report.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/text/graph.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/report.hpp"
#include "host-tools/views/text/table.hpp"
#include "tests/unit/host/line_profile.hpp"
#include "tests/unit/host/play.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

template <typename Row>
const Row& named(const std::vector<Row>& rows, const std::string& name) {
    for (const Row& row : rows) {
        if (row.name == name) return row;
    }
    throw std::out_of_range(name);
}

// The symbols of sites 0, 1, ... of the stream's image: f0, f1, ...
inline Symbols numbered_symbols(const TargetStream& target, std::uint32_t count) {
    Symbols symbols;
    symbols.build_id = target.build_id;
    symbols.site_table_crc = target.site_table_crc;
    for (std::uint32_t i = 0; i < count; ++i) {
        symbols.sites.push_back(
            {TargetStream::text_base + i * 8, 8, "f" + std::to_string(i), "/src/lib/f.c", 10 + i});
    }
    return symbols;
}
// The symbols of sites 1, 2, ...
inline Symbols symbols_of(const TargetStream& target, const std::vector<std::string>& names) {
    Symbols symbols = numbered_symbols(target, static_cast<std::uint32_t>(names.size()) + 1);
    symbols.sites.erase(symbols.sites.begin());
    for (std::size_t i = 0; i < names.size(); ++i) {
        symbols.sites[i].name = names[i];
        symbols.sites[i].file = "src/main.c";
        symbols.sites[i].line = 10;
    }
    return symbols;
}

// The symbols, for whom asks later.
inline auto known(const Symbols& symbols) {
    return [&symbols] { return &symbols; };
}

// Parts of a recording. Times are ns since its first record.
inline Part of_time(std::optional<std::uint64_t> from, std::optional<std::uint64_t> to = {}) {
    const auto point = [](std::optional<std::uint64_t> ns) {
        return ns ? std::optional(TimePoint{.ns = *ns}) : std::nullopt;
    };
    return {.time = {point(from), point(to)}, .core = {}, .task = {}, .under = {}};
}
inline Part of_core(unsigned core) { return {.time = {}, .core = core, .task = {}, .under = {}}; }
inline Part of_task(const std::string& task) {
    return {.time = {}, .core = {}, .task = task, .under = {}};
}
// Reads a part, or all.
inline void read_part(const TargetStream& target, const Symbols& symbols, const Part& part,
                      Profile& profile, const Tasks& names = {}) {
    profile.show(or_throw(PartFilter::of(part, known(symbols), names)));
    read_line(target, profile);
}

class StreamReport : public testing::Test {
protected:
    // Ends the recording. Without `symbols`, a function's name is its address.
    const Report& report(const Symbols* symbols = nullptr, bool raw = false) {
        target.finish();
        profile.read(target.bytes);
        made = or_throw(make_report(profile, profile.counters(), symbols, raw));
        return made;
    }
    static const FunctionRow& row(const Report& report, std::uint32_t site) {
        for (const FunctionRow& row : report.functions) {
            if (row.address == TargetStream::text_base + 8 * site) return row;
        }
        throw std::out_of_range("site " + std::to_string(site));
    }

    TargetStream target;
    Play<TargetStream> play{target};
    LineProfile profile;
    Report made;
};

// Its functions are f0, f1, ... by site.
class ReportTest : public StreamReport {
protected:
    Symbols symbols() const {
        Symbols result = numbered_symbols(target, 10);
        result.origin = "demo.elf";
        return result;
    }
    const Report& report() {
        const Symbols names = symbols();
        return StreamReport::report(&names);
    }
    // Of a session with these records.
    const Report& report_of(const std::string& records) {
        play("hello " + records);
        return report();
    }
    static const FunctionRow& row(const Report& report, const std::string& name) {
        return named(report.functions, name);
    }
};

// Of each function "name calls total self", and the numbers of special calls that are not 0. The
// name is that of its site, f1, or the interrupt's.
inline std::vector<std::string> rows_of(const Report& report) {
    std::vector<std::string> list;
    for (const FunctionRow& row : report.functions) {
        const std::string name =
            row.interrupt ? row.name
                          : fmt::format("f{}", (row.address - TargetStream::text_base) / 8);
        list.push_back(fmt::format("{} {} {} {}", name, row.calls, row.total_ns, row.self_ns));
        for (const auto& [what, count] : {std::pair("open", row.open),
                                          {"cut", row.cut},
                                          {"unwound", row.unwound},
                                          {"incomplete", row.incomplete}})
            if (count != 0) list.back() += fmt::format(" {} {}", what, count);
    }
    return list;
}

// The report of a stream that a test writes as text.
class PlayedReport : public StreamReport {
protected:
    std::string rows() {
        if (made.sessions == 0) report();
        return joined(rows_of(made));
    }
};

}  // namespace nopscope::host::test
