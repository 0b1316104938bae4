// SPDX-License-Identifier: Apache-2.0
// An independent shadow of one call stack and its instruction counts. It uses only what the core
// executes, and reads nothing that the tracer has written.
//
// The plugin calls it just before each instruction (`executed`). Before that, it reports the begin
// of a block, the first instruction of a function, a patch site's BL, or a branch. Control leaves
// the sequence of instructions only where a block begins, so the shadow notices all events there.
//
//   call       The site's word is executed while it is a BL. The call began with the function's
//              first instruction.
//   return     Execution reaches the return address of the call, with the call's stack pointer. If
//              a return address is in the tracer, the shadow uses the one that it replaced.
//   tail       The caller passed on its own return address: x30 is the tracer's replacement of it,
//              and the stack pointer is the caller's. Such calls end together; but a function that
//              was reached by a jump ends where it jumps on.
//   longjmp    A RET that no call expects, or a new call, at a stack pointer above open calls:
//              longjmp left these. If longjmp() is known and the tracer is told of it, they end at
//              its first instruction. From there on it works for the function that it goes to.
//   interrupt  A pseudo-call, from an entry of the vector table to ERET. Calls in it cannot end
//              calls below it.
//   tracer     Not counted: from the core's entry into the tracer's code to the return from it. The
//              tracer's own calls (of a driver) belong to it, unless they are traced calls.
//   reset      Execution reaches the code at which the core starts. No call is open any more.
//   service    Counted: the tracer does work for the program, such as printing to the console.
//   asked      Counted: the program itself calls the tracer, to tell it something.
//
// Cores that take turns share a clock. While one stack runs, the clock also counts what other cores
// execute. In the tracer, this time belongs to whom the tracer gives it: before a record's reading
// of the clock, to the function that the core comes from; after it, to the one that it goes to.
// Likewise time in an interrupt, and on both sides of a switch to another stack.
#pragma once

#include "tests/verification/oracle/addresses.hpp"
#include "tests/verification/oracle/branch.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace nopscope::host::truth {

// Counts the instructions of one core, and those of all cores, which take turns.
struct CoreClock {
    void executed() { ++own, ++all; }
    std::uint64_t& all;
    std::uint64_t own = 0;
};

// The time in which a stack ran, by what it was used for.
struct Time {
    std::uint64_t own = 0;     // the program's instructions
    std::uint64_t others = 0;  // other cores' meanwhile: the clock that all share counts them
    std::uint64_t asked = 0;   // the tracer's, in functions that the program itself calls
    std::uint64_t edges = 0;   // an interrupt's, before the tracer is told of it and after its end
    std::uint64_t interrupts = 0;  // all other time of interrupts

    // What a tracer sees that the program tells of its interrupts.
    std::uint64_t seen() const { return own + others + asked + edges; }
    static constexpr std::uint64_t Time::*all[] = {&Time::own, &Time::others, &Time::asked,
                                                   &Time::edges, &Time::interrupts};
    Time& operator+=(const Time& more) {
        for (const auto part : all) this->*part += more.*part;
        return *this;
    }
    Time& operator-=(const Time& less) {
        for (const auto part : all) this->*part -= less.*part;
        return *this;
    }
    friend Time operator+(Time to, const Time& more) { return to += more; }
    friend Time operator-(Time from, const Time& less) { return from -= less; }
};

// What makes nopscope's times differ from the counts (docs/accuracy.md).
struct Reasons {
    std::uint64_t longjmps = 0;  // that left calls; of a function: the innermost ones
    std::uint64_t pumps = 0;     // how often the tracer worked for long on top of it
    std::uint64_t jumps = 0;     // tail calls; of a function: by which it ended
    std::uint64_t struck = 0;    // interrupts in recorders: of its call, and of its callees
    std::uint64_t cut = 0;       // interrupts while the tracer made room in a ring
    std::uint64_t lowest = 0;    // calls that were the lowest on their stack
    std::uint64_t destroys = 0;  // contexts that it has destroyed
    std::uint64_t waits = 0;     // for interrupts: time passes without instructions
    std::uint64_t open = 0;      // calls that have not ended at the end

