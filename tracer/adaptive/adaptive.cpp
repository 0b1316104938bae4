// SPDX-License-Identifier: Apache-2.0
// Adaptive mode on a board: measures the load in each pump, and moves functions (load_meter.hpp).
//
// The pump moves functions by a request, which may have to wait for the next pump. The table of
// moved sites is locked meanwhile; another pump then skips it.
#include "tracer/adaptive/adaptive.hpp"

#include "tracer/adaptive/leaf_sample.hpp"
#include "tracer/adaptive/load_meter.hpp"
#include "tracer/arch/machine.hpp"
#include "tracer/arch/patch_site.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/core/image.hpp"
#include "tracer/patching/requests.hpp"
#include "tracer/recorders/profile.hpp"
#include "tracer/stream/board_pump.hpp"

#include <algorithm>

namespace nopscope {

constinit DemotedSites demoted_sites;
constinit DemotedSender demoted_sender(demoted_sites, sites);

namespace {

constexpr unsigned looks_a_second = 20;
constexpr std::uint64_t scanned_bytes = 1024 * record_bytes;  // of each ring, at most
constexpr std::size_t at_once = 32;

constinit Machine machine;

// Finds a site by the low half of its address, which records hold.
std::optional<std::uint32_t> site_of(std::uint32_t low) {
    const std::uint64_t base = address_of(__text_start);
    return lookup(base + (low - static_cast<std::uint32_t>(base)));
}
// True if the recorder with this entry is on the site.
bool is_recorded_by(const char* entry, std::uint32_t index) {
    struct Search {
        std::uint64_t entry;
        bool found;
    } search{address_of(entry), false};
    for_each_ops(
        index,
        [](Ops& ops, void* user) {
            Search& it = *static_cast<Search*>(user);
            it.found |= ops.direct == it.entry;
        },
        &search);
    return search.found;
}

// A core's calls that found the ring full. A race may lose one from the sample.
struct Overflows {
    LeafSample leaves;
    std::uint64_t seen = 0;       // Core::overflowed before these
    std::uint64_t last_sp = 0;    // of the last call
    std::uint32_t last_site = 0;  // of the last call
};
constinit Overflows overflows[max_cores]{};

// Notes a call on core `number` that found the ring full. `site`: the low half of the function's
// address. The previous such call was a leaf if this call's SP is not below its. Any context.
void note_overflow(Core& core, unsigned number, std::uint64_t sp, std::uint32_t site) {
    __atomic_fetch_add(&core.overflowed, 1, __ATOMIC_RELAXED);
    Overflows& own = overflows[number];
    if (sp >= own.last_sp) own.leaves.count(own.last_site);
    own.last_sp = sp;
    own.last_site = site;
}

class Adaptive {
public:
    void open(std::uint64_t clock_hz) {
        window_ = clock_hz / looks_a_second;
        meter_.open(clock_hz, hello.line_bytes_per_second);
        demoted_sites.open(clock_hz);
    }
    void want(bool on) { __atomic_store_n(&wanted_, on, __ATOMIC_RELAXED); }
    bool is_wanted() const { return __atomic_load_n(&wanted_, __ATOMIC_RELAXED); }
    bool is_on() const { return __atomic_load_n(&on_, __ATOMIC_RELAXED); }
    // Only within a request, or in init().
    Status begin() {
        const Status status = prepare_profile();
        if (status != Status::ok) return status;
        for (Core& core : all_cores()) __atomic_store_n(&core.aggregates, 1, __ATOMIC_RELAXED);
        begin_window();
        __atomic_store_n(&on_, true, __ATOMIC_RELAXED);
        demoted_sender.begin();
        return Status::ok;
    }

    void run() {
        const bool wanted = is_wanted();
        if (wanted == is_on() && (!wanted || machine.clock() - begun_ < window_)) return;
        if (!demoted_sites.try_lock()) return;
        if (wanted != is_on()) to_do_ = wanted ? ToDo::begin : ToDo::end;
        if (to_do_ == ToDo::nothing) look();
        if (to_do_ != ToDo::nothing &&
            try_request([](void* self) { static_cast<Adaptive*>(self)->act(); }, this)) {
            to_do_ = ToDo::nothing;
        }
        demoted_sites.unlock();
    }

private:
    enum class ToDo : std::uint8_t { nothing, begin, end, demote, promote };
    using Site = DemotedSites::Site;

    // ---- when to move ----

    struct Sum {
        std::uint64_t clock, records, overflowed, sent_records, sent_bytes;
    };
    static Sum sum(std::uint64_t& waiting) {
        Sum now{machine.clock(), 0, 0, 0, trace_bytes_sent()};
        for (const Core& core : all_cores()) {
            const std::uint64_t claimed = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
            const std::uint64_t sent = __atomic_load_n(&core.tail, __ATOMIC_RELAXED);
            now.records += claimed / record_bytes;
            now.sent_records += sent / record_bytes;
            now.overflowed += __atomic_load_n(&core.overflowed, __ATOMIC_RELAXED);
            const std::uint64_t limit = __atomic_load_n(&core.limit, __ATOMIC_RELAXED);
            if (limit <= sent || claimed <= sent) continue;  // stopped, or empty
            waiting = std::max(waiting, (claimed - sent) * 1024 / (limit - sent));
        }
        return now;
    }
    void begin_window() {
        std::uint64_t waiting = 0;
        last_ = sum(waiting);
        begun_ = last_.clock;
    }
    void look() {
        std::uint64_t waiting = 0;
        meter_.set_pace(hello.line_bytes_per_second);
        const Sum now = sum(waiting);
        const Load load{now.clock - last_.clock,           now.records - last_.records,
                        now.overflowed - last_.overflowed, now.sent_records - last_.sent_records,
                        now.sent_bytes - last_.sent_bytes, waiting};
        last_ = now;
        begun_ = now.clock;
        switch (meter_.judge(load)) {
        case LoadMeter::State::steady: break;
        case LoadMeter::State::overloaded: to_do_ = ToDo::demote; break;
        case LoadMeter::State::underused:
            if (demoted_sites.demoted_count() != 0) to_do_ = ToDo::promote;
            break;
        }
    }

