// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/torture/registers.hpp"

#include "tests/firmware/torture/torture.hpp"

#include <stdio.h>

torture::RegisterFile torture_arguments, torture_results, torture_before_call, torture_arrived,
    torture_returned;

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

const char* wrong_register(const RegisterSet& set) {
    const auto words_of = [&set](const RegisterFile& file) {
        return reinterpret_cast<const uint64_t*>(&file) + set.at / sizeof(uint64_t);
    };
    const uint64_t* const sent = words_of(torture_arguments);
    const uint64_t* const due = set.after == After::results ? words_of(torture_results) : sent;
    for (unsigned n = 0; n < set.words; ++n) {
        const unsigned number = set.first + n / set.words_each;
        if (words_of(torture_arrived)[n] != sent[n]) return name_of(set.kind, number, "inside");
        if (set.after != After::anything && words_of(torture_returned)[n] != due[n])
            return name_of(set.kind, number, "after");
    }
    return nullptr;
}

}  // namespace

const char* check_registers(void (*function)(), uint64_t seed, uint64_t from_sp) {
    fill(torture_arguments, seed);
    fill(torture_results, ~seed);
    torture_call_registers(function, from_sp);

    for (const RegisterSet& set : register_sets) {
        if (const char* wrong = wrong_register(set)) return wrong;
    }
    if (torture_returned.sp != torture_before_call.sp) return "sp after";
    return nullptr;
}

}  // namespace torture
