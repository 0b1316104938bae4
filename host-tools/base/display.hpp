// SPDX-License-Identifier: Apache-2.0
// Text for a person, written by a thread of its own, so that the caller never waits for a terminal
// that is stopped (Ctrl-S) or for a pipe that nobody reads.
//
// The descriptor stays blocking: O_NONBLOCK would hold for all processes that share the terminal,
// the shell among them.
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

    // The descriptor must stay open as long as the process lives.
    explicit Display(int descriptor);
    ~Display();  // waits for nothing
    Display(const Display&) = delete;
    Display& operator=(const Display&) = delete;

    // Never waits. Text that would make more than most_bytes wait is not shown, but counted.
    void show(std::string_view text);
    // True while text waits that was not taken yet.
    bool is_behind() const;
    // errno of a write that failed; 0: none has. After one nothing is shown any more, nor counted.
    int error() const;
    std::uint64_t hidden_bytes() const;  // that were not shown

    // Waits until all is taken; no longer once nothing was taken for `silence`, or `give_up`
    // returns true. What is left then counts as hidden. Nothing may be shown afterwards.
    void finish(std::chrono::milliseconds silence, const std::function<bool()>& give_up);

private:
    struct State;
    static void run(const std::shared_ptr<State>& state);
    void abandon();

    // Also the thread's, which may outlive this object in a write that never returns.
    std::shared_ptr<State> state_;
    std::thread thread_;
};

// True if both descriptors lead to one file, terminal or pipe.
bool is_same_file(int one, int other);

}  // namespace nopscope::host
