// SPDX-License-Identifier: Apache-2.0
// The report of a stream that a test writes as text.
#pragma once

#include <fmt/format.h>

#include "tests/unit/host/play.hpp"
#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host::test {

class PlayedReport : public StreamReport {
protected:
    // The function's name by its site, f1, or the interrupt's.
    static std::string short_name(const FunctionRow& row) {
        if (row.interrupt) return row.name;
        return fmt::format("f{}", (row.address - TargetStream::text_base) / 8);
    }
    // Each function's "name calls total self", and the numbers of special calls that are not 0.
    std::string rows() {
        if (made.sessions == 0) report();
        std::vector<std::string> list;
        for (const FunctionRow& row : made.functions) {
            list.push_back(
                fmt::format("{} {} {} {}", short_name(row), row.calls, row.total_ns, row.self_ns));
            if (row.open != 0) list.back() += fmt::format(" open {}", row.open);
            if (row.unwound != 0) list.back() += fmt::format(" unwound {}", row.unwound);
            if (row.incomplete != 0) list.back() += fmt::format(" incomplete {}", row.incomplete);
        }
        return joined(list);
    }

    Play<TargetStream> play{target};
};

}  // namespace nopscope::host::test
