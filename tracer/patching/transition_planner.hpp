// SPDX-License-Identifier: Apache-2.0
// Plans what a request changes at a site: the slot's next object and the next word (docs/ops.md).
//
// Nothing here reads or writes text. Neighbouring sites mostly have the same set of ops. So the
// answer is a Transition, which is valid for each site whose slot holds `from`. The patcher asks
// again at a site whose slot holds something else.
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

// What a site calls if it does not call a direct entry (callbacks.S of the architecture).
struct Trampolines {
    Address callback;
    Address unguarded;  // for an ops with ops_unguarded that is alone on its site
    Address far;        // goes on to the direct entry of the object in the slot
};

#ifndef NOPSCOPE_LIST_UNITS
#define NOPSCOPE_LIST_UNITS 2048  // of 16 bytes
#endif
inline constexpr std::size_t list_pool_units = NOPSCOPE_LIST_UNITS;
static_assert(list_pool_units >= 16, "room for a list");
inline constexpr std::size_t max_list_members = 128;

// What the slots of similar sites hold: one object, or each site's member of a family, by index.
struct SlotValues {
    std::uint64_t first;
    std::uint64_t stride;
    std::uint64_t at(std::uint64_t index) const { return first + index * stride; }
};

struct Transition {
    SlotValues from, to;
    arch::ToggleWord old_word, new_word;
    OpsList* left;         // the list that a changed site leaves; or null
    OpsList* joined;       // the list that it joins; or null
    std::uint8_t removed;  // bit mask of the families of Change::remove that go
    bool adds;
    bool stores, empties;  // `to` is another object: with ops (stores), or `none` (empties)
    bool fills;            // `from` is `none`, and `to` is not

    bool changes() const { return stores || empties; }
    // Before `from` is used again, a request must wait for the cores that may be reading it.
    bool releases() const { return changes() && (left != nullptr || removed != 0); }
};

class TransitionPlanner {
public:
    // `none` is the object of a site without ops.
    constexpr explicit TransitionPlanner(Ops& none) : none_(none) {}

    void set_trampolines(const Trampolines& trampolines) { trampolines_ = trampolines; }
    // All sites lie in this text.
    void set_text(TextBounds text) { text_ = text; }

    // ---- one request: begin(), answer(), account() for the slots that were written, end() ----

    Status begin(const Change& change) {
        for (Transition& one : answers_) one.from = nowhere();
        if (change.remove.size() > max_removed) return Status::too_many;
        const PerSiteOps& add = change.add;
        if (add.first == nullptr) return Status::ok;
        if (!attached_.add(add)) return Status::too_many;
        // A family's members are alike. The first request that adds the family adopts all of them.
        if (add.stride == 0 || add.first->func == nullptr) {
            for (std::uint32_t i = 0; i < add.count; ++i) adopt(*add.at(i));
        }
        return Status::ok;
    }

    // Plans the change of the site with this slot, whose word is at `toggle`. unexpected_text: no
    // request has put this value into a slot. After any other error `old_word` is right.
    Status answer(const Change& change, std::uint32_t index, std::uint64_t slot, Address toggle,
                  Transition& out) {
        Transition& known = answers_[slot / sizeof(Ops) % answers_.size()];
        Status status = Status::ok;
        if (known.from.at(index) != slot) {
            status = find(change, index, slot, known);
            if (status == Status::unexpected_text) return status;
        }
        out = known;
        // Only this site may use an answer with a list that has a family's member.
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

    // A value that no slot holds.
    SlotValues nowhere() const { return {reinterpret_cast<std::uintptr_t>(this), 0}; }

    // ---- what there is ----

    const Ops& none() const { return none_; }
    std::uint32_t enabled() const { return enabled_; }
    bool uses_far() const { return uses_far_; }
    std::uint32_t lists_in_use() { return lists_.in_use(); }

    // Calls visit(ops) for each ops of the object in a slot, in the order of attachment.
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
    // Sets the fields of an ops that only the tracer uses. Call before any slot holds the ops.
    void adopt(Ops& ops) const {
        if (ops.func == nullptr) ops.func = none_.func;
        ops.unguarded = (ops.flags & ops_unguarded) != 0 ? ops.func : guarded;
    }
    void forget(const PerSiteOps& family) {
        if (family.first != nullptr && family.first->sites == 0) attached_.forget(family.first);
    }

    // The slot values of `ops` (no list) or its family. nowhere(): it is not attached.
    SlotValues like(const Ops* ops, std::uint32_t index) const {
        const PerSiteOps* const owner = attached_.owner(ops, index);
        return owner != nullptr ? all_of(*owner) : nowhere();
    }
    // The slot values of this site's object or family. nowhere(): the object is unknown.
    SlotValues known(std::uint64_t slot, std::uint32_t index) const {
        if (slot == address(&none_) || lists_.holds(slot)) return {slot, 0};
        return like(reinterpret_cast<const Ops*>(slot), index);
    }

    // Sets all of a Transition but its words.
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
    // The ops' bit in Transition::removed, or 0.
    static unsigned removed_as(const Change& change, const Ops* ops, std::uint32_t index) {
        for (std::size_t i = 0; i < change.remove.size(); ++i) {
            if (change.remove[i].at(index) == ops) return 1u << i;
        }
        return 0;
    }
    // Whether there is at most one direct entry or one ops that redirects, and not both.
    static bool compatible(std::span<Ops* const> members) {
        unsigned special = 0;
        for (const Ops* ops : members) {
            special += ops->direct != 0;
            special += (ops->flags & ops_redirects) != 0;
        }
        return special <= 1;
    }

    // Sets the word that belongs to the object in a slot. False: the site cannot reach what the
    // word has to call. Sets `everywhere` to false unless this word is right for all sites.
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
            everywhere &= arch::is_out_of_reach(target);
            target = trampolines_.far;
            uses_far_ = true;
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
