// SPDX-License-Identifier: Apache-2.0
// The lists of sites that several ops trace. Sites with the same set share one list.
//
// A list is itself an Ops, so a slot can hold it and every trampoline can read it: its callback walks
// the members' callbacks, its direct entry is that of the one member that has one. Lists live in a
// static pool, are never changed once a slot holds them, and are given back by collect() after the
// cores have been synchronised.
#pragma once

#include "tracer/ops.hpp"

#include <array>
#include <span>

namespace nopscope {

struct SiteList : Ops {
    std::uint32_t units = 0;  // of this block, header included; the pool's
    std::uint32_t refs = 0;   // sites whose slot holds it
    std::uint32_t count = 0;  // members; 0: a free block

    Ops** members() { return reinterpret_cast<Ops**>(this + 1); }
    Ops* const* members() const { return reinterpret_cast<Ops* const*>(this + 1); }
    std::span<Ops* const> all() const { return {members(), count}; }
};

// What arm64/callbacks.S knows.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(SiteList, count) == 56 && sizeof(SiteList) == 64);
#pragma GCC diagnostic pop

// Calls each member's callback, in the order of attachment (arm64/callbacks.S).
extern "C" void nopscope_walk_list(std::uint64_t ip, std::uint64_t parent_ip, Ops* list, Regs* regs);
// Calls ops->func with this context's guard taken, unless it is taken already (guards.hpp).
void guarded(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs);

template <std::size_t Units>
class SiteLists {
public:
    constexpr SiteLists() = default;

    // The list of these members, found or made; null: the pool is full.
    SiteList* get(std::span<Ops* const> members) {
        if (used_ == 0) format();
        SiteList* best = nullptr;
        const auto units = static_cast<std::uint32_t>(units_of(members.size()));
        for (SiteList* list = first(); list != nullptr; list = next(list)) {
            if (list->count == 0) {
                join_free(list);
                if (best == nullptr && list->units >= units) best = list;
            } else if (same(*list, members)) {
                return list;
            }
        }
        if (best != nullptr) make(*best, units, members);
        return best;
    }

    // `slot` is the address of a list in use.
    bool holds(std::uint64_t slot) {
        for (SiteList* list = first(); list != nullptr; list = next(list)) {
            if (address(list) == slot) return list->count != 0;
        }
        return false;
    }
    // By address alone: `slot` lies in the pool.
    bool contains(std::uint64_t slot) const {
        const auto begin = reinterpret_cast<std::uintptr_t>(pool_.data());
        return slot >= begin && slot < begin + sizeof pool_;
    }

    // Frees the lists that no slot holds. No core may be reading them any more.
    void collect() {
        for (SiteList* list = first(); list != nullptr; list = next(list)) {
            if (list->refs == 0) list->count = 0;
        }
    }
    std::uint32_t in_use() {
        std::uint32_t count = 0;
        for (SiteList* list = first(); list != nullptr; list = next(list)) count += list->count != 0;
        return count;
    }

private:
    struct alignas(16) Unit {
        std::uint64_t words[2];
    };
    static constexpr std::size_t header_units = sizeof(SiteList) / sizeof(Unit);

    static std::uint64_t address(const SiteList* list) {
        return reinterpret_cast<std::uintptr_t>(list);
    }
    static std::size_t units_of(std::size_t members) { return header_units + (members + 1) / 2; }
    SiteList* at(std::size_t unit) { return reinterpret_cast<SiteList*>(&pool_[unit]); }
    SiteList* first() { return used_ == 0 ? nullptr : at(0); }
    SiteList* next(SiteList* list) {
        auto* after = reinterpret_cast<Unit*>(list) + list->units;
        return after == pool_.data() + Units ? nullptr : reinterpret_cast<SiteList*>(after);
    }
    void format() {
        at(0)->units = Units;
        at(0)->count = 0;
        used_ = 1;
    }
    void join_free(SiteList* list) {
        for (SiteList* after = next(list); after != nullptr && after->count == 0; after = next(list)) {
            list->units += after->units;
        }
    }
    static bool same(const SiteList& list, std::span<Ops* const> members) {
        if (list.count != members.size()) return false;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (list.members()[i] != members[i]) return false;
        }
        return true;
    }
    void make(SiteList& list, std::uint32_t units, std::span<Ops* const> members) {
        const std::uint32_t rest = list.units - units;
        if (rest >= header_units) {
            list.units = units;
            next(&list)->units = rest;
            next(&list)->count = 0;
        }
        list.func = nopscope_walk_list;
        list.unguarded = guarded;
        list.direct = 0;
        list.data = nullptr;
        list.user = nullptr;
        list.flags = 0;
        list.sites = 0;
        list.refs = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            list.members()[i] = members[i];
            if (members[i]->direct == 0) continue;
            list.direct = members[i]->direct;
            list.data = members[i]->data;
        }
        list.count = static_cast<std::uint32_t>(members.size());
    }

    std::array<Unit, Units> pool_{};
    std::size_t used_ = 0;
};

}  // namespace nopscope
