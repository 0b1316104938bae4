// SPDX-License-Identifier: Apache-2.0
// What a request makes of a site's set of ops: the next object of its slot, and its next word.
// docs/ops.md has the table.
//
// Nothing here reads or writes text. Sites mostly come in runs of the same set, so the answer is a
// Transition, which holds for each site whose slot is `from`; the patcher asks again where it is
// not.
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/arch/instructions.hpp"
#include "tracer/arch/machine.hpp"
#include "tracer/patching/ops_list_pool.hpp"
#include "tracer/recorders/per_site_ops.hpp"

namespace nopscope {

struct TextBounds {
    Address begin;
    Address end;
};

// Where sites call that do not call a direct entry (callbacks.S of the architecture).
struct Trampolines {
    Address callback;
    Address unguarded;  // of an ops alone that wants no guard
    Address far;        // to the direct entry of the object in the slot
};

#ifndef NOPSCOPE_LIST_UNITS
#define NOPSCOPE_LIST_UNITS 2048  // of 16 bytes
#endif
inline constexpr std::size_t list_pool_units = NOPSCOPE_LIST_UNITS;
static_assert(list_pool_units >= 16, "room for a list");
inline constexpr std::size_t max_list_members = 128;

// What slots hold, by the sites' indexes; a family's members differ.
struct SlotValues {
    std::uint64_t first;
    std::uint64_t stride;
    std::uint64_t at(std::uint64_t index) const { return first + index * stride; }
};

struct Transition {
    SlotValues from, to;
    arch::ToggleWord old_word, new_word;
    OpsList* left;  // the list that `from` is, that `to` is; or null
    OpsList* joined;
    std::uint8_t removed;  // families of Change::remove, a bit each
    bool adds;
    bool stores, empties;  // `to` is another object, and which: some set's, that of no ops
    bool fills;            // `from` is that of no ops, and `to` is not

    bool changes() const { return stores || empties; }
    // Who may be reading `from` must be waited for before it is used again.
    bool releases() const { return changes() && (left != nullptr || removed != 0); }
};

class TransitionPlanner {
public:
    // `none` is the object of a site that nobody traces.
    constexpr explicit TransitionPlanner(Ops& none) : none_(none) {}

    void set_trampolines(const Trampolines& trampolines) { trampolines_ = trampolines; }
    // All sites are in it.
    void set_text(TextBounds text) { text_ = text; }

    // ---- one request: begin(), answers, account() for each slot that is written, end() ----

    Status begin(const Change& change) {
        for (Transition& one : answers_) one.from = nowhere();
        if (change.remove.size() > max_removed) return Status::too_many;
        const PerSiteOps& add = change.add;
        if (add.first == nullptr) return Status::ok;
        if (!attached_.add(add)) return Status::too_many;
        // A family's members are alike, and so are adopted all at once, the first time.
        if (add.stride == 0 || add.first->func == nullptr) {
            for (std::uint32_t i = 0; i < add.count; ++i) adopt(*add.at(i));
        }
        return Status::ok;
    }

    // For the site with this slot, whose word is at `toggle`. unexpected_text: nobody has put there
    // what the slot holds. After other errors `old_word` is right.
    Status answer(const Change& change, std::uint32_t index, std::uint64_t slot, Address toggle,
                  Transition& out) {
        Transition& known = answers_[slot / sizeof(Ops) % answers_.size()];
        Status status = Status::ok;
        if (known.from.at(index) != slot) {
            status = find(change, index, slot, known);
            if (status == Status::unexpected_text) return status;
        }
        out = known;
        // A list of this site's own is no other's answer.
        const bool of_family = out.from.stride != 0 || (out.adds && change.add.stride != 0);
        bool everywhere = !(out.joined != nullptr && of_family);
        if (!everywhere) known.from = nowhere();
        if (!encode(slot, toggle, out.old_word, everywhere)) out.old_word = arch::always_idle;
        if (status == Status::ok && !encode(out.to.at(index), toggle, out.new_word, everywhere)) {
            status = Status::out_of_reach;
        }
        if (!everywhere) out.from = nowhere();
        return status;
    }

    [[gnu::noinline]] void account(const Change& change, const Transition& done,
                                   std::uint32_t sites) {
        if (sites == 0) return;
        if (done.adds) change.add.first->sites += sites;
        for (std::size_t i = 0; i < change.remove.size(); ++i) {
            if ((done.removed >> i & 1) != 0) change.remove[i].first->sites -= sites;
        }
        if (done.left != nullptr) lists_.release(*done.left, sites);
        if (done.joined != nullptr) lists_.hold(*done.joined, sites);
        if (done.fills) enabled_ += sites;
        if (done.empties) enabled_ -= sites;
    }

    // `quiescent`: no core reads an object that no slot holds any more.
    void end(const Change& change, bool quiescent) {
        forget(change.add);
        for (const PerSiteOps& family : change.remove) forget(family);
        if (quiescent) lists_.collect();
    }

    // No slot holds that.
    SlotValues nowhere() const { return {reinterpret_cast<std::uintptr_t>(this), 0}; }

    // ---- what there is ----

    const Ops& none() const { return none_; }
    std::uint32_t enabled() const { return enabled_; }
    bool uses_far() const { return uses_far_; }
    std::uint32_t lists_in_use() { return lists_.in_use(); }

