// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/torture/registers.hpp"

#include "tests/firmware/torture/torture.hpp"

#include <stdio.h>

namespace torture {
namespace {

void fill(RegisterFile& file, uint64_t seed) {
    auto* words = reinterpret_cast<uint64_t*>(&file);
    for (unsigned n = 0; n < sizeof file / sizeof words[0]; ++n) words[n] = draw(seed, n);
}

const char* name_of(const char* kind, unsigned number, const char* where) {
    static char text[48];
    snprintf(text, sizeof text, "%s%u %s", kind, number, where);
    return text;
}

}  // namespace

const char* check_registers(void (*function)(), uint64_t seed, uint64_t from_sp) {
    fill(torture_arguments, seed);
    fill(torture_results, ~seed);
    torture_call_registers(function, from_sp);

    const RegisterFile& sent = torture_arguments;
    const RegisterFile& arrived = torture_arrived;
    const RegisterFile& returned = torture_returned;
    for (unsigned n = 0; n < 9; ++n) {
        if (arrived.x[n] != sent.x[n]) return name_of("x", n, "inside");
        if (returned.x[n] != torture_results.x[n]) return name_of("x", n, "after");
    }
    for (unsigned n = 0; n < 16; ++n) {
        if (arrived.v[n] != sent.v[n]) return name_of("v", n / 2, "inside");
        if (returned.v[n] != torture_results.v[n]) return name_of("v", n / 2, "after");
    }
    for (unsigned n = 0; n < 12; ++n) {  // x18-x29
        if (arrived.x18_to_x30[n] != sent.x18_to_x30[n]) return name_of("x", n + 18, "inside");
        if (returned.x18_to_x30[n] != sent.x18_to_x30[n]) return name_of("x", n + 18, "after");
    }
    for (unsigned n = 0; n < 8; ++n) {
        if (arrived.d[n] != sent.d[n]) return name_of("d", n + 8, "inside");
        if (returned.d[n] != sent.d[n]) return name_of("d", n + 8, "after");
    }
    if (returned.sp != torture_before_call.sp) return "sp after";
    return nullptr;
}

}  // namespace torture
