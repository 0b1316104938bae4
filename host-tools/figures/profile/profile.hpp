// SPDX-License-Identifier: Apache-2.0
// Makes a profile of the stream that a SessionReader or a recording sends to it.
//
// The profile is in ticks and by site offset; the report adds names and nanoseconds. A function's
// total counts time once, even if the function is on the stack several times: a call's end sets the
// total to its value at the call's begin plus the call's time.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host-tools/calls/call_stream.hpp"
#include "host-tools/calls/function_table.hpp"
#include "host-tools/calls/tasks.hpp"
#include "host-tools/figures/profile/call_costs.hpp"
#include "host-tools/figures/profile/call_tree.hpp"
#include "host-tools/figures/profile/captured.hpp"
#include "host-tools/figures/profile/events.hpp"
#include "host-tools/figures/profile/function_times.hpp"
#include "host-tools/figures/profile/left_out_calls.hpp"
#include "host-tools/figures/profile/moved_functions.hpp"
#include "host-tools/figures/profile/path_cache.hpp"
#include "host-tools/figures/profile/path_groups.hpp"
#include "host-tools/figures/profile/samples.hpp"
#include "host-tools/figures/profile/scheduling.hpp"
#include "host-tools/figures/profile/target_profile.hpp"
#include "host-tools/figures/profile/target_state.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

// A point in time that the firmware or one of its triggers marked.
struct Marker {
    static constexpr std::uint32_t in_nothing = ~std::uint32_t{0};

    std::uint64_t ticks = 0;  // since the session's first event
    std::uint32_t id = 0;
    std::uint32_t function = in_nothing;  // of the innermost open call
    std::uint32_t core = 0;
    std::uint32_t context = 0;
    std::uint64_t session = 0;
};

// Interrupts of a core were masked for longer than ever before in its session.
struct Masked {
    std::uint64_t ticks = 0;   // of its end, since the session's first event
    std::uint64_t length = 0;  // ticks
    std::int64_t where = 0;    // bytes from text_base: where the code that masked them goes on
    unsigned core = 0;
    std::uint64_t session = 0;
};

// Records and calls of a core that are not in the recording.
struct Missing {
    MissingPart part;  // `from` and `to`: ticks since the session's first event
    unsigned core = 0;
    std::uint64_t session = 0;
};

// A context of a core in one session: how long it ran, and how much of this was in its calls and in
// the tracer. In the rest no call was open, or a gap hides the call.
struct ContextTimes {
    std::uint64_t session = 0;
    unsigned core = 0;
    std::uint32_t context = 0;
    std::uint64_t ran_ticks = 0;
    std::uint64_t self_ticks = 0;
    std::uint64_t tracer_ticks = 0;
};

// What a profile knows of its target, and how it counts. Profile::zero() keeps it.
struct ProfileFacts {
    MemoryBudget whole_budget_;  // before anything was taken
    std::optional<HelloInfo> hello_;
    CallCosts costs_;
    CodeOfCalls code_;
    bool counts_durations_ = false;
    bool on_cpu_ = false;         // time_on_cpu()
    std::uint64_t least_ns_ = 0;  // shorter calls are left out
    bool least_is_raw_ = false;
    Ticks least_ticks_ = 0;            // likewise, by the session's clock
    std::uint64_t handed_within_ = 0;  // ticks
    MovedFunctions moved_;
};

// The state of a profile except open calls, which its cores have.
struct ProfileSums : ProfileFacts {
    MemoryBudget budget_;
    std::uint64_t left_out_ = 0;
    FunctionTable functions_;
    CallTree tree_;
    PathGroups groups_;
    std::deque<DurationsOf> durations_;
    TargetProfile on_target_;
    TargetState state_;
    DecoderCounters decoder_;
    std::vector<Marker> markers_;
    std::vector<Masked> masked_;
    Captured captured_;
    Samples samples_;
    CallEvents call_events_;
    TargetEvents events_on_target_;
    Tasks tasks_;
    Scheduling scheduling_;
    std::vector<Missing> missing_;
    std::size_t markers_before_ = 0;  // those of sessions that are over
    std::size_t missing_before_ = 0;  // likewise
    std::size_t masked_before_ = 0;   // likewise
    std::uint64_t tracer_ticks_ = 0;
    std::uint64_t duration_ticks_ = 0;
    std::vector<ContextTimes> contexts_;
};

