// SPDX-License-Identifier: Apache-2.0
// Explores all interleavings of a recorded patcher with one or two cores that execute the site.
// The patcher makes its steps in order. A store becomes visible to the other cores at any time, but
// not after the patcher's next DSB. What a core may fetch is a set of words, its pipeline's. The
// pipeline is refilled from the instruction cache at any time, the cache from the point of
// unification, and that from the visible stores. Only cleans and invalidates with their barriers,
// and then a context synchronisation event, make a set smaller. A core fetches any word of its set.
// Then it makes these steps: trampoline, load of the slot, each callback, direct entry. Each load
// of an object may find that the object was freed.
// Checked: an execution that overlapped requests r to s ran all parts that each of the sets r-1 to
// s contains, no part that none of them contains, and each part once (outside a request: exactly
// the set). No trampoline finds the object of no ops. No core reads a freed list or a detached ops.
// After each request the patcher's own core executes the new word.
#pragma once

#include "tests/verification/simulator/recording.hpp"

#include <cstdlib>
#include <functional>
#include <string_view>
#include <type_traits>
#include <unordered_set>

namespace nopscope::sim {

// A set of words is one byte: a bit for each word of the recording.
constexpr std::uint8_t bit(unsigned n) { return static_cast<std::uint8_t>(1u << n); }

struct ExploredState {
    enum class Phase : std::uint8_t {
        idle,
        early,
        load,
        call,
        direct,
        unguarded_load,
        unguarded_call,
        far_load,
        far_direct
    };

    struct Execution {
        Phase phase;
        std::uint8_t object;
        std::uint8_t position;  // the next member of the list
        std::uint8_t start;     // number of requests that had returned
        std::uint16_t ran;      // parts that it has run
        bool operator==(const Execution&) const = default;
    };
    struct Core {
        std::uint8_t icache;  // a set of words
        std::uint8_t pipeline;
        bool acknowledged;     // it has taken the patcher's interrupt
        bool interrupted;      // `below` is the interrupted execution
        std::uint8_t awaited;  // bits of depths whose guards were taken when it acknowledged
        std::uint8_t zero;
        Execution run;
        Execution below;
        bool operator==(const Core&) const = default;
    };
    static constexpr unsigned own = 2;  // the patcher's core, which only fetches

    std::uint64_t pending;  // stores that are not visible yet: bits of steps
    std::uint8_t at;        // the patcher's next step
    std::uint8_t slot;
    std::uint8_t word;
    std::uint8_t unified;  // a set of words: at the point of unification
    bool cleaning;
    bool invalidating;
    std::uint8_t zero[4];
    Core cores[3];

    bool operator==(const ExploredState&) const = default;

    // A core may fetch a line at any time.
    void refill() {
        for (Core& core : cores) {
            core.icache |= unified;
            core.pipeline |= core.icache;
        }
    }
    // A DSB completes the queued operations, in the worst order.
    void complete() {
        if (std::exchange(invalidating, false))
            for (Core& core : cores) core.icache = unified;
        if (std::exchange(cleaning, false)) unified = bit(word);
        refill();
    }
    // Sorts the two executing cores, which are alike.
    void order_cores() {
        if (std::memcmp(&cores[1], &cores[0], sizeof(Core)) < 0) std::swap(cores[0], cores[1]);
    }

