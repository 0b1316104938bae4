// SPDX-License-Identifier: Apache-2.0
// One core's calls and their instructions, from what it executes: an independent shadow of the call
// stack.
//
// Told, just before each instruction executes: that it does (`executed`), and before that, where it
// applies, that a block begins with it, that it is a function's first, a patch site's BL, or a
// branch of some kind. Control is somewhere else than behind the last instruction only where a
// block begins, so whatever must be noticed is noticed there.
//
//   call       The site's word is executed while it is a BL. The call began with the function's
//              first instruction.
//   return     Execution reaches the return address that the call had, with the call's stack
//              pointer.
//   tail       The caller handed on its own return address: x30 is what the tracer put in its
//              place, and the stack pointer is the caller's. Such calls end together.
//   longjmp    A RET that no call expects, or a new call, at a stack pointer above open calls:
//              longjmp left these. If longjmp() is known and the tracer is told of it, they end at
//              its first instruction. From there on it works for the function that it goes to.
//   interrupt  From an entry of the vector table to ERET: a pseudo-call. Calls in it cannot end
//              those below.
//   tracer     Not counted. From where the core enters the tracer's code until that returns. What
//              the tracer calls meanwhile (a driver) is its own, unless that is a traced call.
//   reset      Execution reaches the code that the core is started with. No call is open any more.
//   service    Counted: what the program has the tracer do in place of something else, as printing
//              to the console.
//
// A return address that lies in the tracer is looked through. Nothing that the tracer has written
// is read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace nopscope::host::truth {

// Of a function. `clock` below is the number of instructions that were not the tracer's.
struct Counted {
    std::uint64_t calls = 0;
    std::uint64_t self = 0;
    std::uint64_t inclusive = 0;    // of the outermost call of it on the stack
    std::uint64_t interrupted = 0;  // of interrupts' own, directly on top of it; not in `self`
    std::uint64_t made = 0;         // calls that it made
    std::uint64_t interrupts = 0;   // directly on top of it
    std::uint64_t jumps = 0;        // tail calls that it left by
    std::uint64_t unwound = 0;      // calls that longjmp left
    std::uint64_t thrown = 0;       // of them, the innermost
    std::uint64_t landings = 0;     // of longjmp
    std::uint64_t pumps = 0;        // how often the tracer was at work for long on top of it
    std::uint64_t longjmps_below = 0;  // in it and its callees, of the outermost call
    std::uint64_t pumps_below = 0;
    std::uint64_t jumps_below = 0;
    std::uint64_t open = 0;         // not over at the end
};

enum class Branch : std::uint8_t { none, call, jump, ret };

struct Range {
    std::uint64_t low = 0, high = 0;
    bool has(std::uint64_t address) const { return address >= low && address < high; }
};

// What is known of an address where a block begins.
struct Place {
    std::uint64_t address = 0;
    bool tracer = false;
    bool vector = false;  // an entry of the vector table
    bool body = false;    // where a site's BL returns to
    bool service = false;
    bool longjmp = false;  // the C library's
    bool boot = false;     // where a core begins after a reset
};

