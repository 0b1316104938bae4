// SPDX-License-Identifier: Apache-2.0
// The calls of duration records. The target's recorder of long calls sends one record at a call's
// end, so children come before their callers. The calls wait here, added up by path, until the call
// around them ends. Memory is bounded by the paths, not by the calls.
//
// A call's depth is the number of calls around it. When a call ends, the waiting calls at larger
// depths that began inside it are its children. If a waiting call at a larger depth began earlier,
// its own caller's record is lost: its callers are unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "host-tools/base/memory.hpp"
#include "host-tools/calls/call.hpp"
#include "host-tools/calls/prices.hpp"

namespace nopscope::host {

class Durations {
public:
    static constexpr std::uint32_t max_depth = 4096;  // deeper calls count as that deep

    Durations() = default;
    Durations(const Durations& other) : waiting_(other.waiting_), charged_(other.charged_) {
        for (const auto& [depth, level] : other.levels_) {
            levels_.try_emplace(depth, Level{.begin = level.begin, .calls = copy(level.calls)});
        }
    }

    // Calls of one path. The path begins at the outermost call whose caller is not known yet.
    struct Sum {
        std::uint64_t calls = 0;
        Ticks total_ticks = 0;
        Ticks self_ticks = 0;
        Ticks away_ticks = 0;                                    // of `total_ticks`
        std::uint64_t inner = 0;                                 // calls inside these, at any depth
        std::map<std::uint32_t, std::unique_ptr<Sum>> children;  // by site offset
    };
    using Sums = std::map<std::uint32_t, std::unique_ptr<Sum>>;
    struct Inside {
        Ticks ticks = 0;          // of the calls inside, and in other contexts: not self time
        Ticks same_ticks = 0;     // of `ticks`: in calls of the same function
        Ticks away_ticks = 0;     // add()'s `away`
        std::uint64_t calls = 0;  // at any depth
    };

    bool empty() const { return levels_.empty(); }
    // Takes the waiting calls of `from`, whose clock is behind by `shift`. None wait here.
    void take(Durations& from, Ticks shift) {
        levels_.swap(from.levels_);
        std::swap(waiting_, from.waiting_);
        std::swap(charged_, from.charged_);
        for (auto& [depth, level] : levels_) level.begin += shift;
    }
    // Drops all waiting calls. What they were charged is the business of another budget.
    void forget() {
        levels_.clear();
        waiting_ = charged_ = 0;
    }

    // A call has ended. `elsewhere` of its ticks were another context's, and no waiting call has
    // them; `away` with those of the waiting calls inside. orphans(Sums&) gets the calls whose
    // callers are unknown: all waiting calls if `budget` has no room for one more.
    template <typename Orphans>
    Inside add(std::uint32_t depth, std::uint32_t site, Ticks begin, Ticks ticks, Ticks elsewhere,
               Ticks away, MemoryBudget& budget, Orphans orphans) {
        auto call = std::make_unique<Sum>();
        Inside inside{.ticks = elsewhere, .away_ticks = away};
        const std::uint32_t level = level_of(depth);
        for (auto at = levels_.upper_bound(level); at != levels_.end(); at = levels_.erase(at)) {
            if (not_negative(begin - at->second.begin) != 0) {
                orphans(at->second.calls);
                continue;
            }
            for (auto& [its_site, sum] : at->second.calls) {
                inside.ticks += sum->total_ticks;
                inside.calls += sum->calls + sum->inner;
                merge(call->children[its_site], std::move(sum));
            }
        }
        inside.same_ticks = outermost(call->children, site);
        call->calls = 1;
        call->total_ticks = ticks;
        call->self_ticks = not_negative(ticks - inside.ticks);
        call->away_ticks = away;
        call->inner = inside.calls;
        const auto [at, is_new] = levels_.try_emplace(level);
        if (is_new) at->second.begin = begin;
        merge(at->second.calls[site], std::move(call));
        ++waiting_;
        if (!charge(budget)) take_all(budget, orphans);
        return inside;
    }

    // The `away_ticks` of the waiting calls that add() would take as children.
    Ticks away_inside(std::uint32_t depth, Ticks begin) const {
        Ticks sum = 0;
        for (auto at = levels_.upper_bound(level_of(depth)); at != levels_.end(); ++at) {
            if (not_negative(begin - at->second.begin) != 0) continue;
            for (const auto& [site, call] : at->second.calls) sum += call->away_ticks;
        }
        return sum;
    }

    // A call that has its own entry record ended; it began at `begin`. take(Sums&) gets its
    // children. Returns their time.
    template <typename Take>
    Ticks settle(Ticks begin, MemoryBudget& budget, Take take) {
        Ticks sum = 0;
        for (auto at = levels_.begin(); at != levels_.end();) {
            if (not_negative(begin - at->second.begin) != 0) {
                ++at;
                continue;
            }
            for (const auto& [site, call] : at->second.calls) sum += call->total_ticks;
            take(at->second.calls);
            at = levels_.erase(at);
        }
        if (levels_.empty()) waiting_ = 0;
        charge(budget);
        return sum;
    }
    template <typename Take>
    void take_all(MemoryBudget& budget, Take take) {
        for (auto& [depth, level] : levels_) take(level.calls);
        levels_.clear();
        waiting_ = 0;
        charge(budget);
    }

private:
    struct Level {
        Ticks begin = 0;  // of the first call
        Sums calls;
    };

    static std::uint32_t level_of(std::uint32_t depth) {
        return depth < max_depth ? depth : max_depth;
    }
    // False: the budget has no room for all waiting calls.
    bool charge(MemoryBudget& budget) {
        if (waiting_ > charged_ && !budget.take((waiting_ - charged_) * price::waiting_call))
            return false;
        if (waiting_ < charged_) budget.release((charged_ - waiting_) * price::waiting_call);
        charged_ = waiting_;
        return true;
    }
    void merge(std::unique_ptr<Sum>& to, std::unique_ptr<Sum> from) {
        if (!to) {
            to = std::move(from);
            return;
        }
        --waiting_;
        to->calls += from->calls;
        to->total_ticks += from->total_ticks;
        to->self_ticks += from->self_ticks;
        to->away_ticks += from->away_ticks;
        to->inner += from->inner;
        for (auto& [site, sum] : from->children) merge(to->children[site], std::move(sum));
    }
    static Sums copy(const Sums& from) {
        Sums to;
        for (const auto& [site, sum] : from) {
            to[site] = std::make_unique<Sum>(Sum{sum->calls, sum->total_ticks, sum->self_ticks,
                                                 sum->away_ticks, sum->inner, copy(sum->children)});
        }
        return to;
    }
    // The time of the outermost calls of a function.
    static Ticks outermost(const Sums& sums, std::uint32_t function) {
        Ticks ticks = 0;
        for (const auto& [site, sum] : sums) {
            ticks += site == function ? sum->total_ticks : outermost(sum->children, function);
        }
        return ticks;
    }

    std::map<std::uint32_t, Level> levels_;  // by depth
    std::size_t waiting_ = 0;                // upper bound of the number of sums
    std::size_t charged_ = 0;                // of `waiting_`: charged to the budget
};

}  // namespace nopscope::host
