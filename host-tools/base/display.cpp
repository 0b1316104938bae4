// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/display.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "host-tools/base/same_file.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t most_at_once = 4096;  // small, to know how much a stopped terminal has taken

}  // namespace

struct Display::State {
    explicit State(int to) : descriptor(to) {}

    const int descriptor;
    std::mutex mutex;  // guards the members below
    std::condition_variable changed;
    std::string waiting;
    std::size_t in_hand = 0;  // bytes that the thread is still writing
    std::uint64_t taken = 0;
    std::uint64_t hidden = 0;
    int error = 0;  // errno of a failed write
    bool ends = false;
    bool ended = false;
};

Display::Display(int descriptor) : state_(std::make_shared<State>(descriptor)) {
    // This thread takes no signals: they must reach the threads that wait for lines.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([state = state_] { run(state); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Display::~Display() { abandon(); }

void Display::abandon() {
    if (!thread_.joinable()) return;
    std::unique_lock lock(state_->mutex);
    state_->hidden += state_->waiting.size() + (state_->error != 0 ? 0 : state_->in_hand);
    state_->waiting.clear();
    state_->ends = true;
    state_->changed.notify_all();
    const bool ended = state_->ended;
    lock.unlock();
    ended ? thread_.join() : thread_.detach();
}

void Display::run(const std::shared_ptr<State>& state) {
    std::unique_lock lock(state->mutex);
    while (state->error == 0) {
        state->changed.wait(lock, [&] { return !state->waiting.empty() || state->ends; });
        if (state->waiting.empty()) break;
        const std::string text = std::exchange(state->waiting, {});
        state->in_hand = text.size();
        while (state->in_hand != 0) {
            const char* const from = text.data() + text.size() - state->in_hand;
            const std::size_t count = std::min(state->in_hand, most_at_once);
            lock.unlock();
            const ssize_t done = write(state->descriptor, from, count);
            const int error = errno;
            if (done < 0 && error == EAGAIN) {  // another process has made it non-blocking
                pollfd waiting{state->descriptor, POLLOUT, 0};
                poll(&waiting, 1, -1);
            }
            lock.lock();
            if (done < 0 && (error == EINTR || error == EAGAIN)) continue;
            state->error = done < 0 ? error : 0;
            if (state->error != 0) break;
            state->in_hand -= static_cast<std::size_t>(done);
            state->taken += static_cast<std::uint64_t>(done);
            state->changed.notify_all();
        }
    }
    state->waiting.clear();
    state->ended = true;
    state->changed.notify_all();
}

void Display::show(std::string_view text) {
    const std::lock_guard lock(state_->mutex);
    if (state_->error != 0 || text.empty()) return;
    if (state_->waiting.size() + state_->in_hand + text.size() > most_bytes) {
        state_->hidden += text.size();
        return;
    }
    state_->waiting += text;
    state_->changed.notify_all();
}

bool Display::is_behind() const {
    const std::lock_guard lock(state_->mutex);
    return !state_->waiting.empty() || state_->in_hand != 0;
}

int Display::error() const {
    const std::lock_guard lock(state_->mutex);
    return state_->error;
}

std::uint64_t Display::hidden_bytes() const {
    const std::lock_guard lock(state_->mutex);
    return state_->hidden;
}

void Display::finish(std::chrono::milliseconds silence, const std::function<bool()>& give_up) {
    using Clock = std::chrono::steady_clock;
    {
        std::unique_lock lock(state_->mutex);
        state_->ends = true;
        state_->changed.notify_all();
        std::uint64_t taken = state_->taken;
        Clock::time_point last = Clock::now();
        while (!state_->ended && !give_up() && Clock::now() - last < silence) {
            state_->changed.wait_for(lock, std::chrono::milliseconds(20));
            if (std::exchange(taken, state_->taken) != state_->taken) last = Clock::now();
        }
    }
    abandon();
}

bool is_same_file(int one, int other) {
    struct stat first {
    }, second{};
    return fstat(one, &first) == 0 && fstat(other, &second) == 0 && is_same(first, second);
}

}  // namespace nopscope::host
