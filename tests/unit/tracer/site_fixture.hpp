// SPDX-License-Identifier: Apache-2.0
// One site, its possible dispatch states, and what the real patcher does between two of them.
#pragma once

#include "tests/unit/tracer/text_fixture.hpp"
#include "tests/verification/simulator/recording.hpp"

#include <deque>

namespace nopscope::testing {

using Set = std::vector<unsigned>;

enum : unsigned { callback, other_callback, direct, other_direct, far, both, unguarded };

inline const std::vector<Set> states{{},
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

inline std::string name(const Set& set) {
    const char* const names[] = {"callback", "other callback", "direct",   "other direct",
                                 "far",      "both",           "unguarded"};
    std::string all = "{";
    for (const unsigned ops : set) all += std::string(all.size() > 1 ? ", " : "") + names[ops];
    return all + "}";
}

// A site, the ops, and the patcher's steps from one set to another.
struct Site : TextOn<sim::RecordingMachine> {
    explicit Site(bool coherent = false)
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
    // `at_once`: the request that adds the first ops removes all that go. Otherwise the patcher
    // first adds all that do not conflict, and then removes one ops at a time.
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

}  // namespace nopscope::testing
