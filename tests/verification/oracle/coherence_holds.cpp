// SPDX-License-Identifier: Apache-2.0
// How long a core uses an object that it read from a slot. synchronize() must wait for it, and
// lists are released only afterwards. A caller that detaches an ops gets its storage back when the
// request returns `ok`.
//
// A use begins with the load of the slot. In the guarded trampoline and the far one it ends with
// the load of the object's direct entry; in the unguarded one, when its callback has returned
// (tracer/arch/arm64/callbacks.S). Interrupts nest. A task that is preempted uses it on.
#include "tests/verification/oracle/coherence_rows.hpp"

#include <cstddef>
#include <utility>

namespace coherence {

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
