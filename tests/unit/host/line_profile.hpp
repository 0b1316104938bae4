// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/recording/reader.hpp"

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
    SessionReader line_{*this};
};

}  // namespace nopscope::host::test
