// SPDX-License-Identifier: Apache-2.0
// Explores all interleavings of a recorded patcher with one or two cores that execute the site.
//
// The patcher makes its steps in order. A store becomes visible to the other cores at any time, but
// not after the patcher's next DSB. What a core may fetch is a set of words, its pipeline's. The
// pipeline is refilled from the instruction cache at any time, the cache from the point of
// unification, and that from the visible stores. Only cleans and invalidates with their barriers,
// and then a context synchronisation event, make a set smaller. A core fetches any word of its set.
// Then it makes these steps: trampoline, load of the slot, each callback, direct entry. Each load
// of an object may find that the object was freed.
//
// Checked: an execution that overlapped requests r to s ran all parts that each of the sets r-1 to
// s contains, no part that none of them contains, and each part once (outside a request: exactly
// the set). No trampoline finds the object of no ops. No core reads a freed list or a detached ops.
// After each request the patcher's own core executes the new word.
#pragma once

#include "tests/verification/simulator/executions.hpp"

#include <unordered_set>

namespace nopscope::sim {

class Explorer : private Executions {
public:
    using Executions::max_steps;

    Explorer(const Recording& recording, ExploreOptions options) : Executions(recording, options) {}

    Exploration run() {
        State first{};
        first.slot = static_cast<std::uint8_t>(rec_.first_object);
        first.word = static_cast<std::uint8_t>(rec_.first_word);
        first.unified = bit(first.word);
        for (Core& core : first.cores) core.icache = core.pipeline = first.unified;
        add(first, 0);
        for (std::uint32_t i = 0; i < states_.size() && violation_.empty(); ++i) {
            from_ = i;
            successors(State(states_[i]), [this](const State& next) { add(next, from_); });
        }
        Exploration result{states_.size(), violation_, {}};
        if (!violation_.empty())
            result.trace = trace(from_);
        else if (!returned_)
            result.violation = "the patcher never returns";
        return result;
    }

private:
    static constexpr unsigned own = ExploredState::own;
    static constexpr unsigned patcher_acts = 8, memory_acts = 9;
    void act(unsigned actor, const char* what, std::size_t step = 0) {
        actor_ = actor;
        what_ = what;
        step_ = step;
    }

    void add(State state, std::uint32_t parent) {
        if (options_.cores == 2) state.order_cores();
        if (!seen_.insert(state).second) return;
        states_.push_back(state);
        parents_.push_back(parent);
    }
    template <typename Visit>
    void successors(const State& state, Visit visit) {
        stores_become_visible(state, visit);
        patcher(state, visit);
        for (unsigned n = 0; n < options_.cores; ++n) {
            core(state, n, visit);
            if (!violation_.empty()) return;
        }
    }

    // ---- the patcher and the memory ----

    template <typename Visit>
    void stores_become_visible(const State& state, Visit visit) {
        bool slot_waits = false, word_waits = false;
        for (unsigned i = 0; i < rec_.steps.size(); ++i) {
            if ((state.pending >> i & 1) == 0) continue;
            const bool is_slot = rec_.steps[i].kind == Step::Kind::write_slot;
            bool& waits = is_slot ? slot_waits : word_waits;
            if (std::exchange(waits, true)) continue;  // stores to one location stay in order
            State next = state;
            next.pending &= ~(std::uint64_t{1} << i);
            const auto value = static_cast<std::uint8_t>(rec_.steps[i].value);
            if (is_slot) {
                next.slot = value;
            } else {
                next.word = value;
                // A coherent CPU has the new word there; else the line may be evicted at any time.
                next.unified = rec_.coherent ? bit(value) : next.unified | bit(value);
                for (Core& core : next.cores)
                    if (rec_.coherent) core.icache = next.unified;
                next.refill();
            }
            act(memory_acts,
                is_slot ? "the slot's new object is visible" : "the new word is visible");
            visit(next);
        }
    }

    template <typename Visit>
    void patcher(const State& state, Visit visit) {
        returned_ |= state.at == rec_.steps.size();
        if (state.at == rec_.steps.size()) return;
        const Step& step = rec_.steps[state.at];
        State next = state;
        ++next.at;
        act(patcher_acts, "", state.at);
        switch (step.kind) {
        case Step::Kind::write_slot:
        case Step::Kind::write_word: next.pending |= std::uint64_t{1} << state.at; break;
        case Step::Kind::clean: next.cleaning = true; break;
        case Step::Kind::invalidate: next.invalidating = true; break;
        case Step::Kind::data_barrier:
            if (state.pending != 0) return;
            next.complete();
            break;
        case Step::Kind::instruction_barrier:
            next.cores[own].pipeline = next.cores[own].icache;
            break;
        case Step::Kind::interrupt:
        case Step::Kind::synchronize:
            for (unsigned n = 0; n < options_.cores; ++n) {
                if (!state.cores[n].acknowledged || state.cores[n].awaited != 0) return;
                next.cores[n].acknowledged = false;
            }
            break;
        case Step::Kind::end: check_own_core(state, rec_.sets[step.value]); break;
        case Step::Kind::begin:
        case Step::Kind::free: break;
        }
        visit(next);
    }
    void check_own_core(const State& state, Parts set) {
        for (unsigned w = 0; w < rec_.words.size(); ++w)
            if ((state.cores[own].pipeline & bit(w)) != 0 && w != state.word)
                fail("the patcher's own core still executes an old word");
        if ((rec_.words[state.word].to == Word::To::body) != (set == 0))
            fail("a wrong word at the end");
    }

