// SPDX-License-Identifier: Apache-2.0
// The real patcher makes every transition between dispatch states, in every interleaving with cores
// that execute the site (tests/verification/simulator/explorer.hpp). It must find each mutant.
#include "tests/unit/tracer/site_fixture.hpp"
#include "tests/verification/simulator/explorer.hpp"

namespace nopscope {
namespace {

using sim::Exploration;
using sim::ExploreOptions;
using sim::Recording;
using sim::Step;
using namespace testing;

template <typename Use>
void for_each_transition(Use use, bool coherent = false) {
    for (const Set& from : states) {
        for (const Set& to : states) {
            if (&from == &to) continue;
            for (const bool at_once : {true, false})
                use(Site(coherent).record(from, to, at_once), name(from) + " -> " + name(to));
        }
    }
}

std::string lines(const Exploration& found) {
    std::string all;
    for (const std::string& line : found.trace) all += line + "\n";
    return all;
}

enum class Which { all, of_one_request };

void expect_no_violation(ExploreOptions options, Which which = Which::all, bool coherent = false) {
    std::size_t states = 0, transitions = 0;
    for_each_transition(
        [&](const Recording& recording, const std::string& what) {
            if (which == Which::of_one_request && recording.sets.size() > 2) return;
            const Exploration found = sim::Explorer(recording, options).run();
            EXPECT_EQ(found.violation, "") << what << "\n" << lines(found);
            states += found.states;
            ++transitions;
        },
        coherent);
    ::testing::Test::RecordProperty("states", std::to_string(states));
    std::printf("%zu transitions, %zu states\n", transitions, states);
}

TEST(Transitions, OneCore) { expect_no_violation({}); }
TEST(Transitions, TwoCores) { expect_no_violation({.cores = 2}); }
TEST(Transitions, OneCoreWithInterrupts) { expect_no_violation({.interrupts = true}); }
TEST(Transitions, TwoCoresWithInterrupts) {
    expect_no_violation({.cores = 2, .interrupts = true}, Which::of_one_request);
}
TEST(Transitions, WithoutCacheMaintenance) { expect_no_violation({.cores = 2}, Which::all, true); }
// As tracer.cpp synchronizes.
TEST(TransitionsByGuards, TwoCores) {
    expect_no_violation({.cores = 2, .wait = sim::Wait::guards});
}
TEST(TransitionsByGuards, OneCoreWithInterrupts) {
    expect_no_violation({.wait = sim::Wait::guards, .interrupts = true});
}
TEST(TransitionsByGuards, TwoCoresWithInterrupts) {
    expect_no_violation({.cores = 2, .wait = sim::Wait::guards, .interrupts = true},
                        Which::of_one_request);
}
// Lists are freed and made again at the same address.
TEST(Transitions, ThereAndBack) {
    for (const Set& from : states) {
        for (const Set& to : states) {
            const Recording recording = Site().record_there_and_back(from, to);
            if (recording.steps.size() > sim::Explorer::max_steps) continue;
            for (const sim::Wait wait : {sim::Wait::outside, sim::Wait::guards}) {
                const Exploration found =
                    sim::Explorer(recording, {.cores = 2, .wait = wait}).run();
                EXPECT_EQ(found.violation, "") << name(from) << " -> " << name(to) << "\n"
                                               << lines(found);
            }
        }
    }
}
// Even if nothing orders the fetch of the word before the load of the slot (docs/ops.md).
TEST(Transitions, EarlyLoads) {
    expect_no_violation({.cores = 2, .early_loads = true}, Which::of_one_request);
}

// ---- mutants of the cores and of maintenance: each must be found ----
// The patcher's mutants: tests/verification/mutation/mutants/patching.toml.

using Kind = Step::Kind;
using Steps = std::vector<Step>;

Steps::iterator find(Steps& steps, Kind kind, Steps::iterator from) {
    return std::find_if(from, steps.end(), [&](const Step& step) { return step.kind == kind; });
}
void drop_all(Steps& steps, Kind kind) {
    std::erase_if(steps, [&](const Step& step) { return step.kind == kind; });
}
void drop_barrier_after(Steps& steps, Kind kind) {
    const auto at = find(steps, kind, steps.begin());
    if (at != steps.end()) steps.erase(find(steps, Kind::data_barrier, at));
}
// Changes each request separately.
void mutate(Steps& steps, void (*how)(Steps&)) {
    Steps all, request;
    for (const Step& step : steps) {
        request.push_back(step);
        if (step.kind != Kind::end) continue;
        how(request);
        all.insert(all.end(), request.begin(), request.end());
        request.clear();
    }
    steps = all;
}

struct Mutant {
    const char* name;
    void (*mutate)(Steps&);
    std::set<std::string> found;  // the explorer must find all of these
    ExploreOptions options{};
};
void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }

const char* const lost = "an ops that stayed lost an event";
const char* const nothing = "a trampoline found the object of no ops";
const char* const freed = "a freed list was read";
const char* const old_word = "the patcher's own core still executes an old word";
const char* const detached = "a detached ops was read";

const Mutant mutants[] = {
    {"SynchronizeIgnoresTheInterrupted",
     [](Steps&) {},
     {nothing, freed, detached},
     {.interrupts = true, .skip_depth = true}},
    {"GuardsIgnoreTheInterrupted",
     [](Steps&) {},
     {freed, detached},
     {.wait = sim::Wait::guards, .interrupts = true, .skip_depth = true}},
    {"GuardsIgnoreUnguardedFrames",
     [](Steps&) {},
     {freed, detached},
     {.wait = sim::Wait::guards, .skip_unguarded = true}},
    {"GuardIsFreeBeforeTheLastLoad",
     [](Steps&) {},
     {freed},
     {.wait = sim::Wait::guards, .early_release = true}},
    {"NoClean", [](Steps& steps) { drop_all(steps, Kind::clean); }, {old_word}},
    {"NoBarrierAfterClean",
     [](Steps& steps) { drop_barrier_after(steps, Kind::clean); },
     {old_word}},
    {"NoInvalidate", [](Steps& steps) { drop_all(steps, Kind::invalidate); }, {old_word}},
    {"NoBarrierAfterInvalidate",
     [](Steps& steps) { drop_barrier_after(steps, Kind::invalidate); },
     {old_word}},
    {"NoIsb", [](Steps& steps) { drop_all(steps, Kind::instruction_barrier); }, {old_word}},
    {"NoInterrupt", [](Steps& steps) { drop_all(steps, Kind::interrupt); }, {lost}},
};

class TransitionMutant : public ::testing::TestWithParam<Mutant> {};

TEST_P(TransitionMutant, IsFound) {
    std::set<std::string> found;
    unsigned caught = 0;
    for_each_transition([&](Recording recording, const std::string& what) {
        mutate(recording.steps, GetParam().mutate);
        const Exploration result = sim::Explorer(recording, GetParam().options).run();
        if (result.violation.empty()) return;
        if (caught++ == 0) std::printf("%s\n%s", what.c_str(), lines(result).c_str());
        found.insert(result.violation);
    });
    for (const std::string& violation : GetParam().found)
        EXPECT_TRUE(found.contains(violation)) << violation;
    std::printf("found in %u transitions\n", caught);
}
INSTANTIATE_TEST_SUITE_P(Each, TransitionMutant, ::testing::ValuesIn(mutants),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace nopscope
