// SPDX-License-Identifier: Apache-2.0
// A command whose standard output is the line: an emulator, or ssh to a machine with a board. The
// command has its own process group. So Ctrl-C first ends the recording, and then the command with
// all that it started. If the recorder itself is killed, a guard process ends that group, because
// an emulator would run for ever.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/interrupt.hpp"
#include "host-tools/base/memory.hpp"
#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;

constexpr auto grace = 2s;        // between SIGTERM and SIGKILL
constexpr auto short_grace = 1s;  // the same, after a signal to the recorder
// A pipe may be silent for so long after the command's end, while a child of it holds the pipe.
constexpr auto orphan_silence = 500ms;

void end_group(pid_t group) {
    kill(-group, SIGTERM);
    std::this_thread::sleep_for(grace);
    kill(-group, SIGKILL);
}

// A process that ends `group` when its parent ends for any reason.
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
        setsid();  // Ctrl-C must reach the recorder only
        // The guard keeps only one of the parent's descriptors: a pipe to which no process writes.
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
    // `input`: to the command's standard input; `errors`: from its standard error; -1: none.
    ExecSource(pid_t child, int descriptor, int input, int errors, std::string command)
        : guard_(child),
          child_(child),
          descriptor_(descriptor),
          input_(input),
          errors_(errors),
          command_(std::move(command)) {}
    ~ExecSource() override { ExecSource::close(); }

    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds timeout) override {
        const Result result = read_descriptor(descriptor_, command_, to, timeout);
        gather_errors();
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

    std::string take_errors() override {
        gather_errors();
        return std::exchange(error_text_, {});
    }

    std::optional<int> close() override {
        if (descriptor_ < 0) return status_;
        if (input_ >= 0) ::close(input_);
        input_ = -1;
        // A command that has closed its output usually exits by itself soon.
        wait_until(&ExecSource::has_ended, !drain() ? 0s : interrupted() ? short_grace / 2 : grace);
        const bool ended_by_us = !has_ended();
        // Signals the whole group: an emulator may outlive the shell that started it.
        for (const int signal : {SIGTERM, SIGKILL}) {
            if (is_gone()) break;
            kill(-child_, signal);
            wait_until(&ExecSource::is_gone, interrupted() ? short_grace : grace);
        }
        gather_errors();
        ::close(descriptor_);
        if (errors_ >= 0) ::close(errors_);
        descriptor_ = errors_ = -1;
        if (ended_by_us) status_.reset();
        return status_;
    }

private:
    // A command that writes to a full pipe cannot end. Returns true if the command closed the pipe.
    bool drain() {
        gather_errors();
        std::uint8_t bytes[65536];  // a pipe's capacity
        fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
        return ::read(descriptor_, bytes, sizeof bytes) == 0;
    }
    // Does not wait. Keeps the end of a long text.
    void gather_errors() {
        constexpr std::size_t most = std::size_t{1} << 16;
        char bytes[4096];
        for (ssize_t count = 0;
             errors_ >= 0 && (count = ::read(errors_, bytes, sizeof bytes)) > 0;) {
            error_text_.append(bytes, static_cast<std::size_t>(count));
            if (error_text_.size() > 2 * most) error_text_.erase(0, error_text_.size() - most);
        }
    }
    void wait_until(bool (ExecSource::*what)(), std::chrono::milliseconds longest) {
        const auto deadline = std::chrono::steady_clock::now() + longest;
        while (!(this->*what)() && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(5ms);
            drain();
        }
    }
    bool has_ended() { return is_gone() || status_; }
    // True if the command's whole group has ended.
    bool is_gone() {
        int status = 0;
        for (pid_t found = 0; !gone_ && (found = waitpid(-child_, &status, WNOHANG)) != 0;) {
            gone_ = found < 0 && errno == ECHILD;
            if (found == child_)
                status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        return gone_;
    }

    Guard guard_;
    pid_t child_;
    int descriptor_;
    int input_;
    int errors_;
    std::string error_text_;
    std::string command_;
    std::optional<int> status_;
    bool gone_ = false;
    std::chrono::steady_clock::time_point last_byte_ = std::chrono::steady_clock::now();
};

// Closes the ends that take() did not return.
struct Pipe {
    Pipe() {
        if (pipe2(ends, O_CLOEXEC) != 0) throw Error("cannot make a pipe: " + system_error(errno));
    }
    ~Pipe() {
        for (const int end : ends) {
            if (end >= 0) ::close(end);
        }
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    int take(int end) { return std::exchange(ends[end], -1); }

    int ends[2] = {-1, -1};
};

[[noreturn]] void become(const std::string& command, int input, int output, int errors) {
    setpgid(0, 0);
    lift_memory_limit();
    dup2(input >= 0 ? input : open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    if (errors >= 0) dup2(errors, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
}

}  // namespace

std::unique_ptr<Source> open_exec(const std::string& command, Way way, Errors errors) {
    Pipe output;
    std::optional<Pipe> input, said;
    if (way == Way::both) input.emplace();
    if (errors == Errors::kept) {
        said.emplace();
        fcntl(said->ends[0], F_SETFL, O_NONBLOCK);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that children of the command are waited for, too
    const pid_t child = fork();
    if (child == 0)
        become(command, input ? input->ends[0] : -1, output.ends[1], said ? said->ends[1] : -1);
    if (child < 0) throw Error("cannot start a process: " + system_error(errno));
    setpgid(child, child);  // parent and child both call it: one of them is first
    return std::make_unique<ExecSource>(child, output.take(0), input ? input->take(1) : -1,
                                        said ? said->take(0) : -1, command);
}

}  // namespace nopscope::host
