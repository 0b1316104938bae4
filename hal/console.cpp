// SPDX-License-Identifier: Apache-2.0
// The console. It writes raw to the UART until a firmware sets another sink.
#include "hal/console.hpp"

#include <atomic>

#include "hal/cores.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

namespace {

bool panicking;

// The core that is writing, plus one. An interrupt on that core writes without waiting. Another
// core waits at most a second, or until the machine ends: mixed lines are better than none.
std::atomic<unsigned> writer;

class WriterLock {
public:
    WriterLock() {
        if (!others_started()) return;
        stop_if_asked();
        if (panicking) return;
        const unsigned mine = this_core() + 1;
        if (writer.load(std::memory_order_relaxed) == mine) return;
        const std::uint64_t limit = clock() + clock_hz();
        unsigned nobody = 0;
        while (!writer.compare_exchange_weak(nobody, mine, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
            nobody = 0;
            stop_if_asked();
            yield();
            if (clock() > limit) return;
        }
        held_ = true;
    }
    ~WriterLock() {
        if (held_) writer.store(0, std::memory_order_release);
    }
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

private:
    bool held_ = false;
};

void write_raw(const char* bytes, std::size_t count) {
    const WriterLock lock;
    for (std::size_t i = 0; i < count; ++i) uart_write(static_cast<std::uint8_t>(bytes[i]));
}

ConsoleSink sink;  // null: raw

}  // namespace

void set_console(const ConsoleSink& chosen) {
    const InterruptsMasked masked;
    sink.write = chosen.write;
    sink.enter_panic = chosen.enter_panic;
}

void console_drop_sink() {
    sink.write = nullptr;
    sink.enter_panic = nullptr;
}

void console_enter_panic() {
    if (panicking) return;
    panicking = true;
    if (sink.enter_panic != nullptr) sink.enter_panic();
}

void console_write(const char* bytes, std::size_t count) {
    const auto write = sink.write;
    if (write != nullptr) {
        write(bytes, count);
    } else {
        write_raw(bytes, count);
    }
}

void print(const char* text) {
    std::size_t length = 0;
    while (text[length] != '\0') ++length;
    console_write(text, length);
}

void print_hex_digits(std::uint64_t value, unsigned digits) {
    char text[16];
    for (unsigned i = 0; i < digits; ++i) {
        text[i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 15];
    }
    console_write(text, digits);
}

void print_hex(std::uint64_t value) {
    print("0x");
    print_hex_digits(value, 16);
}

void print_decimal(std::uint64_t value) {
    char text[20];
    unsigned first = sizeof text;
    do {
        text[--first] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    console_write(text + first, sizeof text - first);
}

}  // namespace nopscope::hal
