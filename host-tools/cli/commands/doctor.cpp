// SPDX-License-Identifier: Apache-2.0
// `doctor` checks ports, tools and images. Each finding says what the user can do about it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <iterator>

#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/cli/defaults.hpp"
#include "host-tools/image/arch/arch.hpp"
#include "host-tools/image/check.hpp"
#include "host-tools/line/doctor/board.hpp"
#include "host-tools/line/stream/damage.hpp"
#include "host-tools/line/transport/ports.hpp"
#include "host-tools/line/transport/source.hpp"
#include "host-tools/live/line.hpp"
#include "host-tools/views/json/json.hpp"

namespace nopscope::host {
namespace {

struct DoctorOptions {
    std::string from;              // a line to listen to; empty: none
    std::string image;             // an ELF to look at; empty: none
    std::string defaults_file;     // the file in use; empty: none
    std::string devices = "/dev";  // where serial ports are
    double seconds = 3;            // how long to listen
    Format format = Format::text;
};

using State = Finding::State;

// Returns the first line that a command prints; empty if the command is missing or fails.
std::string first_line(const std::string& command) {
    std::FILE* const pipe = popen((command + " 2>/dev/null </dev/null").c_str(), "r");
    if (pipe == nullptr) return {};
    std::array<char, 512> room{};
    const char* const got = std::fgets(room.data(), room.size(), pipe);
    std::string line = got != nullptr ? got : "";
    while (std::fgets(room.data(), room.size(), pipe) != nullptr) {
    }
    if (pclose(pipe) != 0) return {};
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return line;
}

// The first number of a line such as "QEMU emulator version 9.2.1 (...)"; 0: there is none.
unsigned major_version(const std::string& line) {
    for (std::size_t n = 0; n < line.size(); ++n) {
        if (std::isdigit(static_cast<unsigned char>(line[n])) == 0) continue;
        const std::size_t end = line.find_first_not_of("0123456789", n);
        if (end != std::string::npos && line[end] == '.' && (n == 0 || line[n - 1] == ' ')) {
            return static_cast<unsigned>(
                std::stoul(line.substr(n, std::min<std::size_t>(end - n, 6))));
        }
        n = end == std::string::npos ? line.size() : end;
    }
    return 0;
}

// That of the first architecture is missed if it is not there.
void look_at_qemu(Findings& findings, const Arch& arch) {
    const bool is_first = &arch == all_archs().front();
    const std::string what = is_first ? "QEMU" : arch.emulator;
    const std::string line = first_line(std::string(arch.emulator) + " --version");
    if (line.empty() && is_first) {
        findings.push_back(
            {Finding::note, what,
             fmt::format("{} is not there: nothing runs without a board", arch.emulator),
             "in nopscope's sources: ./dev setup"});
    } else if (is_first && major_version(line) < 9) {
        findings.push_back({Finding::note, what,
                            line + ": virt runs, but the Raspberry Pi 4's machine came with 9.0",
                            "in nopscope's sources: ./dev setup (takes it from the backports)"});
    } else if (!line.empty()) {
        findings.push_back({Finding::good, what, line, ""});
    }
}

void look_at_compilers(Findings& findings) {
    bool any = false;
    std::vector<std::string> names, fixes;
    for (const Arch* const arch : all_archs()) {
        names.insert(names.end(), arch->compilers.begin(), arch->compilers.end());
        fixes.emplace_back(arch->compiler_fix);
    }
    for (const std::string& name : names) {
        const std::string line = first_line(name + " --version");
        if (line.empty()) continue;
        any = true;
        const std::string version = first_line(name + " -dumpfullversion");
        const bool is_old = major_version(version) < 12;
        findings.push_back({is_old ? Finding::problem : Finding::good, name,
                            is_old ? version + ": 12 is the oldest that was tried" : line,
                            is_old ? "install a newer one" : ""});
    }
    if (!any) {
        findings.push_back({Finding::note, "compiler",
                            fmt::format("neither {} is on PATH: firmware cannot be built",
                                        fmt::join(names, " nor ")),
                            fmt::format("{}", fmt::join(fixes, "; or "))});
    }
}

void look_at_port(Findings& findings, const std::string& path) {
    if (const std::string users = users_of(path); !users.empty()) {
        findings.push_back(
            {Finding::note, path, users + " has it open", "end it before you record"});
    } else if (access(path.c_str(), R_OK | W_OK) == 0) {
        findings.push_back({Finding::good, path, "may be read and written", ""});
    } else {
        findings.push_back(
            {Finding::problem, path, "may not be used by you", permission_fix(path)});
    }
}

void look_at_ports(Findings& findings, const std::string& directory) {
    const std::vector<std::string> ports = serial_ports(directory);
    for (const std::string& port : ports) look_at_port(findings, port);
    if (ports.empty()) {
        findings.push_back({Finding::note, "serial ports",
                            "no ttyUSB, ttyACM or ttyAMA is there: no board is connected", ""});
    }
}

// Listens for some seconds to the board's boot lines, and waits for a session.
class LineCheck {
public:
    LineCheck(Findings& findings, std::string from, double seconds)
        : findings_(findings), from_(std::move(from)), seconds_(seconds) {}

