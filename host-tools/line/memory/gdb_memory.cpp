// SPDX-License-Identifier: Apache-2.0
// Memory behind a stub of the GDB remote serial protocol.
//
// Most stubs (QEMU's, OpenOCD's) stop the target when a client connects, so only the stub can say
// whether the target ran before. QEMU's monitor does. If a stub does not answer, its target runs,
// and is interrupted.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/line/memory/target_memory.hpp"

namespace nopscope::host {
namespace {

// No stub sends a longer packet; longer data is no packet.
constexpr std::size_t longest_answer = std::size_t{1} << 20;
// Limit for bytes before a packet: acknowledgements, and earlier bytes of the line.
constexpr std::size_t longest_noise = 4096;

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

// Two hex digits for each byte. Nothing: `digits` is malformed.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view digits) {
    if (digits.size() % 2 != 0) return std::nullopt;
    std::vector<std::uint8_t> bytes(digits.size() / 2);
    const char* at = digits.data();
    for (std::uint8_t& byte : bytes) {
        const auto [end, error] = std::from_chars(at, at + 2, byte, 16);
        if (error != std::errc() || end != at + 2) return std::nullopt;
        at = end;
    }
    return bytes;
}

// Packets of the protocol: $data#checksum, answered by + or - (send again).
class GdbPackets {
public:
    // `name`: the connection's name, for messages.
    GdbPackets(std::unique_ptr<Source> connection, std::string name,
               std::chrono::milliseconds patience)
        : connection_(std::move(connection)), name_(std::move(name)), patience_(patience) {}

    // Returns the stub's answer, with run lengths expanded, or nothing after a timeout. Throws
    // Error if the connection is lost or brings something that is not a packet.
    std::optional<std::string> ask(std::string_view request) {
        send(request);
        return receive();
    }
    void send(std::string_view request) {
        last_sent_ = fmt::format("${}#{:02x}", request, sum_of(request));
        write(last_sent_);
    }
    std::optional<std::string> receive();
    // Stops a running target.
    void interrupt() { write("\x03"); }
    const std::string& name() const { return name_; }

private:
    using Clock = std::chrono::steady_clock;
    // Returns the next byte, or nothing if none comes before `end`.
    std::optional<std::uint8_t> byte(Clock::time_point end);
    void write(std::string_view bytes) {
        connection_->write({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    }

    std::unique_ptr<Source> connection_;
    std::string name_;
    std::chrono::milliseconds patience_;
    std::vector<std::uint8_t> came_ = std::vector<std::uint8_t>(std::size_t{1} << 16);
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    std::string last_sent_;
};

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

constexpr std::size_t default_packet_bytes = 400;  // every stub accepts this
constexpr std::size_t most_at_once = 16384;

// "...;PacketSize=1000;..."
std::size_t packet_bytes(std::string_view features) {
    constexpr std::string_view key = "PacketSize=";
    const std::size_t at = features.find(key);
    std::size_t bytes = default_packet_bytes;
    if (at == std::string_view::npos) return bytes;
    const std::string_view digits = features.substr(at + key.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), bytes, 16);
    return bytes;
}

class GdbMemory final : public TargetMemory {
public:
    GdbMemory(std::unique_ptr<Source> connection, const std::string& name, bool resume,
              std::chrono::milliseconds patience)
        : stub_(std::move(connection), name, patience), resume_(resume) {
        const std::string features = greet();
        at_once_ = std::clamp<std::size_t>(packet_bytes(features) / 2, 36, most_at_once) - 4;
        const auto why = interrupted_ ? stub_.ask("?") : stopped_;
        if (!why || why->empty() || (why->front() != 'T' && why->front() != 'S')) {
            throw Error(name + ": there is no target that is stopped" +
                        (why ? " (" + for_cell(*why) + ")" : std::string()));
        }
        ran_ = interrupted_ ? Ran::yes : asked_of_qemu();
    }

    void read(std::uint64_t address, std::span<std::uint8_t> to) override {
        while (!to.empty()) {
            const std::size_t count = std::min(to.size(), at_once_);
            const auto answer = stub_.ask(fmt::format("m{:x},{:x}", address, count));
            if (!answer) throw Error(stub_.name() + " does not answer any more");
            const auto bytes = from_hex(*answer);
            if (!bytes || bytes->empty() || bytes->size() > count) {
                throw Error(
                    fmt::format("{}: the target's memory at {} cannot be read ({}): is its MMU "
                                "on, and is it this image's?",
                                stub_.name(), hex_address(address),
                                answer->empty() ? "not supported" : for_cell(*answer)));
            }
            std::copy(bytes->begin(), bytes->end(), to.begin());
            to = to.subspan(bytes->size());
            address += bytes->size();
        }
    }

    std::string release() override {
        if (ran_ == Ran::yes || resume_) {
            const bool goes_on = stub_.ask("D") == "OK";
            if (!goes_on) stub_.send("c");
            return ran_ == Ran::yes ? "the target was running: it was stopped, read, and runs on"
                                    : "the target runs on";
        }
        return ran_ == Ran::no
                   ? "the target was stopped, and is left so"
                   : "the target is left stopped: the stub does not say whether it was running "
                     "(--resume lets it run on)";
    }

private:
    enum class Ran { yes, no, unknown };

    // Returns the features that the stub names.
    std::string greet() {
        constexpr std::string_view hello = "qSupported:swbreak+;hwbreak+";
        auto features = stub_.ask(hello);
        if (features) stopped_ = stub_.ask("?");
        if (!features || !stopped_) {
            stub_.interrupt();
            interrupted_ = stub_.receive().has_value();
            if (interrupted_) features = stub_.ask(hello);
        }
        if (!features) {
            throw Error(stub_.name() +
                        " does not answer as a gdb stub does: is a debugger connected to it "
                        "already? It takes one at a time");
        }
        return *features;
    }
    // "VM status: paused" means that the connection or a person has stopped the target. "paused
    // (debug)" and other reasons mean that it was stopped before.
    Ran asked_of_qemu() {
        std::string said;
        auto answer = stub_.ask("qRcmd," + to_hex("info status"));
        for (int parts = 0; answer && answer->size() > 1 && answer->front() == 'O' &&
                            *answer != "OK" && parts < 16;
             ++parts) {
            const auto bytes = from_hex(std::string_view(*answer).substr(1));
            if (!bytes) break;
            said.append(bytes->begin(), bytes->end());
            answer = stub_.receive();
        }
        if (said.find("VM status: paused (") != std::string::npos) return Ran::no;
        return said.find("VM status: ") != std::string::npos ? Ran::yes : Ran::unknown;
    }

    GdbPackets stub_;
    bool resume_;
    bool interrupted_ = false;
    std::optional<std::string> stopped_;
    Ran ran_ = Ran::unknown;
    std::size_t at_once_ = 0;
};

}  // namespace

std::unique_ptr<TargetMemory> open_gdb(std::unique_ptr<Source> connection, const std::string& name,
                                       bool resume, std::chrono::milliseconds patience) {
    return std::make_unique<GdbMemory>(std::move(connection), name, resume, patience);
}

std::unique_ptr<TargetMemory> open_gdb(const std::string& place, bool resume) {
    constexpr std::string_view local = "unix:";
    if (place.starts_with(local)) {
        const std::string path = place.substr(local.size());
        return open_gdb(open_unix(path), path, resume);
    }
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == place.size()) {
        throw Error("gdb:" + place + ": expected gdb:HOST:PORT or gdb:unix:PATH", Exit::usage);
    }
    return open_gdb(open_source("tcp:" + place, Way::both), place, resume);
}

}  // namespace nopscope::host
