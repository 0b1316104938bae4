// SPDX-License-Identifier: Apache-2.0
// An independent shadow of one core's call stack and its instruction counts. It uses only what the
// core executes, and reads nothing that the tracer has written.
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
//              and the stack pointer is the caller's. Such calls end together.
//   longjmp    A RET that no call expects, or a new call, at a stack pointer above open calls:
//              longjmp left these. If longjmp() is known and the tracer is told of it, they end at
//              its first instruction. From there on it works for the function that it goes to.
//   interrupt  A pseudo-call, from an entry of the vector table to ERET. Calls in it cannot end
//              calls below it.
//   tracer     Not counted: from the core's entry into the tracer's code to the return from it. The
//              tracer's own calls (of a driver) belong to it, unless they are traced calls.
//   reset      Execution reaches the code at which the core starts. No call is open any more.
//   service    Counted: the tracer does work for the program, such as printing to the console.
#pragma once

#include "tests/verification/oracle/a64.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace nopscope::host::truth {

// Counts of one function. `clock` below is the number of instructions outside the tracer.
struct Counted {
    std::uint64_t calls = 0;
    std::uint64_t self = 0;
    std::uint64_t inclusive = 0;       // of its outermost call on the stack
    std::uint64_t interrupted = 0;     // by interrupts directly on top of it; not in `self`
    std::uint64_t made = 0;            // calls that it made
    std::uint64_t interrupts = 0;      // directly on top of it
    std::uint64_t jumps = 0;           // tail calls by which it ended
    std::uint64_t unwound = 0;         // calls that longjmp left
    std::uint64_t thrown = 0;          // of these, the innermost ones
    std::uint64_t landings = 0;        // longjmps that went to it
    std::uint64_t pumps = 0;           // how often the tracer worked for long on top of it
    std::uint64_t longjmps_below = 0;  // in it and its callees, of the outermost call
    std::uint64_t pumps_below = 0;
    std::uint64_t jumps_below = 0;
    std::uint64_t open = 0;  // not ended at the end
};

using a64::Branch;

struct Range {
    std::uint64_t low = 0, high = 0;
    bool has(std::uint64_t address) const { return address >= low && address < high; }
};

// What is known of an address at which a block begins.
struct Place {
    std::uint64_t address = 0;
    bool tracer = false;
    bool vector = false;  // an entry of the vector table
    bool body = false;    // a site's BL returns to it
    bool service = false;
    bool longjmp = false;  // the C library's longjmp()
    bool boot = false;     // where a core begins after a reset
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
    // `paths`: shared by all cores. If null, no paths are kept.
    CallShadow(std::vector<Counted>& functions, const std::vector<Range>& tracer, Range stack,
               CallPaths* paths = nullptr)
        : functions_(functions),
          tracer_(tracer),
          stack_(stack),
          paths_(paths),
          active_(functions.size()) {}

    void executed() { ++raw_; }
    void branch(Branch kind) { state_.last = kind; }
    void at_function() { state_.pending = clock(); }

    // `read`: returns this core's current sp() and lr().
    template <typename Read>
    void begin_block(const Place& at, Read& read) {
        if (at.boot) return reset();
        const Branch last = leaves_hook(at, read) ? Branch::ret : state_.last;
        state_.last = Branch::none;
        if (at.vector) return interrupt(last);
        if (state_.where == Where::program && at.service && last != Branch::ret &&
            state_.served_until == 0) {
            state_.served_until = read.lr();
            state_.until_sp = read.sp();
        }
        if (state_.served_until != 0) {
            if (at.address == state_.served_until && read.sp() == state_.until_sp)
                state_.served_until = 0;
            return;
        }
        if (at.tracer) return enter_tracer(last);
        if (at.longjmp && last == Branch::jump) return begin_longjmp();
        if (state_.where != Where::program) leave_tracer(at, last, read);
        if (state_.where != Where::program || frames_.size() <= base()) return;
        if (at.address == frames_.back().return_address && read.sp() == frames_.back().sp) {
            returned();
        } else if (last == Branch::ret && !at.body) {
            const std::uint64_t sp = read.sp();
            const std::uint64_t end = state_.longjmp ? state_.longjmp_at : clock();
            state_.longjmp = false;
            if (frames_.back().sp <= sp && !is_foreign(sp)) unwind(sp, true, end);
        }
    }