class Profile;
struct ProfileContext;
// profile.cpp has them, compiled for speed.
extern template class CallDecoder<ProfileContext>;
extern template class CallStream<ProfileContext>;

// One context of a core: the sink of its CallDecoder.
struct ProfileContext : StreamedContext {
    using Core = CallStream<ProfileContext>::Core;

    ProfileContext(Profile& profile, const Core& core, std::uint32_t its_number);
    ProfileContext(const ProfileContext& other, Profile& profile, const Core& core);
    // The part begins at `clock`, or the time after zero(): all sums are 0, and the calls that are
    // open go on. Their paths are sites' offsets.
    void begin_part(std::uint64_t clock);

    Path place(std::uint32_t parent, std::uint32_t offset);
    Begun on_entry(std::uint32_t parent, std::uint32_t offset);
    // Where the caller has jumped, all its time up to such an entry is overhead.
    Begun on_entry_by_jump(std::uint32_t parent, std::uint32_t offset, Ticks since);
    const CallTree::Group& paths() const;
    std::uint32_t gap_node() const { return paths().after_gap; }
    MemoryBudget& budget();
    void on_call_only(std::uint32_t parent, std::uint32_t offset);
    void on_tracer_time(std::uint32_t node, std::uint32_t instructions);
    bool on_jump(std::uint32_t node);
    void on_leaf(std::uint32_t parent, std::uint32_t offset, std::uint64_t index, Ticks begin,
                 Ticks ticks);
    bool is_selected(std::uint32_t offset);  // by the part
    // True if the call, which has left the stack, is too short to count.
    bool leaves_out(const OpenCall& call, Ticks ticks, Outcome outcome);
    bool leaves_out_complete(Ticks timed);
    // A call that has no time, or was told whole, is left out. Its overhead is in the open
    // call.
    void leave_out(std::int64_t overhead);
    void on_exit(const OpenCall& call, Outcome outcome, bool incomplete, Ticks ticks, Ticks self,
                 Ticks away);
    void on_complete_call(std::uint32_t offset, Ticks ticks, const Durations::Inside& inside);
    std::uint32_t on_path(std::uint32_t parent, std::uint32_t offset, const Durations::Sum& sum);
    // The times of the session that is over.
    ContextTimes take_times();
    // Adds the events of the call that has just returned.
    void take_events(const WithData& record);
    // No record has an interrupt's events: passes its calls' events to the call around it.
    void pass_events_on();
    // The context has come from another core, where `from` has its open calls and does not
    // run: they go on here at `clock`. `unseen`: see CallDecoder::take_over().
    void take_over(ProfileContext& from, std::uint64_t clock, bool unseen);
    // False: the budget has no room for this function, nor for later ones of this context.
    [[gnu::noinline, gnu::cold]] bool make_room(std::uint32_t function);

    std::uint16_t group;
    bool counts_durations;
    bool leaves_out_short;
    bool on_cpu;
    Ticks handed_within;  // Handed::within
    Ticks last_end = 0;   // of the call that ended last
    std::uint32_t last_node = 0;
    std::uint64_t taken = 0;  // overhead so far, in 1/256 ticks: call_costs.hpp
    Profile& profile_;
    const Core& core_;
    std::vector<FunctionTimes> times;
    std::uint32_t known = 0;  // times.size(), which takes a division
    bool is_full = false;
    bool part_is_over = false;
    CallDecoder<ProfileContext> decoder;
    EventChildren event_children;
    LeftOutCalls left_out;
    Ticks self_before = 0;    // in sessions that are over
    Ticks tracer_before = 0;  // likewise
};

