// SPDX-License-Identifier: Apache-2.0
// An exploration's options and result, the steps of a core that executes the site, and the
// conditions that must hold (explorer.hpp).
#pragma once

#include "tests/verification/simulator/explored_state.hpp"
#include "tests/verification/simulator/recording.hpp"

#include <cstdlib>

namespace nopscope::sim {

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

class Executions {
protected:
    static constexpr std::size_t max_steps = 64;

    using Phase = ExploredState::Phase;
    using Execution = ExploredState::Execution;
    using Core = ExploredState::Core;
    using State = ExploredState;

    Executions(const Recording& recording, ExploreOptions options)
        : rec_(recording), options_(options) {
        if (rec_.steps.size() > max_steps || rec_.words.size() > 8 || rec_.objects.size() > 32)
            std::abort();  // a state has no room for more
        std::uint32_t freed = 0, dead = 0;
        std::uint8_t begun = 0, done = 0;
        for (const Parts set : rec_.sets) all_parts_ |= set;
        for (std::size_t i = 0; i <= rec_.steps.size(); ++i) {
            known_.push_back({freed, dead, begun, done});
            if (i == rec_.steps.size()) break;
            const Step& step = rec_.steps[i];
            if (step.kind == Step::Kind::free) freed |= 1u << step.value;
            if (step.kind == Step::Kind::begin) {
                begun = static_cast<std::uint8_t>(step.value);
                dead &= ~std::uint32_t{rec_.sets[begun]};
            }
            if (step.kind == Step::Kind::end) {
                done = static_cast<std::uint8_t>(step.value);
                dead = ~std::uint32_t{rec_.sets[done]};
            }
        }
    }
    ~Executions() = default;

    // What the patcher has done before a step.
    struct Known {
        std::uint32_t freed;  // bits of objects
        std::uint32_t dead;   // bits of detached parts of ops
        std::uint8_t begun, done;
    };

    const Known& known(const State& s) const { return known_[s.at]; }

    // The current step, for people.
    virtual std::string label() const = 0;
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

    // The phase that loads for each trampoline.
    static Phase load_for(Word::To to) {
        return to == Word::To::callback_trampoline    ? Phase::load
               : to == Word::To::unguarded_trampoline ? Phase::unguarded_load
                                                      : Phase::far_load;
    }
    static Phase after_load(Phase load) {
        return load == Phase::load             ? Phase::call
               : load == Phase::unguarded_load ? Phase::unguarded_call
                                               : Phase::far_direct;
    }

    void fetch(State& state, Execution& e, const Word& word) {
        const bool loaded = e.phase == Phase::early;
        if (!loaded) e = {Phase::idle, 0, 0, known(state).done, 0};
        switch (word.to) {
        case Word::To::body: finish(state, e); break;
        case Word::To::direct:
            ran(e, word.direct);
            finish(state, e);
            break;
        case Word::To::callback_trampoline:
        case Word::To::unguarded_trampoline:
        case Word::To::far_trampoline:
            if (loaded) return found(state, e, after_load(load_for(word.to)));
            e.phase = load_for(word.to);
            break;
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

    const Recording& rec_;
    ExploreOptions options_;
    unsigned all_parts_ = 0;  // all parts of all sets
    std::vector<Known> known_;
    std::string violation_, failed_;
};

}  // namespace nopscope::sim
