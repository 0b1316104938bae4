// SPDX-License-Identifier: Apache-2.0
// The patcher: boot initialisation of the patch sites, and their changes at run time.
//
// A site's slot holds the *object* of its set of ops, and its toggling word follows from the
// object: tracer/patching/transition_planner.hpp has the table. Nothing orders another core's fetch
// of the word before or after its load of the slot, so every mixed row (old word, new slot or the
// other way round) must be legal. It is: a trampoline works with any object, since each has a
// callback to call and a direct entry, or none, to go on to; a direct entry does not read the slot
// (but see tracer/recorders/per_site_ops.hpp). And in each mixed row what runs is one of the two
// sets, whole, or the direct member that both have: an ops that stays loses nothing. A core that
// was late in a trampoline may find `none`, which calls nothing. `none` is written after the cores
// have been synchronised, and they are synchronised again before a list is freed or the caller may
// reuse the ops: docs/ops.md.
//
// Every write is preceded by reading what is there. A request verifies all its sites, and makes the
// lists it needs, before it changes the first word, so it happens as a whole or not at all. Each of
// its passes goes by what the slot holds then, so a site that is named twice is changed once.
#pragma once

#include "tracer/arch/maintenance.hpp"
#include "tracer/core/site_table.hpp"
#include "tracer/patching/transition_planner.hpp"

namespace nopscope {

struct Refusals {
    std::uint32_t misaligned = 0;
    std::uint32_t outside = 0;
    std::uint32_t words = 0;
};

template <MachineConcept M>
class Patcher {
public:
    constexpr Patcher(M& machine, SiteTable& sites, Ops& none)
        : machine_(machine), sites_(sites), planner_(none) {}

    void set_trampolines(const Trampolines& trampolines) { planner_.set_trampolines(trampolines); }

    // Compiled form -> idle, for every site that is what it has to be; the others are refused and
    // counted. Boot core, once, before any other core runs instrumented code.
    Refusals initialise(TextBounds text) {
        planner_.set_text(text);
        Refusals refused;
        Maintenance<M> maintenance(machine_);
        for (std::uint64_t i = 0; (i = initialise_run(maintenance, text, i)) != sites_.size();
             ++i) {
            const Address slot = sites_[i].raw();
            const bool outside = slot < text.begin || slot > text.end - site_bytes;
            ++(outside                  ? refused.outside
               : slot % slot_bytes != 0 ? refused.misaligned
                                        : refused.words);
            sites_.set(i, sites_[i].refused());
        }
        return refused;
    }

    // Makes `change` at the usable ones of the sites that `for_each_run` visits: visit(first, last)
    // for each run of indexes [first, last), the same ones every time, until visit returns false.
    // `synchronize` returns true when no core is in a trampoline any more, false when it gave up:
    // then lists are kept until a later request's has succeeded. timeout: a core has not taken the
    // new words.
    template <typename ForEachRun, typename Synchronize>
    Status change(const Change& change, ForEachRun for_each_run, Synchronize synchronize) {
        Request request(change, planner_.nowhere());
        Status status = planner_.begin(change);
        if (status == Status::ok) {
            for_each_run([&](std::uint32_t first, std::uint32_t last) {
                status = plan(request, first, last);
                return status == Status::ok;
            });
        }
        if (status != Status::ok) {
            planner_.end(change, quiescent_);
            return status;
        }
        bool taken = true;
        const auto pass = [&](void (Patcher::*write)(Request&, std::uint32_t, std::uint32_t)) {
            for_each_run([&](std::uint32_t first, std::uint32_t last) {
                (this->*write)(request, first, last);
                return true;
            });
        };
        if (request.stores) pass(&Patcher::write_slots);
        machine_.data_barrier();
        if (request.stores || request.empties) {
            Maintenance<M> maintenance(machine_);
            for_each_run([&](std::uint32_t first, std::uint32_t last) {
                write_words(request, maintenance, first, last);
                return true;
            });
            taken = maintenance.finish();
            quiescent_ = quiescent_ && taken;
        }
        // Before `none` is written, lists are reused, or the caller reuses the ops.
        if (request.empties || request.releases || !quiescent_) quiescent_ = synchronize() && taken;
        if (request.empties) {
            pass(&Patcher::write_none);
            machine_.data_barrier();
            // Who was before its guard the first time may have loaded the old object since.
            quiescent_ = synchronize() && quiescent_;
        }
        planner_.end(change, quiescent_);
        return taken ? Status::ok : Status::timeout;
    }

    // Sites whose word is a call.
    std::uint32_t enabled() const { return planner_.enabled(); }
    // Some site was too far from its direct entry for a call, at some time.
    bool uses_far() const { return planner_.uses_far(); }
    // Lists that slots hold.
    std::uint32_t lists_in_use() { return planner_.lists_in_use(); }
    const LastError& last_error() const { return last_error_; }

    // visit(ops) for each ops of a usable site, in the order of attachment.
    template <typename Visit>
    void for_each_ops(std::uint32_t index, Visit visit) {
        planner_.for_each_ops(machine_.read_slot(sites_[index].slot()), visit);
    }

private:
    struct Request {
        Request(const Change& what, SlotValues nowhere) : change(what) { now.from = nowhere; }

        const Change& change;
        Transition now;  // of the site before, and of those like it
        // Some site's: Transition.
        bool stores = false, empties = false, releases = false;
    };