    static constexpr struct {
        const char* name;
        std::uint64_t Reasons::*value;
    } all[] = {
        {"longjmps", &Reasons::longjmps}, {"pumps", &Reasons::pumps}, {"jumps", &Reasons::jumps},
        {"struck", &Reasons::struck},     {"cut", &Reasons::cut},     {"lowest", &Reasons::lowest},
        {"destroys", &Reasons::destroys}, {"waits", &Reasons::waits}, {"open", &Reasons::open}};
    Reasons& operator+=(const Reasons& more) {
        for (const auto& [name, value] : all) this->*value += more.*value;
        return *this;
    }
};

// Counts of one function. The plugin makes `calls` and `own`.
struct Counted : Reasons {
    std::uint64_t calls = 0;
    std::uint64_t own = 0;  // instructions at its addresses
    std::uint64_t self = 0;
    std::uint64_t inclusive = 0;    // of its outermost call on the stack
    std::uint64_t interrupted = 0;  // by interrupts, while nobody has told of them; not in `self`
    std::uint64_t asked = 0;        // the tracer's instructions in functions that it called
    std::uint64_t made = 0;         // calls that it made
    std::uint64_t interrupts = 0;   // directly on top of it
    std::uint64_t unwound = 0;      // calls that longjmp left
    std::uint64_t landings = 0;     // longjmps that went to it
    Reasons below{};                // in it and its callees, of the outermost call

    static constexpr struct {
        const char* name;
        std::uint64_t Counted::*value;
    } times[] = {{"self", &Counted::self},       {"inclusive", &Counted::inclusive},
                 {"asked", &Counted::asked},     {"interrupted", &Counted::interrupted},
                 {"made", &Counted::made},       {"interrupts", &Counted::interrupts},
                 {"unwound", &Counted::unwound}, {"landings", &Counted::landings}};
    Counted& operator+=(const Counted& more) {
        Reasons::operator+=(more);
        below += more.below;
        calls += more.calls;
        own += more.own;
        for (const auto& [name, value] : times) this->*value += more.*value;
        return *this;
    }
};

using ::Branch;
using ::Range;

// What a function is for the shadow. By the last four the program tells the tracer something.
enum class Role : std::uint8_t {
    other,
    service,
    longjmp,     // the C library's longjmp()
    boot,        // where a core begins after a reset
    makes_room,  // the tracer's function that empties rings, and has records of it
    interrupt_begins,
    interrupt_ends,
    switches,
    destroys
};

// What is known of an address at which a block begins.
struct Place {
    std::uint64_t address = 0;
    bool tracer = false;
    bool vector = false;  // an entry of the vector table
    bool body = false;    // a site's BL returns to it
    Role role = Role::other;
};

// Paths of calls. Each is a function and the path around it. Number 0 is no path.
class CallPaths {
public:
    struct Path {
        std::uint32_t around = 0;
        std::uint32_t function = 0;
    };
    std::uint32_t call(std::uint32_t around, std::uint32_t function) {
        const auto [found, is_new] =
            numbers_.try_emplace({around, function}, static_cast<std::uint32_t>(paths_.size()));
        if (is_new) paths_.push_back({around, function});
        return found->second;
    }
    const std::vector<Path>& paths() const { return paths_; }

private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
    std::vector<Path> paths_{1};
};

class CallShadow {
public:
    // `paths`: shared by all stacks. If null, no paths are kept.
    CallShadow(std::vector<Counted>& functions, const std::vector<Range>& tracer, Range stack,
               CallPaths* paths = nullptr)
        : functions_(functions),
          tracer_(tracer),
          stack_(stack),
          paths_(paths),
          active_(functions.size()) {}

    // The stack goes on on a core. `passed`: what stop() of the stack before it has returned.
    void go_on(const CoreClock& core, const Time& passed = {}) {
        core_ = &core;
        counted_own_ = core.own;
        counted_all_ = core.all;
        time_ += passed;
    }
    // Another stack goes on on the core. Returns the time since the tracer's switch.
    Time stop() {
        count();
        core_ = nullptr;
        Time passed;
        if (state_.entered == Role::switches && !state_.readings.empty()) {
            passed = time_ - state_.readings.front();
            time_ -= passed;
        }
        state_.readings.clear();
        return passed;
    }
    bool runs() const { return core_ != nullptr; }