class Profile : public CallStream<ProfileContext>, private ProfileSums {
public:
    Profile() = default;
    // For a command that has other large containers: `budget` is the memory that they leave.
    explicit Profile(MemoryBudget budget) { budget_ = whole_budget_ = budget; }
    // A copy for another thread. After its on_session_end() it is as if the session ended now.
    Profile(const Profile& other);
    Profile& operator=(const Profile&) = delete;

    // The hello of the first session that has a readable one.
    const std::optional<HelloInfo>& hello() const { return hello_; }
    const FunctionTable& functions() const { return functions_; }
    // By function number, all cores and sessions.
    std::vector<FunctionTimes> times() const;
    // Likewise, of each group of the call tree.
    std::vector<std::vector<FunctionTimes>> times_by_group() const;
    const CallTree& tree() const { return tree_; }
    // Counts calls by duration: those that count for min and max. Call it before the first record.
    void count_durations() {
        counts_durations_ = true;
        functions_.set_price(price::function + sizeof(DurationsOf));
    }
    // Counts no calls that take less: their time is their callers' own. `raw`: less as recorded,
    // not corrected. The target's profile, which has no single calls, is left out. Call it before
    // the first record.
    void leave_out_shorter(std::uint64_t ns, bool raw) {
        least_ns_ = ns;
        least_is_raw_ = raw;
    }
    // The times of single calls (min, mean, max, durations, and what leave_out_shorter() compares)
    // are those on the CPU: without the times in which their contexts did not run. Call it before
    // the first record.
    void time_on_cpu() { on_cpu_ = true; }
    bool is_on_cpu() const { return on_cpu_; }
    // Each task, or core, gets a group of paths of its own. `tasks`: what the recording tells of
    // them. Call it before the first record, and not before zero().
    void split_by(SplitBy by, Tasks tasks) { groups_ = PathGroups(by, std::move(tasks)); }
    const PathGroups& groups() const { return groups_; }
    // By function number; shorter than times() if the last functions have no durations.
    const std::deque<DurationsOf>& durations() const { return durations_; }
    // Corrects the times of single calls by these facts, too. Call it before the first record.
    void know_code(CodeOfCalls code) { code_ = std::move(code); }
    const TargetProfile& on_target() const { return on_target_; }
    const MovedFunctions& moved() const { return moved_; }
    const TargetState& state() const { return state_; }
    const DecoderCounters& decoder() const { return decoder_; }
    // In the order of the recording; further ones are left out.
    static constexpr std::size_t max_markers = std::size_t{1} << 16;
    const std::vector<Marker>& markers() const { return markers_; }
    // In the order of the recording; further ones are left out.
    static constexpr std::size_t max_masked = std::size_t{1} << 16;
    const std::vector<Masked>& masked() const { return masked_; }
    const Captured& captured() const { return captured_; }
    const Samples& samples() const { return samples_; }
    const CallEvents& call_events() const { return call_events_; }
    const TargetEvents& events_on_target() const { return events_on_target_; }
    const Tasks& tasks() const { return tasks_; }
    // Of the sessions that are over.
    const Scheduling& scheduling() const { return scheduling_; }
    std::uint64_t sessions_over() const { return sessions_; }
    // In the order in which the reader noticed them; further ones are only in the counters.
    static constexpr std::size_t max_missing = std::size_t{1} << 16;
    const std::vector<Missing>& missing() const { return missing_; }
    // Of the sessions that are over; further ones are left out.
    static constexpr std::size_t max_context_times = std::size_t{1} << 16;
    const std::vector<ContextTimes>& contexts() const { return contexts_; }
    // Values, counts, marks and other entries that found no room in the budget or in a list.
    std::uint64_t left_out() const {
        return left_out_ + events_on_target_.left_out() + tasks_.left_out() +
               scheduling_.left_out();
    }
    std::uint64_t tracer_ticks() const { return tracer_ticks_; }
    std::uint64_t duration_ticks() const { return duration_ticks_; }  // first to last event
    // One core's self time in all functions but those that `left_out` marks, by number.
    std::uint64_t self_ticks_of(unsigned core, const std::vector<bool>& left_out) const;
    std::uint32_t context_of(unsigned core) const;  // the one that the core runs