    template <typename Read>
    void call(std::uint32_t function, Read& read) {
        const std::uint64_t sp = read.sp(), lr = read.lr(), begin = state_.pending;
        ++functions_[function].calls;
        if (is_foreign(sp)) return void(++foreign);
        const bool hooked = in_tracer(lr);
        bool tail = is_tail(sp, lr, hooked);
        if (!tail) unwind(sp, !hooked, begin);
        tail = is_tail(sp, lr, hooked);
        if (hooked && !tail) ++unexplained;
        if (frames_.size() > base() && frames_.back().function != none) {
            Counted& caller = functions_[frames_.back().function];
            ++caller.made;
            caller.jumps += tail;
            frames_.back().jumps += tail;
        }
        frames_.push_back({.return_address = tail ? frames_.back().return_address : lr,
                           .sp = sp,
                           .begin = begin,
                           .function = function,
                           .tail = tail,
                           .path = paths_ != nullptr ? paths_->call(path(), function) : 0,
                           .below = state_});
        ++active_[function];
        last_event_ = begin;
        move(Where::program);
        state_ = {};
    }

    // Called for an ERET, after `executed`.
    void interrupt_ends() {
        if (levels_.empty()) return;
        unwind(~std::uint64_t{0}, true, clock());
        close(clock(), false);
        levels_.pop_back();
    }
    void finish() {
        while (!frames_.empty()) {
            if (frames_.back().function != none) ++functions_[frames_.back().function].open;
            close(last_event_, false);
        }
    }

    std::uint64_t foreign = 0;      // calls on an unknown stack: counted, without instructions
    std::uint64_t unexplained = 0;  // calls with an unknown return address in the tracer
    std::uint64_t all_instructions() const { return raw_; }
    std::uint64_t clock() const {
        return (state_.where == Where::program ? raw_ : left_at_) - excluded_;
    }

private:
    enum class Where : std::uint8_t { program, tracer, out };  // out: in the tracer's callees
    static constexpr std::uint32_t none = ~0u;                 // an interrupt's pseudo-call
    static constexpr std::uint64_t long_stay = 100'000;  // instructions: above recorders, unwinding

    struct State {
        Where where = Where::program;
        Branch last = Branch::none;
        unsigned depth = 0;       // open entries into the tracer, without the outermost
        std::uint64_t until = 0;  // if the tracer left by a jump: where the function returns
        std::uint64_t until_sp = 0;
        std::uint64_t served_until = 0;  // the same for a service; 0: none
        std::uint64_t pending = 0;       // the clock at the last function's first instruction
        bool longjmp = false;            // longjmp() runs, since:
        std::uint64_t longjmp_at = 0;
    };
    struct Frame {
        std::uint64_t return_address = 0, sp = 0, begin = 0;
        std::uint64_t child = 0;
        std::uint64_t longjmps = 0, pumps = 0, jumps = 0;  // in it and its callees
        std::uint32_t function = none;
        bool tail = false;
        std::uint32_t path = 0;  // of an interrupt: the path of the call that it interrupts
        State below{};           // the state of the caller, or of the interrupted code
    };

    std::uint32_t path() const { return frames_.empty() ? 0 : frames_.back().path; }
    void reset() {
        move(Where::program);
        frames_.clear();
        levels_.clear();
        std::ranges::fill(active_, 0);
        state_ = {};
    }
    std::size_t base() const { return levels_.empty() ? 0 : levels_.back() + 1; }
    bool is_foreign(std::uint64_t sp) const {
        return stack_.high != 0 && !(sp > stack_.low && sp <= stack_.high);
    }
    bool in_tracer(std::uint64_t address) const {
        for (const Range& range : tracer_) {
            if (range.has(address)) return true;
        }
        return false;
    }
    bool is_tail(std::uint64_t sp, std::uint64_t lr, bool hooked) const {
        return frames_.size() > base() && frames_.back().sp == sp &&
               (hooked || frames_.back().return_address == lr);
    }

