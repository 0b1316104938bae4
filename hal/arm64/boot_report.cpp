// SPDX-License-Identifier: Apache-2.0
// The first lines of each boot: what a report of a new board needs if nothing else works. The MMU
// is off, so all memory is device memory: no unaligned access and no exclusives.
#include "hal/arm64/boot_report.hpp"

#include <bit>

#include "hal/arm64/registers.hpp"
#include "hal/board.hpp"
#include "hal/console.hpp"
#include "hal/drivers/gic_view.hpp"
#include "hal/drivers/mmio.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

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

// Reads nothing but RAM: a debug probe that loads an image leaves any value in x0.
bool is_device_tree(std::uint64_t address) {
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    constexpr std::uint32_t magic_big_endian = 0xd00d'feed;
    const std::uint64_t ram_start = address_of(__ram_start) / gib * gib;  // images lie above it
    if (address == 0 || address % 8 != 0) return false;
    if (address < ram_start || address >= address_of(__ram_end)) return false;
    return __builtin_bswap32(read32(address)) == magic_big_endian;
}

void print_entry(unsigned exception_level, std::uint64_t device_tree) {
    begin_line(" nopscope board=");
    print(board.name);
    decimal(" level=", exception_level);
    if (is_device_tree(device_tree)) {
        hex(" dtb=", device_tree);
    } else {
        print(" dtb=none");
    }
    print("\n");
}

void print_this_core() {
    const std::uint64_t ctr = read_ctr_el0();
    const unsigned reservation_granule = field(ctr, 20, 4);  // ERG, log2 of words; 0: unknown
    begin_line("");
    hex(" midr=", read_midr_el1());
    hex(" revidr=", read_revidr_el1());
    hex(" mpidr=", read_mpidr_el1());
    hex(" ctr=", ctr);
    decimal(" erg=", reservation_granule == 0 ? 0 : std::uint64_t{4} << reservation_granule);
    hex(" pfr0=", read_id_aa64pfr0_el1());
    print("\n");
}

void print_clocks() {
    begin_line("");
    decimal(" counter_hz=", read_cntfrq_el0());
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

void print_interrupt_controller() {
    const InterruptConfig& config = board.interrupts;
    if (config.controller == Controller::bcm2836) {
        begin_line(" gic=none\n");
        return;
    }
    const unsigned version = config.controller == Controller::gic_v2 ? 2 : 3;
    const GicView view = gic_view(config.base, version);
    begin_line("");
    decimal(" gic=", version);
    if (view.security == GicSecurity::secure) print(" view=secure");
    if (view.security == GicSecurity::non_secure) print(" view=non-secure");
    decimal(" priority_bits=", view.priority_bits);
    print("\n");
}

}  // namespace

void print_boot_report(unsigned exception_level, std::uint64_t device_tree) {
    print_entry(exception_level, device_tree);
    print_this_core();
    print_clocks();
    print_interrupt_controller();
    begin_line("");
    decimal(" baud=", board.uart.baud);
    print("\n");
}

}  // namespace nopscope::hal