    // All sums begin again after the session's last record, or at `at` if that is later. Calls that
    // are open go on and count only their time from then on, as at the begin of a part. Calls that
    // show() leaves out end. Facts stay: hello, the recorders and the mode in force, which
    // functions were moved, what the target told of its tasks.
    void zero(std::optional<std::uint64_t> at = std::nullopt);
    // The clock at which the sums begin; nothing: with the session.
    std::optional<std::uint64_t> zero_clock() const { return zero_clock_; }

    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;
    void on_stats(unsigned core, const protocol::Stats& stats) override;
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        if (!part().has_sums(core)) return true;
        state_.on_profile(core, payload, count);
        return least_ns_ != 0 || on_target_.on_frame(core, payload, count, budget_);
    }
    bool on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        return least_ns_ != 0 || !part().has_sums(core) ||
               events_on_target_.on_frame(core, payload, count, budget_);
    }
    bool on_moved(const std::uint8_t* payload, std::size_t count) override {
        return moved_.on_frame(payload, count);
    }
    bool on_tasks(const std::uint8_t* payload, std::size_t count) override {
        on_tasks_of_part(payload, count);
        return tasks_.on_frame(sessions_, payload, count, budget_);
    }

private:
    friend struct ProfileContext;

    std::unique_ptr<ProfileContext> copy_context(const Core& core,
                                                 const ProfileContext& other) override {
        return std::make_unique<ProfileContext>(other, *this, core);
    }
    std::unique_ptr<ProfileContext> new_context(const Core& core, std::uint32_t number) override {
        return std::make_unique<ProfileContext>(*this, core, number);
    }
    bool takes_context() override { return budget_.take(price::context); }
    void on_schedule(const Core& core, Scheduling::Kind what, std::uint64_t axis_clock,
                     std::uint64_t data) override {
        scheduling_.add(core.number, axis_clock, what, data, budget_);
    }
    void on_left(const Core& core, std::uint32_t context, protocol::Left how) override {
        tasks_.on_left(sessions_, core.number, context, how, budget_);
    }
    void on_marker(const Core& core, const protocol::Event& event) override;
    void on_record(Core& core, const WithData& record) override;
    void tell_missing(unsigned core, const MissingPart& part) override;
    std::uint32_t offset_of(std::uint32_t function) const override {
        return functions_.offset(function);
    }
    void on_core_end(Core& core) override;
    void on_dropped(unsigned core, std::uint64_t from, std::uint64_t count);
    // True if a list of at most `most` entries has room for one more; else counts it as left out.
    bool has_room(std::size_t size, std::size_t most) {
        if (size < most && budget_.take(price::list_entry)) return true;
        ++left_out_;
        return false;
    }
    [[gnu::noinline]] void add_duration(std::uint32_t function, Ticks ticks,
                                        std::int64_t corrected) {
        if (function >= durations_.size()) durations_.resize(function + 1);
        constexpr Ticks most = ~Ticks{0} / protocol::overhead_unit;
        DurationsOf& of = durations_[function];
        of.raw.add(std::min(ticks, most) * protocol::overhead_unit);
        of.corrected.add(corrected > 0 ? static_cast<std::uint64_t>(corrected) : 0);
    }
    // `overhead`: in the call's time, in 1/256 ticks. Modulo 2^64: outside data may have any clock.
    bool is_short(Ticks ticks, std::uint64_t overhead) const {
        if (least_is_raw_) return ticks < least_ticks_;
        return static_cast<std::int64_t>(ticks * protocol::overhead_unit - overhead) <
               static_cast<std::int64_t>(least_ticks_ * protocol::overhead_unit);
    }
    std::uint16_t group_of(unsigned core, std::uint32_t context) {
        return groups_.find(tree_, sessions_, core, context);
    }
    void measured();                // call it when hello_ has new overheads
    unsigned address_unit() const;  // of addresses in records, in bytes
    ProfileSums sums_at_zero() const;

    PathCache paths_{functions_, tree_, costs_, code_, budget_};
    struct Unhooked {
        std::uint64_t calls = 0;  // beyond the shadow stack: as the core's last stats say
        std::uint64_t at = 0;     // the clock then
    };
    std::array<Unhooked, 256> unhooked_{};
};

