// SPDX-License-Identifier: Apache-2.0
// A line that a test feeds, and that it can close.
#pragma once

#include "host-tools/base/error.hpp"
#include "host-tools/target/transport/source.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

struct Wire {
    std::mutex mutex;
    Bytes bytes;
    bool closed = false;
    bool absent = false;  // it cannot be opened
    // While it `stays_open`, closing takes time: at most 20 s.
    std::atomic<bool> is_closing = false, stays_open = false;
    std::atomic<unsigned> opened = 0;

    void send(const Bytes& more) {
        const std::lock_guard lock(mutex);
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    void close(bool is_absent) {
        const std::lock_guard lock(mutex);
        closed = true;
        absent = is_absent;
    }
    void come_back() {
        const std::lock_guard lock(mutex);
        absent = false;
    }
};

class WireSource final : public Source {
public:
    explicit WireSource(Wire& wire) : wire_(wire) {
        const std::lock_guard lock(wire_.mutex);
        if (wire_.absent) throw Error("there is no wire");
        wire_.closed = false;
        ++wire_.opened;
    }
    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds timeout) override {
        {
            const std::lock_guard lock(wire_.mutex);
            const std::size_t count = std::min(to.size(), wire_.bytes.size());
            std::copy_n(wire_.bytes.begin(), count, to.begin());
            wire_.bytes.erase(wire_.bytes.begin(), wire_.bytes.begin() + static_cast<long>(count));
            if (count != 0 || wire_.closed) return {count, count == 0};
        }
        std::this_thread::sleep_for(std::min(timeout, std::chrono::milliseconds(1)));
        return {};
    }
    std::optional<int> close() override {
        wire_.is_closing = true;
        for (int n = 0; wire_.stays_open && n < 20'000; ++n)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return std::nullopt;
    }

private:
    Wire& wire_;
};

}  // namespace nopscope::host::test
