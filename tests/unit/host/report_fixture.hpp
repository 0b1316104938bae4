// SPDX-License-Identifier: Apache-2.0
// A target's stream and the report of it.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "host-tools/analysis/report/report.hpp"
#include "tests/unit/host/line_profile.hpp"
#include "tests/unit/host/target_stream.hpp"

namespace nopscope::host::test {

class ReportTest : public testing::Test {
protected:
    Symbols symbols() const {
        Symbols result;
        result.origin = "demo.elf";
        result.build_id = target.build_id;
        result.site_table_crc = target.site_table_crc;
        for (std::uint32_t i = 0; i < 10; ++i) {
            result.sites.push_back({TargetStream::text_base + i * 8, 8, "f" + std::to_string(i),
                                    "/src/lib/f.c", 10 + i});
        }
        return result;
    }
    Report report(bool named = true) {
        profile.feed(target.bytes);
        profile.finish();
        const Symbols names = symbols();
        return make_report(profile, profile.counters(), named ? &names : nullptr);
    }
    static const FunctionRow& row(const Report& report, const std::string& name) {
        for (const FunctionRow& row : report.functions) {
            if (row.name == name) return row;
        }
        throw std::out_of_range(name);
    }

    TargetStream target;
    test::LineProfile profile;
};

}  // namespace nopscope::host::test