[[gnu::always_inline]] inline Path ProfileContext::place(std::uint32_t parent,
                                                         std::uint32_t offset) {
    const Path path = profile_.paths_.find(parent, offset);
    if (path.function >= known && !make_room(path.function)) [[unlikely]]
        return {FunctionTable::none, paths().overflow};
    return path;
}
[[gnu::always_inline]] inline Begun ProfileContext::on_entry(std::uint32_t parent,
                                                             std::uint32_t offset) {
    const Path path = place(parent, offset);
    FunctionTimes& of = times[path.function];
    ++of.calls;
    ++profile_.tree_[path.node].calls;
    return {path, of.total_ticks, taken};
}
inline Begun ProfileContext::on_entry_by_jump(std::uint32_t parent, std::uint32_t offset,
                                              Ticks since) {
    const Path path = place(parent, offset);
    const CallTree::Node& node = profile_.tree_[path.node];
    const CallCosts& costs = profile_.costs_;
    if (costs.graph_sum == 0) since = 0;  // what recording takes is not known
    ++profile_.tree_.chain(path.node).begun;
    profile_.tree_.chain(parent).ticks += since;
    taken += since * protocol::overhead_unit -
             static_cast<std::uint64_t>(node.outside - costs.hook_outside +
                                        (node.tail == Tail::maybe ? costs.tail : 0));
    if (node.no_landing_pad) {  // which the record of the jump before counts
        std::uint64_t& beside = profile_.tree_[last_node].beside;
        beside -= std::min(beside, std::uint64_t{1});
    }
    return on_entry(parent, offset);
}
inline const CallTree::Group& ProfileContext::paths() const {
    return profile_.tree_.groups()[group];
}
inline MemoryBudget& ProfileContext::budget() { return profile_.budget_; }
inline void ProfileContext::on_call_only(std::uint32_t parent, std::uint32_t offset) {
    if (leaves_out_short) return leave_out(profile_.costs_.function.outside);
    CallTree::Node& node = profile_.tree_[on_entry(parent, offset).path.node];
    ++node.points;
    taken += static_cast<std::uint64_t>(profile_.costs_.function.outside -
                                        (node.no_landing_pad ? profile_.costs_.landing_pad : 0));
}
inline void ProfileContext::on_tracer_time(std::uint32_t node, std::uint32_t instructions) {
    if (leaves_out_short) {
        left_out.add(decoder.depth(), decoder.top().index, instructions);
    } else {
        profile_.tree_[node].beside += instructions;
    }
    taken += static_cast<std::uint64_t>(profile_.costs_.of_instructions(instructions));
}
inline bool ProfileContext::on_jump(std::uint32_t node) {
    const CallTree::Node& last = profile_.tree_[last_node];
    if (last.parent != node || last_end != decoder.time()) return false;
    ++profile_.tree_.chain(last_node).ended;
    last_end = 0;  // so that its end is not handed on
    const CallCosts& costs = profile_.costs_;
    taken += static_cast<std::uint64_t>((last.tail == Tail::maybe ? costs.tail : 0) -
                                        costs.hook_outside);
    return true;
}

