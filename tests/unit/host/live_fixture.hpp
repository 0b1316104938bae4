// SPDX-License-Identifier: Apache-2.0
// A Live whose source the test feeds.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "host-tools/live/live.hpp"
#include "tests/unit/host/target_stream.hpp"
#include "tests/unit/host/wire.hpp"

namespace nopscope::host::test {

class LiveFixture : public testing::Test {
protected:
    void open(bool comes_back = false, bool timeline = false) {
        open({.line = {.from = "test:", .image = {}, .memory = {}, .steering = {}},
              .timeline = timeline},
             comes_back);
    }
    void open(const LiveOptions& options, bool comes_back) {
        live = std::make_unique<Live>(
            options, [this] { return std::make_unique<WireSource>(wire); }, comes_back);
    }
    void send() {
        target.flush();
        sent += target.bytes.size();
        wire.send(target.bytes);
        target.bytes.clear();
        wait([this] { return live->status().line.bytes >= sent; });
    }
    template <typename Condition>
    void wait(Condition condition) {
        for (int n = 0; !condition(); ++n) {
            ASSERT_LT(n, 10'000) << "it has not come within ten seconds";
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    static const FunctionRow* row_of(const LiveView& view, std::uint32_t site) {
        for (const FunctionRow& row : view.report->functions) {
            if (row.address == TargetStream::text_base + site * 8) return &row;
        }
        return nullptr;
    }
    std::string path(const char* name) { return testing::TempDir() + name; }

    Wire wire;
    TargetStream target;
    std::size_t sent = 0;
    std::unique_ptr<Live> live;
};

}  // namespace nopscope::host::test
