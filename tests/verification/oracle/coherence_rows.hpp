// SPDX-License-Identifier: Apache-2.0
// The table of docs/ops.md, written again: what a slot may hold, and which word belongs to it. No
// core may change or release what another uses.
#pragma once

#include "tests/verification/oracle/coherence_model.hpp"

namespace coherence {

// Addresses in the image: the object of untraced sites; the callback of lists; the one that takes
// the guard; the trampolines. none == 0: no ops, so only complete stores to slots are checked.
struct OpsOf {
    Address none = 0, walk_list = 0, guarded = 0, callback = 0, unguarded = 0, far = 0;
};

class Rows {
public:
    // Reads memory as the core that runs the callback sees it; false: nothing is mapped there.
    using Read = bool (*)(Address, void* to, std::size_t bytes);
    Rows(Model& model, const OpsOf& ops, Read read) : model_(model), ops_(ops), read_(read) {}

    // Registers with the model's events.
    void watch();
    // A trampoline or a recorder has loaded a slot. `holds`: it uses the object until let_go().
    void slot_read(unsigned core, Site& site, std::uint64_t value, bool holds);
    // A trampoline has loaded from `address`. It reads the direct entry of its object last.
    void loaded(unsigned core, Address address);
    // The unguarded trampoline's callback has returned.
    void let_go(unsigned core);
    // The core's task leaves, with this SP, and another one goes on that has left with that SP, on
    // any core. What a task uses and requests goes with it.
    void leave_stack(unsigned core, Address sp);
    void take_stack(unsigned core, Address sp);
    // A core has stored to memory that contains lists.
    void list_stored(unsigned core, Address address, unsigned bytes);

private:
    // The layout in nopscope/ops.hpp and ops_list_pool.hpp, which callbacks.S also knows.
    struct Object {
        std::uint64_t func, direct, user;
        std::uint32_t flags, sites;
        std::uint64_t unguarded, data;
        std::uint32_t units, refs, count, next;  // of a list
    };
    static_assert(sizeof(Object) == 64);

    void slot_stored(unsigned core, Site& site, std::uint64_t old);
    void word_stored(unsigned core, Site& site, std::uint32_t word);
    void returned(unsigned core, Site& site, std::uint64_t status);
    // Reports a core that still uses an object that was removed from the site.
    void check_released(unsigned core, const Site& site);
    bool is_in(std::uint64_t ops, std::uint64_t slot);
    bool is_word_of(const Site& site, std::uint32_t word, std::uint64_t slot);
    // Returns the error of the slot's object; empty if there is none.
    std::string wrong_with(std::uint64_t slot);
    bool is_ops(const Object& object) const;
    Object object_at(std::uint64_t slot);
    std::uint64_t no_callback();

    // An object that a core read from a slot and still uses. The innermost is last.
    struct Hold {
        std::uint64_t object;
        const Site* site;
        std::uint32_t members;  // of a list
    };
    std::vector<Hold> holds_[max_cores];
    struct Away {
        std::vector<Hold> holds;
        std::vector<Core::Request> requests;
    };
    std::map<Address, Away> away_;  // tasks that do not run, by SP
    // Calls visit(who, hold) for all, except those that core `except` uses.
    template <typename Visit>
    void for_each_hold(unsigned except, Visit visit) const;
    // Sites whose slot got `none` too early. It is no fault if the request reports a timeout.
    std::map<const Site*, std::string> early_;

    Model& model_;
    OpsOf ops_;
    Read read_;
    std::uint64_t no_callback_ = 0;
};

}  // namespace coherence