// The paths of calls: each is a function and the path around it. Number 0 is no path.
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
    // `paths`: shared by all cores; null: paths are not kept.
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

    // `read`: has sp() and lr(), of this core, now.
    template <typename Read>
    void begin_block(const Place& at, Read& read) {
        if (at.boot) return reset();
        const Branch last = leaves_hook(at, read) ? Branch::ret : state_.last;
        state_.last = Branch::none;
        if (at.vector) return interrupt(last);
        if (state_.where == Where::program && at.service && last != Branch::ret && state_.served_until == 0) {
            state_.served_until = read.lr();
            state_.until_sp = read.sp();
        }
        if (state_.served_until != 0) {
            if (at.address == state_.served_until && read.sp() == state_.until_sp) state_.served_until = 0;
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

    // ERET, told after `executed`.
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

    std::uint64_t foreign = 0;      // calls on a stack that is not known: counted, without instructions
    std::uint64_t unexplained = 0;  // calls that were given a return address in the tracer by nobody
    std::uint64_t all_instructions() const { return raw_; }
    std::uint64_t clock() const { return (state_.where == Where::program ? raw_ : left_at_) - excluded_; }

private:
    enum class Where : std::uint8_t { program, tracer, out };  // out: in what the tracer has called
    static constexpr std::uint32_t none = ~0u;                 // an interrupt's pseudo-call
    static constexpr std::uint64_t long_stay = 100'000;        // instructions: more than a recorder takes, or unwinding

    struct State {
        Where where = Where::program;
        Branch last = Branch::none;
        unsigned depth = 0;       // entries into the tracer that are open, but for the outermost
        std::uint64_t until = 0;  // where a function that the tracer left by a jump returns to the program
        std::uint64_t until_sp = 0;
        std::uint64_t served_until = 0;  // likewise, of a service; 0: none
        std::uint64_t pending = 0;  // the clock at the last function's first instruction
        bool longjmp = false;       // it runs, since:
        std::uint64_t longjmp_at = 0;
    };
    struct Frame {
        std::uint64_t return_address = 0, sp = 0, begin = 0;
        std::uint64_t child = 0;
        std::uint64_t longjmps = 0, pumps = 0, jumps = 0;  // in it and its callees
        std::uint32_t function = none;
        bool tail = false;
        std::uint32_t path = 0;  // for an interrupt, that of the call that it interrupts
        State below{};  // of what was called from, or interrupted
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
    bool is_foreign(std::uint64_t sp) const { return stack_.high != 0 && !(sp > stack_.low && sp <= stack_.high); }
    bool in_tracer(std::uint64_t address) const {
        for (const Range& range : tracer_) {
            if (range.has(address)) return true;
        }
        return false;
    }
    bool is_tail(std::uint64_t sp, std::uint64_t lr, bool hooked) const {
        return frames_.size() > base() && frames_.back().sp == sp && (hooked || frames_.back().return_address == lr);
    }

    // Where the core is now: the clock stands still outside of the program.
    void move(Where to) {
        if (state_.where == Where::program && to != Where::program) left_at_ = raw_;
        if (state_.where != Where::program && to == Where::program) excluded_ += raw_ - left_at_;
        state_.where = to;
    }
    void restore(const State& state) {
        move(state.where);
        state_ = state;
    }
    // A hook goes on to the caller by RET, or by BR where the CPU has no BTI.
    template <typename Read>
    bool leaves_hook(const Place& at, Read& read) const {
        if (state_.last != Branch::jump || state_.where != Where::tracer || at.tracer) return false;
        const std::uint64_t sp = read.sp();
        return std::any_of(frames_.begin() + static_cast<std::ptrdiff_t>(base()), frames_.end(), [&](const Frame& frame) {
            return frame.return_address == at.address && frame.sp == sp;
        });
    }
    void enter_tracer(Branch last) {
        if (state_.where == Where::out && last != Branch::ret) ++state_.depth;
        if (state_.where == Where::program) state_.depth = 0;
        move(Where::tracer);
    }
    // The tracer has been told of it and gone on to it.
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
        if (last == Branch::none) return;  // nothing but an interrupt's end leads here
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

    // A recorder's entry that had to pump has not read the clock before it: that is its caller's time.
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
        while (frames_.size() > base() && (frames_.back().sp < sp || (same_sp_too && frames_.back().sp == sp))) {
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
    std::vector<std::uint32_t> active_;  // open calls of each function
    std::vector<Frame> frames_;
    std::vector<std::size_t> levels_;  // where the pseudo-calls of open interrupts lie
    State state_;
    std::uint64_t raw_ = 0;
    std::uint64_t excluded_ = 0;  // without what is excluded since left_at_
    std::uint64_t left_at_ = 0;
    std::uint64_t last_event_ = 0;
};

}  // namespace nopscope::host::truth