    // Sets the core's place. The clock stops outside of the program.
    void move(Where to) {
        if (state_.where == Where::program && to != Where::program) left_at_ = raw_;
        if (state_.where != Where::program && to == Where::program) excluded_ += raw_ - left_at_;
        state_.where = to;
    }
    void restore(const State& state) {
        move(state.where);
        state_ = state;
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
    void enter_tracer(Branch last) {
        if (state_.where == Where::out && last != Branch::ret) ++state_.depth;
        if (state_.where == Where::program) state_.depth = 0;
        move(Where::tracer);
    }
    // The tracer was told of the longjmp, and now enters longjmp().
    void begin_longjmp() {
        move(Where::program);
        state_.longjmp = true;
        state_.longjmp_at = clock();
    }
    template <typename Read>
    void leave_tracer(const Place& at, Branch last, Read& read) {
        if (state_.where == Where::out) {
            if (state_.until == at.address && read.sp() == state_.until_sp) move(Where::program);
            return;
        }
        if (last == Branch::none) return;  // only the end of an interrupt leads here
        state_.until = 0;
        if (last == Branch::ret && state_.depth == 0) {
            if (raw_ - left_at_ >= long_stay) count_pump(at.body);
            return move(Where::program);
        }
        if (last == Branch::ret) --state_.depth;
        move(Where::out);
        if (last != Branch::jump || in_tracer(read.lr())) return;
        state_.until = read.lr();
        state_.until_sp = read.sp();
    }

    // A recorder's entry pumped before it read the clock. So the pump's time is its caller's.
    void count_pump(bool at_entry) {
        const std::size_t above = at_entry ? 2 : 1;
        if (frames_.size() < above) return;
        Frame& frame = frames_[frames_.size() - above];
        ++frame.pumps;
        if (frame.function != none) ++functions_[frame.function].pumps;
    }
    void interrupt(Branch last) {
        State below = state_;
        below.last = last;
        levels_.push_back(frames_.size());
        frames_.push_back({.begin = clock(), .path = path(), .below = below});
        move(Where::program);
        state_ = {};
    }
    void returned() {
        bool tail;
        do {
            tail = frames_.back().tail;
            close(clock(), false);
        } while (tail && frames_.size() > base());
    }
    void unwind(std::uint64_t sp, bool same_sp_too, std::uint64_t end) {
        bool any = false;
        while (frames_.size() > base() &&
               (frames_.back().sp < sp || (same_sp_too && frames_.back().sp == sp))) {
            if (!any) {
                ++frames_.back().longjmps;
                ++functions_[frames_.back().function].thrown;
            }
            close(end, true);
            any = true;
        }
        if (any && !frames_.empty() && frames_.back().function != none) {
            ++functions_[frames_.back().function].landings;
        }
    }
    void close(std::uint64_t end, bool unwound) {
        const Frame frame = frames_.back();
        frames_.pop_back();
        const std::uint64_t whole = end - frame.begin;
        if (frame.function != none) {
            Counted& of = functions_[frame.function];
            of.self += whole - frame.child;
            if (--active_[frame.function] == 0) {
                of.inclusive += whole;
                of.longjmps_below += frame.longjmps;
                of.pumps_below += frame.pumps;
                of.jumps_below += frame.jumps;
            }
            if (unwound) ++of.unwound;
        }
        if (!frames_.empty()) {
            frames_.back().child += whole;
            frames_.back().longjmps += frame.longjmps;
            frames_.back().pumps += frame.pumps;
            frames_.back().jumps += frame.jumps;
            const std::uint32_t below = frames_.back().function;
            if (frame.function == none && below != none) {
                functions_[below].interrupted += whole - frame.child;
                ++functions_[below].interrupts;
            }
        }
        last_event_ = end;
        const State now = state_;
        restore(frame.below);
        if (frame.function != none) state_.last = now.last;
    }

    std::vector<Counted>& functions_;
    const std::vector<Range>& tracer_;
    Range stack_;
    CallPaths* paths_;
    std::vector<std::uint32_t> active_;  // number of open calls by function
    std::vector<Frame> frames_;
    std::vector<std::size_t> levels_;  // indexes of the open interrupts' pseudo-calls
    State state_;
    std::uint64_t raw_ = 0;
    std::uint64_t excluded_ = 0;  // excluded before left_at_
    std::uint64_t left_at_ = 0;
    std::uint64_t last_event_ = 0;
};

}  // namespace nopscope::host::truth