    // ---- a core that executes the site ----

    template <typename Visit>
    void core(const State& state, unsigned n, Visit visit) {
        const Core& core = state.cores[n];
        const Execution& run = core.run;
        acknowledge(state, n, visit);
        if (core.acknowledged && (core.awaited & ~guards(core)) != 0) {
            State next = state;
            next.cores[n].awaited &= guards(core);
            act(n, "has its guard seen free");
            visit(next);
        }
        const auto go = [&](const char* what, auto change) {
            State next = state;
            act(n, what);
            change(next, next.cores[n].run);
            visit(next);
        };
        if (options_.interrupts && !core.interrupted && run.phase > Phase::early) {
            go("is interrupted", [&](State& next, Execution&) {
                Core& c = next.cores[n];
                c.below = c.run;
                c.run = {};
                c.interrupted = true;
                c.pipeline = c.icache;
            });
        }
        if (core.interrupted && run.phase == Phase::idle) {
            go("returns from the interrupt", [&](State& next, Execution&) {
                Core& c = next.cores[n];
                c.run = c.below;
                c.below = {};
                c.interrupted = false;
                c.pipeline = c.icache;
            });
        }
        if (options_.early_loads && run.phase == Phase::idle) {
            go("loads the slot early", [&](State& next, Execution& e) {
                e = {Phase::early, state.slot, 0, known(state).done, 0};
                (void)next;
            });
        }
        switch (run.phase) {
        case Phase::idle:
        case Phase::early:
            for (unsigned w = 0; w < rec_.words.size(); ++w) {
                if ((core.pipeline & bit(w)) == 0) continue;
                go(w == state.word ? "fetches the word" : "fetches an old word",
                   [&](State& next, Execution& e) { fetch(next, e, rec_.words[w]); });
            }
            break;
        case Phase::load:
        case Phase::unguarded_load:
        case Phase::far_load:
            go("loads the slot", [&](State& next, Execution& e) {
                e.object = state.slot;
                found(next, e, after_load(run.phase));
            });
            break;
        case Phase::call:
        case Phase::unguarded_call:
            go("makes a callback", [&](State& next, Execution& e) { call_next(next, e); });
            break;
        case Phase::direct:
        case Phase::far_direct:
            go("goes on to the direct entry, if any", [&](State& next, Execution& e) {
                read(next, e);
                ran(e, rec_.objects[e.object].direct);
                finish(next, e);
            });
            break;
        }
    }

    // An interrupt synchronises the context. synchronize() waits for a core outside.
    template <typename Visit>
    void acknowledge(const State& state, unsigned n, Visit visit) {
        const Core& core = state.cores[n];
        if (state.at == rec_.steps.size() || core.acknowledged) return;
        const Step::Kind kind = rec_.steps[state.at].kind;
        if (kind != Step::Kind::interrupt && kind != Step::Kind::synchronize) return;
        const bool outside =
            core.run.phase <= Phase::early && (!core.interrupted || options_.skip_depth);
        const bool by_guards = kind == Step::Kind::synchronize && options_.wait == Wait::guards;
        if (by_guards ? in_far(core) || in_unguarded(core)
                      : kind == Step::Kind::synchronize && !outside)
            return;
        State next = state;
        Core& c = next.cores[n];
        c.acknowledged = true;
        if (by_guards) c.awaited = guards(core) & (core.interrupted && options_.skip_depth ? 2 : 3);
        c.pipeline = c.icache;
        if (c.run.phase == Phase::early) c.run = {};
        act(n, "takes the patcher's interrupt");
        visit(next);
    }

    // ---- words for people ----

    std::string label() const override {
        if (actor_ == patcher_acts) return "patcher: " + describe(rec_, rec_.steps[step_]);
        if (actor_ == memory_acts) return what_;
        return "core " + std::to_string(actor_ + 1) + ": " + what_;
    }
    // The steps to state `last`, and one more: the one that failed. The two cores are alike, so
    // they may change numbers on the way.
    std::vector<std::string> trace(std::uint32_t last) {
        std::vector<std::string> lines;
        const std::string violation = violation_;
        const std::string failed = failed_;
        for (std::uint32_t to = last; to != 0; to = parents_[to]) {
            violation_.clear();
            std::string line = "?";
            successors(State(states_[parents_[to]]), [&](State next) {
                if (options_.cores == 2) next.order_cores();
                if (next == states_[to]) line = label();
            });
            lines.insert(lines.begin(), line);
        }
        lines.push_back(failed + " <- " + violation);
        return lines;
    }

    std::vector<State> states_;
    std::vector<std::uint32_t> parents_;
    std::unordered_set<State, State::Hash> seen_;
    std::uint32_t from_ = 0;
    bool returned_ = false;
    unsigned actor_ = 0;  // the core that made the last step
    const char* what_ = "";
    std::size_t step_ = 0;
};

}  // namespace nopscope::sim