    void run() {
        const auto source = open_source(from_);
        has_rate_ = source->baud() != 0;
        if (has_rate_ && isatty(STDERR_FILENO) != 0) {
            say(fmt::format("listening for {:g} s: press the board's reset, or switch it on",
                            seconds_));
        }
        LineReader line(*source, damaged_);
        end_ = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_));
        for (bool is_closed = false; !is_closed && goes_on(line);) {
            is_closed = line.wait(std::chrono::milliseconds(50)).closed;
            hear(line.bytes(), !line.reader().has_session());
            line.take(Clock::now());
            // The session begins after the last boot line, and its hello comes within a second.
            if (boot_.take_baud()) end_ = std::max(end_, Clock::now() + std::chrono::seconds(3));
        }
        tell(line, source->others());
    }

private:
    using Clock = std::chrono::steady_clock;

    void hear(std::span<const std::uint8_t> bytes, bool alone) {
        while (!bytes.empty()) bytes = bytes.subspan(boot_.feed(bytes, alone));
    }
    bool has_booted() const { return !boot_.words().empty(); }
    // With a serial port it also waits for boot lines: a person may press reset.
    bool goes_on(const LineReader& line) const {
        const LineCounters& heard = line.reader().line();
        const bool is_enough = heard.frames >= enough_frames && heard.corrupt_frames == 0;
        if (line.reader().has_session() && is_enough && (has_booted() || !has_rate_)) return false;
        return Clock::now() < end_ || line.searches();
    }
    void tell(const LineReader& line, const std::string& others) {
        if (has_booted()) {
            const Findings board = judge_board(boot_.words());
            findings_.insert(findings_.end(), board.begin(), board.end());
        } else if (has_rate_) {
            findings_.push_back({Finding::note, "boot lines", "none came",
                                 fmt::format("nopscope doctor --duration 30 --from {}, and reset "
                                             "the board or switch it on meanwhile",
                                             from_)});
        }
        const LineCounters& counters = line.reader().line();
        if (line.reader().has_session()) {
            const std::string damage =
                damaged_.sentence(counters, line.reader().counters(), others);
            findings_.push_back(
                {damage.empty() ? Finding::good : Finding::problem, from_,
                 fmt::format("a target speaks: {} frames, {} of them corrupt",
                             counters.frames + counters.corrupt_frames, counters.corrupt_frames),
                 damage});
            return;
        }
        const Diagnosis said = line.diagnosis();
        if (has_booted() && said.kind == Diagnosis::text) {
            findings_.push_back({Finding::note, from_, said.what,
                                 "nothing if this image has no tracer, or does not begin it, as "
                                 "selftest; " +
                                     said.fix});
            return;
        }
        const bool may_come = (said.kind == Diagnosis::silence || said.kind == Diagnosis::frames) &&
                              counters.corrupt_frames == 0;
        findings_.push_back(
            {may_come ? Finding::note : Finding::problem, from_, said.what, said.fix});
    }

