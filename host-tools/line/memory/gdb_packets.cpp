// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/memory/gdb_packets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"

namespace nopscope::host {
namespace {

// No stub sends a longer packet; longer data is no packet.
constexpr std::size_t longest_answer = std::size_t{1} << 20;
// Limit for bytes before a packet: acknowledgements, and earlier bytes of the line.
constexpr std::size_t longest_noise = 4096;

int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

unsigned sum_of(std::string_view data) {
    unsigned sum = 0;
    for (const char c : data) sum += static_cast<std::uint8_t>(c);
    return sum & 0xff;
}

// Expands run lengths: in "0* " the 0 repeats (character after the star, minus 29) more times.
// Nothing: malformed, or too long.
std::optional<std::string> expanded(const std::string& data) {
    std::string out;
    for (std::size_t at = 0; at < data.size(); ++at) {
        if (data[at] == '}' && at + 1 < data.size()) {
            out.push_back(static_cast<char>(data[++at] ^ 0x20));
        } else if (data[at] != '*') {
            out.push_back(data[at]);
        } else {
            if (out.empty() || ++at == data.size() || data[at] < 29) return std::nullopt;
            out.append(static_cast<std::size_t>(data[at] - 29), out.back());
        }
        if (out.size() > longest_answer) return std::nullopt;
    }
    return out;
}

}  // namespace

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view digits) {
    std::vector<std::uint8_t> bytes;
    if (digits.size() % 2 != 0) return std::nullopt;
    bytes.reserve(digits.size() / 2);
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        const int high = hex_digit(digits[at]), low = hex_digit(digits[at + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
    }
    return bytes;
}

void GdbPackets::write(std::string_view bytes) {
    connection_->write({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::optional<std::uint8_t> GdbPackets::byte(Clock::time_point end) {
    while (at_ == end_) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
        if (left.count() <= 0) return std::nullopt;
        const Source::Result got = connection_->read(came_, left);
        if (got.closed) throw Error(name_ + " closed the connection");
        at_ = 0;
        end_ = got.count;
    }
    return came_[at_++];
}

void GdbPackets::send(std::string_view request) {
    last_sent_ = fmt::format("${}#{:02x}", request, sum_of(request));
    write(last_sent_);
}

std::optional<std::string> GdbPackets::receive() {
    const auto end = Clock::now() + patience_;
    for (int attempt = 0; attempt < 4; ++attempt) {
        std::size_t noise = 0;
        for (auto c = byte(end); c != '$'; c = byte(end)) {
            if (!c) return std::nullopt;
            if (c == '-') write(last_sent_);
            if (++noise > longest_noise)
                throw Error(name_ + " is no gdb stub: what it sends is no packet");
        }
        std::string data;
        for (auto c = byte(end); c != '#'; c = byte(end)) {
            if (!c) return std::nullopt;
            if (data.size() > longest_answer)
                throw Error(name_ + " is no gdb stub: its packet has no end");
            data.push_back(static_cast<char>(*c));
        }
        const auto high = byte(end), low = byte(end);
        if (!high || !low) return std::nullopt;
        const char digits[] = {static_cast<char>(*high), static_cast<char>(*low)};
        const auto sum = from_hex({digits, 2});
        if (sum && sum->front() == sum_of(data)) {
            write("+");
            if (auto answer = expanded(data)) return answer;
            throw Error(name_ + " sent a packet that makes no sense");
        }
        write("-");
    }
    throw Error(name_ + ": packets come damaged: is the line good?");
}

std::optional<std::string> GdbPackets::ask(std::string_view request) {
    send(request);
    return receive();
}

void GdbPackets::interrupt() { write("\x03"); }

}  // namespace nopscope::host
