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

#include "host-tools/analysis/profile/call_costs.hpp"
#include "host-tools/analysis/profile/call_decoder.hpp"
#include "host-tools/analysis/profile/call_tree.hpp"
#include "host-tools/analysis/profile/captured.hpp"
#include "host-tools/analysis/profile/events.hpp"
#include "host-tools/analysis/profile/function_table.hpp"
#include "host-tools/analysis/profile/function_times.hpp"
#include "host-tools/analysis/profile/left_out_calls.hpp"
#include "host-tools/analysis/profile/moved_functions.hpp"
#include "host-tools/analysis/profile/path_cache.hpp"
#include "host-tools/analysis/profile/path_groups.hpp"
#include "host-tools/analysis/profile/samples.hpp"
#include "host-tools/analysis/profile/scheduling.hpp"
#include "host-tools/analysis/profile/target_profile.hpp"
#include "host-tools/analysis/profile/target_state.hpp"
#include "host-tools/analysis/profile/tasks.hpp"
#include "host-tools/analysis/profile/tick_time.hpp"
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
    TickTime time_;
    bool cuts_ = false;                    // in this session: cuts_tracer_out()
    std::optional<std::uint64_t> origin_;  // ns: the recording's first record
    std::uint64_t latest_ = 0;             // ns: of sessions that are over
    MovedFunctions moved_;
    std::uint64_t sessions_ = 0;  // that are over
    // After a zero() in this session: the clock at which the sums begin, and the session's first.
    std::optional<std::uint64_t> zero_clock_;
    std::optional<std::uint64_t> first_clock_;
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

class Profile : public SessionSink, private ProfileSums {
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
    // are open go on and count only their time from then on, as at the begin of a part (on_part()).
    // Facts stay: hello, the recorders and the mode in force, which functions were moved, what the
    // target told of its tasks.
    // `wants`: the contexts whose open calls count; empty: all.
    using Wants = std::function<bool(unsigned core, std::uint32_t context)>;
    void zero(std::optional<std::uint64_t> at = std::nullopt, const Wants& wants = {});
    // The clock at which the sums begin; nothing: with the session.
    std::optional<std::uint64_t> zero_clock() const { return zero_clock_; }

    void on_part(PartMark mark, unsigned core, std::uint64_t clock) override;
    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_missing(unsigned core, const MissingPart& part) override;
    void on_stats(unsigned core, const protocol::Stats& stats) override;
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        state_.on_profile(core, payload, count);
        return least_ns_ != 0 || on_target_.on_frame(core, payload, count, budget_);
    }
    bool on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        return least_ns_ != 0 || events_on_target_.on_frame(core, payload, count, budget_);
    }
    bool on_moved(const std::uint8_t* payload, std::size_t count) override {
        return moved_.on_frame(payload, count);
    }
    bool on_tasks(const std::uint8_t* payload, std::size_t count) override {
        return tasks_.on_frame(sessions_, payload, count, budget_);
    }

