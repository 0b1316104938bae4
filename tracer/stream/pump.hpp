// SPDX-License-Identifier: Apache-2.0
// The pump: moves records and console text from the buffers into frames, and sends them.
//
// The firmware calls it in an idle loop, a task, or a timer interrupt. In lossless mode a
// recorder's slow path calls it, too. run() never waits; functions that must wait say so.
//
// It works in steps of about Config::pump_budget instructions. A step holds the pump's lock with
// interrupts masked, and leaves a state from which any core and any task can go on. So a task that
// was preempted between two steps stops nobody. Only what waits until the line's last byte has left
// (drain) holds the lock with interrupts on.
//
// A tracer_begin and a tracer_end record enclose the pump's work unless it sends only a few bytes
// (glances), so the work counts for no function.
#pragma once

#include "tracer/arch/deferral.hpp"
#include "tracer/arch/path_lengths.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/in_force.hpp"
#include "tracer/core/ring.hpp"
#include "tracer/core/tracer_time.hpp"
#include "tracer/protocol/hello.hpp"
#include "tracer/stream/accounting.hpp"
#include "tracer/stream/console_buffer.hpp"
#include "tracer/stream/frame_sources.hpp"
#include "tracer/stream/line.hpp"
#include "tracer/stream/pump_budget.hpp"
#include "tracer/stream/replies.hpp"
#include "tracer/stream/ring_clock.hpp"
#include "tracer/stream/trace_sender.hpp"
#include "tracer/stream/warm_reset_writer.hpp"

#include <span>

namespace nopscope {

template <MachineConcept M, ProfileSource Profile = NoProfile, FactSource Moved = NoFacts,
          FactSource Tasks = NoFacts>
class Pump {
public:
    // `cores`: all that may ever record; core n is the machine's core n. `encoders`: one for each.
    constexpr Pump(M& machine, std::span<Core> cores, protocol::TraceEncoder* encoders,
                   Profile* profile = nullptr, Replies* replies = nullptr, Moved* moved = nullptr,
                   Tasks* tasks = nullptr, const InForce* in_force = nullptr)
        : machine_(machine),
          cores_(cores),
          line_(machine),
          trace_(machine, encoders),
          profile_(profile),
          replies_(replies),
          moved_(moved),
          tasks_(tasks),
          in_force_(in_force),
          modes_(machine),
          keeper_(machine) {}

    // Keeps the address of `hello`. `session` tells this boot from the last. `kept`: the header to
    // update for a warm reset, or null.
    void open(const Config& config, const protocol::Hello& hello, std::uint16_t session,
              WarmResetHeader* kept = nullptr) {
        open_line(config, hello, session, kept, config.mode);
    }

    // Ends a frame that a reset has cut. Call it before the first frame.
    void end_cut_frame() { line_.queue_delimiter(); }
    Moment now() { return moment(machine_, here()); }

    // Does one call of nopscope::pump(), within the line's pace. `began`: when that call began. In
    // an interrupt of the tracer's work it does nothing: its bytes would be charged to the
    // interrupt, and the interrupted work sends them.
    void run(Moment began = {}) {
        if (here().tracer_depth != 0 || !has_work()) return;
        Work work(machine_, cores_, Work::Mark::steps, began);
        if (const Hold hold(*this); hold) note_cursors();
        const std::uint64_t end = machine_.clock() + clock_hz_ / goes_per_second;
        while (step(Until::paced, work) == Step::done && !(line_.has_pace() && due(end))) {
        }
        publish();
    }

    // Changes the mode now, or after the running pump's frame. Any context. False: no such mode.
    bool set_mode(Mode mode) {
        if (mode > Mode::adaptive) return false;
        modes_.want(mode);
        if (const Hold hold(*this); hold) {
            if (!is_building()) keep_modes();
            publish_state();
        }
        return true;
    }

    // In flight mode: makes the rings' records due. Entries are refused until the pump has looked
    // at the rings. Any context.
    void send_snapshot() {
        modes_.want_snapshot();
        if (tasks_ != nullptr) tasks_->request();
    }

    // Runs use() and charges its time to the tracer, not to a function. Any context.
    template <typename Use>
    void charge_to_tracer(Use use, Moment began = {}) {
        const Work work(machine_, cores_, Work::Mark::whole, began);
        use();
    }

