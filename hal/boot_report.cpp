// SPDX-License-Identifier: Apache-2.0
// The first lines of each boot: what a report of a new board needs if nothing else works. An MMU is
// off, so all memory is device memory: no unaligned access and no exclusives.
#include "hal/boot_report.hpp"

#include <bit>

#include "hal/board.hpp"
#include "hal/console.hpp"
#include "hal/drivers/mmio.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

void begin_line(const char* first) {
    print("boot:");
    print(first);
}

void decimal(const char* key, std::uint64_t value) {
    print(key);
    print_decimal(value);
}

void hex(const char* key, std::uint64_t value) {
    print(key);
    print("0x");
    const auto bits = static_cast<unsigned>(std::bit_width(value));
    print_hex_digits(value, bits == 0 ? 1 : (bits + 3) / 4);
}

namespace {

// Reads nothing but RAM: a debug probe that loads an image leaves any value in the register.
bool is_device_tree(std::uint64_t address) {
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    constexpr std::uint32_t magic_big_endian = 0xd00d'feed;
    const std::uint64_t ram_start = address_of(__ram_start) / gib * gib;  // images lie above it
    if (address == 0 || address % 8 != 0) return false;
    if (address < ram_start || address >= address_of(__ram_end)) return false;
    return __builtin_bswap32(read32(address)) == magic_big_endian;
}

void print_entry(const char* level, std::uint64_t device_tree) {
    begin_line(" nopscope board=");
    print(board.name);
    print(" level=");
    print(level);
    if (is_device_tree(device_tree)) {
        hex(" dtb=", device_tree);
    } else {
        print(" dtb=none");
    }
    print("\n");
}

void print_clocks() {
    begin_line("");
    decimal(" counter_hz=", clock_hz());
    const FirmwareClocks clocks =
        board.firmware_clocks != nullptr ? board.firmware_clocks() : FirmwareClocks{};
    if (clocks.is_silent) {
        print(" mailbox=silent");
    } else {
        if (clocks.arm_hz != 0) decimal(" arm_hz=", clocks.arm_hz);
        if (clocks.core_hz != 0) decimal(" core_hz=", clocks.core_hz);
        if (uart_clock_hz() != 0 && board.uart.kind != UartKind::mini)
            decimal(" uart_hz=", uart_clock_hz());
    }
    print("\n");
}

}  // namespace

void print_boot_report(const char* level, std::uint64_t device_tree) {
    print_entry(level, device_tree);
    print_this_core();
    print_clocks();
    print_interrupt_controller();
    begin_line("");
    decimal(" baud=", board.uart.baud);
    print("\n");
}

}  // namespace nopscope::hal
