// SPDX-License-Identifier: Apache-2.0
// A notation for a core's records. "1( 5:2( 7:) 3. )": function 1 calls function 2 after 5 ticks,
// which returns after 7. Then it calls function 3, which has no times, and returns.
#pragma once

#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

// A word that only this stream has.
inline void play_word(TargetStream& to, char letter, std::uint64_t, std::uint64_t) {
    if (letter == '|') return to.flush();  // the records so far are sent
    if (letter == 'x') return to.lose();   // they are overwritten in the ring
    if (letter == '#') return to.skip_sequence(protocol::Stream::trace);  // a frame is never sent
    // How the core left its last context: preempted, blocked, ended.
    const auto how = std::string_view("pbe").find(letter);
    using enum protocol::Left;
    if (how < 3) return to.left(std::array{preempted, blocked, ended}[how]);
    throw std::invalid_argument(std::string(1, letter));
}

// "masked=5,7", "duration1=4,50": a record with an argument and data.
inline void play_data(TargetStream& to, const std::string& word) {
    static const std::map<std::string, protocol::Extended> records{
        {"duration", protocol::Extended::duration}, {"masked", protocol::Extended::masked}};
    std::istringstream text(word);
    std::string argument, each;
    std::vector<std::uint64_t> data;
    std::getline(text, argument, '=');
    while (std::getline(text, each, ',')) data.push_back(std::stoull(each));
    const std::size_t digits = std::min(argument.find_first_of("0123456789"), argument.size());
    to.with_data(records.at(argument.substr(0, digits)),
                 static_cast<std::uint32_t>(std::atoi(argument.c_str() + digits)), data);
}

// Words are TICKS:WHAT, or WHAT for 10 ticks:
//   2(   2()   function 2 is called; it is called and returns
//   )    )2    the innermost open call returns; the innermost one of function 2 returns
//   )!   )2!   the same, by longjmp
//   2.         a call without times
//   i27(       interrupt 27 begins
//   t(   t)    the tracer's work begins; it ends
//   c5   m7    context 5 runs; marker 7
// play_word(To&, ...) knows the rest.
template <typename To>
class Play {
public:
    explicit Play(To& to) : to_(to) {}
    // Returns the index of the last record with a call or a return.
    std::uint64_t operator()(const std::string& text) {
        static const std::regex form(R"((?:(-?\d+):)?([a-z|#<>~]?)(\d*)(\(\)|[().]|)(\d*)(!?))");
        std::istringstream words(text);
        for (std::string word; words >> word;) {
            if constexpr (std::is_same_v<To, TargetStream>) {
                if (word.find('=') != word.npos) {
                    play_data(to_, word);
                    continue;
                }
            }
            std::smatch of;
            if (!std::regex_match(word, of, form)) throw std::invalid_argument(word);
            const auto number = [&](std::size_t group, std::int64_t otherwise) {
                return of.length(group) == 0 ? otherwise : std::stoll(of[group]);
            };
            ticks_ = static_cast<std::uint64_t>(number(1, 10));
            number_ = static_cast<std::uint32_t>(number(3, 0));
            behind_ = number(5, -1);
            take(of.str(2) + of.str(4), of.length(6) != 0);
        }
        return last_;
    }

private:
    struct Open {
        std::int64_t site;
        std::uint64_t entry;
    };
    void take(const std::string& what, bool unwound) {
        using protocol::Extended;
        if (what == "(" || what == "()") {
            open_.push_back({number_, last_ = to_.entry(number_, ticks_)});
            if (what == "()") ret(10, false);
        } else if (what == "i(") {
            open_.push_back({number_, last_ = to_.argument(Extended::interrupt, number_, ticks_)});
        } else if (what == ")") {
            ret(ticks_, unwound);
        } else if (what == ".") {
            last_ = to_.call(number_, ticks_);
        } else if (what == "t(" || what == "t)") {
            to_.argument(what == "t(" ? Extended::tracer_begin : Extended::tracer_end,
                         behind_ < 0 ? 0 : static_cast<std::uint32_t>(behind_), ticks_);
        } else if (what == "c" || what == "m") {
            to_.argument(what == "c" ? Extended::context : Extended::marker, number_, ticks_);
        } else {
            play_word(to_, what.at(0), number_, ticks_);
        }
    }
    void ret(std::uint64_t ticks, bool unwound) {
        auto one = open_.rbegin();
        while (one != open_.rend() && behind_ >= 0 && one->site != behind_) ++one;
        if (one == open_.rend()) throw std::invalid_argument("no such call is open");
        last_ = to_.ret(one->entry, ticks, 0, unwound);
        open_.erase(std::next(one).base());
    }

    To& to_;
    std::vector<Open> open_;
    std::uint64_t ticks_ = 0, last_ = 0;
    std::uint32_t number_ = 0;
    std::int64_t behind_ = -1;  // the number behind a parenthesis; -1: none
};

// `text` between two values of a list.
template <typename List>
std::string joined(const List& list, const std::string& between = ", ") {
    std::string all;
    for (const std::string& one : list) all += (all.empty() ? "" : between) + one;
    return all;
}

}  // namespace nopscope::host::test
