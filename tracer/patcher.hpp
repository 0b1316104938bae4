// SPDX-License-Identifier: Apache-2.0
// The patcher: boot initialisation of the patch sites, and their changes at run time.
//
// A site's slot holds the *object* of its set of ops, and its toggling word follows from the object:
//
//     set                     object (slot)     word
//     none                    none              NOP
//     one with a direct entry the ops           BL its entry; the far trampoline where out of reach
//     one callback            the ops           BL the callback trampoline, or the unguarded one
//     several                 the site's list   BL the callback trampoline
//
// Nothing orders another core's fetch of the word before or after its load of the slot, so every mixed
// row (old word, new slot or the other way round) must be legal. It is: a trampoline works with any
// object, since each has a callback to call and a direct entry, or none, to go on to; a direct entry
// does not read the slot. And in each mixed row what runs is one of the two sets, whole, or the
// direct member that both have: an ops that stays loses nothing. A core that was late in a trampoline may
// find `none`, which calls nothing. `none` is written after the cores have been synchronised, and they
// are synchronised again before a list is freed or the caller may reuse the ops: docs/ops.md.
//
// Every write is preceded by reading what is there. A request verifies all its sites, and makes the
// lists it needs, before it changes the first word, so it happens as a whole or not at all.
#pragma once

#include "tracer/maintenance.hpp"
#include "tracer/nopscope.hpp"
#include "tracer/ops.hpp"
#include "tracer/site_lists.hpp"
#include "tracer/site_table.hpp"

namespace nopscope {

struct TextBounds {
    Address begin;
    Address end;
};

struct Refusals {
    std::uint32_t misaligned = 0;
    std::uint32_t outside = 0;
    std::uint32_t words = 0;
};

// Where BLs go that do not go straight to a direct entry (arm64/callbacks.S).
struct Trampolines {
    Address callback;
    Address unguarded;  // of an ops alone that wants no guard
    Address far;  // to the direct entry of the object in the slot
};

inline constexpr std::size_t list_pool_units = 2048;  // of 16 bytes
inline constexpr std::size_t max_list_members = 128;

template <MachineConcept M>
class Patcher {
public:
    // `none` is the object of a site that nobody traces.
    constexpr Patcher(M& machine, SiteTable& sites, Ops& none)
        : machine_(machine), sites_(sites), none_(none) {}

    void set_trampolines(const Trampolines& trampolines) { trampolines_ = trampolines; }

    // Compiled form -> idle, for every site that is what it has to be; the others are refused and
    // counted. Boot core, once, before any other core runs instrumented code.
    Refusals initialise(TextBounds text) {
        Refusals refused;
        Maintenance<M> maintenance(machine_);
        for (std::uint32_t i = 0; i < sites_.size(); ++i) {
            const Address function = sites_.function(i);
            std::uint32_t* reason = nullptr;
            // The longest form reaches 12 bytes past the entry.
            if (function < text.begin + slot_bytes || function + 12 > text.end) {
                reason = &refused.outside;
            } else if ((function & 7) != 0) {
                reason = &refused.misaligned;
            } else if (!initialise_site(maintenance, patch_site(machine_, function))) {
                reason = &refused.words;
            }
            if (reason == nullptr) continue;
            ++*reason;
            sites_.refuse(i);
        }
        return refused;
    }

    // Adds `add` to, and takes `remove` out of, the sets of the sites that `for_each` visits; either
    // may be null. for_each(visit) calls visit(index) for each site, the same ones every time, and
    // stops when visit returns false. `synchronize` returns true when no core is in a trampoline any
    // more, false when it gave up: then lists are kept until a later request's has succeeded.
    template <typename ForEach, typename Synchronize>
    Status change(Ops* add, Ops* remove, ForEach for_each, Synchronize synchronize) {
        const Status status = plan(add, remove, for_each);
        if (status != Status::ok) {
            collect();
            return status;
        }
        bool emptied = false;
        bool shared = false;
        for_each([&](std::uint32_t index) {
            Ops& from = object_of(index);
            Ops& to = *next_object(from, add, remove);
            if (&to == &from) return true;
            account(from, to, add, remove);
            emptied |= &to == &none_;
            shared |= is_list(from) || (remove != nullptr);
            if (&to != &none_) machine_.write_slot(slot_address(index), as_slot(to));
            return true;
        });
        machine_.data_barrier();
        write_words(add, remove, for_each);
        // Before `none` is written, lists are reused, or the caller reuses the ops.
        if (emptied || shared || !quiescent_) quiescent_ = synchronize();
        if (emptied) {
            for_each([&](std::uint32_t index) {
                if (next_object(object_of(index), add, remove) == &none_) {
                    machine_.write_slot(slot_address(index), as_slot(none_));
                }
                return true;
            });
            machine_.data_barrier();
            // Who was before its guard the first time may have loaded the old object since.
            quiescent_ = synchronize() && quiescent_;
        }
        forget_detached();
        collect();
        return Status::ok;
    }

