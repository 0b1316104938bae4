// SPDX-License-Identifier: Apache-2.0
// How long a core uses an object that it read from a slot. synchronize() must wait for it, and
// lists are released only afterwards. A caller that detaches an ops gets its storage back when the
// request returns `ok`.
//
// A use begins with the load of the slot. In the guarded trampoline and the far one it ends with
// the load of the object's direct entry; in the unguarded one, when its callback has returned
// (tracer/arch/arm64/callbacks.S). Interrupts nest.
#include "tests/verification/oracle/coherence_rows.hpp"

#include <cstddef>

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

// A list's `sites`, `refs` and `next` may change while it is used: trampolines do not read them.
void Rows::list_stored(unsigned core, Address address, unsigned bytes) {
    for (unsigned user = 0; user < max_cores; ++user) {
        for (const Hold& hold : holds_[user]) {
            const Address at = address - hold.object;
            if (hold.members == 0 || at >= sizeof(Object) + 8 * hold.members) continue;
            if (at == offsetof(Object, sites) || at == offsetof(Object, refs)) continue;
            if (at == offsetof(Object, next)) continue;
            model_.fault("in-use", core, hold.object,
                         core_name(core) + " stores " + std::to_string(bytes) + " bytes at " +
                             hex(address) + ", of the list at " + hex(hold.object) + " that " +
                             core_name(user) + " has read from the slot at " +
                             hex(hold.site->slot_address()) + " and still uses");
        }
    }
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
    for (unsigned user = 0; user < max_cores; ++user) {
        if (user == core || !model_.cores[user].live) continue;
        for (const Hold& hold : holds_[user]) {
            if (hold.site != &site || is_in(hold.object, site.slot)) continue;
            model_.fault("in-use", user, site.slot_address(),
                         "a request returns `ok` on " + core_name(core) + ", and " +
                             core_name(user) + " still uses " + hex(hold.object) +
                             ", which was taken out of the slot at " + hex(site.slot_address()));
        }
    }
}

}  // namespace coherence
