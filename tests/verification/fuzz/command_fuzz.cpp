// SPDX-License-Identifier: Apache-2.0
// The target's side of commands, for any bytes on its line. It does nothing twice, reaches no
// missing site, and never sends more frames than it received.
// With an odd first byte, the rest describes commands, which the fuzzer then seals correctly:
//     what u8     of the command, number u8 (bits 0..6: how far it goes on, less 8; bit 7: another
//                 session), size u8, then its arguments
#include <set>

#include "tests/verification/fuzz/must.hpp"
#include "tests/verification/simulator/control_target.hpp"

namespace {

using namespace nopscope;
using testing::ControlTarget;

testing::Bytes sealed(protocol::Reader in) {
    testing::Bytes line;
    std::uint32_t number = 0;
    while (in.left() >= 3) {
        const auto what = static_cast<protocol::Command>(in.fixed<std::uint8_t>());
        const auto step = in.fixed<std::uint8_t>();
        const std::size_t wanted = in.fixed<std::uint8_t>();
        const std::size_t size = wanted < in.left() ? wanted : in.left();
        const std::uint8_t* const arguments = in.bytes(size);
        number += (step & 0x7fu) - 8;
        const std::uint16_t session = testing::target_session + (step >> 7);
        const testing::Bytes frame = testing::command_frame(
            number, what, testing::Bytes(arguments, arguments + size), session);
        line.insert(line.end(), frame.begin(), frame.end());
    }
    return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const bool described = (data[0] & 1) != 0;
    const testing::Bytes line =
        described ? sealed({data + 2, size - 2}) : testing::Bytes(data + 2, data + size);
    ControlTarget target;
    target.sites = data[1];  // a small table
    std::size_t frames = 0;
    for (const std::uint8_t byte : line) frames += byte == 0;
    target.send(line);
    for (std::size_t turn = 0; turn < 4 * frames + 8 || target.unread() != 0; ++turn) {
        target.ready = turn % 3 != 0;
        ++target.now;
        target.run();
        must(target.sent.size() <= turn + 1);
    }
    must(target.sent.size() <= frames);
    must(target.done.size() <= target.sent.size());
    std::set<std::uint32_t> numbers;
    for (const testing::SentReply& reply : target.sent) {
        must(reply.result.size() <= protocol::max_result_bytes);
        must(static_cast<unsigned>(reply.answer) < protocol::answer_count);
        if (reply.answer == protocol::Answer::ok && reply.what != protocol::Command::ping)
            numbers.insert(reply.number);
    }
    must(target.done.size() <= numbers.size());
    for (const CommandRequest& request : target.done)
        must(static_cast<unsigned>(request.what) < protocol::command_count);
    must(target.selected().count() <= target.sites);
    for (std::uint32_t site = target.sites; site < SiteBits::capacity; site += 63)
        must(!target.selected().has(site));
    return 0;
}
