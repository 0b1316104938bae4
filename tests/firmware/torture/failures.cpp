// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/image.hpp"
#include "tests/firmware/torture/torture.hpp"

#include <stdarg.h>
#include <stdio.h>

namespace torture {

volatile unsigned failures;

void complain(const char* format, ...) {
    failures = failures + 1;
    if (failures > 20) return;
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
}

void fail(const char* file, unsigned line) { complain("an invariant failed, %s:%u", file, line); }

void expect_nothing_lost() {
    const nopscope::Counters now = nopscope::counters();
    const struct {
        const char* name;
        uint64_t value;
    } zeros[] = {{"dropped", now.dropped},
                 {"shadow_stack_full", now.shadow_stack_full},
                 {"off_stack", now.off_stack},
                 {"refused", now.refused_misaligned + now.refused_outside + now.refused_words},
                 {"enabled", now.enabled}};
    for (const auto& [name, value] : zeros) {
        if (value != 0) complain("%s is %lu, must be 0", name, value);
    }
}

int end(const char* image) {
    printf("%s: %s: %u failures\n", image, failures == 0 ? "passed" : "FAILED", failures);
    fflush(stdout);
    nopscope::finish();
    return failures == 0 ? 0 : 1;
}

}  // namespace torture
