// SPDX-License-Identifier: Apache-2.0
// The table of docs/ops.md, said a second time: what a slot may hold, and which word goes with it
// (coherence_rows.cpp); and that nobody changes or gives back what a core is using (coherence_holds.cpp).
#pragma once

#include "tests/verification/oracle/coherence_model.hpp"

namespace coherence {

// Addresses of the image: the object of sites that nobody traces; the callback of lists; the one that takes
// the guard; the trampolines. none == 0: the image has no ops, and its slots are only held to be whole.
struct OpsOf {
    Address none = 0, walk_list = 0, guarded = 0, callback = 0, unguarded = 0, far = 0;
};

class Rows {
public:
    // Reads memory as the core does that runs the callback; false: nothing is mapped there.
    using Read = bool (*)(Address, void* to, std::size_t bytes);
    Rows(Model& model, const OpsOf& ops, Read read) : model_(model), ops_(ops), read_(read) {}

    // Adds itself to the model's events.
    void watch();
    // A trampoline or a recorder has loaded a slot. `holds`: and uses the object until let_go().
    void slot_read(unsigned core, Site& site, std::uint64_t value, bool holds);
    // A trampoline has loaded from there: the direct entry is the last that it wants of its object.
    void loaded(unsigned core, Address address);
    // The unguarded trampoline's callback has returned.
    void let_go(unsigned core);
    // To where lists are.
    void list_stored(unsigned core, Address address, unsigned bytes);

private:
    // tracer/include/nopscope/ops.hpp, ops_list_pool.hpp, as callbacks.S knows them.
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
    // No other core uses what was taken out of the site.
    void check_released(unsigned core, const Site& site);
    bool is_in(std::uint64_t ops, std::uint64_t slot);
    bool is_word_of(const Site& site, std::uint32_t word, std::uint64_t slot);
    // What is wrong with it; empty: nothing.
    std::string wrong_with(std::uint64_t slot);
    bool is_ops(const Object& object) const;
    Object object_at(std::uint64_t slot);
    std::uint64_t no_callback();

    // What a core has read from a slot and still uses, innermost last.
    struct Hold {
        std::uint64_t object;
        const Site* site;
        std::uint32_t members;  // of a list
    };
    std::vector<Hold> holds_[max_cores];
    // Sites whose slot got `none` too early, unless the request says that it gave up waiting.
    std::map<const Site*, std::string> early_;

    Model& model_;
    OpsOf ops_;
    Read read_;
    std::uint64_t no_callback_ = 0;
};

}  // namespace coherence