    // These make frames due. Any context.
    void send_hello() {
        hello_due_ = machine_.clock();
        if (tasks_ != nullptr) tasks_->request();
    }
    void send_keys() {
        for (Core& core : cores_) trace_.want_key(core);
    }
    // One frame for each core.
    void send_stats() { __atomic_store_n(&stats_owed_, cores_.size(), __ATOMIC_RELAXED); }

    // Bytes of payload in trace frames so far.
    std::uint64_t trace_bytes() const { return __atomic_load_n(&trace_bytes_, __ATOMIC_RELAXED); }

    // If no frame is on the line, waits until all bytes have left and runs `use`, which returns the
    // line's new pace. False: a frame is on the line, or another pump runs.
    template <typename Use>
    bool with_quiet_line(Use use) {
        if (!try_lock()) return false;
        const bool quiet = is_quiet();
        if (quiet) {
            line_.drain();
            const std::uint32_t pace = use();
            line_.set_pace(pace);
            modes_.set_pace(pace);
        }
        publish_state();
        unlock();
        return quiet;
    }

    // For a recorder's slow path: pumps until half of this core's ring is free. Between its steps
    // the task may be preempted and moved to another core. `before`: the recorder's instructions
    // before its work `began`. False: there is no room. The pump is held on this core until the
    // line has drained; or a record was claimed and is not written, because its task was preempted.
    bool make_room(Moment began = {}, std::uint32_t before = 0) {
        Work work(machine_, cores_, Work::Mark::steps, began, before);
        work.followed_by(arch::make_room_after);
        std::uint64_t stuck_since = 0;  // clock; 0: it is not stuck
        bool has_room = has_room_here(), goes_on = true;
        while (!has_room && goes_on) {
            const Step did = step(Until::empty, work);
            work.go_on();  // before it waits
            if (did == Step::held_here) return false;
            if (did != Step::nothing) {
                stuck_since = 0;
            } else {
                const std::uint64_t now = machine_.clock();
                if (stuck_since == 0) stuck_since = now;
                if (now - stuck_since > clock_hz_) return false;
            }
            goes_on = did != Step::nothing || arch::defers_interrupts;
            if (goes_on) wait();
            has_room = has_room_here();
        }
        work.go_on();
        if (has_room) publish();
        return has_room;
    }

    // Called in place of open(): sends all records of the session before a warm reset, under that
    // session's number, with sequence numbers from the header's limit on. recover_core() has
    // prepared the cores, and they are stopped. Changes `hello` meanwhile.
    void send_recovered(const Config& config, protocol::Hello& hello, WarmResetHeader& kept) {
        const bool flight = hello.flight, lossless = hello.lossless;
        hello.recovered = true;
        hello.flight = kept.flight != 0;
        hello.lossless = kept.lossless != 0;
        hello.sequences_from = static_cast<std::uint32_t>(kept.sequence_limit);
        for (Core& core : cores_.first(config.cores))
            core.last_sync = core.seen_clock = machine_.clock();
        open_line(config, hello, static_cast<std::uint16_t>(kept.session), nullptr, Mode::stream);
        keeper_.open_recovered(kept);
        number_frames_from(hello.sequences_from);
        console_dropped_ = kept.console_dropped;
        end_cut_frame();
        finish(0);
        hello.recovered = false;
        hello.sequences_from = 0;
        hello.flight = flight;
        hello.lossless = lossless;
    }

    // Cleans the rings and the header to memory. Waits for the pump of another core.
    void prepare_reset() {
        const bool locked = lock();
        keeper_.keep_all(cores_, state());
        if (locked) unlock();
    }

    // Sends everything, and waits for the line.
    void flush() {
        if (send_all()) drain();
    }

    // As flush(), and sends the profile and the last stats frames. Recording has been stopped. An
    // interrupt may still record the return of an open call, so finish() reads the counters when
    // the rings are empty with interrupts masked.
    void finish() { finish(clock_hz_ / 50); }
    // `patience`: ticks that a slot may stay unwritten.
    void finish(std::uint64_t patience) {
        if (!lock()) return;
        if (profile_ != nullptr) profile_->request();
        if (moved_ != nullptr) moved_->request();
        if (tasks_ != nullptr) tasks_->request();
        modes_.end(patience);
        unlock();
        while (send_all() && !send_last_stats()) {
        }
        drain();
    }