private:
    struct Core;

    // One context of a core: the sink of its CallDecoder.
    struct Context {
        Context(Profile& profile, const Core& core, std::uint32_t its_number)
            : number(its_number),
              group(profile.group_of(core.number, its_number)),
              counts_durations(profile.counts_durations_),
              leaves_out_short(profile.least_ns_ != 0),
              on_cpu(profile.on_cpu_),
              handed_within(profile.handed_within_),
              profile_(profile),
              core_(core),
              times(1),
              known(1),
              decoder(*this, profile.tree_.groups()[group].root) {}
        Context(const Context& other, Profile& profile, const Core& core)
            : number(other.number),
              group(other.group),
              counts_durations(other.counts_durations),
              leaves_out_short(other.leaves_out_short),
              on_cpu(other.on_cpu),
              handed_within(other.handed_within),
              last_end(other.last_end),
              last_node(other.last_node),
              taken(other.taken),
              profile_(profile),
              core_(core),
              times(other.times),
              known(other.known),
              is_full(other.is_full),
              decoder(other.decoder, *this),
              event_children(other.event_children),
              left_out(other.left_out),
              left_at(other.left_at),
              counted(other.counted),
              entered(other.entered),
              ran_ticks(other.ran_ticks),
              self_before(other.self_before),
              tracer_before(other.tracer_before),
              has_moved(other.has_moved) {}

        // The open calls of `from`, a context of another profile, go on in this one at `clock`.
        Context(const Context& from, Profile& profile, const Core& core, std::uint64_t clock);

        [[gnu::always_inline]] Path place(std::uint32_t parent, std::uint32_t offset) {
            const Path path = profile_.paths_.find(parent, offset);
            if (path.function >= known && !make_room(path.function)) [[unlikely]]
                return {FunctionTable::none, paths().overflow};
            return path;
        }
        [[gnu::always_inline]] Begun on_entry(std::uint32_t parent, std::uint32_t offset) {
            const Path path = place(parent, offset);
            FunctionTimes& of = times[path.function];
            ++of.calls;
            ++profile_.tree_[path.node].calls;
            return {path, of.total_ticks, taken};
        }
        // Where the caller has jumped, all its time up to such an entry is overhead.
        Begun on_entry_by_jump(std::uint32_t parent, std::uint32_t offset, Ticks since) {
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
        const CallTree::Group& paths() const { return profile_.tree_.groups()[group]; }
        std::uint32_t gap_node() const { return paths().after_gap; }
        MemoryBudget& budget() { return profile_.budget_; }
        void on_call_only(std::uint32_t parent, std::uint32_t offset) {
            if (leaves_out_short) return leave_out(profile_.costs_.function.outside);
            CallTree::Node& node = profile_.tree_[on_entry(parent, offset).path.node];
            ++node.points;
            taken +=
                static_cast<std::uint64_t>(profile_.costs_.function.outside -
                                           (node.no_landing_pad ? profile_.costs_.landing_pad : 0));
        }
        void on_tracer_time(std::uint32_t node, std::uint32_t instructions) {
            if (leaves_out_short) {
                left_out.add(decoder.depth(), decoder.top().index, instructions);
            } else {
                profile_.tree_[node].beside += instructions;
            }
            taken += static_cast<std::uint64_t>(profile_.costs_.of_instructions(instructions));
        }
        bool on_jump(std::uint32_t node) {
            const CallTree::Node& last = profile_.tree_[last_node];
            if (last.parent != node || last_end != decoder.time()) return false;
            ++profile_.tree_.chain(last_node).ended;
            last_end = 0;  // so that its end is not handed on
            const CallCosts& costs = profile_.costs_;
            taken += static_cast<std::uint64_t>((last.tail == Tail::maybe ? costs.tail : 0) -
                                                costs.hook_outside);
            return true;
        }
        // True if the call, which has left the stack, is too short to count.
        bool leaves_out(const OpenCall& call, Ticks ticks, Outcome outcome);
        bool leaves_out_complete(Ticks timed);
        // A call that has no time, or was told whole, is left out. Its overhead is in the open
        // call.
        void leave_out(std::int64_t overhead);
        void on_exit(const OpenCall& call, const ClosedCall& result);
        void on_complete_call(std::uint32_t offset, Ticks ticks, const Durations::Inside& inside);
        std::uint32_t on_path(std::uint32_t parent, std::uint32_t offset,
                              const Durations::Sum& sum);
        // The times of the session that is over.
        ContextTimes take_times();
        // Adds the events of the call that has just returned.
        void take_events(const WithData& record);
        // No record has an interrupt's events: passes its calls' events to the call around it.
        void pass_events_on();
        // The context has come from another core, where `from` has its open calls and does not
        // run: they go on here at `clock`. `unseen`: see CallDecoder::take_over().
        void take_over(Context& from, std::uint64_t clock, bool unseen);
        // False: the budget has no room for this function, nor for later ones of this context.
        [[gnu::noinline, gnu::cold]] bool make_room(std::uint32_t function);

        std::uint32_t number;
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
        CallDecoder<Context> decoder;
        EventChildren event_children;
        LeftOutCalls left_out;
        Ticks left_at = 0;  // the core's tracer_ticks when the core left this context
        Ticks counted = 0;  // the decoder's tracer ticks that the core's tracer_ticks include
        Ticks entered = 0;  // when it last began to run
        Ticks ran_ticks = 0;
        Ticks self_before = 0;    // in sessions that are over
        Ticks tracer_before = 0;  // likewise
        bool has_moved = false;   // to this core, and has not left it for another one
    };

    // One core: its contexts, of which one runs.
    struct Core {
        Core(Profile& profile, unsigned its_number) : profile_(profile), number(its_number) {
            current = &context(0);
        }
        Core(const Core& other, Profile& profile);
        // A part begins at `clock`: the open calls of `from`, of the profile of the time before.
        Core(Core& from, Profile& profile, std::uint64_t clock);

        Context& context(std::uint32_t number);
        // The core left the running context at `left`, and has run `to` since `entered`.
        void enter(Context& to, std::uint64_t left, std::uint64_t entered);
        void stop_running(std::uint64_t clock);
        // Ends the time that other contexts ran, so all contexts' clocks are at `clock`.
        void bring_to(std::uint64_t clock);
        void end_part(std::uint64_t clock);
        // Of this session.
        Ticks tracer_so_far() const {
            return earlier_tracer + tracer_ticks + current->decoder.tracer_ticks() -
                   current->counted;
        }
        // The clock that the axis of times shows at this time of the running context's decoder.
        std::uint64_t axis_clock(Ticks time) const {
            return current->decoder.clock_at(time) - (profile_.cuts_ ? tracer_so_far() : 0);
        }
        // A record's clock, without the tracer's time where the axis of times is without it.
        std::uint64_t axis_of(std::uint64_t clock) const {
            return clock - (profile_.cuts_ ? tracer_so_far() : 0);
        }
        void schedule(Scheduling::Kind what, std::uint64_t clock, std::uint64_t data = 0) {
            profile_.scheduling_.add(number, axis_of(clock), what, data, profile_.budget_);
        }
        void forget_calls_but(const Wants& wants);
        // A context's number stands for another task now.
        void begin_anew();
        void on_records(std::span<const protocol::StampedRecord> records, std::uint64_t index);
        void on_event(const protocol::Event& event);
        void find_context_of(const protocol::Event& event, std::uint64_t before);
        void on_data();
        void on_task_fact();
        Context& add(std::unique_ptr<Context> one);
        // Null: the core has not run such a context.
        Context* known(std::uint32_t number) const;
        // That context, which has left this core, or null. It does not run any more.
        Context* left(std::uint32_t number);
        void on_gap();
        void on_dropped(std::uint64_t from, std::uint64_t count);
        void finish();

        Profile& profile_;
        unsigned number;
        std::uint64_t unhooked = 0;     // calls beyond the shadow stack: as its last stats say
        std::uint64_t unhooked_at = 0;  // the clock then
        std::vector<std::unique_ptr<Context>> contexts;
        std::unordered_map<std::uint32_t, Context*> by_number;
        Context* current = nullptr;
        WithData with_data;
        std::uint64_t last_clock = 0;  // of the last event
        std::uint64_t part_begin = 0;  // clock; 0: the core is shown from the session's begin
        Ticks tracer_ticks = 0;        // of its contexts, each up to when the core last left it
        Ticks earlier_tracer = 0;      // before the part, less that of sessions that are over
        bool runs = false;             // a record came after the session's begin and the last gap
        // The one that ran before the last `context` record. A `left` record may tell how it left.
        std::uint32_t last_context = protocol::several_contexts;
        // A return has shown that the core left this one; the record of the switch is to come.
        std::uint32_t left_by_return = protocol::several_contexts;
    };
    template <typename Visit>
    void for_each_context(Visit visit) const {
        for (const auto& core : cores_) {
            if (!core) continue;
            for (const auto& context : core->contexts) visit(*context);
        }
    }

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
    // The first and last clock of this session's calls; nothing: there are none yet.
    struct Span {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };
    std::optional<Span> span() const;
    void begin_axis(std::uint64_t clock);
    Core* core_before(unsigned number) const;
    void take_over(Core& to, unsigned from, std::uint64_t clock, bool unseen);
    void forget_moved(const Core& core);
    ProfileSums sums_at_zero() const;
    void trace_before(unsigned number, const TraceBatch& batch);

    PathCache paths_{functions_, tree_, costs_, code_, budget_};
    std::array<std::unique_ptr<Core>, 256> cores_;
    std::size_t context_count_ = 0;  // of all cores
    // Has the records of each core until a part, or the time after zero(), begins there.
    std::unique_ptr<Profile> before_;
};

