// SPDX-License-Identifier: Apache-2.0
// Nothing orders a core's fetch of a word and its load of the slot. So each store is checked with
// both the old and the new value of the other location, not only with the matching one:
//
//     a slot gets an object      it is an ops, or a list of several, for every slot reader
//     a word becomes a BL        its slot's object is complete (DSB), and the BL belongs to it
//     a slot gets `none`         the word is NOP, and no core can still execute the old one, unless
//                                the request reports a timeout
//     a request returns          the word belongs to the slot
//     a trampoline reads a slot  it finds an ops, a list, or `none`
#include "tests/verification/oracle/coherence_rows.hpp"

#include "tests/verification/oracle/a64.hpp"

#include <cstddef>
#include <utility>

namespace coherence {

namespace {

constexpr std::uint64_t compiled = std::uint64_t{a64::nop} << 32 | a64::nop;
constexpr std::uint32_t flag_unguarded = 2;
constexpr std::uint32_t most_members = 128;

std::string at(const char* what, std::uint64_t address) {
    return std::string(what) + " at " + hex(address);
}

}  // namespace

void Rows::watch() {
    model_.on_slot = [this](unsigned core, Site& site, std::uint64_t old) {
        slot_stored(core, site, old);
    };
    model_.on_word = [this](unsigned core, Site& site, std::uint32_t word) {
        word_stored(core, site, word);
    };
    model_.on_return = [this](unsigned core, Site& site, std::uint64_t status) {
        returned(core, site, status);
    };
}

Rows::Object Rows::object_at(std::uint64_t slot) {
    Object object{};
    if (!read_(slot, &object, sizeof object)) object = {};
    return object;
}
std::uint64_t Rows::no_callback() {
    if (no_callback_ == 0) no_callback_ = object_at(ops_.none).func;
    return no_callback_;
}

bool Rows::is_ops(const Object& object) const {
    const bool unguarded = (object.flags & flag_unguarded) != 0;
    return model_.holds(object.func) && (object.direct == 0 || model_.holds(object.direct)) &&
           object.unguarded == (unguarded ? object.func : ops_.guarded);
}

std::string Rows::wrong_with(std::uint64_t slot) {
    if (slot % 16 != 0) return "is not aligned as an ops is";
    const Object object = object_at(slot);
    if (!is_ops(object)) return "is no ops and no list";
    if (object.func != ops_.walk_list) return {};
    if (object.count < 2 || object.count > most_members) {
        return "is a list of " + std::to_string(object.count) +
               " members: one that is free, or not yet made";
    }
    for (std::uint32_t i = 0; i < object.count; ++i) {
        std::uint64_t member = 0;
        if (!read_(slot + sizeof object + 8 * i, &member, sizeof member) ||
            !is_ops(object_at(member)) || member == ops_.none) {
            return "is a list whose member " + std::to_string(i) + " is no ops";
        }
    }
    return {};
}

// See the first table in docs/ops.md, "How a site's set of ops changes".
bool Rows::is_word_of(const Site& site, std::uint32_t word, std::uint64_t slot) {
    if (slot == ops_.none) return word == a64::nop;
    if (!a64::is_bl(word)) return false;
    const std::uint64_t target = a64::bl_target(word, site.word->address);
    const Object object = object_at(slot);
    const bool is_list = object.func == ops_.walk_list;
    if (object.direct != 0 && object.func == no_callback() && !is_list) {
        const auto distance = static_cast<std::int64_t>(object.direct - site.word->address);
        const bool reaches = distance >= -(std::int64_t{1} << 27) && distance < std::int64_t{1}
                                                                                    << 27;
        return target == (reaches ? object.direct : ops_.far);
    }
    const bool unguarded = (object.flags & flag_unguarded) != 0 && object.direct == 0;
    return target == (unguarded ? ops_.unguarded : ops_.callback);
}

void Rows::slot_stored(unsigned core, Site& site, std::uint64_t old) {
    const std::string slot = at("the slot", site.slot_address());
    if (model_.cores[core].requests.empty()) {
        model_.fault("stray", core, site.slot_address(),
                     slot + " is changed outside of every request this oracle knows");
    }
    if (site.slot != ops_.none) {
        const std::string wrong = wrong_with(site.slot);
        if (wrong.empty()) return;
        model_.fault("row", core, site.slot_address(),
                     slot + " gets " + hex(site.slot) + ", which " + wrong);
        return;
    }
    if (old == compiled) return;
    if (a64::is_bl(model_.value(site.word->address))) {
        model_.fault("order", core, site.slot_address(),
                     slot + " gets `none` while its word is a BL");
    } else if (const int late = model_.who_may_lag(*site.word); late >= 0) {
        early_[&site] = slot + " gets `none` while core " + std::to_string(late) +
                        " may still execute the BL that was there";
    }
}

void Rows::word_stored(unsigned core, Site& site, std::uint32_t word) {
    if (!a64::is_bl(word)) return;
    const std::string what = at("a BL is written", site.word->address);
    if (site.slot == ops_.none || site.slot == compiled) {
        model_.fault("order", core, site.word->address, what + " while its slot holds no ops");
    } else if (site.slot_since != 0 && model_.cores[site.slot_core].barrier < site.slot_since) {
        model_.fault("order", core, site.word->address,
                     what + " before a DSB after the store to its slot");
    } else if (!is_word_of(site, word, site.slot)) {
        model_.fault(
            "row", core, site.word->address,
            what + ", " + hex(word) + ", that does not go with " + hex(site.slot) + " in its slot");
    }
}

void Rows::returned(unsigned core, Site& site, std::uint64_t status) {
    constexpr std::uint8_t ok = 0;  // nopscope::Status, of 8 bits
    if (const auto early = early_.find(&site); early != early_.end()) {
        if (static_cast<std::uint8_t>(status) == ok) {
            model_.fault("order", core, site.slot_address(), early->second);
        }
        early_.erase(early);
    }
    if (static_cast<std::uint8_t>(status) == ok) check_released(core, site);
    const std::uint32_t word = model_.value(site.word->address);
    if (is_word_of(site, word, site.slot)) return;
    model_.fault("row", core, site.word->address,
                 "a request returns, and the word " + hex(word) + " at " + hex(site.word->address) +
                     " does not go with " + hex(site.slot) + " in its slot");
}

void Rows::slot_read(unsigned core, Site& site, std::uint64_t value, bool holds) {
    ++model_.events.slot_reads;
    if (ops_.none == 0) return;
    const Object object = object_at(value);
    if (holds) {
        ++model_.events.uses;
        holds_[core].push_back({value, &site, object.func == ops_.walk_list ? object.count : 0});
    }
    if (value == ops_.none) return;
    const std::string wrong = wrong_with(value);
    if (wrong.empty()) return;
    model_.fault("row", core, site.slot_address(),
                 core_name(core) + " reads " + hex(value) + " from " +
                     at("the slot", site.slot_address()) + ", which " + wrong);
}

// ---- uses ----

// How long a core uses an object that it read from a slot. synchronize() must wait for it, and
// lists are released only afterwards. A caller that detaches an ops gets its storage back when the
// request returns `ok`.
//
// A use begins with the load of the slot. In the guarded trampoline and the far one it ends with
// the load of the object's direct entry; in the unguarded one, when its callback has returned
// (tracer/arch/arm64/callbacks.S). Interrupts nest. A task that is preempted uses it on.

void Rows::loaded(unsigned core, Address address) {
    std::vector<Hold>& holds = holds_[core];
    if (!holds.empty() && holds.back().object + offsetof(Object, direct) == address) let_go(core);
}

void Rows::let_go(unsigned core) {
    if (holds_[core].empty()) return;
    holds_[core].pop_back();
    ++model_.events.uses_ended;
}

void Rows::leave_stack(unsigned core, Address sp) {
    away_[sp] = {std::exchange(holds_[core], {}), std::exchange(model_.cores[core].requests, {})};
}

void Rows::take_stack(unsigned core, Address sp) {
    const auto found = away_.find(sp);
    if (found == away_.end()) return;  // a new task
    holds_[core] = std::move(found->second.holds);
    model_.cores[core].requests = std::move(found->second.requests);
    away_.erase(found);
}

template <typename Visit>
void Rows::for_each_hold(unsigned except, Visit visit) const {
    for (unsigned user = 0; user < max_cores; ++user) {
        if (user == except || !model_.cores[user].live) continue;
        for (const Hold& hold : holds_[user]) visit(core_name(user), hold);
    }
    for (const auto& [sp, task] : away_) {
        for (const Hold& hold : task.holds) visit("the task that left at SP " + hex(sp), hold);
    }
}

// A list's `sites`, `refs` and `next` may change while it is used: trampolines do not read them.
void Rows::list_stored(unsigned core, Address address, unsigned bytes) {
    for_each_hold(max_cores, [&](const std::string& user, const Hold& hold) {
        const Address at = address - hold.object;
        if (hold.members == 0 || at >= sizeof(Object) + 8 * hold.members) return;
        if (at == offsetof(Object, sites) || at == offsetof(Object, refs)) return;
        if (at == offsetof(Object, next)) return;
        model_.fault("in-use", core, hold.object,
                     core_name(core) + " stores " + std::to_string(bytes) + " bytes at " +
                         hex(address) + ", of the list at " + hex(hold.object) + " that " + user +
                         " has read from the slot at " + hex(hold.site->slot_address()) +
                         " and still uses");
    });
}

bool Rows::is_in(std::uint64_t ops, std::uint64_t slot) {
    if (ops == slot || ops == ops_.none) return true;
    const Object object = object_at(slot);
    if (object.func != ops_.walk_list) return false;
    for (std::uint32_t i = 0; i < object.count; ++i) {
        std::uint64_t member = 0;
        if (read_(slot + sizeof object + 8 * i, &member, sizeof member) && member == ops)
            return true;
    }
    return false;
}

void Rows::check_released(unsigned core, const Site& site) {
    for_each_hold(core, [&](const std::string& user, const Hold& hold) {
        if (hold.site != &site || is_in(hold.object, site.slot)) return;
        model_.fault("in-use", core, site.slot_address(),
                     "a request returns `ok` on " + core_name(core) + ", and " + user +
                         " still uses " + hex(hold.object) +
                         ", which was taken out of the slot at " + hex(site.slot_address()));
    });
}

}  // namespace coherence