    // From here on nothing else may run, so it releases all locks: their holders will not return.
    void enter_panic() {
        panicking_ = true;
        locked_ = 0;
        console_.break_lock();
        for (Core& core : cores_) {
            core.context_lock = 0;
            trace_.restart(number_of(core));
        }
        building_ = nullptr;
        line_.unpace();
        if (!try_lock()) return;
        // Other cores may still store records. A record interrupted on this core is never stored.
        const std::uint64_t begin = machine_.clock();
        while (machine_.clock() - begin < clock_hz_ / 1000) {
        }
        modes_.end(0);
        for (bool more = true; more;) {
            while (advance(Until::empty, no_budget) != Step::nothing) {
            }
            more = false;
            for (Core& core : cores_) more |= modes_.skip_unwritten(core);
        }
        keeper_.keep_all(cores_, state());
        line_.drain();
        unlock();
    }

    // Puts bytes into the console's buffer. If it is full, waits for the line. If it cannot wait,
    // drops and counts the rest. In a panic it sends at once, because no other pump runs.
    void console(const char* bytes, std::size_t count) {
        while (count > 0) {
            const std::size_t taken = console_.put(machine_, bytes, count);
            bytes += taken;
            count -= taken;
            if (count == 0 && !panicking_) break;
            if (panicking_) {
                while (!console_.empty() || !is_quiet()) advance(Until::empty, no_budget);
            } else if (step(Until::empty) == Step::held_here) {
                __atomic_fetch_add(&console_dropped_, count, __ATOMIC_RELAXED);
                break;
            } else {
                wait();
            }
        }
    }

private:
    using Work = TracerWork<M>;
    enum class Until : std::uint8_t { paced, empty };
    // What a step did. waits: nothing, because the line takes no more now. held: nothing, because
    // another core is at it. held_here: nothing, because code below on this core holds the lock
    // until the line has drained.
    enum class Step : std::uint8_t { done, nothing, waits, held, held_here };

    // Holds the lock with interrupts masked, if it was free.
    class Hold {
    public:
        explicit Hold(Pump& pump)
            : masked_(pump.machine_), pump_(pump.try_lock() ? &pump : nullptr) {}
        ~Hold() {
            if (pump_ != nullptr) pump_->unlock();
        }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        explicit operator bool() const { return pump_ != nullptr; }

    private:
        InterruptsMasked<M> masked_;
        Pump* pump_;  // null: it is held
    };

    // A step of the tracer's work. finish() is called without `work`.
    Step step(Until until, Work& work) {
        const Hold hold(*this);
        work.go_on();
        return step(hold, until);
    }
    Step step(Until until) { return step(Hold(*this), until); }
    Step step(const Hold& hold, Until until) {
        if (!hold) return pumping_core() == machine_.core() + 1 ? Step::held_here : Step::held;
        return advance(until, budget_);
    }
    // Whether run() has anything to do. Sends a few bytes itself.
    bool has_work() {
        const Hold hold(*this);
        if (!hold) return false;
        if (profile_ != nullptr && !profile_->waits()) profile_->keep_period(machine_.clock());
        if (!glances() && (work_waits() || keeper_.lags(cores_))) return true;
        publish_state();
        return false;
    }
    bool has_room_here() const {
        const InterruptsMasked<M> masked(machine_);
        // In flight mode a ring needs no room: it overwrites.
        return modes_.is(Mode::flight) ||
               TraceSender<M>::waiting_records(here()) * record_bytes <= ring_bytes / 2;
    }
    // Waits until nothing is left to send. False: the pump is held on this core.
    bool send_all() {
        for (;;) {
            const Step did = step(Until::empty);
            if (did == Step::nothing) return true;
            if (did == Step::held_here) return false;
            if (did != Step::done) wait();
        }
    }
    // The last stats frames, if the rings are empty. False: an interrupt has recorded meanwhile.
    bool send_last_stats() {
        const Hold hold(*this);
        if (!hold || !is_quiet()) return false;
        for (const Core& core : cores_) {
            if (TraceSender<M>::waiting_records(core) != 0) return false;
        }
        for (Core& core : cores_) {
            queue_stats(core, true);
            while (!is_quiet()) send(no_budget);
        }
        return true;
    }
    // Waits until the last byte has left. No frame begins meanwhile.
    void drain() {
        if (!lock()) return;
        line_.drain();
        publish_state();
        unlock();
    }
    void wait() {
        if (while_waiting_ != nullptr) while_waiting_();
        arch::relax();
    }
    // Whether no frame is under construction or on the line.
    bool is_quiet() const { return !is_building() && !encoding_ && line_.idle(); }
    bool is_building() const { return building_ != nullptr; }

