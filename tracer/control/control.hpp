// SPDX-License-Identifier: Apache-2.0
// Control: reads the host's commands and makes the target execute them (docs/control.md).
//
// A command is executed once, however often it comes: only a number above the last one is new. For
// other numbers the reply is repeated; the last few are kept. While a command is executed, or its
// reply waits for the line, no other is read. So the line's pace limits the work. Corrupt, foreign,
// malformed and unknown commands are counted, and answered if their frame was complete.
//
// Target: std::uint32_t site_count();
//         // Executes. nullopt: not now, call again. `result`: room for max_result_bytes.
//         std::optional<protocol::Answer> perform(const CommandRequest&, const SiteBits&,
//                                                 protocol::Writer& result);
//         // These act when all bytes have left the line; false: not yet.
//         bool switch_baud(std::uint32_t baud);
//         bool reset();
//         std::uint32_t baud();
#pragma once

#include "tracer/control/command_receiver.hpp"
#include "tracer/patching/site_bits.hpp"
#include "tracer/stream/replies.hpp"

#include <optional>

namespace nopscope {

struct CommandRequest {
    protocol::Command what{};
    std::uint64_t value = 0;  // the first argument; set_events: the numbers, 16 bits each
    std::uint8_t flags = 0;   // the second argument if it is a byte; set_events: how many
};

template <typename Target>
class Control {
public:
    constexpr Control(Target& target, Replies& replies, SiteBits& selected)
        : target_(target), replies_(replies), selected_(selected) {}

    void open(std::uint16_t session, std::uint64_t clock_hz) {
        session_ = session;
        clock_hz_ = clock_hz;
    }

    // Tries the pending command again. If none is pending, reads at most bytes_a_go bytes. Returns
    // at once if another context runs it.
    void run(bool (*try_read)(std::uint8_t&), std::uint64_t now) {
        if (__atomic_exchange_n(&running_, 1, __ATOMIC_ACQUIRE) != 0) return;
        now_ = now;
        keep_line();
        if (pending_) perform();
        std::uint8_t byte = 0;
        for (unsigned n = 0; n < bytes_a_go && is_free() && try_read(byte); ++n) take(byte);
        __atomic_store_n(&running_, 0, __ATOMIC_RELEASE);
    }

private:
    using Command = protocol::Command;
    using Answer = protocol::Answer;
    enum class Line : std::uint8_t { steady, to_switch, on_trial, to_go_back, to_reset };

    static constexpr unsigned bytes_a_go = 512;
    static constexpr unsigned trial_seconds = 2;

    bool is_free() const { return !pending_ && !replies_.wait() && !replies_.hold(); }

    void take(std::uint8_t byte) {
        switch (receiver_.push(byte)) {
        case CommandReceiver::Got::nothing: return;
        case CommandReceiver::Got::corrupt: replies_.count_refused(); return;
        case CommandReceiver::Got::frame: return take(receiver_.frame());
        }
    }
    void take(const protocol::ParsedFrame& frame) {
        if (frame.header.stream != protocol::Stream::command) {
            replies_.count_refused();  // no answer: it may be an echo, which would echo that, too
            return;
        }
        protocol::Reader in(frame.payload, frame.payload_bytes);
        const std::uint32_t number = frame.header.sequence;
        const auto what = static_cast<Command>(in.fixed<std::uint8_t>());
        if (frame.header.session != session_) return refuse(number, what, Answer::foreign_session);
        if (line_ == Line::on_trial) line_ = Line::steady;
        if (!in.ok()) return refuse(number, what, Answer::malformed);
        if (what == Command::ping) return pong(number);
        const std::uint32_t crc = protocol::crc32c(frame.payload, frame.payload_bytes);
        if (static_cast<std::int32_t>(number - last_) <= 0) return repeat(number, what, crc);
        const Answer answer = read(what, in);
        if (answer != Answer::ok) return refuse(number, what, answer);
        last_ = number;
        reply_ = &replies_.next();
        reply_->number = number;
        reply_->crc = crc;
        pending_ = true;
        pending_since_ = now_;
        perform();
    }

    void repeat(std::uint32_t number, Command what, std::uint32_t crc) {
        Replies::Reply* const reply = replies_.find(number);
        if (reply == nullptr || reply->crc != crc) return refuse(number, what, Answer::stale);
        replies_.repeat(*reply);
    }
    void refuse(std::uint32_t number, Command what, Answer answer) {
        replies_.count_refused();
        Replies::Reply& reply = replies_.passing();
        reply.number = number;
        replies_.post(reply, what, answer);
    }
    void pong(std::uint32_t number) {
        Replies::Reply& reply = replies_.passing();
        reply.number = number;
        protocol::Writer result(reply.result());
        result.varint(last_);
        result.varint(replies_.refused());
        replies_.post(reply, Command::ping, Answer::ok, result.size());
    }

