// SPDX-License-Identifier: Apache-2.0
// The patcher initialises the patch sites at boot and changes them at run time.
//
// A site's slot holds the *object* of its set of ops. Its toggling word follows from the object:
// docs/ops.md has the table. A CPU may fetch the word before or after it loads the slot. So during
// a change a core may meet the old word with the new slot, or the new word with the old slot. Each
// such pair is legal:
// - A trampoline works with any object: each has a callback, and a direct entry or none.
// - A direct entry does not read the slot (exception: tracer/recorders/per_site_ops.hpp).
// - One of the two sets runs, whole, or the direct member that both sets have. So an ops that stays
//   attached loses no call.
// - A core that was late in a trampoline may find `none`, which calls nothing.
//
// The patcher writes `none` after the cores have been synchronised. It synchronises them again
// before it frees a list or the caller may reuse the ops: docs/ops.md.
//
// The patcher reads each word before it writes it. A request verifies all its sites and makes its
// lists before it changes the first word, so it happens as a whole or not at all. Each of its
// passes reads the slot again, so a site that is named twice is changed once.
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

    // Changes each site from its compiled form to idle. Refuses and counts sites whose address,
    // slot or words are not as expected. Once, on the boot core, before others run instrumented
    // code.
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

    // Makes `change` at the usable sites that `for_each_run` visits. It calls visit(first, last)
    // for each run of indexes [first, last) until visit returns false, and for the same runs every
    // time. `synchronize` returns true when no core is in a trampoline any more. It returns false
    // at a timeout: then lists are kept until the synchronize() of a later request succeeds.
    // Status::timeout: a core has not taken the new words.
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
        // This wait comes before `none` is written, lists are reused, or the caller reuses the ops.
        if (request.empties || request.releases || !quiescent_) quiescent_ = synchronize() && taken;
        if (request.empties) {
            pass(&Patcher::write_none);
            machine_.data_barrier();
            // A core that had no guard yet at the first wait may have loaded the old object.
            quiescent_ = synchronize() && quiescent_;
        }
        planner_.end(change, quiescent_);
        return taken ? Status::ok : Status::timeout;
    }

    // Sites whose word is a call.
    std::uint32_t enabled() const { return planner_.enabled(); }
    // Whether any site has ever been too far from its direct entry for a call.
    bool uses_far() const { return planner_.uses_far(); }
    // Lists that slots hold.
    std::uint32_t lists_in_use() { return planner_.lists_in_use(); }
    const LastError& last_error() const { return last_error_; }

    // Calls visit(ops) for each ops of a usable site, in the order of attachment.
    template <typename Visit>
    void for_each_ops(std::uint32_t index, Visit visit) {
        planner_.for_each_ops(machine_.read_slot(sites_[index].slot()), visit);
    }

private:
    struct Request {
        Request(const Change& what, SlotValues nowhere) : change(what) { now.from = nowhere; }

        const Change& change;
        Transition now;  // of the preceding site, and of all sites like it
        // Whether the Transition of any site has these.
        bool stores = false, empties = false, releases = false;
    };

    // Initialises the sites from `index` on. Returns the first one that must be refused, or size().
    std::uint64_t initialise_run(Maintenance<M>& maintenance, TextBounds text,
                                 std::uint64_t index) {
        SiteTable sites = sites_;
        const std::uint64_t idle = none();
        for (; index != sites.size(); ++index) {
            const Address slot = sites[index].raw();
            if (slot < text.begin || slot > text.end - site_bytes || slot % slot_bytes != 0) break;
            const SiteEntry site = SiteEntry::of(patch_site(machine_, slot + slot_bytes));
            if (!is_unset(machine_, site)) break;
            machine_.write_slot(slot, idle);
            write_idle_words(machine_, site);
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

    // Checks that the sites' words match their slots, and that their next words can be encoded.
    [[gnu::noinline]] Status plan(Request& request, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t i = first; (i = planned(request.now, i, last)) != last; ++i) {
            const Status status = plan_site(request, i);
            if (status != Status::ok) return status;
        }
        return Status::ok;
    }
    // Returns the first site whose slot or words differ from those that `now` expects, or `last`.
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

    // Calls write(site, index, now) for a run's usable sites. It returns whether the slot changed.
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
