// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/unit/host/prelude.hpp"
#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host::test {

// Random calls: with recursion, longjmps, `call` records, gaps and tracer brackets.
class RandomTrace {
public:
    static constexpr std::uint32_t sites = 8;

    explicit RandomTrace(unsigned seed) : random_(seed) {
        static constexpr std::uint64_t clocks[] = {1'000'000'000, 62'500'000, 54'000'000,
                                                   19'200'000, 3};
        target.clock_hz = clocks[seed % std::size(clocks)];
        target.lossless = seed % 4 == 0;
        target.calibrated = seed % 7 != 0;
        target.landing_pad = below(2 * unit);
        for (protocol::Overhead& of : target.overheads) of = {below(12 * unit), below(12 * unit)};
        with_gaps_ = seed % 3 == 0;
        is_slow_ = seed % 2 == 1;
        for (Function& site : symbols.sites) {
            site.landing_pad = random_() % 3 != 0;
            TailCalls tails;
            for (std::uint32_t to = 0; to < sites; ++to) {
                if (random_() % 4 == 0)
                    tails.direct.push_back({to, static_cast<Tail>(random_() % 3)});
            }
            symbols.tails.push_back(std::move(tails));
        }
        target.hello();
        for (unsigned i = 0; i < 30; ++i) call(0);
        target.finish();
        profile.know_code(code_of_calls([this] { return &symbols; }));
        profile.read(target.bytes);
    }

    Report report(bool raw) const {
        return or_throw(make_report(profile, profile.counters(), &symbols, raw));
    }
    bool has_gaps() const { return with_gaps_; }
    bool is_slow() const { return is_slow_; }  // every call takes longer than its recording

    TargetStream target;
    Symbols symbols = numbered_symbols(target, sites);
    LineProfile profile;

private:
    static constexpr std::int32_t unit = protocol::overhead_unit;

    std::int32_t below(std::int32_t most) {
        return static_cast<std::int32_t>(random_() % static_cast<unsigned>(most));
    }
    std::uint64_t ticks() {
        return is_slow_             ? 100 + random_() % 200
               : random_() % 3 == 0 ? random_() % 200
                                    : random_() % 12;
    }
    void call(unsigned depth) {
        const std::uint64_t entry = target.entry(random_() % sites, ticks());
        for (unsigned calls = random_() % 4; depth < 5 && calls > 0; --calls) call(depth + 1);
        // A call without time: the mean does not count it.
        if (!is_slow_ && random_() % 8 == 0) target.call(random_() % sites, ticks());
        if (random_() % 50 == 0) target.tracer(ticks());
        if (with_gaps_ && random_() % 40 == 0) {
            target.flush();
            target.entry(random_() % sites, ticks());
            target.lose();
        }
        if (random_() % 60 == 0) return;  // the return of its caller shows that it was left
        target.ret(entry, ticks(), 0, random_() % 25 == 0);
    }

    std::mt19937 random_;
    bool with_gaps_ = false;
    bool is_slow_ = false;
};

}  // namespace nopscope::host::test