    void branch(Branch kind) { state_.last = kind; }
    void at_function() {
        count();
        state_.pending = time_;
    }
    void reads_clock() {
        if (state_.where != Where::tracer) return;
        count();
        state_.readings.push_back(time_);
        if (!std::exchange(state_.stands_still, false)) return;
        state_.in_between.others += time_.others - state_.still_since;
        state_.goes_on_at = state_.readings.size() - 1;
    }
    void waits() {
        if (has_function()) note(&Reasons::waits);
    }

    // `read`: returns this core's current sp() and lr().
    template <typename Read>
    void begin_block(const Place& at, Read& read) {
        count();
        if (at.role == Role::boot) return reset();
        const Branch last = leaves_hook(at, read) ? Branch::ret : state_.last;
        state_.last = Branch::none;
        if (at.vector) return interrupt(last);
        if (state_.where == Where::program && at.role == Role::service && last != Branch::ret &&
            state_.served_until == 0) {
            state_.served_until = read.lr();
            state_.until_sp = read.sp();
        }
        if (state_.served_until != 0) {
            if (at.address == state_.served_until && read.sp() == state_.until_sp)
                state_.served_until = 0;
            return;
        }
        if (at.tracer) return enter_tracer(at, last, read);
        if (at.role == Role::longjmp && last == Branch::jump) return begin_longjmp();
        const bool was_in_tracer = state_.where != Where::program;
        if (was_in_tracer) leave_tracer(at, last, read);
        if (state_.where != Where::program || frames_.size() <= base()) return;
        if (at.address == frames_.back().return_address && read.sp() == frames_.back().sp) {
            if (!was_in_tracer) state_.readings.clear();
            returned();
        } else if (last == Branch::ret && !at.body) {
            const std::uint64_t sp = read.sp();
            const Time end = state_.longjmp ? state_.longjmp_at : time_;
            state_.longjmp = false;
            if (frames_.back().sp <= sp && !is_foreign(sp)) unwind(sp, true, end);
        }
    }

    template <typename Read>
    void call(std::uint32_t function, Read& read) {
        const std::uint64_t sp = read.sp(), lr = read.lr();
        const Time begin = state_.pending;
        if (is_foreign(sp)) return void(++foreign);
        const bool hooked = in_tracer(lr);
        bool tail = is_tail(sp, lr, hooked);
        if (!tail) unwind(sp, !hooked, begin);
        tail = is_tail(sp, lr, hooked);
        if (hooked && !tail) ++unexplained;
        if (tail) note(&Reasons::jumps);
        if (tail && frames_.back().tail) close(begin, false);
        if (has_function()) ++functions_[frames_.back().function].made;
        if (!frames_.empty() && sp < lowest_sp_) note(&Reasons::lowest);
        lowest_sp_ = std::min(lowest_sp_, sp);
        state_.readings.clear();
        frames_.push_back({.return_address = tail ? frames_.back().return_address : lr,
                           .sp = sp,
                           .begin = begin,
                           .function = function,
                           .tail = tail,
                           .path = paths_ != nullptr ? paths_->call(path(), function) : 0,
                           .below = state_});
        ++active_[function];
        last_event_ = begin;
        state_ = {};
        state_.at_site = true;
    }

    // Called for an ERET, after CoreClock::executed().
    void interrupt_ends() {
        if (levels_.empty()) return;
        count();
        unwind(~std::uint64_t{0}, true, time_);
        close_interrupt();
        levels_.pop_back();
    }
    // Of a stack that still runs, nothing is known after the last event.
    void finish() {
        if (!runs()) last_event_ = time_;
        while (!frames_.empty()) {
            if (has_function()) {
                note(&Reasons::open);
                close(last_event_, false);
            } else {
                time_ = last_event_;
                close_interrupt();
            }
        }
    }

    std::uint64_t foreign = 0;      // calls on an unknown stack: counted, without instructions
    std::uint64_t unexplained = 0;  // calls with an unknown return address in the tracer
    // Instructions outside the tracer.
    std::uint64_t program() const {
        const bool counts = runs() && state_.where == Where::program;
        return program_ + (counts ? core_->own - counted_own_ : 0);
    }

private:
    enum class Where : std::uint8_t { program, tracer, out };  // out: in the tracer's callees
    static constexpr std::uint32_t none = ~0u;                 // an interrupt's pseudo-call
    static constexpr std::uint64_t long_stay = 100'000;  // instructions: above recorders, unwinding