    // visit(ops) for each member of what a slot holds, in the order of attachment.
    template <typename Visit>
    void for_each_ops(std::uint64_t slot, Visit visit) const {
        if (lists_.contains(slot)) {
            for (Ops* ops : reinterpret_cast<const OpsList*>(slot)->all()) visit(*ops);
        } else if (slot != address(&none_)) {
            visit(*reinterpret_cast<Ops*>(slot));
        }
    }

private:
    static std::uint64_t address(const Ops* object) {
        return reinterpret_cast<std::uintptr_t>(object);
    }
    static SlotValues only(const Ops* object) { return {address(object), 0}; }
    static SlotValues all_of(const PerSiteOps& family) {
        return {address(family.first), family.stride};
    }
    // Fills in what the tracer itself wants of an ops. Before any slot holds it.
    void adopt(Ops& ops) const {
        if (ops.func == nullptr) ops.func = none_.func;
        ops.unguarded = (ops.flags & ops_unguarded) != 0 ? ops.func : guarded;
    }
    void forget(const PerSiteOps& family) {
        if (family.first != nullptr && family.first->sites == 0) attached_.forget(family.first);
    }

    // The objects like `ops`, which is no list.
    SlotValues like(const Ops* ops, std::uint32_t index) const {
        const PerSiteOps* const owner = attached_.owner(ops, index);
        return owner != nullptr ? all_of(*owner) : nowhere();
    }
    // Slots that hold what this one holds; nowhere() if nothing known.
    SlotValues known(std::uint64_t slot, std::uint32_t index) const {
        if (slot == address(&none_) || lists_.holds(slot)) return {slot, 0};
        return like(reinterpret_cast<const Ops*>(slot), index);
    }

    // All of a Transition but its words.
    Status find(const Change& change, std::uint32_t index, std::uint64_t slot, Transition& out) {
        const SlotValues from = known(slot, index);
        if (from.at(index) != slot) return Status::unexpected_text;
        out.from = out.to = from;
        out.left = out.joined = nullptr;
        out.removed = 0;
        out.adds = change.add.first != nullptr;
        out.stores = out.empties = out.fills = false;

        Ops* const added = change.add.at(index);
        Ops* members[max_list_members + 1];
        std::size_t count = 0;
        for_each_ops(slot, [&](Ops& ops) {
            if (&ops == added) out.adds = false;
            const unsigned going = &ops == added ? 0 : removed_as(change, &ops, index);
            out.removed |= static_cast<std::uint8_t>(going);
            if (going == 0) members[count++] = &ops;
        });
        if (out.adds) members[count++] = added;
        if (!out.adds && out.removed == 0) return Status::ok;
        if (count > max_list_members) return Status::too_many;
        if (!compatible({members, count})) return Status::conflict;
        if (lists_.contains(slot)) out.left = reinterpret_cast<OpsList*>(slot);
        out.fills = slot == address(&none_);
        out.stores = count != 0;
        out.empties = count == 0;
        if (count == 0) out.to = only(&none_);
        if (count == 1) out.to = like(members[0], index);
        if (count > 1) {
            out.joined = lists_.get({members, count});
            if (out.joined == nullptr) return Status::too_many;
            out.to = only(out.joined);
        }
        return Status::ok;
    }
    // A bit.
    static unsigned removed_as(const Change& change, const Ops* ops, std::uint32_t index) {
        for (std::size_t i = 0; i < change.remove.size(); ++i) {
            if (change.remove[i].at(index) == ops) return 1u << i;
        }
        return 0;
    }
    // At most one direct entry and one that redirects, and not both.
    static bool compatible(std::span<Ops* const> members) {
        unsigned special = 0;
        for (const Ops* ops : members) {
            special += ops->direct != 0;
            special += (ops->flags & ops_redirects) != 0;
        }
        return special <= 1;
    }

    // The word that goes with an object. False: what it is to call can't be reached from there.
    // `everywhere` becomes false unless that is the word of all sites.
    bool encode(std::uint64_t slot, Address toggle, arch::ToggleWord& word, bool& everywhere) {
        const auto& object = *reinterpret_cast<const Ops*>(slot);
        if (&object == &none_) {
            word = arch::always_idle;
            return true;
        }
        const bool straight =
            object.direct != 0 && object.func == none_.func && !lists_.contains(slot);
        const bool unguarded = (object.flags & ops_unguarded) != 0 && object.direct == 0;
        Address target = straight    ? object.direct
                         : unguarded ? trampolines_.unguarded
                                     : trampolines_.callback;
        if (straight && !arch::call_reaches(toggle, target)) {
            target = trampolines_.far;
            uses_far_ = true;
            everywhere = false;
        }
        everywhere &=
            arch::call_reaches(text_.begin, target) && arch::call_reaches(text_.end, target);
        word = arch::call_to(target);
        return arch::call_reaches(toggle, target);
    }

    Ops& none_;
    Trampolines trampolines_{};
    TextBounds text_{};
    Attached attached_;
    OpsListPool<list_pool_units> lists_;
    std::array<Transition, 16> answers_{};
    std::uint32_t enabled_ = 0;  // sites whose word is a call
    bool uses_far_ = false;
};

}  // namespace nopscope
