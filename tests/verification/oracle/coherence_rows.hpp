// SPDX-License-Identifier: Apache-2.0
// The table of docs/ops.md, written again: what a slot may hold, and which word belongs to it. No
// core may change or release what another uses.
//
// Nothing orders a core's fetch of a word and its load of the slot. So each store is checked with
// both the old and the new value of the other location, not only with the matching one:
//
//     a slot gets an object      it is an ops, or a list of several, for every slot reader
//     a word becomes a BL        its slot's object is complete (DSB), and the BL belongs to it
//     a slot gets `none`         the word is NOP, and no core can still execute the old one, unless
//                                the request reports a timeout
//     a request returns          the word belongs to the slot
//     a trampoline reads a slot  it finds an ops, a list, or `none`
#pragma once

#include "tests/verification/oracle/coherence_model.hpp"
#include "tests/verification/oracle/plugin.hpp"

#include <cstddef>

namespace coherence {

// Addresses in the image: the object of untraced sites; the callback of lists; the one that takes
// the guard; the trampolines. none == 0: no ops, so only complete stores to slots are checked.
struct OpsOf {
    Address none = 0, walk_list = 0, guarded = 0, callback = 0, unguarded = 0, far = 0;
};

class Rows : public Model {
public:
    using Model::Model;

    // How long a core uses an object that it read from a slot. synchronize() must wait for it, and
    // lists are released only afterwards. A caller that detaches an ops gets its storage back when
    // the request returns `ok`.
    //
    // A use begins with the load of the slot. In the guarded trampoline and the far one it ends
    // with the load of the object's direct entry; in the unguarded one, when its callback has
    // returned (tracer/arch/arm64/callbacks.S). Interrupts nest. A task that is preempted uses it
    // on.

    // A trampoline or a recorder has loaded a slot. `holds`: it uses the object until let_go().
    void slot_read(unsigned core, Site& site, std::uint64_t value, bool holds) {
        ++events["slot_reads"];
        if (ops.none == 0) return;
        const Object object = object_at(value);
        if (holds) {
            ++events["uses"];
            holds_[core].push_back({value, &site, is_list(object) ? object.count : 0});
        }
        if (value == ops.none) return;
        const std::string wrong = wrong_with(value);
        if (wrong.empty()) return;
        fault("row", core, site.slot_address(),
              core_name(core) + " reads " + hex(value) + " from the slot at " +
                  hex(site.slot_address()) + ", which " + wrong);
    }
    // A trampoline has loaded from `address`. It reads the direct entry of its object last.
    void loaded(unsigned core, Address address) {
        const std::vector<Hold>& holds = holds_[core];
        if (!holds.empty() && holds.back().object + offsetof(Object, direct) == address)
            let_go(core);
    }
    // The unguarded trampoline's callback has returned.
    void let_go(unsigned core) {
        if (holds_[core].empty()) return;
        holds_[core].pop_back();
        ++events["uses_ended"];
    }
    // The core's task leaves, with this SP, and another one goes on that has left with that SP, on
    // any core. What a task uses and requests goes with it.
    void leave_stack(unsigned core, Address sp) {
        away_[sp] = {std::exchange(holds_[core], {}), std::exchange(cores[core].requests, {})};
    }
    void take_stack(unsigned core, Address sp) {
        const auto found = away_.find(sp);
        if (found == away_.end()) return;  // a new task
        holds_[core] = std::move(found->second.holds);
        cores[core].requests = std::move(found->second.requests);
        away_.erase(found);
    }
    // A core has stored to memory that contains lists. A list's `sites`, `refs` and `next` may
    // change while it is used: trampolines do not read them.
    void list_stored(unsigned core, Address address, unsigned bytes) {
        for_each_hold(max_cores, [&](const std::string& user, const Hold& hold) {
            const Address at = address - hold.object;
            if (hold.members == 0 || at >= sizeof(Object) + 8 * hold.members) return;
            if (at == offsetof(Object, sites) || at == offsetof(Object, refs)) return;
            if (at == offsetof(Object, next)) return;
            fault("in-use", core, hold.object,
                  core_name(core) + " stores " + std::to_string(bytes) + " bytes at " +
                      hex(address) + ", of the list at " + hex(hold.object) + " that " + user +
                      " has read from the slot at " + hex(hold.site->slot_address()) +
                      " and still uses");
        });
    }

