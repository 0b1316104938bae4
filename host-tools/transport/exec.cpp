// SPDX-License-Identifier: Apache-2.0
// A command whose standard output is the line: an emulator, or ssh to a machine with a board. It
// runs in a process group of its own, so that Ctrl-C ends the recording first and the command after
// it, with all it started. A guard process ends that group when the recorder itself is killed: an
// emulator would run on for ever.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/memory.hpp"
#include "host-tools/transport/source.hpp"

namespace nopscope {
namespace {

using namespace std::chrono_literals;

constexpr auto grace = 2s;  // between SIGTERM and SIGKILL
// How long a pipe may stay silent after its command has ended: something it left behind holds it.
constexpr auto orphan_silence = 500ms;

void end_group(pid_t group) {
    kill(-group, SIGTERM);
    std::this_thread::sleep_for(grace);
    kill(-group, SIGKILL);
}

// A process that waits for its parent's end, whatever kind of end it is, and then ends `group`.
class Guard {
public:
    explicit Guard(pid_t group) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return;
        process_ = fork();
        if (process_ == 0) watch(group, ends);
        ::close(ends[0]);
        parent_lives_ = ends[1];
    }
    ~Guard() {
        if (process_ > 0) {
            kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
        }
        if (parent_lives_ >= 0) ::close(parent_lives_);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

private:
    [[noreturn]] static void watch(pid_t group, const int ends[2]) {
        setsid();  // a Ctrl-C is the recorder's business
        // Of what the parent has open, the guard holds one thing: a pipe that nobody writes to.
        dup2(ends[0], STDIN_FILENO);
        close_range(STDIN_FILENO + 1, ~0U, 0);
        char byte = 0;
        while (::read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
        }
        end_group(group);
        _exit(0);
    }

    pid_t process_ = -1;
    int parent_lives_ = -1;
};

class ExecSource final : public Source {
public:
    // `input`: the command's standard input, or -1.
    ExecSource(pid_t child, int descriptor, int input, std::string command)
        : guard_(child), child_(child), descriptor_(descriptor), input_(input),
          command_(std::move(command)) {}
    ~ExecSource() override { ExecSource::close(); }

    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds timeout) override {
        const Result result = read_descriptor(descriptor_, command_, to, timeout);
        const auto now = std::chrono::steady_clock::now();
        if (result.count != 0 || !has_ended()) {
            last_byte_ = now;
            return result;
        }
        return {0, result.closed || now - last_byte_ > orphan_silence};
    }

    void write(std::span<const std::uint8_t> bytes) override {
        if (input_ < 0) return Source::write(bytes);
        write_descriptor(input_, command_, bytes);
    }

    std::optional<int> close() override {
        if (descriptor_ < 0) return status_;
        if (input_ >= 0) ::close(input_);
        input_ = -1;
        // A command that has closed its output is usually about to exit by itself.
        wait_until(&ExecSource::has_ended, drain() ? grace : 0s);
        const bool ended_by_us = !has_ended();
        // With what it started: a shell's end is not that of the emulator it has started.
        for (const int signal : {SIGTERM, SIGKILL}) {
            if (is_gone()) break;
            kill(-child_, signal);
            wait_until(&ExecSource::is_gone, grace);
        }
        ::close(descriptor_);
        descriptor_ = -1;
        if (ended_by_us) status_.reset();
        return status_;
    }

private:
    // Who has a full pipe to write to cannot end. True when the pipe is at its end: the command closed it.
    bool drain() const {
        std::uint8_t bytes[65536];  // a pipe's capacity
        fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
        return ::read(descriptor_, bytes, sizeof bytes) == 0;
    }
    void wait_until(bool (ExecSource::*what)(), std::chrono::milliseconds longest) {
        const auto deadline = std::chrono::steady_clock::now() + longest;
        while (!(this->*what)() && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(5ms);
            drain();
        }
    }
    bool has_ended() { return is_gone() || status_; }
    // With all of its group.
    bool is_gone() {
        int status = 0;
        for (pid_t found = 0; !gone_ && (found = waitpid(-child_, &status, WNOHANG)) != 0;) {
            gone_ = found < 0 && errno == ECHILD;
            if (found == child_) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        return gone_;
    }

    Guard guard_;
    pid_t child_;
    int descriptor_;
    int input_;
    std::string command_;
    std::optional<int> status_;
    bool gone_ = false;
    std::chrono::steady_clock::time_point last_byte_ = std::chrono::steady_clock::now();
};

[[noreturn]] void become(const std::string& command, int input, int output) {
    setpgid(0, 0);
    lift_memory_limit();
    dup2(input >= 0 ? input : open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
}

}  // namespace

std::unique_ptr<Source> open_exec(const std::string& command, Way way) {
    int ends[2], input[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error("cannot make a pipe: " + system_error(errno));
    if (way == Way::both && pipe2(input, O_CLOEXEC) != 0) {
        close(ends[0]);
        close(ends[1]);
        throw Error("cannot make a pipe: " + system_error(errno));
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // what the command leaves behind is waited for, too
    const pid_t child = fork();
    if (child == 0) become(command, input[0], ends[1]);
    const int error = errno;
    close(ends[1]);
    if (input[0] >= 0) close(input[0]);
    if (child < 0) {
        close(ends[0]);
        if (input[1] >= 0) close(input[1]);
        throw Error("cannot start a process: " + system_error(error));
    }
    setpgid(child, child);  // whichever of the two is first
    return std::make_unique<ExecSource>(child, ends[0], input[1], command);
}

}  // namespace nopscope
