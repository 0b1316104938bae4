// SPDX-License-Identifier: Apache-2.0
// A notation for a core's records. "1( 5:2( 7:) 3. )": function 1 calls function 2 after 5 ticks,
// which returns after 7. Then it calls function 3, which has no times, and returns.
#pragma once

#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

inline TaskFacts facts(std::uint32_t number, std::string_view its_name, std::uint32_t core = 0) {
    return {.number = number, .core = core, .name = TargetStream::task_name(its_name)};
}

// Words of one letter that only this stream has.
inline void play_word(TargetStream& to, char letter, std::uint64_t number, std::uint64_t ticks) {
    if (letter == '|') return to.flush();                              // the records are sent
    if (letter == 'x') return to.lose();                               // or overwritten
    if (letter == '#') return to.skip_sequence(Stream::trace, to.on);  // a frame is never sent
    // A task leaves the core, or is said to leave core 0 with the record after so many. Then core 1
    // runs it, and the records of what follows are of this core.
    if (letter == '<') return static_cast<void>(to.left_at = to.leave(to.on, ticks));
    if (letter == '~') return static_cast<void>(to.left_at = to.next_index() + ticks);
    if (letter == '>') {
        const auto from = std::exchange(to.on, static_cast<std::uint8_t>(number));
        return to.arrive(1, to.on, from, to.left_at, ticks);
    }
    // Task 5 is ready; object 5 is taken; given; waited for.
    static const std::map<char, TaskFact> told{{'r', TaskFact::ready},
                                               {'t', TaskFact::takes},
                                               {'g', TaskFact::gives},
                                               {'w', TaskFact::waits}};
    if (told.contains(letter)) return to.task_fact(told.at(letter), number);
    // How the core left the context before: unknown, preempted, blocked, yielded, ended; of a later
    // version.
    const auto how = std::string_view("upbyez").find(letter);
    if (how == std::string_view::npos) throw std::invalid_argument(std::string(1, letter));
    to.left(static_cast<protocol::Left>(how), to.on);
}

// Longer words: hello, stats, reset (a new session), drop5 (records), at5 (the next one's index);
// end, the session's last stats; "masked=5,7", "duration1=4,50", a record with an argument and
// data; "n5=x", the target tells the name of context 5, "n0=x@1" that of core 0; "o5=x", of
// object 5.
inline void play_long(TargetStream& to, const std::string& word) {
    static const std::map<std::string, Extended> records{{"duration", Extended::duration},
                                                         {"masked", Extended::masked}};
    static const std::map<std::string, void (*)(TargetStream&, std::uint32_t)> acts{
        {"hello", [](TargetStream& of, std::uint32_t) { of.hello(); }},
        {"stats", [](TargetStream& of, std::uint32_t) { of.stats(false); }},
        {"end", [](TargetStream& of, std::uint32_t) { of.finish(); }},
        {"reset", [](TargetStream& of, std::uint32_t) { of.reset(); }},
        {"drop", [](TargetStream& of, std::uint32_t count) { of.drop(count); }},
        {"at", [](TargetStream& of, std::uint32_t index) { of.set_next_index(index); }}};
    static const std::regex form(R"(([a-z]+)(\d*)(=?)([^@]*)@?(\d?))");
    std::smatch of;
    if (!std::regex_match(word, of, form)) throw std::invalid_argument(word);
    const auto number = [&](std::size_t group) {
        return static_cast<std::uint32_t>(std::atoi(of.str(group).c_str()));
    };
    const std::string what = of[1], text = of[4];
    if (of.length(3) == 0) return acts.at(what)(to, number(2));
    if (what == "n") return to.tasks(facts(number(2), text, number(5)));
    if (what == "o") return to.tasks(ObjectName{number(2), TargetStream::task_name(text)});
    std::istringstream values(text);
    std::vector<std::uint64_t> data;
    for (std::string each; std::getline(values, each, ',');) data.push_back(std::stoull(each));
    to.with_data(records.at(what), number(2), data);
}
template <typename To>
void play_long(To&, const std::string& word) {
    throw std::invalid_argument(word);
}