    OpsOf ops;

private:
    // The layout in nopscope/ops.hpp and ops_list_pool.hpp, which callbacks.S also knows.
    struct Object {
        std::uint64_t func, direct, user;
        std::uint32_t flags, sites;
        std::uint64_t unguarded, data;
        std::uint32_t units, refs, count, next;  // of a list
    };
    static_assert(sizeof(Object) == 64);
    static constexpr std::uint32_t flag_unguarded = 2, most_members = 128;
    static constexpr std::uint64_t compiled = std::uint64_t{a64::nop} << 32 | a64::nop;

    // An object that a core read from a slot and still uses. The innermost is last.
    struct Hold {
        std::uint64_t object;
        const Site* site;
        std::uint32_t members;  // of a list
    };
    struct Away {
        std::vector<Hold> holds;
        std::vector<Core::Request> requests;
    };

    void slot_stored(unsigned core, Site& site, std::uint64_t old) override {
        if (ops.none == 0) return;
        const std::string slot = "the slot at " + hex(site.slot_address());
        if (cores[core].requests.empty()) {
            fault("stray", core, site.slot_address(),
                  slot + " is changed outside of every request this oracle knows");
        }
        if (site.slot != ops.none) {
            const std::string wrong = wrong_with(site.slot);
            if (wrong.empty()) return;
            return fault("row", core, site.slot_address(),
                         slot + " gets " + hex(site.slot) + ", which " + wrong);
        }
        if (old == compiled) return;
        if (a64::is_bl(value(site.word->address))) {
            fault("order", core, site.slot_address(), slot + " gets `none` while its word is a BL");
        } else if (const int late = who_may_lag(*site.word); late >= 0) {
            early_[&site] = slot + " gets `none` while core " + std::to_string(late) +
                            " may still execute the BL that was there";
        }
    }
    void word_stored(unsigned core, Site& site, std::uint32_t word) override {
        if (ops.none == 0 || !a64::is_bl(word)) return;
        const Address at = site.word->address;
        const std::string what = "a BL is written at " + hex(at);
        if (site.slot == ops.none || site.slot == compiled) {
            fault("order", core, at, what + " while its slot holds no ops");
        } else if (site.slot_since != 0 && cores[site.slot_core].barrier < site.slot_since) {
            fault("order", core, at, what + " before a DSB after the store to its slot");
        } else if (!is_word_of(site, word, site.slot)) {
            fault("row", core, at,
                  what + ", " + hex(word) + ", that does not go with " + hex(site.slot) +
                      " in its slot");
        }
    }
    void returned(unsigned core, Site& site, std::uint64_t status) override {
        if (ops.none == 0) return;
        const bool is_ok = static_cast<std::uint8_t>(status) == 0;  // nopscope::Status, of 8 bits
        const auto early = early_.extract(&site);
        if (early && is_ok) fault("order", core, site.slot_address(), early.mapped());
        if (is_ok) check_released(core, site);
        const std::uint32_t word = value(site.word->address);
        if (is_word_of(site, word, site.slot)) return;
        fault("row", core, site.word->address,
              "a request returns, and the word " + hex(word) + " at " + hex(site.word->address) +
                  " does not go with " + hex(site.slot) + " in its slot");
    }

