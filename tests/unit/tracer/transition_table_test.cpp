// SPDX-License-Identifier: Apache-2.0
// The patcher does what the table of transitions in docs/ops.md says.
#include "tests/unit/tracer/site_fixture.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace nopscope {
namespace {

using sim::Step;
using testing::Set;

// One set of each kind.
const std::pair<const char*, Set> kinds[] = {
    {"none", {}},
    {"direct", {testing::direct}},
    {"far", {testing::far}},
    {"callback", {testing::callback}},
    {"unguarded", {testing::unguarded}},
    {"callbacks", {testing::callback, testing::other_callback}},
    {"callback, direct", {testing::callback, testing::direct}},
};

// What a core can see, in order. S: slot, W: word, n: the slot of no ops, .: synchronize.
std::string steps(const Set& from, const Set& to) {
    std::string text;
    for (const Step& step : testing::Site().record(from, to, true).steps) {
        switch (step.kind) {
        case Step::Kind::write_slot: text += step.value == 0 ? "n" : "S"; break;
        case Step::Kind::write_word: text += "W"; break;
        case Step::Kind::synchronize: text += "."; break;
        case Step::Kind::end: text += " "; break;
        default: break;
        }
    }
    text.pop_back();
    return text;
}

std::string table() {
    std::ostringstream out;
    out << "| from \\ to |";
    for (const auto& to : kinds) out << " " << to.first << " |";
    out << "\n|---|";
    for (std::size_t i = 0; i < std::size(kinds); ++i) out << "---|";
    out << "\n";
    for (const auto& from : kinds) {
        out << "| " << from.first << " |";
        for (const auto& to : kinds)
            out << (&from == &to ? " |" : " `" + steps(from.second, to.second) + "` |");
        out << "\n";
    }
    return out.str();
}

TEST(TransitionTable, IsAsDocumented) {
    std::ifstream file(NOPSCOPE_SOURCE_DIR "/docs/ops.md");
    const std::string document{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(document.find(table()), std::string::npos) << "docs/ops.md should have:\n" << table();
}

}  // namespace
}  // namespace nopscope
