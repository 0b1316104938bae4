// SPDX-License-Identifier: Apache-2.0
// A target's control code on the host: its input, the commands it does, and its answers.
#pragma once

#include "tracer/control/control.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace nopscope::testing {

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::uint16_t target_session = 7;

inline Bytes command_frame(std::uint32_t number, protocol::Command what,
                           const Bytes& arguments = {}, std::uint16_t session = target_session,
                           protocol::Stream stream = protocol::Stream::command) {
    protocol::FrameBuilder builder;
    protocol::Writer out(builder.payload());
    out.fixed(static_cast<std::uint8_t>(what));
    out.bytes(arguments.data(), arguments.size());
    Bytes bytes(protocol::max_encoded_bytes);
    bytes.resize(builder.encode({stream, 0, session, number}, out.size(), bytes.data()));
    return bytes;
}

struct SentReply {
    std::uint32_t number;
    protocol::Command what;
    protocol::Answer answer;
    Bytes result;
    bool operator==(const SentReply&) const = default;
};

struct ControlTarget {
    static constexpr std::uint64_t hz = 1000;

    ControlTarget() { control_->open(target_session, hz); }

    // Bytes for the target. run() reads them.
    void send(const Bytes& bytes) { input_.insert(input_.end(), bytes.begin(), bytes.end()); }
    // Pumps once: reads the input and sends the waiting reply.
    void run() {
        input = &input_;
        control_->run(
            [](std::uint8_t& byte) {
                if (input->empty()) return false;
                byte = input->front();
                input->pop_front();
                return true;
            },
            now);
        if (sends) send_reply();
    }
    void send_reply() {
        if (!replies_->wait()) return;
        protocol::Byte payload[protocol::max_payload_bytes];
        const std::size_t count = replies_->take(payload);
        protocol::Reply reply;
        if (!protocol::read_reply(payload, count, reply)) std::abort();
        sent.push_back({reply.number, reply.what, reply.answer,
                        Bytes(reply.result, reply.result + reply.result_bytes)});
    }
    SentReply ask(std::uint32_t number, protocol::Command what, const Bytes& arguments = {}) {
        send(command_frame(number, what, arguments));
        run();
        return sent.empty() ? SentReply{} : sent.back();
    }
    std::size_t unread() const { return input_.size(); }
    std::uint64_t refused() const { return replies_->refused(); }
    bool holds_line() const { return replies_->hold(); }
    SiteBits& selected() { return *selected_; }

    std::uint64_t now = 0;
    bool ready = true;  // it can change what is traced
    bool sends = true;  // the line accepts replies
    bool quiet = true;  // all bytes have left the line
    protocol::Answer says = protocol::Answer::ok;
    protocol::Answer refused_rest = protocol::Answer::ok;  // the refused step's, if `partly`
    std::uint32_t sites = 100;
    std::uint32_t rate = 3000000;
    unsigned resets = 0;
    std::vector<CommandRequest> done;
    std::vector<SentReply> sent;

    // The functions that Control needs of its Target.
    std::uint32_t site_count() const { return sites; }
    std::uint32_t baud() const { return rate; }
    std::optional<protocol::Answer> perform(const CommandRequest& request, const SiteBits&,
                                            protocol::Writer& result) {
        if (request.what == protocol::Command::set_recorder && !ready) return std::nullopt;
        done.push_back(request);
        if (says == protocol::Answer::partly)
            result.fixed(static_cast<std::uint8_t>(refused_rest));
        else
            result.varint(done.size());
        return says;
    }
    bool switch_baud(std::uint32_t wanted) {
        if (!quiet) return false;
        rate = wanted;
        return true;
    }
    bool reset() {
        if (quiet) ++resets;
        return quiet;
    }

private:
    static inline std::deque<std::uint8_t>* input = nullptr;  // of the target that runs
    std::deque<std::uint8_t> input_;
    std::unique_ptr<Replies> replies_ = std::make_unique<Replies>();
    std::unique_ptr<SiteBits> selected_ = std::make_unique<SiteBits>();
    std::unique_ptr<Control<ControlTarget>> control_ =
        std::make_unique<Control<ControlTarget>>(*this, *replies_, *selected_);
};

}  // namespace nopscope::testing
