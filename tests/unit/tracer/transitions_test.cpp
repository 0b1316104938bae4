// SPDX-License-Identifier: Apache-2.0
// Every transition of the real patcher between dispatch states, in every interleaving with cores
// that execute the site (tests/verification/simulator/explorer.hpp).
#include "tests/unit/tracer/text_fixture.hpp"
#include "tests/verification/simulator/explorer.hpp"
#include "tests/verification/simulator/recording.hpp"

#include <fstream>
#include <sstream>

namespace nopscope::testing::transitions_test {

using sim::ExploreOptions, sim::Recording, sim::Step;

using Set = std::vector<unsigned>;

enum : unsigned { callback, other_callback, direct, other_direct, far, both, unguarded };

const std::vector<Set> states{{},
                              {direct},
                              {callback},
                              {direct, callback},
                              {callback, other_callback},
                              {callback, other_callback, direct},
                              {other_direct},
                              {other_callback},
                              {far},
                              {far, callback},
                              {both},
                              {both, callback},
                              {unguarded},
                              {unguarded, callback},
                              {unguarded, direct}};

std::string name(const Set& set) {
    const char* const names[] = {"callback", "other callback", "direct",   "other direct",
                                 "far",      "both",           "unguarded"};
    std::string all = "{";
    for (const unsigned ops : set) all += std::string(all.size() > 1 ? ", " : "") + names[ops];
    return all + "}";
}

// A site, the ops, and the patcher's steps from one set to another.
struct Site : TextOn<sim::RecordingMachine> {
    explicit Site(bool coherent = !maintains_lines)
        : TextOn({.idc = coherent, .dic = coherent}), coherent_(coherent) {
        add_many(1);
        initialise();
        ops[callback].func = ops[other_callback].func = ops[both].func = a_callback;
        ops[unguarded].func = a_callback;
        ops[unguarded].flags = ops_unguarded;
        ops[direct].direct = function_entry;
        ops[other_direct].direct = graph_entry;
        ops[far].direct = far_entry;
        ops[both].direct = graph_entry + 0x40;
    }
    // `at_once`: the request that adds the first ops removes all that go. Else one ops at a time.
    sim::Recording record(const Set& from, const Set& to, bool at_once) {
        for (const unsigned n : from) EXPECT_EQ(change(&ops[n], nullptr), Status::ok);
        std::vector<Ops*> all;
        for (Ops& one : ops) all.push_back(&one);
        machine.watch(placed[0], none, all,
                      {callback_trampoline, unguarded_trampoline, far_trampoline}, coherent_);
        go(from, to, at_once);
        return machine.recording;
    }
    sim::Recording record_there_and_back(const Set& from, const Set& to) {
        record(from, to, true);
        go(to, from, true);
        return machine.recording;
    }

    std::deque<Ops> ops = std::deque<Ops>(7);

private:
    void go(const Set& from, const Set& to, bool at_once) {
        Set add = without(to, from), remove = without(from, to);
        // Direct entries come last, so that they meet.
        for (Set* set : {&add, &remove}) {
            std::stable_sort(set->begin(), set->end(), [this](unsigned a, unsigned b) {
                return (ops[a].direct != 0) < (ops[b].direct != 0);
            });
        }
        const auto meet = [&] {
            return !add.empty() && !remove.empty() && ops[add.back()].direct != 0 &&
                   ops[remove.back()].direct != 0;
        };
        if (at_once) request(take(add, 1), take(remove, remove.size()));
        while (meet()) request(take(add, 1), take(remove, 1));
        while (!add.empty()) request(take(add, 1), {});
        while (!remove.empty()) request({}, take(remove, 1));
    }
    static Set without(Set set, const Set& other) {
        std::erase_if(set, [&](unsigned n) {
            return std::find(other.begin(), other.end(), n) != other.end();
        });
        return set;
    }
    std::vector<PerSiteOps> take(Set& set, std::size_t count) {
        std::vector<PerSiteOps> some;
        for (; some.size() < count && !set.empty(); set.pop_back())
            some.push_back(PerSiteOps::of(ops[set.back()]));
        return some;
    }
    void request(const std::vector<PerSiteOps>& add, const std::vector<PerSiteOps>& remove) {
        machine.begin();
        EXPECT_EQ(change({.add = add.empty() ? PerSiteOps{} : add[0], .remove = remove}),
                  Status::ok);
        machine.end();
    }