    // Up to the first site, from `index` on, that is to be refused.
    std::uint64_t initialise_run(Maintenance<M>& maintenance, TextBounds text,
                                 std::uint64_t index) {
        SiteTable sites = sites_;
        const std::uint64_t idle = none();
        for (; index != sites.size(); ++index) {
            const Address slot = sites[index].raw();
            if (slot < text.begin || slot > text.end - site_bytes || slot % slot_bytes != 0) break;
            const SiteEntry site = SiteEntry::of(patch_site(machine_, slot + slot_bytes));
            if (machine_.read_slot(slot) != unset_slot) break;
            if (machine_.read_word(site.setup()) != arch::unset_word) break;
            if (machine_.read_word(site.toggle()) != arch::unset_word) break;
            machine_.write_slot(slot, idle);
            machine_.write_word(site.setup(), site.setup_word());
            maintenance.note(site.setup());
            sites.set(index, site);
        }
        return index;
    }
    std::uint64_t none() const { return reinterpret_cast<std::uintptr_t>(&planner_.none()); }

    // Sets request.now.
    Status ask(Request& request, std::uint32_t index, std::uint64_t slot) {
        Transition& now = request.now;
        const Status status =
            planner_.answer(request.change, index, slot, sites_[index].toggle(), now);
        if (status != Status::ok) return status;
        request.stores |= now.stores;
        request.empties |= now.empties;
        request.releases |= now.releases();
        return status;
    }

    // The sites' words are those of the objects in their slots, and the next objects' can be
    // reached.
    [[gnu::noinline]] Status plan(Request& request, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t i = first; (i = planned(request.now, i, last)) != last; ++i) {
            const Status status = plan_site(request, i);
            if (status != Status::ok) return status;
        }
        return Status::ok;
    }
    // The first site that is not, in all its words, as the one before.
    std::uint32_t planned(const Transition now, std::uint64_t index, std::uint64_t last) {
        const SiteTable sites = sites_;
        for (; index != last; ++index) {
            const SiteEntry site = sites[index];
            if (!site.usable()) continue;
            if (machine_.read_word(site.setup()) != site.setup_word()) break;
            if (machine_.read_slot(site.slot()) != now.from.at(index)) break;
            if (machine_.read_word(site.toggle()) != site.word(now.old_word)) break;
        }
        return static_cast<std::uint32_t>(index);
    }
    [[gnu::noinline]] Status plan_site(Request& request, std::uint32_t index) {
        const SiteEntry site = sites_[index];
        const std::uint32_t setup = machine_.read_word(site.setup());
        if (setup != site.setup_word()) return unexpected(site.setup(), setup, site.setup_word());
        const std::uint64_t slot = machine_.read_slot(site.slot());
        const Status status = ask(request, index, slot);
        if (status == Status::unexpected_text) {
            return unexpected(site.slot(), static_cast<std::uint32_t>(slot),
                              static_cast<std::uint32_t>(none()));
        }
        const std::uint32_t found = machine_.read_word(site.toggle());
        const std::uint32_t expected = site.word(request.now.old_word);
        return found == expected ? status : unexpected(site.toggle(), found, expected);
    }

    // write(site, index, now) for the usable sites of a run; true: the slot is another now.
    template <typename Write>
    void write_run(Request& request, std::uint64_t index, std::uint64_t last, Write write) {
        for (;; ++index) {
            const SiteTable sites = sites_;
            const Transition now = request.now;
            std::uint32_t changed = 0;
            for (; index != last; ++index) {
                const SiteEntry site = sites[index];
                if (!site.usable()) continue;
                if (machine_.read_slot(site.slot()) != now.from.at(index)) break;
                changed += write(site, index, now);
            }
            planner_.account(request.change, request.now, changed);
            if (index == last) return;
            ask_again(request, static_cast<std::uint32_t>(index));
            const bool one = write(sites[index], index, request.now);
            planner_.account(request.change, request.now, one);
        }
    }
    [[gnu::noinline]] void ask_again(Request& request, std::uint32_t index) {
        (void)ask(request, index, machine_.read_slot(sites_[index].slot()));
    }
    [[gnu::noinline]] void write_slots(Request& request, std::uint32_t first, std::uint32_t last) {
        write_run(request, first, last,
                  [this](SiteEntry site, std::uint64_t i, const Transition& now) {
                      if (now.stores) machine_.write_slot(site.slot(), now.to.at(i));
                      return now.stores;
                  });
    }
    [[gnu::noinline]] void write_words(Request& request, Maintenance<M>& maintenance,
                                       std::uint32_t first, std::uint32_t last) {
        write_run(request, first, last, [&](SiteEntry site, std::uint64_t, const Transition& now) {
            const std::uint32_t word = site.word(now.new_word);
            if (machine_.read_word(site.toggle()) == word) return false;
            machine_.write_word(site.toggle(), word);
            maintenance.note(site.toggle());
            return false;
        });
    }
    [[gnu::noinline]] void write_none(Request& request, std::uint32_t first, std::uint32_t last) {
        write_run(request, first, last,
                  [this, none = none()](SiteEntry site, std::uint64_t, const Transition& now) {
                      if (now.empties) machine_.write_slot(site.slot(), none);
                      return now.empties;
                  });
    }

    Status unexpected(Address at, std::uint32_t found, std::uint32_t expected) {
        last_error_ = {at, found, expected};
        return Status::unexpected_text;
    }

    M& machine_;
    SiteTable& sites_;
    TransitionPlanner planner_;
    bool quiescent_ = true;
    LastError last_error_{};
};

}  // namespace nopscope
