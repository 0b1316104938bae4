// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

// Two boots of two cores, with every kind of frame and record, so many rounds each.
inline TargetStream busy_target(int rounds = 900) {
    TargetStream target;
    target.cores = 2;
    target.records_per_frame = 30;
    std::mt19937 random(5);
    for (int boot = 0; boot < 2; ++boot) {
        target.raw("U-Boot 2026.01\r\n");
        target.raw(std::string_view("\0", 1));
        target.hello();
        for (int i = 0; i < rounds; ++i) {
            const auto core = static_cast<std::uint8_t>(random() % 2);
            const auto a = target.entry(random() % 300, random() % 90, core);
            const auto b = target.entry(random() % 9, random() % 900, core);
            target.call(random() % 9, 1, core);
            if (i % 7 != 1)
                target.ret(b, random() % 5, core, i % 50 == 0);  // else a's return ends it
            if (i % 11 == 3) target.argument(Extended::context, random() % 3, 5);
            if (i % 17 == 5) target.argument(Extended::marker, random() % 9);
            if (i % 13 == 2)
                target.with_data(Extended::duration, random() % 4, {random() % 30, random() % 200},
                                 core);
            if (i % 90 == 4) target.tracer(1000);
            if (i % 70 == 1) target.console("tick " + std::to_string(i) + "\n");
            if (i % 100 == 60) target.lose();
            if (i % 100 == 99) target.stats(false, core);
            if (i == 500) target.raw(std::string_view("\x7f\x01garbage\0", 10));
            if (i % 5 != 0) target.ret(a, 7, core);
        }
        target.payload()[0] = 1;
        target.frame(static_cast<Stream>(99), 0, 1);
        const protocol::Byte reply[] = {7, 0, 0, 0, 2, 5, 0xaa, 0};
        std::copy_n(reply, sizeof reply, target.payload());
        target.frame(Stream::reply, 0, sizeof reply);
        target.tasks(TaskFacts{.number = 1, .name = TargetStream::task_name("idle")});
        target.finish();
        if (boot == 0) target.reset();
    }
    return target;
}

}  // namespace nopscope::host::test