    // ---- the moves ----

    void act() {
        switch (to_do_) {
        case ToDo::nothing: break;
        case ToDo::begin:
            if (begin() != Status::ok) want(false);
            return;
        case ToDo::end: return end();
        case ToDo::demote: demote(); break;
        case ToDo::promote: promote(); break;
        }
        begin_window();
    }

    void end() {
        Site* demoted[at_once];
        std::size_t count = 0;
        for (Site& site : demoted_sites.all()) {
            if (site.state == DemotedSites::State::moved) demoted[count++] = &site;
            if (count < at_once && &site != &demoted_sites.all().back()) continue;
            promote_all({demoted, count});
            count = 0;
        }
        for (Core& core : all_cores()) __atomic_store_n(&core.aggregates, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&on_, false, __ATOMIC_RELAXED);
    }

    void demote() {
        sample_.clear();
        for (unsigned n = 0; n < all_cores().size(); ++n) {
            const Core& core = all_cores()[n];
            const std::uint64_t to = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
            std::uint64_t from = __atomic_load_n(&core.tail, __ATOMIC_RELAXED);
            if (from < scanned_[n]) from = scanned_[n];
            if (to - from > scanned_bytes) from = to - scanned_bytes;
            sample_.scan(core, from, to);
            scanned_[n] = to;
            sample_.add(overflows[n].leaves,
                        __atomic_load_n(&core.overflowed, __ATOMIC_RELAXED) - overflows[n].seen);
            overflows[n].leaves.clear();
            overflows[n].seen = core.overflowed;
        }
        std::uint32_t chosen[at_once];
        const std::span room(chosen, std::min(at_once, demoted_sites.room()));
        const std::size_t count = sample_.choose(meter_.excess(), room, [](std::uint32_t low) {
            std::optional<std::uint32_t> index = site_of(low);
            if (index && (!is_recorded_by(nopscope_graph_entry, *index) ||
                          !demoted_sites.may_demote(*index))) {
                index = std::nullopt;
            }
            return index;
        });
        const std::span indexes(chosen, count);
        if (move(Recorder::profile, indexes)) {
            for (const std::uint32_t index : indexes) note_demoted(index);
            return;
        }
        // Moves each alone, so that one that cannot be moved does not stop the others.
        for (const std::uint32_t index : indexes) {
            if (move(Recorder::profile, {&index, 1}))
                note_demoted(index);
            else if (demoted_sites.may_demote(index))
                demoted_sites.bar(index);
        }
    }
    static void note_demoted(std::uint32_t index) {
        demoted_sites.demote(index, machine.clock(), profiled_calls(index));
    }

    void promote() {
        const std::uint64_t now = machine.clock();
        const bool is_new = demoted_sites.note_calls(now, profiled_calls);
        meter_.ask_again();
        if (!is_new) return;
        Site* chosen[at_once];
        promote_all({chosen, demoted_sites.choose_to_promote(meter_.spare(), now, chosen)});
    }
    static void promote_all(std::span<Site* const> sites) {
        std::uint32_t indexes[at_once];
        std::size_t count = 0;
        for (const Site* site : sites) {
            if (is_recorded_by(nopscope_profile_entry, site->index)) indexes[count++] = site->index;
        }
        // If it fails, they stay in the profile.
        if (!move(Recorder::graph, {indexes, count})) return;
        for (Site* site : sites) demoted_sites.promote(*site, machine.clock());
    }

    static bool move(Recorder recorder, std::span<const std::uint32_t> indexes) {
        const void* functions[at_once];
        for (std::size_t i = 0; i < indexes.size(); ++i) {
            functions[i] = reinterpret_cast<const void*>(site(indexes[i]).address);
        }
        return carried_out(move_to(recorder, {functions, indexes.size()}));
    }

    LoadMeter meter_;
    LeafSample sample_;
    Sum last_{};
    std::uint64_t begun_ = 0;             // clock: this window
    std::uint64_t window_ = 1;            // ticks
    std::uint64_t scanned_[max_cores]{};  // positions: records before are older than the last move
    ToDo to_do_ = ToDo::nothing;
    bool wanted_ = false;
    bool on_ = false;
};

constinit Adaptive adaptive;

}  // namespace

void open_adaptive(const Config& config) {
    adaptive.open(hello.clock_hz);
    demoted_sender.open(hello.text_base, hello.clock_hz);
    set_adaptation({.is_active = [] { return adaptive.is_wanted() || adaptive.is_on(); },
                    .moved = [] { return demoted_sites.demoted_count(); },
                    .forget = [](std::uint32_t first,
                                 std::uint32_t last) { demoted_sites.forget(first, last); }});
    if (config.mode != Mode::adaptive) return;
    adaptive.want(true);
    (void)adaptive.begin();  // init() has checked its memory
}
void want_adaptive(bool on) { adaptive.want(on); }
void adapt() { adaptive.run(); }

// As nopscope_profile_cell(), for a call that has found the ring full.
extern "C" std::uint64_t nopscope_overflow(Core* core, std::uint64_t sp, std::uint64_t caller,
                                           std::uint64_t body) {
    const Here here;
    note_overflow(here.core(), Machine().core(), sp,
                  static_cast<std::uint32_t>(function_of_body(body)));
    return nopscope_profile_cell(core, sp, caller, body);
}

}  // namespace nopscope
