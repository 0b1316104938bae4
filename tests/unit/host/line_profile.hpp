// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/recording/reader.hpp"
#include "host-tools/target/stream/moves_in_order.hpp"

namespace nopscope::host::test {

// Makes a profile of a line's bytes.
class LineProfile : public Profile {
public:
    void feed(std::span<const std::uint8_t> bytes) { line_.feed(bytes); }
    void finish() { line_.finish(); }
    void read(std::span<const std::uint8_t> bytes) {
        feed(bytes);
        finish();
    }
    nsc::Counters counters() const { return {{}, line_.line(), line_.counters()}; }

private:
    MovesInOrder in_order_{*this};
    SessionReader line_{in_order_};
};

}  // namespace nopscope::host::test