[[gnu::always_inline]] inline void ProfileContext::on_leaf(std::uint32_t parent,
                                                           std::uint32_t offset,
                                                           std::uint64_t /*index*/, Ticks begin,
                                                           Ticks ticks) {
    const Path path = place(parent, offset);
    CallTree::Node& node = profile_.tree_[path.node];
    FunctionTimes& of = times[path.function];
    ++of.calls;
    ++node.calls;
    node.total_ticks += ticks;
    node.self_ticks += ticks;
    of.total_ticks += ticks;
    of.self_ticks += ticks;
    of.last_end = last_end = begin + ticks;
    last_node = path.node;
    taken += static_cast<std::uint64_t>(node.inside + node.outside);
    const auto corrected = static_cast<std::int64_t>(ticks * protocol::overhead_unit -
                                                     static_cast<std::uint64_t>(node.inside));
    if (of.time(ticks, corrected)) [[unlikely]]
        of.max_end = core_.axis_clock(last_end);
    if (counts_durations) [[unlikely]]
        profile_.add_duration(path.function, ticks, corrected);
}

// The compiler inlines it into the decoder's loop, where the call's outcome is a constant.
[[gnu::always_inline]] inline void ProfileContext::on_exit(const OpenCall& call, Outcome outcome,
                                                           bool incomplete, Ticks ticks, Ticks self,
                                                           Ticks away) {
    CallTree::Node& node = profile_.tree_[call.path.node];
    const Ticks end = call.begin + ticks;
    if (end - last_end < handed_within) [[unlikely]] {
        CallTree::Node& last = profile_.tree_[last_node];
        if (last.parent == call.path.node && outcome == Outcome::returned) {
            ++last.handed;
            if (last.tail == Tail::maybe) taken += static_cast<std::uint64_t>(profile_.costs_.tail);
        }
    }
    last_end = end;
    last_node = call.path.node;
    node.total_ticks += ticks;
    node.self_ticks += self;
    FunctionTimes& of = times[call.path.function];
    of.last_end = end;
    const std::uint64_t total = call.total_before + ticks;
    of.self_ticks += self;
    bool hook_has_run = true;  // false: longjmp left the call
    switch (outcome) {
    case Outcome::returned: break;
    case Outcome::unwound:
        ++of.unwound;
        ++node.unwound;
        hook_has_run = is_interrupt(profile_.functions_.offset(node.function));
        break;
    case Outcome::open:
        if (!part_is_over)
            ++of.open;
        else if (call.gaps_before != OpenCall::before_part)
            ++of.cut;
        break;
    case Outcome::lost: ++of.lost; break;
    }
    taken +=
        static_cast<std::uint64_t>(node.inside - (hook_has_run ? 0 : profile_.costs_.hook_inside));
    Ticks timed = ticks;
    if (away != 0) [[unlikely]]
        timed = not_negative(timed - away);
    const auto corrected =
        static_cast<std::int64_t>(timed * protocol::overhead_unit - (taken - call.taken_before));
    taken += static_cast<std::uint64_t>(node.outside -
                                        (hook_has_run ? 0 : profile_.costs_.hook_outside));
    if (outcome == Outcome::lost) {
        // Calls after the gap are in the total already, maybe in another core's.
        if (not_negative(total - of.total_ticks) != 0) of.total_ticks = total;
    } else {
        of.total_ticks = total;
    }
    if (incomplete) {
        ++(call.gaps_before == OpenCall::before_part ? of.cut : of.incomplete);
    } else if (outcome != Outcome::open && outcome != Outcome::lost) {
        if (of.time(timed, corrected)) [[unlikely]]
            of.max_end = core_.axis_clock(end);
        if (counts_durations) [[unlikely]]
            profile_.add_duration(call.path.function, timed, corrected);
    }
}

}  // namespace nopscope::host