// Words are TICKS:WHAT, or WHAT for 10 ticks:
//   2(   2()   function 2 is called; it is called and returns
//   )    )2    the innermost open call returns; the innermost one of function 2 returns
//   )!   )2!   the same, by longjmp
//   2.         a call without times
//   i27(       interrupt 27 begins
//   t(   t)    the tracer's work begins; it ends
//   c5   m7    context 5 runs; marker 7
//   c5b        context 5 runs; the core left the one before as it was blocked
// "@1" behind a word: on core 1, where a call also returns. play_word() and play_long() know the
// rest.
template <typename To>
class Play {
public:
    explicit Play(To& to) : to_(to) {}
    // Returns the index of the last record with a call or a return.
    std::uint64_t operator()(const std::string& text) {
        static const std::regex form(
            R"((?:(-?\d+):)?([a-z|#<>~]?)(\d*)(\(\)|[().]|)(\d*)(!?)([upbyez]?)(?:@(\d))?)");
        std::istringstream words(text);
        for (std::string word; words >> word;) {
            std::smatch of;
            if (!std::regex_match(word, of, form)) {
                play_long(to_, word);
                continue;
            }
            const auto number = [&](std::size_t group, std::int64_t otherwise) {
                return of.length(group) == 0 ? otherwise : std::stoll(of[group]);
            };
            ticks_ = static_cast<std::uint64_t>(number(1, 10));
            number_ = number(3, 0);
            behind_ = number(5, -1);
            at_ = number(8, -1);
            const std::uint8_t home = go_to(at_);
            take(of.str(2) + of.str(4), of.length(6) != 0);
            if (of.length(7) != 0) play_word(to_, of.str(7)[0], 0, 0);
            if (of[2] != ">") go_to(home);
        }
        return last_;
    }

private:
    struct Open {
        std::int64_t site;
        std::uint64_t entry;
        std::int64_t core;
    };
    // The next records are of this core; -1: of the same. Returns the last one's.
    std::uint8_t go_to(std::int64_t core) {
        std::uint8_t last = 0;
        if constexpr (std::is_same_v<To, TargetStream>) {
            last = to_.on;
            if (core >= 0) to_.on = static_cast<std::uint8_t>(core);
        }
        return last;
    }
    void take(const std::string& what, bool unwound) {
        const auto number = static_cast<std::uint32_t>(number_);
        if (what == "(" || what == "()") {
            open_.push_back({number_, last_ = to_.entry(number, ticks_), at_});
            if (what == "()") ret(10, false);
        } else if (what == "i(") {
            last_ = to_.argument(Extended::interrupt, number, ticks_);
            open_.push_back({number_, last_, at_});
        } else if (what == ")") {
            ret(ticks_, unwound);
        } else if (what == ".") {
            last_ = to_.call(number, ticks_);
        } else if (what == "t(" || what == "t)") {
            to_.argument(what == "t(" ? Extended::tracer_begin : Extended::tracer_end,
                         behind_ < 0 ? 0 : static_cast<std::uint32_t>(behind_), ticks_);
        } else if (what == "c" || what == "m") {
            to_.argument(what == "c" ? Extended::context : Extended::marker, number, ticks_);
        } else {
            play_word(to_, what.at(0), static_cast<std::uint64_t>(number_), ticks_);
        }
    }
    void ret(std::uint64_t ticks, bool unwound) {
        auto one = open_.rbegin();
        while (one != open_.rend() && behind_ >= 0 && one->site != behind_) ++one;
        if (one == open_.rend()) throw std::invalid_argument("no such call is open");
        go_to(one->core);
        last_ = to_.ret(one->entry, ticks, 0, unwound);
        open_.erase(std::next(one).base());
    }

    To& to_;
    std::vector<Open> open_;
    std::uint64_t ticks_ = 0, last_ = 0;
    std::int64_t number_ = 0, behind_ = -1, at_ = -1;  // before and behind "(", behind "@"
};

// `text` between two values of a list.
template <typename List>
std::string joined(const List& list, const std::string& between = ", ") {
    std::string all;
    for (const std::string& one : list) all += (all.empty() ? "" : between) + one;
    return all;
}

}  // namespace nopscope::host::test