    static constexpr std::uint64_t enough_frames = 200;  // to see what becomes of bytes

    DamagedChunks damaged_;
    Findings& findings_;
    const std::string from_;
    const double seconds_;
    bool has_rate_ = false;
    BootLines boot_;
    Clock::time_point end_{};
};

void look_at_line(Findings& findings, const std::string& from, double seconds) {
    try {
        LineCheck(findings, from, seconds).run();
    } catch (const Error& error) {
        findings.push_back({Finding::problem, from, error.what(), ""});
    }
}

void look_at_image(Findings& findings, const std::string& path) {
    try {
        const CheckResult result = check_image(ElfFile::open(path), {});
        const std::string counted =
            fmt::format("{} functions, {} patch sites", result.functions, result.sites);
        if (result.sites == 0) {
            findings.push_back(
                {Finding::problem, path, counted + ": nothing can be traced",
                 "compile with the flags of docs/integration.md, and link with nopscope.ld"});
        } else if (!result.problems.empty()) {
            findings.push_back({Finding::problem, path,
                                fmt::format("{}, {} problems", counted, result.problems.size()),
                                fmt::format("nopscope check {} names them", path)});
        } else {
            findings.push_back({Finding::good, path, counted, ""});
        }
    } catch (const Error& error) {
        findings.push_back({Finding::problem, path, error.what(), ""});
    }
}

const char* state_text(State state) {
    return state == Finding::good ? "ok" : state == Finding::note ? "note" : "problem";
}

Exit doctor(const DoctorOptions& options) {
    Findings findings;
    for (const Arch* const arch : all_archs()) look_at_qemu(findings, *arch);
    look_at_compilers(findings);
    look_at_ports(findings, options.devices);
    if (!options.defaults_file.empty())
        findings.push_back({Finding::good, "defaults", options.defaults_file, ""});
    if (!options.from.empty()) look_at_line(findings, options.from, options.seconds);
    if (!options.image.empty()) look_at_image(findings, options.image);
    const auto json = [](const Finding& one) {
        return Json{{"state", state_text(one.state)},
                    {"what", to_utf8(one.what)},
                    {"text", to_utf8(one.text)},
                    {"fix", to_utf8(one.fix)}};
    };
    std::string text;
    for (const Finding& one : findings) {
        fmt::format_to(std::back_inserter(text), "{:<8} {}: {}\n", state_text(one.state),
                       for_cell(one.what), for_cell(one.text));
        if (!one.fix.empty())
            fmt::format_to(std::back_inserter(text), "{:<8} -> {}\n", "", for_cell(one.fix));
    }
    print(options.format == Format::json ? json_text(json_list(findings, json)) : text);
    const bool bad = std::any_of(findings.begin(), findings.end(),
                                 [](const Finding& one) { return one.state == Finding::problem; });
    return bad ? Exit::check_failed : Exit::ok;
}

}  // namespace

Action add_doctor(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<DoctorOptions>();
    command = add_command(
        app, "doctor", "Look whether ports, tools and images are as they should be",
        {"nopscope doctor",
         "nopscope doctor --from serial:/dev/ttyUSB0?baud=1500000 --image firmware.elf"});
    add_value(command, "--from", options->from, kind::uri,
              "Listen to this line, too: is a target on it, at this rate?");
    add_value(command, "--image", options->image, kind::elf, "Look at this ELF, too");
    add_seconds(command, "--duration", options->seconds, 0.1, 3600, "How long to listen (3)");
    add_value(command, "--devices", options->devices, kind::directory,
              "Where serial ports are (/dev)");
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    return [options] {
        options->defaults_file = defaults_file();
        return doctor(*options);
    };
}

}  // namespace nopscope::host