    // Reads the arguments into request_. Changes the selection at once.
    Answer read(Command what, protocol::Reader in) {
        request_.what = what;
        request_.value = 0;
        request_.flags = 0;
        std::uint64_t selected = selected_.count();
        switch (what) {
        case Command::ping: break;
        case Command::hello:
        case Command::stats:
        case Command::start:
        case Command::stop:
        case Command::send_profile:
        case Command::reset:
        case Command::select_clear: break;
        case Command::mark:
        case Command::snapshot:
        case Command::set_depth:
        case Command::set_min_duration:
        case Command::set_sample: request_.value = in.varint(); break;
        case Command::select_add:
        case Command::select_remove:
            return selected_.put(in, target_.site_count(), what == Command::select_add)
                       ? Answer::ok
                       : Answer::malformed;
        case Command::set_mode: request_.value = in.fixed<std::uint8_t>(); break;
        case Command::set_baud: request_.value = in.fixed<std::uint32_t>(); break;
        case Command::set_subtree:
            request_.value = in.fixed<std::uint8_t>();
            selected = in.varint();
            if (request_.value == 0) selected = selected_.count();  // needs no selection
            break;
        case Command::set_events:
            request_.flags = in.fixed<std::uint8_t>();
            for (unsigned n = 0; n < request_.flags && in.ok(); ++n) {
                const std::uint64_t number = in.fixed<std::uint16_t>();
                if (n < protocol::max_events) request_.value |= number << 16 * n;
            }
            break;
        case Command::set_recorder:
        case Command::set_capture:
            request_.value = in.fixed<std::uint8_t>();
            request_.flags = in.fixed<std::uint8_t>();
            selected = in.varint();
            break;
        default: return Answer::unknown;
        }
        if (!in.ok() || in.left() != 0 || !is_in_range(request_)) return Answer::malformed;
        return selected == selected_.count() ? Answer::ok : Answer::selection;
    }

    static bool is_in_range(const CommandRequest& request) {
        if (request.value > protocol::most_argument(request.what)) return false;
        switch (request.what) {
        case Command::set_baud: return request.value != 0;
        case Command::set_recorder:
        case Command::set_capture: return request.flags <= 1;
        default: return true;
        }
    }

    void perform() {
        protocol::Writer result(reply_->result());
        std::optional<Answer> answer = Answer::ok;
        switch (request_.what) {
        case Command::select_clear: selected_.clear(); [[fallthrough]];
        case Command::select_add:
        case Command::select_remove: result.varint(selected_.count()); break;
        default: answer = target_.perform(request_, selected_, result);
        }
        if (!answer && now_ - pending_since_ < clock_hz_) return;
        pending_ = false;
        const Answer said = answer.value_or(Answer::busy);
        if (said == Answer::ok) change_line();
        replies_.post(*reply_, request_.what, said, protocol::has_result(said) ? result.size() : 0);
    }

    // Call it before the reply is posted: the line must stay quiet after the reply.
    void change_line() {
        if (request_.what != Command::set_baud && request_.what != Command::reset) return;
        const bool is_baud = request_.what == Command::set_baud;
        line_ = is_baud ? Line::to_switch : Line::to_reset;
        old_baud_ = target_.baud();
        new_baud_ = static_cast<std::uint32_t>(request_.value);
        replies_.hold_line(true);
    }
    // Switches the rate or resets when the line is quiet. Goes back to the old rate if no command
    // comes at the new one in time.
    void keep_line() {
        if (line_ == Line::on_trial && now_ - trial_since_ >= trial_seconds * clock_hz_) {
            line_ = Line::to_go_back;
            replies_.hold_line(true);
        }
        if (!replies_.hold() || replies_.wait()) return;
        const bool back = line_ == Line::to_go_back;
        if (!(line_ == Line::to_reset ? target_.reset()
                                      : target_.switch_baud(back ? old_baud_ : new_baud_))) {
            return;
        }
        line_ = line_ == Line::to_switch ? Line::on_trial : Line::steady;
        trial_since_ = now_;
        replies_.hold_line(false);
    }

    Target& target_;
    Replies& replies_;
    SiteBits& selected_;
    CommandReceiver receiver_;
    CommandRequest request_;
    Replies::Reply* reply_ = nullptr;  // of the pending command
    std::uint32_t running_ = 0;        // a word: not every CPU exchanges a byte
    bool pending_ = false;
    Line line_ = Line::steady;
    std::uint16_t session_ = 0;
    std::uint32_t last_ = 0;  // number of the last accepted command
    std::uint32_t old_baud_ = 0;
    std::uint32_t new_baud_ = 0;
    std::uint64_t clock_hz_ = 1;
    std::uint64_t now_ = 0;
    std::uint64_t pending_since_ = 0;
    std::uint64_t trial_since_ = 0;
};

}  // namespace nopscope