    // Reports a core that still uses an object that was removed from the site.
    void check_released(unsigned core, const Site& site) {
        for_each_hold(core, [&](const std::string& user, const Hold& hold) {
            if (hold.site != &site || is_in(hold.object, site.slot)) return;
            fault("in-use", core, site.slot_address(),
                  "a request returns `ok` on " + core_name(core) + ", and " + user +
                      " still uses " + hex(hold.object) + ", which was taken out of the slot at " +
                      hex(site.slot_address()));
        });
    }
    // Calls visit(who, hold) for all, except those that core `except` uses.
    template <typename Visit>
    void for_each_hold(unsigned except, Visit visit) const {
        for (unsigned user = 0; user < max_cores; ++user) {
            if (user == except || !cores[user].live) continue;
            for (const Hold& hold : holds_[user]) visit(core_name(user), hold);
        }
        for (const auto& [sp, task] : away_) {
            for (const Hold& hold : task.holds) visit("the task that left at SP " + hex(sp), hold);
        }
    }

    Object object_at(std::uint64_t slot) const {
        Object object{};
        return plugin::read_memory(slot, &object, sizeof object) ? object : Object{};
    }
    // Returns a list's member; 0: nothing is mapped there.
    std::uint64_t member_of(std::uint64_t list, std::uint32_t number) const {
        std::uint64_t member = 0;
        const Address at = list + sizeof(Object) + 8 * number;
        return plugin::read_memory(at, &member, sizeof member) ? member : 0;
    }
    bool is_list(const Object& object) const { return object.func == ops.walk_list; }
    bool is_ops(const Object& object) const {
        const bool unguarded = (object.flags & flag_unguarded) != 0;
        return holds(object.func) && (object.direct == 0 || holds(object.direct)) &&
               object.unguarded == (unguarded ? object.func : ops.guarded);
    }
    bool is_in(std::uint64_t used, std::uint64_t slot) const {
        if (used == slot || used == ops.none) return true;
        const Object object = object_at(slot);
        for (std::uint32_t i = 0; is_list(object) && i < object.count; ++i) {
            if (member_of(slot, i) == used) return true;
        }
        return false;
    }
    // See the first table in docs/ops.md, "How a site's set of ops changes".
    bool is_word_of(const Site& site, std::uint32_t word, std::uint64_t slot) {
        if (slot == ops.none) return word == a64::nop;
        if (!a64::is_bl(word)) return false;
        if (no_callback_ == 0) no_callback_ = object_at(ops.none).func;
        const std::uint64_t target = a64::bl_target(word, site.word->address);
        const Object object = object_at(slot);
        if (object.direct != 0 && object.func == no_callback_ && !is_list(object)) {
            constexpr std::int64_t reach = std::int64_t{1} << 27;
            const auto distance = static_cast<std::int64_t>(object.direct - site.word->address);
            return target == (distance >= -reach && distance < reach ? object.direct : ops.far);
        }
        const bool unguarded = (object.flags & flag_unguarded) != 0 && object.direct == 0;
        return target == (unguarded ? ops.unguarded : ops.callback);
    }
    // Returns the error of the slot's object; empty if there is none.
    std::string wrong_with(std::uint64_t slot) const {
        if (slot % 16 != 0) return "is not aligned as an ops is";
        const Object object = object_at(slot);
        if (!is_ops(object)) return "is no ops and no list";
        if (!is_list(object)) return {};
        if (object.count < 2 || object.count > most_members) {
            return "is a list of " + std::to_string(object.count) +
                   " members: one that is free, or not yet made";
        }
        for (std::uint32_t i = 0; i < object.count; ++i) {
            const std::uint64_t member = member_of(slot, i);
            if (!is_ops(object_at(member)) || member == ops.none)
                return "is a list whose member " + std::to_string(i) + " is no ops";
        }
        return {};
    }

    std::uint64_t no_callback_ = 0;
    std::vector<Hold> holds_[max_cores];
    std::map<Address, Away> away_;  // tasks that do not run, by SP
    // Sites whose slot got `none` too early. It is no fault if the request reports a timeout.
    std::map<const Site*, std::string> early_;
};

}  // namespace coherence