    struct Hash {
        std::size_t operator()(const ExploredState& state) const {
            return std::hash<std::string_view>()(
                {reinterpret_cast<const char*>(&state), sizeof state});
        }
    };
};
static_assert(std::has_unique_object_representations_v<ExploredState>);

// What synchronize() waits for.
enum class Wait {
    outside,  // each core is seen outside the trampolines, at depth 0
    // As quiescence.hpp does: each core takes an interrupt. It must not come with an open frame of
    // the unguarded trampoline, nor in the far trampoline, nor at depth 1 if that is used. Then
    // each guard that was taken must be seen free. A core that had not taken its guard loads the
    // slot afterwards and may find the object of no ops, which does nothing. This is not checked.
    guards,
};

struct ExploreOptions {
    unsigned cores = 1;
    Wait wait = Wait::outside;
    // A core in a trampoline may be interrupted, and the handler executes the site, too.
    bool interrupts = false;
    // A core may load the slot before it fetches the word, until its next context synchronisation.
    // Then a trampoline may find the object of no ops, which does nothing. This is not checked.
    bool early_loads = false;
    // Mutants: synchronize() ignores the code below an interrupt (skip_depth) or the frames of the
    // unguarded trampoline; or a guard looks free before the last load of the object.
    bool skip_depth = false;
    bool early_release = false;
    bool skip_unguarded = false;
};

struct Exploration {
    std::size_t states = 0;
    std::string violation;           // empty if there is none
    std::vector<std::string> trace;  // steps that lead to it
};

struct Explorer {
    static constexpr std::size_t max_steps = 64;
#ifdef NOPSCOPE_SIMULATED_RISCV  // only the patcher's call executes FENCE.I
    static constexpr bool interrupt_synchronizes = false;
#else
    static constexpr bool interrupt_synchronizes = true;
#endif

    Explorer(const Recording& recording, ExploreOptions options)
        : rec_(recording), options_(options) {
        if (rec_.steps.size() > max_steps || rec_.words.size() > 8 || rec_.objects.size() > 32)
            std::abort();  // a state has no room for more
        for (const Parts set : rec_.sets) all_parts_ |= set;
        Known so_far{};
        for (const Step& step : rec_.steps) {
            known_.push_back(so_far);
            const auto value = static_cast<std::uint8_t>(step.value);
            if (step.kind == Step::Kind::free) so_far.freed |= 1u << value;
            if (step.kind == Step::Kind::begin) {
                so_far.begun = value;
                so_far.dead &= ~std::uint32_t{rec_.sets[value]};
            }
            if (step.kind == Step::Kind::end) {
                so_far.done = value;
                so_far.dead = ~std::uint32_t{rec_.sets[value]};
            }
        }
        known_.push_back(so_far);
    }

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
    using Phase = ExploredState::Phase;
    using Execution = ExploredState::Execution;
    using Core = ExploredState::Core;
    using State = ExploredState;
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
    void successors(const State& state, auto visit) {
        stores_become_visible(state, visit);
        patcher(state, visit);
        for (unsigned n = 0; n < options_.cores; ++n) {
            core(state, n, visit);
            if (!violation_.empty()) return;
        }
    }