    // Sites whose word is a BL.
    std::uint32_t enabled() const { return enabled_; }
    // Some site was too far from its direct entry for a BL, at some time.
    bool uses_far() const { return uses_far_; }
    // Lists that slots hold.
    std::uint32_t lists_in_use() { return lists_.in_use(); }
    const LastError& last_error() const { return last_error_; }

    // visit(ops) for each ops of the site, in the order of attachment.
    template <typename Visit>
    void for_each_ops(std::uint32_t index, Visit visit) {
        for (Ops* ops : members_of(object_of(index))) visit(*ops);
    }

private:
    struct Members {
        Ops* ops[max_list_members];
        std::size_t count = 0;

        Ops** begin() { return ops; }
        Ops** end() { return ops + count; }
        bool has(const Ops* one) const {
            for (std::size_t i = 0; i < count; ++i) {
                if (ops[i] == one) return true;
            }
            return false;
        }
    };

    static std::uint64_t as_slot(const Ops& object) {
        return reinterpret_cast<std::uintptr_t>(&object);
    }
    Address slot_address(std::uint32_t index) const { return sites_.function(index) - slot_bytes; }
    Ops& object_of(std::uint32_t index) {
        return *reinterpret_cast<Ops*>(machine_.read_slot(slot_address(index)));
    }
    bool is_list(const Ops& object) const { return lists_.contains(as_slot(object)); }

    bool initialise_site(Maintenance<M>& maintenance, PatchSite site) {
        if (machine_.read_slot(site.slot()) != unset_slot ||
            machine_.read_word(site.mov()) != insn::nop ||
            machine_.read_word(site.toggle()) != insn::nop) {
            return false;
        }
        machine_.write_slot(site.slot(), as_slot(none_));
        machine_.write_word(site.mov(), insn::mov_x9_lr);
        maintenance.note(site.slot(), site.toggle() - site.slot());
        return true;
    }

    // ---- sets ----------------------------------------------------------------------------------

    Members members_of(Ops& object) {
        Members members;
        if (is_list(object)) {
            for (Ops* ops : static_cast<SiteList&>(object).all()) members.ops[members.count++] = ops;
        } else if (&object != &none_) {
            members.ops[members.count++] = &object;
        }
        return members;
    }

    // What `from` becomes; null: no room for its list. Sites mostly come in runs of the same set, so the
    // last answers are kept.
    Ops* next_object(Ops& from, Ops* add, Ops* remove) {
        Answer& answer = answers_[as_slot(from) / sizeof(Ops) % answers_.size()];
        if (answer.from == &from) return answer.to;
        answer = {&from, make_object(from, add, remove)};
        return answer.to;
    }
    Ops* make_object(Ops& from, Ops* add, Ops* remove) {
        const Members old = members_of(from);
        Members members;
        for (std::size_t i = 0; i < old.count; ++i) {
            if (old.ops[i] != remove) members.ops[members.count++] = old.ops[i];
        }
        if (add != nullptr && !old.has(add)) {
            if (members.count == max_list_members) return nullptr;
            members.ops[members.count++] = add;
        } else if (members.count == old.count) {
            return &from;
        }
        if (members.count == 0) return &none_;
        if (members.count == 1) return members.ops[0];
        return lists_.get({members.ops, members.count});
    }

    // At most one direct entry and one that redirects, and not both.
    bool compatible(Ops& object) {
        unsigned special = 0;
        for (const Ops* ops : members_of(object)) {
            special += ops->direct != 0;
            special += (ops->flags & ops_redirects) != 0;
        }
        return special <= 1;
    }

    bool known(std::uint64_t slot) {
        if (slot == last_known_ || slot == as_slot(none_)) return true;
        bool found = lists_.contains(slot) && lists_.holds(slot);
        for (const Ops* ops : attached_) found |= ops != nullptr && as_slot(*ops) == slot;
        if (found) last_known_ = slot;
        return found;
    }

    // ---- one request ---------------------------------------------------------------------------

