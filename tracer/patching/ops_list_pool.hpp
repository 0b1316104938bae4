// SPDX-License-Identifier: Apache-2.0
// The pool of ops lists. A site that several ops trace has such a list in its slot. Sites with the
// same set of ops share one list. A list that has a family's member belongs to one site alone.
//
// A list is itself an Ops, so a slot can hold it and every trampoline can read it. Its callback
// calls the members' callbacks. If a member has a direct entry, the list has the same direct entry
// and data. Lists live in a static pool. Nothing changes a list while a slot holds it. collect()
// frees unused lists after the cores have been synchronised.
#pragma once

#include "nopscope/ops.hpp"

#include <array>
#include <span>

namespace nopscope {

struct OpsList : Ops {
    std::uint32_t units = 0;  // size of this block in units of the pool, header included
    std::uint32_t refs = 0;   // sites whose slot holds this list
    std::uint32_t count = 0;  // members; 0: the block is free
    std::uint32_t next = 0;   // the next list with this hash: index of its unit, plus 1; 0: none

    Ops** members() { return reinterpret_cast<Ops**>(this + 1); }
    Ops* const* members() const { return reinterpret_cast<Ops* const*>(this + 1); }
    std::span<Ops* const> all() const { return {members(), count}; }
};

// Calls each member's callback, in the order of attachment (arch/arm64/callbacks.S).
extern "C" void nopscope_walk_list(std::uint64_t ip, std::uint64_t parent_ip, Ops* list,
                                   Regs* regs);
// Calls ops->func with this context's guard. If it is taken already, counts a recursion instead.
void guarded(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs);

template <std::size_t Units>
class OpsListPool {
public:
    constexpr OpsListPool() = default;

    // Returns the list of these members, and makes it if there is none. Null: the pool is full.
    OpsList* get(std::span<Ops* const> members) {
        std::uint32_t& head = heads_[hash(members)];
        for (std::uint32_t i = head; i != 0; i = at(i - 1)->next) {
            if (same(*at(i - 1), members)) return at(i - 1);
        }
        const auto units = static_cast<std::uint32_t>(units_of(members.size()));
        OpsList* const list = find_free(units);
        if (list == nullptr) return nullptr;
        make(*list, units, members);
        list->next = head;
        head = static_cast<std::uint32_t>(reinterpret_cast<Unit*>(list) - pool_.data()) + 1;
        unused_ = true;
        return list;
    }
    // `sites` more slots hold the list, or `sites` fewer.
    void hold(OpsList& list, std::uint32_t sites) { list.refs += sites; }
    void release(OpsList& list, std::uint32_t sites) {
        list.refs -= sites;
        unused_ |= list.refs == 0;
    }

    // Whether `slot` is the address of a list in use. A freed list has a count of 0. If another
    // list's members lie in its memory now, its func is not nopscope_walk_list.
    bool holds(std::uint64_t slot) const {
        if (!contains(slot) || slot % alignof(Unit) != 0) return false;
        const auto* list = reinterpret_cast<const OpsList*>(slot);
        return list->func == nopscope_walk_list && list->count != 0;
    }
    // Whether the address `slot` lies in the pool. It may lie inside a list.
    bool contains(std::uint64_t slot) const {
        const auto begin = reinterpret_cast<std::uintptr_t>(pool_.data());
        return slot >= begin && slot < begin + sizeof pool_;
    }

    // Frees the lists that no slot holds. No core may be reading them any more.
    void collect() {
        if (!unused_) return;
        unused_ = false;
        for (std::uint32_t& head : heads_) {
            for (std::uint32_t* link = &head; *link != 0;) {
                OpsList& list = *at(*link - 1);
                if (list.refs == 0) {
                    *link = list.next;
                    list.count = 0;
                } else {
                    link = &list.next;
                }
            }
        }
    }
    std::uint32_t in_use() {
        std::uint32_t count = 0;
        for (OpsList* list = first(); list != nullptr; list = next(list)) count += list->count != 0;
        return count;
    }

private:
    struct alignas(16) Unit {
        std::uint64_t words[2];
    };
    static constexpr std::size_t header_units = sizeof(OpsList) / sizeof(Unit);

    static std::uint64_t address(const OpsList* list) {
        return reinterpret_cast<std::uintptr_t>(list);
    }
    static std::size_t units_of(std::size_t members) { return header_units + (members + 1) / 2; }
    OpsList* at(std::size_t unit) { return reinterpret_cast<OpsList*>(&pool_[unit]); }
    OpsList* first() { return rover_ == nullptr ? nullptr : at(0); }
    OpsList* next(OpsList* list) {
        auto* after = reinterpret_cast<Unit*>(list) + list->units;
        return after == pool_.data() + Units ? nullptr : reinterpret_cast<OpsList*>(after);
    }
    void format() {
        at(0)->units = Units;
        at(0)->count = 0;
        rover_ = at(0);
    }
    static std::size_t hash(std::span<Ops* const> members) {
        std::uint32_t hash = 0;
        for (const Ops* ops : members) {
            hash = (hash ^ static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(ops) >> 4)) *
                   0x9e3779b1u;
        }
        return hash >> 26;
    }
    // Starts at the block that the last search found, so many searches in a row stay short.
    OpsList* find_free(std::uint32_t units) {
        if (rover_ == nullptr) format();
        for (unsigned attempt = 0; attempt < 2; ++attempt) {
            for (OpsList* list = rover_; list != nullptr; list = next(list)) {
                if (list->count != 0) continue;
                join_free(list);
                if (list->units >= units) return rover_ = list;
            }
            rover_ = at(0);
        }
        return nullptr;
    }
    void join_free(OpsList* list) {
        for (OpsList* after = next(list); after != nullptr && after->count == 0;
             after = next(list)) {
            list->units += after->units;
        }
    }
    static bool same(const OpsList& list, std::span<Ops* const> members) {
        if (list.count != members.size()) return false;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (list.members()[i] != members[i]) return false;
        }
        return true;
    }
    void make(OpsList& list, std::uint32_t units, std::span<Ops* const> members) {
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
            if (members[i]->direct != 0) go_on_to(list, *members[i]);
        }
        list.count = static_cast<std::uint32_t>(members.size());
    }

    // Copies all that a direct entry reads through the slot.
    static void go_on_to(OpsList& list, const Ops& member) {
        list.direct = member.direct;
        list.data = member.data;
    }

    std::array<Unit, Units> pool_{};
    std::array<std::uint32_t, 64> heads_{};  // by hash: unit of the first list, plus 1; 0: none
    OpsList* rover_ = nullptr;
    bool unused_ = false;  // there may be a list that no slot holds
};

}  // namespace nopscope