    static constexpr std::size_t console_frame_bytes = 512;
    static constexpr std::uint64_t glance_bytes = 32;
    static constexpr std::uint64_t goes_per_second = 100;  // with a pace, run() takes at most 10 ms

    void open_line(const Config& config, const protocol::Hello& hello, std::uint16_t session,
                   WarmResetHeader* kept, Mode mode) {
        hello_ = &hello;
        session_ = session;
        clock_hz_ = hello.clock_hz;
        trace_.open(hello.text_base, hello.clock_hz);
        while_waiting_ = config.while_waiting;
        budget_ = budget_of(config.pump_budget);
        building_ = nullptr;
        encoding_ = false;
        line_.open(config.output, config.line_bytes_per_second, hello.clock_hz);
        cores_ = cores_.first(config.cores);
        modes_.open(cores_, clock_hz_, config.line_bytes_per_second);
        number_frames_from(0);
        console_dropped_ = 0;
        for (const Core& core : cores_) trace_.restart(number_of(core));
        keeper_.open(kept, clock_hz_);
        set_mode(mode);
        hello_due_ = stats_due_ = mode_since_ = machine_.clock();
    }

    void number_frames_from(std::uint32_t sequence) {  // in all streams
        hello_sequence_ = console_sequence_ = reply_sequence_ = moved_sequence_ = sequence;
        tasks_sequence_ = sequence;
        for (Core& core : cores_) {
            core.trace_sequence = core.stats_sequence = sequence;
            core.profile_sequence = core.profile_events_sequence = sequence;
        }
    }

    // True if the pace allows only a few bytes of the current frame, and they have been sent. Most
    // pumps on a slow line do only this. It needs no tracer_begin and tracer_end.
    bool glances() {
        if (line_.idle() || !line_.allows_only(glance_bytes)) return false;
        const Work work(machine_, cores_, Work::Mark::no);
        return !line_.send(no_budget.sent);
    }

    Core& here() const { return cores_[machine_.core()]; }
    // The core that holds the pump, plus 1; 0: none.
    unsigned pumping_core() const { return __atomic_load_n(&locked_, __ATOMIC_RELAXED); }

