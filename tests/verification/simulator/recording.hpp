// SPDX-License-Identifier: Apache-2.0
// Records the steps of the real Patcher at one site.
// Lists are freed without a call of the machine. So before each step it looks at the lists that the
// slot has held: one that changed was freed since the last step.
#pragma once

#include "tests/verification/simulator/sim_machine.hpp"
#include "tracer/arch/instructions.hpp"
#include "tracer/patching/patcher.hpp"

#include <algorithm>
#include <string>

namespace nopscope::sim {

// An ops has two parts and may lack either: bit 2n is its callback, bit 2n + 1 its direct entry.
using Parts = std::uint16_t;
constexpr Parts callback_part(unsigned ops) { return static_cast<Parts>(1u << (2 * ops)); }
constexpr Parts direct_part(unsigned ops) { return static_cast<Parts>(2u << (2 * ops)); }

// An object that a slot has held. A new list at the address of a freed one is another object.
struct Object {
    const Ops* address;
    bool is_list;
    std::vector<unsigned> members;  // numbers of ops, in order; empty: the object of no ops
    Parts direct;
};

// What a core does when it executes the word.
struct Word {
    enum class To { body, callback_trampoline, unguarded_trampoline, far_trampoline, direct } to;
    Parts direct;
};

struct Step {
    enum class Kind {
        begin,       // request `value` begins
        end,         // it has returned
        write_slot,  // object `value`
        write_word,  // word `value`
        clean,
        invalidate,
        data_barrier,
        instruction_barrier,
        interrupt,    // a context synchronisation event on every other core
        synchronize,  // every other core is seen outside the trampolines
        free,         // object `value`
    } kind;
    unsigned value = 0;
};

struct Recording {
    std::vector<Step> steps;
    std::vector<Object> objects;  // 0: the object of no ops
    std::vector<Word> words;
    std::vector<Parts> sets;  // before the first request, and after each
    unsigned first_object = 0;
    unsigned first_word = 0;
    bool coherent = false;
};

inline std::string describe(const Recording& recording, const Step& step) {
    using Kind = Step::Kind;
    const char* const steps[] = {"begins request ",
                                 "returns from request ",
                                 "writes the slot: object ",
                                 "writes the word: ",
                                 "DC CVAU",
                                 "IC IVAU",
                                 "DSB",
                                 "ISB",
                                 "every core has taken its interrupt",
                                 "every core was seen outside",
                                 "frees object "};
    const char* const words[] = {"NOP", "BL callback", "BL unguarded", "BL far", "BL direct"};
    std::string text = steps[int(step.kind)];
    if (step.kind == Kind::write_word) return text + words[int(recording.words[step.value].to)];
    if (step.kind <= Kind::write_slot || step.kind == Kind::free)
        text += std::to_string(step.value);
    if (step.kind == Kind::write_slot)
        for (const unsigned ops : recording.objects[step.value].members)
            text += ", ops " + std::to_string(ops);
    return text;
}

struct RecordingMachine : SimMachine {
    using SimMachine::SimMachine;

    // Records from now on what happens to `site`. `all` contains its ops.
    void watch(PatchSite site, const Ops& none, std::vector<Ops*> all,
               const Trampolines& trampolines, bool coherent) {
        site_ = site;
        none_ = &none;
        all_ = std::move(all);
        trampolines_ = trampolines;
        recording = {};
        recording.coherent = coherent;
        recording.objects.push_back({&none, false, {}, 0});
        recording.first_object = object_at(SimMachine::read_slot(site.slot()));
        recording.first_word = word_of(SimMachine::read_word(site.toggle()));
        recording.sets.push_back(parts());
        watching_ = true;
    }
    void begin() { take(Step::Kind::begin, static_cast<unsigned>(recording.sets.size())); }
    void end() {
        take(Step::Kind::end, static_cast<unsigned>(recording.sets.size()));
        recording.sets.push_back(parts());
    }
    void synchronize() { take(Step::Kind::synchronize); }