    struct State {
        Where where = Where::program;
        Branch last = Branch::none;
        bool at_site = false;            // a site's BL was the last call
        bool asked = false;              // the program has called the tracer itself
        std::uint64_t asked_before = 0;  // Time::asked then
        bool makes_room = false;         // the tracer has made room in a ring
        Role entered = Role::other;      // by which function of the tracer
        unsigned depth = 0;              // open entries into the tracer, without the outermost
        std::uint64_t stay = 0;          // instructions in the tracer since the outermost
        std::vector<Time> readings{};    // of the clock since then
        // The tracer's work stands still when an interrupt is recorded, until the next reading.
        bool stands_still = false;
        std::size_t goes_on_at = 0;     // that reading
        std::uint64_t still_since = 0;  // Time::others then
        Time in_between;
        std::uint64_t until = 0;  // if the tracer left by a jump: where the function returns
        std::uint64_t until_sp = 0;
        std::uint64_t served_until = 0;  // the same for a service; 0: none
        Time pending;                    // at the last function's first instruction
        bool longjmp = false;            // longjmp() runs, since:
        Time longjmp_at;
    };
    struct Frame {
        std::uint64_t return_address = 0, sp = 0;
        Time begin{}, child{};
        Reasons reasons{};  // in it and its callees
        std::uint32_t function = none;
        bool tail = false;
        std::uint32_t path = 0;  // of an interrupt: the path of the call that it interrupts
        State below{};           // the state of the caller, or of the interrupted code
        bool cuts = false;       // an interrupt that ends the tracer's work, for the host
        bool told = false;  // the tracer, of an interrupt, from when to when, and its `child` then
        Time told_begin{}, told_end{}, before_begin{}, before_end{}, work_ended{};
    };

    std::uint32_t path() const { return frames_.empty() ? 0 : frames_.back().path; }
    bool has_function() const { return !frames_.empty() && frames_.back().function != none; }
    // Counts this of a call, and of its function. `above`: 1 for the innermost call.
    void note(std::uint64_t Reasons::*reason, std::size_t above = 1) {
        Frame& frame = frames_[frames_.size() - above];
        ++(frame.reasons.*reason);
        if (frame.function != none) ++(functions_[frame.function].*reason);
    }
    void reset() {
        frames_.clear();
        levels_.clear();
        std::ranges::fill(active_, 0);
        state_ = {};
        lowest_sp_ = ~std::uint64_t{0};
    }
    std::size_t base() const { return levels_.empty() ? 0 : levels_.back() + 1; }
    bool is_foreign(std::uint64_t sp) const {
        return stack_.high != 0 && !(sp > stack_.low && sp <= stack_.high);
    }
    bool in_tracer(std::uint64_t address) const { return any_has(tracer_, address); }
    bool is_tail(std::uint64_t sp, std::uint64_t lr, bool hooked) const {
        return frames_.size() > base() && frames_.back().sp == sp &&
               (hooked || frames_.back().return_address == lr);
    }

    // Counts the core's instructions until now, for the place where it was.
    void count() {
        const std::uint64_t own = core_->own - std::exchange(counted_own_, core_->own);
        const std::uint64_t all = core_->all - std::exchange(counted_all_, core_->all);
        time_.others += all - own;
        if (state_.where == Where::program) {
            time_.own += own;
            program_ += own;
        } else {
            state_.stay += own;
            if (state_.asked) time_.asked += own;
        }
    }

