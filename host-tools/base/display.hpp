// SPDX-License-Identifier: Apache-2.0
// Writes text for a person in its own thread. So the caller never waits for a stopped terminal
// (Ctrl-S), or for a pipe that no process reads.
//
// The descriptor stays blocking, because O_NONBLOCK would affect all processes of the terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>

namespace nopscope::host {

class Display {
public:
    static constexpr std::size_t most_bytes = std::size_t{1} << 20;

    // The descriptor must stay open until the process ends.
    explicit Display(int descriptor);
    ~Display();  // does not wait
    Display(const Display&) = delete;
    Display& operator=(const Display&) = delete;

    // Never waits. If more than most_bytes would be pending, `text` is counted instead of shown.
    void show(std::string_view text);
    // True while text is pending.
    bool is_behind() const;
    // errno of a failed write, or 0. After a failure, text is neither shown nor counted.
    int error() const;
    std::uint64_t hidden_bytes() const;  // bytes that were not shown

    // Waits until all text is written, but ends if nothing is written for `silence`, or `give_up`
    // returns true. The rest then counts as hidden. Do not call show() afterwards.
    void finish(std::chrono::milliseconds silence, const std::function<bool()>& give_up);

private:
    struct State;
    static void run(const std::shared_ptr<State>& state);
    void abandon();

    // Shared with the thread, which may outlive this object in a write that never returns.
    std::shared_ptr<State> state_;
    std::thread thread_;
};

// True if both descriptors lead to one file, terminal or pipe.
bool is_same_file(int one, int other);

}  // namespace nopscope::host