// The compiler inlines it into the decoder's loop, where the call's outcome is a constant.
[[gnu::always_inline]] inline void Profile::Context::on_exit(const OpenCall& call,
                                                             const ClosedCall& result) {
    CallTree::Node& node = profile_.tree_[call.path.node];
    const Ticks end = call.begin + result.ticks;
    if (end - last_end < handed_within) [[unlikely]] {
        CallTree::Node& last = profile_.tree_[last_node];
        if (last.parent == call.path.node && result.outcome == Outcome::returned) {
            ++last.handed;
            if (last.tail == Tail::maybe) taken += static_cast<std::uint64_t>(profile_.costs_.tail);
        }
    }
    last_end = end;
    last_node = call.path.node;
    node.total_ticks += result.ticks;
    node.self_ticks += result.self_ticks;
    FunctionTimes& of = times[call.path.function];
    of.last_end = end;
    const std::uint64_t total = call.total_before + result.ticks;
    of.self_ticks += result.self_ticks;
    bool hook_has_run = true;  // false: longjmp left the call
    switch (result.outcome) {
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
    Ticks timed = result.ticks;
    if (result.away_ticks != 0) [[unlikely]]
        timed = not_negative(timed - result.away_ticks);
    const auto corrected =
        static_cast<std::int64_t>(timed * protocol::overhead_unit - (taken - call.taken_before));
    taken += static_cast<std::uint64_t>(node.outside -
                                        (hook_has_run ? 0 : profile_.costs_.hook_outside));
    if (result.outcome == Outcome::lost) {
        // Calls after the gap are in the total already, maybe in another core's.
        if (not_negative(total - of.total_ticks) != 0) of.total_ticks = total;
    } else {
        of.total_ticks = total;
    }
    if (result.incomplete) {
        ++(call.gaps_before == OpenCall::before_part ? of.cut : of.incomplete);
    } else if (result.outcome != Outcome::open && result.outcome != Outcome::lost) {
        if (of.time(timed, corrected)) [[unlikely]]
            of.max_end = core_.axis_clock(end);
        if (counts_durations) [[unlikely]]
            profile_.add_duration(call.path.function, timed, corrected);
    }
}

}  // namespace nopscope::host