    bool coherent_;
};

void for_each_transition(auto use, bool coherent = !maintains_lines) {
    for (const Set& from : states) {
        for (const Set& to : states) {
            if (&from == &to) continue;
            for (const bool at_once : {true, false})
                use(Site(coherent).record(from, to, at_once), name(from) + " -> " + name(to));
        }
    }
}

void expect_none(const Recording& recording, const ExploreOptions& options,
                 const std::string& what) {
    const sim::Exploration found = sim::Explorer(recording, options).run();
    EXPECT_EQ(found.violation, "") << what << ::testing::PrintToString(found.trace);
}

// Where there are too many states, only transitions of one request.
void expect_no_violation(ExploreOptions options, bool coherent = !maintains_lines) {
    const bool many = options.cores == 2 && (options.interrupts || options.early_loads);
    for_each_transition(
        [&](const Recording& recording, const std::string& what) {
            if (!many || recording.sets.size() <= 2) expect_none(recording, options, what);
        },
        coherent);
}

TEST(Transitions, OneCore) { expect_no_violation({}); }
TEST(Transitions, TwoCores) { expect_no_violation({.cores = 2}); }
TEST(Transitions, OneCoreWithInterrupts) { expect_no_violation({.interrupts = true}); }
TEST(Transitions, TwoCoresWithInterrupts) { expect_no_violation({.cores = 2, .interrupts = true}); }
TEST(Transitions, WithoutCacheMaintenance) { expect_no_violation({.cores = 2}, true); }
// As tracer.cpp synchronizes.
TEST(TransitionsByGuards, TwoCores) {
    expect_no_violation({.cores = 2, .wait = sim::Wait::guards});
}
TEST(TransitionsByGuards, OneCoreWithInterrupts) {
    expect_no_violation({.wait = sim::Wait::guards, .interrupts = true});
}
TEST(TransitionsByGuards, TwoCoresWithInterrupts) {
    expect_no_violation({.cores = 2, .wait = sim::Wait::guards, .interrupts = true});
}
// Lists are freed and made again at the same address.
TEST(Transitions, ThereAndBack) {
    for (const Set& from : states) {
        for (const Set& to : states) {
            const Recording recording = Site().record_there_and_back(from, to);
            if (recording.steps.size() > sim::Explorer::max_steps) continue;
            for (const sim::Wait wait : {sim::Wait::outside, sim::Wait::guards})
                expect_none(recording, {.cores = 2, .wait = wait}, name(from) + " -> " + name(to));
        }
    }
}
// Even if nothing orders the fetch of the word before the load of the slot (docs/ops.md).
TEST(Transitions, EarlyLoads) { expect_no_violation({.cores = 2, .early_loads = true}); }

// ---- mutants of the cores and of maintenance: each must be found ----
// The patcher's mutants: tests/verification/mutation/mutants/patching.toml.

using Kind = Step::Kind;

struct Mutant {
    const char* name;
    std::set<std::string> found;  // the explorer must find all of these
    ExploreOptions options{};
    // Leaves out steps of each request: all of a kind, or the first barrier behind one.
    std::optional<Kind> all_of{}, barrier_behind{};
};
void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }

const char* const lost = "an ops that stayed lost an event";
const char* const nothing = "a trampoline found the object of no ops";
const char* const freed = "a freed list was read";
const char* const old_word = "the patcher's own core still executes an old word";
const char* const detached = "a detached ops was read";

const Mutant mutants[] = {
    {"SynchronizeIgnoresTheInterrupted",
     {nothing, freed, detached},
     {.interrupts = true, .skip_depth = true}},
    {"GuardsIgnoreTheInterrupted",
     {freed, detached},
     {.wait = sim::Wait::guards, .interrupts = true, .skip_depth = true}},
    {"GuardsIgnoreUnguardedFrames",
     {freed, detached},
     {.wait = sim::Wait::guards, .skip_unguarded = true}},
    {"GuardIsFreeBeforeTheLastLoad", {freed}, {.wait = sim::Wait::guards, .early_release = true}},
#ifndef NOPSCOPE_SIMULATED_RISCV  // which maintains no lines
    {"NoClean", {old_word}, {}, Kind::clean},
    {"NoBarrierAfterClean", {old_word}, {}, {}, Kind::clean},
    {"NoInvalidate", {old_word}, {}, Kind::invalidate},
    {"NoBarrierAfterInvalidate", {old_word}, {}, {}, Kind::invalidate},
#endif
    {"NoIsb", {old_word}, {}, Kind::instruction_barrier},
    {"NoInterrupt", {lost}, {}, Kind::interrupt},
};

std::vector<Step> mutated(const std::vector<Step>& steps, const Mutant& mutant) {
    std::vector<Step> left;
    enum { before, behind, done } at = before;  // where in the request
    for (const Step& step : steps) {
        const bool is_barrier = at == behind && step.kind == Kind::data_barrier;
        if (!is_barrier && step.kind != mutant.all_of) left.push_back(step);
        if (at == before && step.kind == mutant.barrier_behind) at = behind;
        if (is_barrier) at = done;
        if (step.kind == Kind::end) at = before;
    }
    return left;
}

class TransitionMutant : public ::testing::TestWithParam<Mutant> {};

TEST_P(TransitionMutant, IsFound) {
    std::set<std::string> found;
    for_each_transition([&](Recording recording, const std::string&) {
        recording.steps = mutated(recording.steps, GetParam());
        found.insert(sim::Explorer(recording, GetParam().options).run().violation);
    });
    for (const std::string& violation : GetParam().found)
        EXPECT_TRUE(found.contains(violation)) << violation;
}
INSTANTIATE_TEST_SUITE_P(Each, TransitionMutant, ::testing::ValuesIn(mutants),
                         [](const auto& info) { return std::string(info.param.name); });

const std::pair<const char*, Set> kinds[] = {{"none", {}},
                                             {"direct", {direct}},
                                             {"far", {far}},
                                             {"callback", {callback}},
                                             {"unguarded", {unguarded}},
                                             {"callbacks", {callback, other_callback}},
                                             {"callback, direct", {callback, direct}}};

// What a core can see, in order. S: slot, W: word, n: the slot of no ops, .: synchronize.
std::string steps(const Set& from, const Set& to) {
    std::string text;
    for (const Step& step : Site().record(from, to, true).steps) {
        if (step.kind == Step::Kind::write_slot) text += step.value == 0 ? "n" : "S";
        if (step.kind == Step::Kind::write_word) text += "W";
        if (step.kind == Step::Kind::synchronize) text += ".";
        if (step.kind == Step::Kind::end) text += " ";
    }
    text.pop_back();
    return text;
}

std::string table() {
    std::ostringstream out;
    out << "| from \\ to |";
    for (const auto& to : kinds) out << " " << to.first << " |";
    out << "\n|---|---|---|---|---|---|---|---|\n";
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

}  // namespace nopscope::testing::transitions_test
