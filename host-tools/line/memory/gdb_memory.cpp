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
#include "host-tools/line/memory/gdb_packets.hpp"
#include "host-tools/line/memory/target_memory.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;

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
