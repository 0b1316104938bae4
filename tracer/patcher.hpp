// SPDX-License-Identifier: Apache-2.0
// The patcher: boot initialisation of the patch sites, and their changes at run time.
//
// A site is always in one row of this table, and only in one:
//
//     slot                 toggling word
//     &ops of none         NOP
//     &ops of a recorder   BL to that recorder's entry
//
// A direct entry does not read the slot, so during a change every mixed row (old word, new slot or
// the other way round) is legal too: an entry that a core reaches late is still a valid one.
// Every write is preceded by reading what is there. A request verifies all its sites before it
// changes the first, so it happens as a whole or not at all.
#pragma once

#include "tracer/maintenance.hpp"
#include "tracer/nopscope.hpp"
#include "tracer/ops.hpp"
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

template <MachineConcept M>
class Patcher {
public:
    // `known`: every ops that a slot may point to, first that of a site that nobody traces.
    constexpr Patcher(M& machine, SiteTable& sites, OpsSet known)
        : machine_(machine), sites_(sites), known_(known) {}

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

    // Makes `ops` what the sites that `for_each` visits have; `for_each(visit)` calls
    // visit(index) for each, the same ones every time, and stops when visit returns false.
    template <typename ForEach>
    Status set_ops(const Ops& ops, ForEach for_each) {
        Status status = Status::ok;
        for_each([&](std::uint32_t index) {
            status = verify(sites_.function(index), ops);
            return status == Status::ok;
        });
        if (status != Status::ok) return status;

        const bool enabling = ops.entry != 0;
        if (enabling) write_slots(ops, for_each);
        {
            Maintenance<M> maintenance(machine_);
            for_each([&](std::uint32_t index) {
                const PatchSite site = patch_site(machine_, sites_.function(index));
                const std::uint32_t word = *word_for(site, ops);
                const std::uint32_t found = machine_.read_word(site.toggle());
                if (word != found) {
                    enabled_ += (word != insn::nop) - (found != insn::nop);
                    machine_.write_word(site.toggle(), word);
                    maintenance.note(site.toggle(), 4);
                }
                return true;
            });
        }
        // Only after no core can fetch the BL any more.
        if (!enabling) write_slots(ops, for_each);
        return Status::ok;
    }

    // Sites whose word is a BL.
    std::uint32_t enabled() const { return enabled_; }
    const LastError& last_error() const { return last_error_; }

private:
    bool initialise_site(Maintenance<M>& maintenance, PatchSite site) {
        if (machine_.read_slot(site.slot()) != unset_slot ||
            machine_.read_word(site.mov()) != insn::nop ||
            machine_.read_word(site.toggle()) != insn::nop) {
            return false;
        }
        machine_.write_slot(site.slot(), none().as_slot());
        machine_.write_word(site.mov(), insn::mov_x9_lr);
        maintenance.note(site.slot(), site.toggle() - site.slot());
        return true;
    }

    const Ops& none() const { return *known_.front(); }

    const Ops* ops_of_slot(std::uint64_t slot) const {
        for (const Ops* ops : known_) {
            if (ops->as_slot() == slot) return ops;
        }
        return nullptr;
    }

    static std::optional<std::uint32_t> word_for(PatchSite site, const Ops& ops) {
        return ops.entry == 0 ? insn::nop : insn::bl(site.toggle(), ops.entry);
    }

    // The site's words are those of the ops in its slot, and `ops` can be reached from there.
    Status verify(Address function, const Ops& ops) {
        const PatchSite site = patch_site(machine_, function);
        const Ops* current = ops_of_slot(machine_.read_slot(site.slot()));
        const std::uint32_t mov = machine_.read_word(site.mov());
        if (mov != insn::mov_x9_lr) return unexpected(site.mov(), mov, insn::mov_x9_lr);
        if (current == nullptr) {
            return unexpected(site.slot(), machine_.read_word(site.slot()),
                              static_cast<std::uint32_t>(none().as_slot()));
        }
        const std::uint32_t found = machine_.read_word(site.toggle());
        const std::uint32_t expected = word_for(site, *current).value_or(insn::nop);
        if (found != expected) return unexpected(site.toggle(), found, expected);
        return word_for(site, ops) ? Status::ok : Status::out_of_reach;
    }

    template <typename ForEach>
    void write_slots(const Ops& ops, ForEach for_each) {
        for_each([&](std::uint32_t index) {
            machine_.write_slot(sites_.function(index) - slot_bytes, ops.as_slot());
            return true;
        });
        machine_.data_barrier();
    }

    Status unexpected(Address at, std::uint32_t found, std::uint32_t expected) {
        last_error_ = {at, found, expected};
        return Status::unexpected_text;
    }

    M& machine_;
    SiteTable& sites_;
    OpsSet known_;
    std::uint32_t enabled_ = 0;
    LastError last_error_{};
};

}  // namespace nopscope