    // A hook returns to the caller by RET, or by BR if the CPU has no BTI.
    template <typename Read>
    bool leaves_hook(const Place& at, Read& read) const {
        if (state_.last != Branch::jump || state_.where != Where::tracer || at.tracer) return false;
        const std::uint64_t sp = read.sp();
        return std::any_of(frames_.begin() + static_cast<std::ptrdiff_t>(base()), frames_.end(),
                           [&](const Frame& frame) {
                               return frame.return_address == at.address && frame.sp == sp;
                           });
    }
    template <typename Read>
    void enter_tracer(const Place& at, Branch last, Read& read) {
        if (state_.where == Where::out && last != Branch::ret) ++state_.depth;
        if (state_.where == Where::program) {
            state_.depth = 0;
            state_.stay = 0;
            state_.readings.clear();
            state_.in_between = {};
            state_.stands_still = false;
            state_.goes_on_at = 0;
            state_.makes_room = false;
            state_.asked = (last == Branch::call || last == Branch::jump) && !state_.at_site;
            state_.asked_before = time_.asked;
            state_.at_site = false;
            state_.entered = at.role;
            state_.until = state_.asked && last == Branch::jump ? read.lr() : 0;
            state_.until_sp = read.sp();
        } else if (state_.asked && at.address == state_.until && read.sp() == state_.until_sp) {
            state_.asked = false;  // it has returned to a hook
        }
        state_.makes_room = state_.makes_room || at.role == Role::makes_room;
        state_.where = Where::tracer;
    }
    // The tracer was told of the longjmp, and now enters longjmp().
    void begin_longjmp() {
        if (state_.asked) time_.asked = state_.asked_before;
        state_.where = Where::program;
        state_.longjmp = true;
        state_.longjmp_at = time_;
    }
    template <typename Read>
    void leave_tracer(const Place& at, Branch last, Read& read) {
        if (state_.where == Where::out) {
            if (state_.until == at.address && read.sp() == state_.until_sp) end_stay(at);
            return;
        }
        if (last == Branch::none) return;  // only the end of an interrupt leads here
        state_.until = 0;
        if (last == Branch::ret && state_.depth == 0) {
            // A recorder's entry pumped before it read the clock. So the pump's time is its
            // caller's.
            const std::size_t above = at.body ? 2 : 1;
            if (is_work() && frames_.size() >= above) note(&Reasons::pumps, above);
            return end_stay(at);
        }
        if (last == Branch::ret) --state_.depth;
        state_.where = Where::out;
        if (last != Branch::jump || in_tracer(read.lr())) return;
        state_.until = read.lr();
        state_.until_sp = read.sp();
    }
    // The reading at which the tracer's work has ended for the host. The tracer reads the clock
    // once more then, and a recorder for its record. If an interrupt has ended the work, only these
    // two.
    std::size_t work_end() const {
        const std::size_t last = state_.readings.size() - 1;
        const std::size_t behind = state_.makes_room && state_.goes_on_at + 1 != last ? 2 : 1;
        return last - std::min(last, behind);
    }
    // Whether the stay was longer than a recorder's. The tracer tells the host of such work.
    bool is_work() const {
        return state_.entered != Role::switches && (state_.stay >= long_stay || state_.makes_room);
    }
    void end_stay(const Place& at) {
        std::vector<Time>& readings = state_.readings;
        state_.where = Where::program;
        if (readings.empty()) return;
        if (is_work()) {
            Time work = readings[work_end()] - readings.front();
            work -= state_.in_between;
            work.interrupts = 0;  // they are not the tracer's
            time_ -= work;
            readings.back() -= work;
        }
        if (state_.entered == Role::destroys) {
            // Meanwhile, the core was in the context that it has destroyed.
            time_ -= readings.back() - readings.front();
            if (has_function()) note(&Reasons::destroys);
        }
        if (frames_.empty()) return;
        Frame& frame = frames_.back();
        if (at.body && !state_.asked) {
            const std::uint64_t own = frame.begin.own;
            frame.begin = readings.back();
            frame.begin.own = own;
        } else if (frame.function == none && state_.entered == Role::interrupt_begins) {
            const std::size_t last = readings.size() - 1;
            frame.told_begin = readings[last];
            frame.before_begin = frame.child;
            // If the tracer's work has ended for the host right before, that is one reading more.
            frame.cuts = readings.size() > 2;
            if (frame.cuts) frame.work_ended = readings[last - 1];
        } else if (frame.function == none && state_.entered == Role::interrupt_ends) {
            frame.told = true;
            frame.told_end = readings.back();
            frame.before_end = frame.child;
        }
    }