    void write_word(Address address, std::uint32_t word) {
        if (address == site_.toggle()) take(Step::Kind::write_word, word_of(word));
        SimMachine::write_word(address, word);
    }
    void write_slot(Address address, std::uint64_t slot) {
        if (address == site_.slot()) take(Step::Kind::write_slot, object_at(slot));
        SimMachine::write_slot(address, slot);
    }
    void clean_dcache_line(Address address) {
        take(Step::Kind::clean);
        SimMachine::clean_dcache_line(address);
    }
    void invalidate_icache_line(Address address) {
        take(Step::Kind::invalidate);
        SimMachine::invalidate_icache_line(address);
    }
    void data_barrier() {
        take(Step::Kind::data_barrier);
        SimMachine::data_barrier();
    }
    void instruction_barrier() {
        take(Step::Kind::instruction_barrier);
        SimMachine::instruction_barrier();
    }
    bool synchronize_other_cores() {
        take(Step::Kind::interrupt);
        return SimMachine::synchronize_other_cores();
    }

    Recording recording;

private:
    bool is_single(const Ops* object) const {
        return object == none_ || std::find(all_.begin(), all_.end(), object) != all_.end();
    }
    unsigned number(const Ops* ops) const {
        return static_cast<unsigned>(std::find(all_.begin(), all_.end(), ops) - all_.begin());
    }
    std::vector<unsigned> members(const Ops* object) const {
        std::vector<unsigned> numbers;
        if (!is_single(object))
            for (const Ops* ops : static_cast<const OpsList*>(object)->all())
                numbers.push_back(number(ops));
        else if (object != none_)
            numbers.push_back(number(object));
        return numbers;
    }
    // The direct entry that the site's word calls.
    Address called_by(std::uint32_t word) const {
        for (const Ops* ops : all_)
            if (ops->direct != 0 && word == arch::call_at(site_.toggle(), ops->direct))
                return ops->direct;
        return 0;
    }
    Parts direct_of(Address entry) const {
        for (const Ops* ops : all_)
            if (entry != 0 && ops->direct == entry) return direct_part(number(ops));
        return 0;
    }
    Parts parts() {
        const auto* object = reinterpret_cast<const Ops*>(SimMachine::read_slot(site_.slot()));
        Parts all = 0;
        for (const unsigned ops : members(object)) {
            if (all_[ops]->func != none_->func) all |= callback_part(ops);
            if (all_[ops]->direct != 0) all |= direct_part(ops);
        }
        return all;
    }

    unsigned object_at(std::uint64_t slot) {
        const auto* address = reinterpret_cast<const Ops*>(slot);
        for (unsigned i = 0; i < recording.objects.size(); ++i)
            if (recording.objects[i].address == address && !is_freed(i)) return i;
        recording.objects.push_back(
            {address, !is_single(address), members(address), direct_of(address->direct)});
        return static_cast<unsigned>(recording.objects.size()) - 1;
    }
    bool is_freed(unsigned object) const {
        return std::any_of(recording.steps.begin(), recording.steps.end(), [&](const Step& step) {
            return step.kind == Step::Kind::free && step.value == object;
        });
    }
    unsigned word_of(std::uint32_t word) {
        const Address at = site_.toggle();
        const auto calls = [&](Address target) { return word == arch::call_at(at, target); };
        const Word found = word == arch::idle_word         ? Word{Word::To::body, 0}
                           : calls(trampolines_.callback)  ? Word{Word::To::callback_trampoline, 0}
                           : calls(trampolines_.unguarded) ? Word{Word::To::unguarded_trampoline, 0}
                           : calls(trampolines_.far)
                               ? Word{Word::To::far_trampoline, 0}
                               : Word{Word::To::direct, direct_of(called_by(word))};
        for (unsigned i = 0; i < recording.words.size(); ++i)
            if (recording.words[i].to == found.to && recording.words[i].direct == found.direct)
                return i;
        recording.words.push_back(found);
        return static_cast<unsigned>(recording.words.size()) - 1;
    }

    void take(Step::Kind kind, unsigned value = 0) {
        if (!watching_) return;
        for (unsigned i = 0; i < recording.objects.size(); ++i) {
            const Object& object = recording.objects[i];
            if (object.is_list && !is_freed(i) && members(object.address) != object.members)
                recording.steps.push_back({Step::Kind::free, i});
        }
        recording.steps.push_back({kind, value});
    }

    PatchSite site_{};
    const Ops* none_ = nullptr;
    std::vector<Ops*> all_;
    Trampolines trampolines_{};
    bool watching_ = false;
};
static_assert(MachineConcept<RecordingMachine>);

}  // namespace nopscope::sim
