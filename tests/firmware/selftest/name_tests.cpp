// SPDX-License-Identifier: Apache-2.0
// Sites by name. This image has the name table.
#include "nopscope/nopscope.hpp"
#include "tests/firmware/selftest/capture.hpp"
#include "tests/firmware/selftest/selftest.hpp"
#include "tests/firmware/selftest/traced.hpp"

#include <cstring>

using namespace nopscope;
using namespace nopscope::selftest;

namespace {

bool is_named(std::uint32_t index, const char* name) {
    char text[256];
    return site_name(index, text, sizeof text) == std::strlen(name) && std::strcmp(text, name) == 0;
}

void count(std::uint64_t, std::uint64_t, Ops* ops, Regs*) {
    ++*static_cast<std::uint64_t*>(ops->user);
}
std::uint64_t calls;
Ops counting{.func = count, .user = &calls};

constexpr const char* leaf_name = "_ZN8nopscope8selftest4leafEm";

}  // namespace

SELFTEST("names.each_site_has_its_own") {
    REQUIRE(nothing_traced());
    REQUIRE(is_named(index_of(pointer(leaf)), leaf_name));
    REQUIRE(is_named(index_of(pointer(calls_leaf)), "_ZN8nopscope8selftest10calls_leafEm"));
    REQUIRE(is_named(index_of(pointer(std::strlen)), "strlen"));
    char text[6] = "-----";
    REQUIRE(site_name(index_of(pointer(std::strlen)), text, 4) == 6 &&
            std::strcmp(text, "str") == 0);
    REQUIRE(text[4] == '-');
    REQUIRE(site_name(site_count(), text, 4) == 0 && text[0] == 0);
    unsigned named = 0;
    for (std::uint32_t i = 0; i < site_count(); ++i) named += site_name(i, nullptr, 0) != 0;
    REQUIRE(named >= site_count() - 3);  // a bad entry may be at no symbol
}

SELFTEST("names.an_ops_is_attached_by_name") {
    calls = 0;
    REQUIRE(is_ok(attach(counting, Sites::named(leaf_name))) && counting.sites == 1);
    REQUIRE(calls_leaf(1) == 3 && calls == 1);
    REQUIRE(is_ok(set_filter(counting, Sites::named("_ZN8nopscope8selftest*leafEm"))));
    REQUIRE(counting.sites == 3 && counters().enabled == 3);  // leaf, calls_leaf, tail_calls_leaf
    REQUIRE(calls_leaf(1) == 3 && tail_calls_leaf(1) == 3 && calls == 5);
    REQUIRE(is_ok(detach(counting, Sites::named("*tail_calls_leaf*"))) && counting.sites == 2);
    REQUIRE(is_ok(set_filter(counting, Sites::named("_ZN8nopscope8selftest?leafEm"))));
    REQUIRE(counting.sites == 1 && counters().enabled == 1);
    REQUIRE(is_ok(detach(counting)) && counters().enabled == 0);
}

SELFTEST("names.a_recorder_is_enabled_by_name") {
    REQUIRE(is_ok(enable(Recorder::graph, Sites::named("*leafEm"))) && counters().enabled == 3);
    REQUIRE(is_ok(disable(Sites::named("*calls_leafEm"))) && counters().enabled == 1);
    REQUIRE(is_ok(disable(Sites::named("*"))) && counters().enabled == 0);
}

SELFTEST("names.what_nothing_is_called_is_unknown") {
    REQUIRE(enable(Recorder::graph, Sites::named("leaf")) == Status::unknown_function);
    REQUIRE(attach(counting, Sites::named("_ZN8nopscope8selftest4leafEm?")) ==
            Status::unknown_function);
    REQUIRE(set_filter(counting, Sites::named("")) == Status::unknown_function);
    REQUIRE(counting.sites == 0 && counters().enabled == 0);
}