    void interrupt(Branch last) {
        State below = state_;
        below.last = last;
        if (state_.where == Where::program) {
            below.readings.clear();
        } else {
            for (std::size_t n = 1; n <= std::min<std::size_t>(2, frames_.size()); ++n) {
                if (frames_[frames_.size() - n].function == none) continue;
                note(state_.makes_room ? &Reasons::cut : &Reasons::struck, n);
            }
        }
        levels_.push_back(frames_.size());
        frames_.push_back({.begin = time_, .path = path(), .below = below});
        state_ = {};
    }
    // The hook of each call that ends by itself, or by a tail call, has read the clock. Only the
    // program's own time went on since.
    void returned() {
        std::size_t calls = 1;
        for (std::size_t at = frames_.size(); frames_[at - 1].tail && at - 1 > base(); --at)
            ++calls;
        std::vector<Time> ends(calls, time_);
        const std::size_t read = std::min(calls, state_.readings.size());
        for (std::size_t n = 0; n < calls && read != 0; ++n) {
            ends[n] = state_.readings[state_.readings.size() - std::min(calls - n, read)];
            ends[n].own = time_.own;
        }
        for (const Time& end : ends) close(end, false);
    }
    void unwind(std::uint64_t sp, bool same_sp_too, const Time& end) {
        bool any = false;
        while (frames_.size() > base() &&
               (frames_.back().sp < sp || (same_sp_too && frames_.back().sp == sp))) {
            if (!any) note(&Reasons::longjmps);
            close(end, true);
            any = true;
        }
        if (any && has_function()) ++functions_[frames_.back().function].landings;
    }
    void close(const Time& end, bool unwound) {
        const Frame frame = take_frame();
        const Time whole = end - frame.begin, self = whole - frame.child;
        Counted& of = functions_[frame.function];
        of.self += self.own + self.others + self.asked;
        of.asked += self.asked;
        of.interrupted += self.edges;
        if (--active_[frame.function] == 0) {
            of.inclusive += whole.seen() + whole.interrupts;
            of.below += frame.reasons;
        }
        if (unwound) ++of.unwound;
        if (!frames_.empty()) frames_.back().child += whole;
        last_event_ = end;
        const Branch last = state_.last;
        state_ = frame.below;
        state_.last = last;
    }
    // The interrupted stack's clock stood still, but for the interrupt's edges.
    void close_interrupt() {
        const Frame frame = take_frame();
        const Time whole = time_ - frame.begin;
        Time apart = frame.child;
        if (frame.told) {
            apart -= frame.before_end - frame.before_begin;
            apart += frame.told_end - frame.told_begin;
        }
        const std::uint64_t edges = whole.seen() - apart.seen();
        time_ = frame.begin;
        time_.edges += edges;
        time_.interrupts += whole.seen() - edges + whole.interrupts;
        if (has_function()) ++functions_[frames_.back().function].interrupts;
        last_event_ = time_;
        state_ = frame.below;
        if (!state_.makes_room) return;
        if (state_.stands_still) state_.in_between.edges += edges;
        if (state_.stands_still || !frame.told || !frame.cuts) return;
        const Time after = frame.begin + whole - frame.told_end;
        state_.in_between.edges += (frame.told_begin - frame.work_ended).seen() + after.seen() -
                                   (frame.child - frame.before_end).seen();
        state_.stands_still = true;
        state_.still_since = time_.others;
    }
    // Takes the innermost one off. The calls around it have what it had in it.
    Frame take_frame() {
        const Frame frame = frames_.back();
        frames_.pop_back();
        if (!frames_.empty()) frames_.back().reasons += frame.reasons;
        return frame;
    }

    std::vector<Counted>& functions_;
    const std::vector<Range>& tracer_;
    Range stack_;
    CallPaths* paths_;
    const CoreClock* core_ = nullptr;                  // null: the stack does not run
    std::uint64_t counted_own_ = 0, counted_all_ = 0;  // of the core's clock
    Time time_;
    std::uint64_t program_ = 0;
    std::vector<std::uint32_t> active_;  // number of open calls by function
    std::vector<Frame> frames_;
    std::vector<std::size_t> levels_;  // indexes of the open interrupts' pseudo-calls
    State state_;
    Time last_event_;
    std::uint64_t lowest_sp_ = ~std::uint64_t{0};
};

}  // namespace nopscope::host::truth