    template <typename ForEach>
    Status plan(Ops* add, Ops* remove, ForEach for_each) {
        for (Answer& answer : answers_) answer = {};
        last_known_ = as_slot(none_);
        if (add != nullptr && !note_attached(add)) return Status::too_many;
        Status status = Status::ok;
        for_each([&](std::uint32_t index) {
            status = plan_site(sites_.function(index), add, remove);
            return status == Status::ok;
        });
        if (status != Status::ok) forget_detached();
        return status;
    }

    // The site's words are those of the object in its slot, and the next object's can be reached.
    Status plan_site(Address function, Ops* add, Ops* remove) {
        const PatchSite site = patch_site(machine_, function);
        const std::uint32_t mov = machine_.read_word(site.mov());
        if (mov != insn::mov_x9_lr) return unexpected(site.mov(), mov, insn::mov_x9_lr);
        const std::uint64_t slot = machine_.read_slot(site.slot());
        if (!known(slot)) {
            return unexpected(site.slot(), static_cast<std::uint32_t>(slot),
                              static_cast<std::uint32_t>(as_slot(none_)));
        }
        Ops& from = *reinterpret_cast<Ops*>(slot);
        const std::uint32_t found = machine_.read_word(site.toggle());
        const std::uint32_t expected = word_for(site, from).value_or(insn::nop);
        if (found != expected) return unexpected(site.toggle(), found, expected);

        Ops* to = next_object(from, add, remove);
        if (to == nullptr) return Status::too_many;
        if (to == &from) return Status::ok;
        if (!compatible(*to)) return Status::conflict;
        return word_for(site, *to) ? Status::ok : Status::out_of_reach;
    }

    std::optional<std::uint32_t> word_for(PatchSite site, const Ops& object) const {
        if (&object == &none_) return insn::nop;
        if (object.direct != 0 && !is_list(object) && object.func == none_.func) {
            const auto straight = insn::bl(site.toggle(), object.direct);
            return straight ? straight : insn::bl(site.toggle(), trampolines_.far);
        }
        const bool unguarded = (object.flags & ops_unguarded) != 0 && object.direct == 0;
        return insn::bl(site.toggle(), unguarded ? trampolines_.unguarded : trampolines_.callback);
    }

    template <typename ForEach>
    void write_words(Ops* add, Ops* remove, ForEach for_each) {
        Maintenance<M> maintenance(machine_);
        for_each([&](std::uint32_t index) {
            const PatchSite site = patch_site(machine_, sites_.function(index));
            const std::uint32_t word = *word_for(site, *next_object(object_of(index), add, remove));
            const std::uint32_t found = machine_.read_word(site.toggle());
            if (word == found) return true;
            enabled_ += (word != insn::nop) - (found != insn::nop);
            uses_far_ |= word == insn::bl(site.toggle(), trampolines_.far);
            machine_.write_word(site.toggle(), word);
            maintenance.note(site.toggle(), 4);
            return true;
        });
    }

    // Counts the sites of each ops and of each list.
    void account(Ops& from, Ops& to, Ops* add, Ops* remove) {
        const Members old = members_of(from);
        if (add != nullptr && !old.has(add)) ++add->sites;
        if (remove != nullptr && old.has(remove)) --remove->sites;
        if (is_list(from)) --static_cast<SiteList&>(from).refs;
        if (is_list(to)) ++static_cast<SiteList&>(to).refs;
    }

    void collect() {
        if (quiescent_) lists_.collect();
    }

    bool note_attached(Ops* ops) {
        if (ops->func == nullptr) ops->func = none_.func;
        ops->unguarded = (ops->flags & ops_unguarded) != 0 ? ops->func : guarded;
        Ops** free = nullptr;
        for (Ops*& one : attached_) {
            if (one == ops) return true;
            if (one == nullptr && free == nullptr) free = &one;
        }
        if (free == nullptr) return false;
        *free = ops;
        return true;
    }
    void forget_detached() {
        for (Ops*& ops : attached_) {
            if (ops != nullptr && ops->sites == 0) ops = nullptr;
        }
    }

    Status unexpected(Address at, std::uint32_t found, std::uint32_t expected) {
        last_error_ = {at, found, expected};
        return Status::unexpected_text;
    }

    struct Answer {
        Ops* from = nullptr;
        Ops* to = nullptr;
    };

    M& machine_;
    SiteTable& sites_;
    Ops& none_;
    Trampolines trampolines_{};
    SiteLists<list_pool_units> lists_;
    std::array<Ops*, max_list_members> attached_{};
    std::array<Answer, 16> answers_{};
    std::uint64_t last_known_ = 0;
    std::uint32_t enabled_ = 0;
    bool quiescent_ = true;
    bool uses_far_ = false;
    LastError last_error_{};
};

}  // namespace nopscope