    // Waits for another core's pump. False: it interrupted this core's pump.
    bool lock() {
        while (!try_lock()) {
            if (pumping_core() == machine_.core() + 1) return false;
            wait();
        }
        return true;
    }
    bool try_lock() {
        const InterruptsMasked<M> masked(machine_);
        unsigned free = 0;
        if (!__atomic_compare_exchange_n(&locked_, &free, machine_.core() + 1, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return false;
        for (Core& core : cores_) keep_clock(machine_, core);
        return true;
    }
    void unlock() { __atomic_store_n(&locked_, 0, __ATOMIC_RELEASE); }
    void publish() {
        if (const Hold hold(*this); hold) publish_state();
    }
    void publish_state() {
        note_cursors();
        keeper_.keep(cores_, state());
    }

    void note_cursors() {
        for (Core& core : cores_) note_cursor(machine_, core);
    }

    bool due(std::uint64_t at) const {
        return static_cast<std::int64_t>(machine_.clock() - at) >= 0;
    }
    bool work_waits() const {
        if (!is_quiet() || !console_.empty() || due(hello_due_) || stats_wait()) return true;
        if (profile_waits() || replies_wait() || modes_.wait()) return true;
        if (waits(moved_) || waits(tasks_)) return true;
        for (const Core& core : cores_) {
            if (trace_.due(core)) return true;
        }
        return false;
    }

    // Goes on with the current frame, or begins the next. Until::paced leaves records that came
    // after note_cursors(). Otherwise it would not end while other cores record faster than this
    // one encodes.
    [[gnu::noinline]] Step advance(Until until, const PumpBudget& budget) {
        if (is_building()) return build(budget);
        if (!is_quiet()) return send(budget);
        return begin_frame(until) ? Step::done : Step::nothing;
    }
    Step send(const PumpBudget& budget) {
        if (encoding_) {
            const std::size_t encoded = frame_.advance(budget.encoded);
            encoding_ = encoded == 0;
            if (!encoding_) line_.queue(encoded);
            return Step::done;
        }
        return line_.send(budget.sent) ? Step::done : Step::waits;
    }
    bool begin_frame(Until until) {
        keep_modes();
        if (replies_wait()) {
            return queue({protocol::Stream::reply, 0, session_, reply_sequence_++},
                         replies_->take(frame_.payload()));
        }
        if (until == Until::paced && replies_ != nullptr && replies_->hold()) return false;
        if (due(hello_due_)) {
            hello_due_ = machine_.clock() + clock_hz_;
            return queue({protocol::Stream::hello, 0, session_, hello_sequence_++},
                         write_hello(*hello_, frame_.payload()));
        }
        if (!console_.empty()) {
            return queue({protocol::Stream::console, 0, session_, console_sequence_++},
                         console_.get(machine_, frame_.payload(), console_frame_bytes));
        }
        if (queue_facts(moved_, protocol::Stream::moved, moved_sequence_) ||
            queue_facts(tasks_, protocol::Stream::tasks, tasks_sequence_))
            return true;
        // One frame a second for each core, and one after each change. They come before records:
        // otherwise an overloaded line would never carry them.
        if (stats_wait()) {
            const std::uint64_t owed = __atomic_load_n(&stats_owed_, __ATOMIC_RELAXED);
            if (owed != 0) __atomic_store_n(&stats_owed_, owed - 1, __ATOMIC_RELAXED);
            stats_turn_ = (stats_turn_ + 1) % cores_.size();
            stats_due_ = machine_.clock() + clock_hz_ / cores_.size();
            return queue_stats(cores_[stats_turn_], false);
        }
        // The profile and the records take turns, and so do the cores.
        if ((profile_turn_ = !profile_turn_) && profile_waits()) return queue_profile();
        for (std::size_t i = 0; i < cores_.size(); ++i) {
            Core& core = cores_[turn_ = (turn_ + 1) % cores_.size()];
            const bool wanted =
                until == Until::empty || (core.tail < core.seen && trace_.due(core));
            if (wanted && queue_trace(core)) return true;
        }
        if (profile_waits()) return queue_profile();
        return false;
    }

    std::uint8_t number_of(const Core& core) const {
        return static_cast<std::uint8_t>(&core - cores_.data());
    }
    bool queue(const protocol::FrameHeader& header, std::size_t payload_bytes) {
        keeper_.cover(header.sequence, cores_, state());
        frame_.start(header, payload_bytes, line_.buffer());
        return encoding_ = true;
    }

    bool stats_wait() const {
        return __atomic_load_n(&stats_owed_, __ATOMIC_RELAXED) != 0 || due(stats_due_);
    }
    bool queue_stats(Core& core, bool final) {
        protocol::Stats stats = stats_of(core, machine_.clock(), console_dropped_, final ? 1 : 0);
        if (in_force_ != nullptr && !hello_->recovered) add_state(stats, core);
        if (replies_ != nullptr && number_of(core) == 0)
            stats.commands_refused = replies_->refused();
        return queue({protocol::Stream::stats, number_of(core), session_, core.stats_sequence++},
                     write_stats(stats, frame_.payload()));
    }
    void add_state(protocol::Stats& stats, const Core& core) const {
        stats.has_state = true;
        stats.recursions = __atomic_load_n(&core.recursions, __ATOMIC_RELAXED);
        stats.mode = static_cast<std::uint64_t>(modes_.mode());
        stats.recorders = in_force_->recorders();
        stats.since = std::max(mode_since_, in_force_->since());
        stats.stopped_at = in_force_->stopped_at();
        stats.profile = profile_ != nullptr && profile_->keeps() ? 1 + profile_->last_whole() : 0;
    }

    PumpState state() const {
        return {session_, __atomic_load_n(&console_dropped_, __ATOMIC_RELAXED),
                modes_.is(Mode::flight), modes_.is(Mode::lossless), encoding_ || !line_.idle()};
    }

    void keep_modes() {
        const Mode before = modes_.mode();
        if (!modes_.keep()) return;
        if (modes_.mode() != before) mode_since_ = machine_.clock();
        send_stats();
        for (const Core& core : cores_) trace_.restart(number_of(core));
    }

    bool replies_wait() const { return replies_ != nullptr && replies_->wait(); }
    template <FactSource Source>
    bool waits(const Source* source) const {
        return source != nullptr && source->waits(machine_.clock());
    }
    template <FactSource Source>
    bool queue_facts(Source* source, protocol::Stream stream, std::uint32_t& sequence) {
        if (!waits(source)) return false;
        const std::size_t bytes = source->next(machine_.clock(), frame_.payload());
        return bytes != 0 && queue({stream, 0, session_, sequence++}, bytes);
    }
    bool profile_waits() const { return profile_ != nullptr && profile_->waits(); }
    bool queue_profile() {
        const auto [stream, number, payload_bytes] =
            profile_->next(machine_.clock(), frame_.payload());
        Core& core = cores_[number];
        core.aggregated = profile_->aggregated(number);
        std::uint32_t& sequence = stream == protocol::Stream::profile
                                      ? core.profile_sequence
                                      : core.profile_events_sequence;
        return queue({stream, static_cast<std::uint8_t>(number), session_, sequence++},
                     payload_bytes);
    }
    // Begins a frame of this core's records. False if the one at the tail is not written (yet).
    bool queue_trace(Core& core) {
        if (core.overwrites != 0) return false;
        if (!trace_.begin(core, number_of(core), frame_.payload()))
            return modes_.skip_unwritten(core);
        building_ = &core;
        return true;
    }
    Step build(const PumpBudget& budget) {
        Core& core = *building_;
        const std::size_t payload_bytes =
            trace_.build(core, number_of(core), budget.records, budget.pieces);
        if (payload_bytes == 0) return Step::done;
        building_ = nullptr;
        if (modes_.skip_lap(core)) {
            trace_.restart(number_of(core));
            return Step::done;
        }
        queue({protocol::Stream::trace, number_of(core), session_, core.trace_sequence++},
              payload_bytes);
        trace_bytes_ += payload_bytes;
        keeper_.hold(core);
        trace_.release(core);
        return Step::done;
    }

    M& machine_;
    std::span<Core> cores_;
    Line<M> line_;
    TraceSender<M> trace_;
    Profile* profile_;
    Replies* replies_;
    Moved* moved_;
    Tasks* tasks_;
    const InForce* in_force_;
    Modes<M> modes_;
    WarmResetWriter<M> keeper_;
    ConsoleBuffer console_;
    protocol::FrameBuilder frame_;
    Core* building_ = nullptr;  // whose records the frame under construction takes; null: none
    bool encoding_ = false;     // a frame is being encoded for the line
    PumpBudget budget_ = no_budget;
    void (*while_waiting_)() = nullptr;
    const protocol::Hello* hello_ = nullptr;
    std::uint64_t clock_hz_ = 1;
    std::uint64_t hello_due_ = 0;
    std::uint64_t stats_due_ = 0;
    std::uint64_t stats_owed_ = 0;  // frames that are due at once
    std::uint64_t mode_since_ = 0;  // clock
    std::uint64_t console_dropped_ = 0;
    std::uint32_t hello_sequence_ = 0;
    std::uint32_t console_sequence_ = 0;
    std::uint32_t reply_sequence_ = 0;
    std::uint32_t moved_sequence_ = 0;
    std::uint32_t tasks_sequence_ = 0;
    std::uint64_t trace_bytes_ = 0;
    std::size_t turn_ = 0;
    std::size_t stats_turn_ = 0;
    bool profile_turn_ = false;
    bool panicking_ = false;
    unsigned locked_ = 0;
    std::uint16_t session_ = 0;
};

}  // namespace nopscope