    void stores_become_visible(const State& state, auto visit) {
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

    void patcher(const State& state, auto visit) {
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

    // What the patcher has done before a step.
    struct Known {
        std::uint32_t freed;  // bits of objects
        std::uint32_t dead;   // bits of detached parts of ops
        std::uint8_t begun, done;
    };

    const Known& known(const State& s) const { return known_[s.at]; }

    void fail(const char* why) {
        if (!violation_.empty()) return;
        violation_ = why;
        failed_ = label();
    }

    bool takes_guard(const Execution& e) const {
        return e.phase == Phase::call || (e.phase == Phase::direct && !options_.early_release);
    }
    std::uint8_t guards(const Core& core) const {
        const bool run = takes_guard(core.run);
        if (!core.interrupted) return run ? 1 : 0;
        return static_cast<std::uint8_t>((takes_guard(core.below) ? 1 : 0) | (run ? 2 : 0));
    }
    bool in_far(const Core& core) const {
        const bool used = std::any_of(rec_.words.begin(), rec_.words.end(), [](const Word& word) {
            return word.to == Word::To::far_trampoline;
        });
        return core.run.phase >= Phase::far_load || (core.interrupted && used);
    }

    bool in_unguarded(const Core& core) const {
        if (options_.skip_unguarded) return false;
        return core.run.phase == Phase::unguarded_call ||
               (core.interrupted && core.below.phase == Phase::unguarded_call);
    }

    // The phase that loads for each trampoline. The next phase follows it.
    static Phase load_for(Word::To to) {
        return to == Word::To::callback_trampoline    ? Phase::load
               : to == Word::To::unguarded_trampoline ? Phase::unguarded_load
                                                      : Phase::far_load;
    }
    static Phase after_load(Phase load) {
        return static_cast<Phase>(static_cast<std::uint8_t>(load) + 1);
    }

    void fetch(State& state, Execution& e, const Word& word) {
        const bool loaded = e.phase == Phase::early;
        if (!loaded) e = {Phase::idle, 0, 0, known(state).done, 0};
        if (word.to == Word::To::body || word.to == Word::To::direct) {
            ran(e, word.direct);
            finish(state, e);
        } else if (loaded) {
            found(state, e, after_load(load_for(word.to)));
        } else {
            e.phase = load_for(word.to);
        }
    }
    void found(State& state, Execution& e, Phase next) {
        e.phase = next;
        if (e.object != 0) return;
        if (!options_.early_loads && options_.wait == Wait::outside)
            fail("a trampoline found the object of no ops");
        finish(state, e);
    }
    void call_next(State& state, Execution& e) {
        read(state, e);
        const Object& object = rec_.objects[e.object];
        const unsigned ops = object.members[e.position];
        read_ops(state, ops);
        ran(e, callback_part(ops) & all_parts_);
        if (++e.position < object.members.size()) return;
        if (e.phase == Phase::unguarded_call) return finish(state, e);
        e.phase = Phase::direct;
    }
    void read(const State& state, const Execution& e) {
        const Object& object = rec_.objects[e.object];
        if ((known(state).freed >> e.object & 1) != 0) fail("a freed list was read");
        if (!object.is_list) read_ops(state, object.members[0]);
    }
    void read_ops(const State& state, unsigned ops) {
        const auto both = static_cast<Parts>(callback_part(ops) | direct_part(ops));
        if ((known(state).dead & both) == both) fail("a detached ops was read");
    }
    void ran(Execution& e, unsigned part) {
        if ((e.ran & part) != 0) fail("an ops ran twice");
        e.ran |= static_cast<Parts>(part);
    }
    void finish(const State& state, Execution& e) {
        unsigned every = 0xffff, any = 0;
        for (unsigned r = e.start; r <= known(state).begun; ++r) {
            every &= rec_.sets[r];
            any |= rec_.sets[r];
        }
        if ((every & ~unsigned{e.ran}) != 0) fail("an ops that stayed lost an event");
        if ((e.ran & ~any) != 0) fail("an ops that was not attached ran");
        e = {};
    }

    void core(const State& state, unsigned n, auto visit) {
        const Core& core = state.cores[n];
        const Execution& run = core.run;
        const auto go = [&](const char* what, auto change) {
            State next = state;
            act(n, what);
            change(next, next.cores[n].run);
            visit(next);
        };
        acknowledge(state, n, visit);
        if (core.acknowledged && (core.awaited & ~guards(core)) != 0) {
            go("has its guard seen free",
               [&](State& next, Execution&) { next.cores[n].awaited &= guards(core); });
        }
        const bool enters = options_.interrupts && !core.interrupted && run.phase > Phase::early;
        if (enters || (core.interrupted && run.phase == Phase::idle)) {
            go(enters ? "is interrupted" : "returns from the interrupt",
               [&](State& next, Execution& e) {
                   Core& c = next.cores[n];
                   std::swap(e, c.below);  // the other one is empty
                   c.interrupted = enters;
                   if (interrupt_synchronizes) c.pipeline = c.icache;
               });
        }
        if (options_.early_loads && run.phase == Phase::idle) {
            go("loads the slot early", [&](State&, Execution& e) {
                e = {Phase::early, state.slot, 0, known(state).done, 0};
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
    void acknowledge(const State& state, unsigned n, auto visit) {
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

    std::string label() const {
        if (actor_ == patcher_acts) return "patcher: " + describe(rec_, rec_.steps[step_]);
        if (actor_ == memory_acts) return what_;
        return "core " + std::to_string(actor_ + 1) + ": " + what_;
    }
    // The steps to state `last`, and the one that failed. The cores may change numbers on the way.
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

    const Recording& rec_;
    ExploreOptions options_;
    unsigned all_parts_ = 0;  // all parts of all sets
    std::vector<Known> known_;
    std::string violation_, failed_;
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
