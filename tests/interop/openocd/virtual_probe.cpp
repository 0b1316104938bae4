// SPDX-License-Identifier: Apache-2.0
// A simulated JTAG probe and its target: OpenOCD's remote_bitbang protocol on a Unix socket, one
// TAP, an ARM debug port (ADIv5.2, IHI 0031, B3 and C2), and one memory access port, whose memory
// is a file: the RAM of a QEMU (memory-backend-file,share=on), which runs meanwhile.
//
//     virtual_probe SOCKET RAM-FILE BASE-ADDRESS
//
// remote_bitbang: a byte is a request. '0'..'7' set TCK (4), TMS (2), TDI (1); 'R' asks for TDO,
// '0' or '1'; 'r' to 'u' reset; 'B' 'b': a lamp; 'Q' ends.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace {

[[noreturn]] void die(const char* what) {
    std::perror(what);
    std::exit(1);
}

using Written = std::optional<std::uint32_t>;  // none: a read

// Access port 0: an AXI-AP with 32-bit addresses. It accesses the RAM like another core: single
// words, in the order of the requests.
class MemoryPort {
public:
    MemoryPort(const char* path, std::uint64_t base) : base_(base) {
        const int file = open(path, O_RDWR);
        struct stat status {};
        if (file < 0 || fstat(file, &status) != 0) die(path);
        bytes_ = static_cast<std::uint64_t>(status.st_size);
        void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED) die(path);
        memory_ = static_cast<std::uint8_t*>(mapped);
    }
    std::uint32_t access(std::uint8_t reg, Written value) {
        if (reg == 0x0c) return data(value);
        if (reg >= 0x10 && reg <= 0x1c)
            return word<std::uint32_t>((tar_ & ~15u) + (reg & 12), value);
        if (value && reg == 0x00) set_csw(*value);
        if (value && reg == 0x04) tar_ = *value;
        switch (reg) {
        case 0x00: return csw_;
        case 0x04: return tar_;
        case 0xf8: return 0x2;         // BASE: no debug entries
        case 0xfc: return 0x24770004;  // IDR: Arm, a memory access port, AXI
        default: return 0;
        }
    }

    bool failed = false;  // sticky

private:
    static constexpr std::uint32_t size_mask = 7, increment_mask = 0x30, increment_single = 0x10;
    static constexpr std::uint32_t enabled = 0x40;

    // The bit says that this probe has no packed transfers.
    void set_csw(std::uint32_t value) {
        csw_ = (value & ~(size_mask | increment_mask)) | enabled | std::min(value & size_mask, 2u);
        if ((value & increment_mask) == increment_single) csw_ |= increment_single;
    }
    template <typename Word>
    std::uint32_t word(std::uint64_t address, Written value) {
        if (address < base_ || address - base_ > bytes_ - sizeof(Word) ||
            address % sizeof(Word) != 0) {
            failed = true;
            return 0;
        }
        auto* const place = reinterpret_cast<volatile Word*>(memory_ + (address - base_));
        if (!value) return *place;
        *place = static_cast<Word>(*value);
        return 0;
    }
    // A byte or halfword uses the byte lanes of its address.
    std::uint32_t data(Written value) {
        const unsigned size = csw_ & size_mask, lane = tar_ % 4 * 8;
        if (value) value = *value >> lane;
        const std::uint32_t found = size == 0   ? word<std::uint8_t>(tar_, value)
                                    : size == 1 ? word<std::uint16_t>(tar_, value)
                                                : word<std::uint32_t>(tar_, value);
        // Only the low 10 bits are incremented.
        if ((csw_ & increment_mask) != 0) tar_ = (tar_ & ~0x3ffu) | ((tar_ + (1u << size)) & 0x3ff);
        return found << lane;
    }

    std::uint64_t base_, bytes_ = 0;
    std::uint8_t* memory_ = nullptr;
    std::uint32_t csw_ = enabled | 2, tar_ = 0;
};

// DPACC and APACC. The next scan returns a read's result. All other access ports read as 0.
class DebugPort {
public:
    explicit DebugPort(MemoryPort& port) : port_(port) {}

    std::uint64_t capture() const { return std::uint64_t{result_} << 3 | ack_ok; }
    void update(bool is_access_port, std::uint64_t scan) {
        const bool reads = (scan & 1) != 0;
        const auto reg = static_cast<std::uint8_t>(scan >> 1 & 3) * 4;
        const auto value = static_cast<std::uint32_t>(scan >> 3);
        if (is_access_port) {
            const bool is_there = select_ >> 24 == 0 && (control_ & power_up) == power_up;
            const auto found = is_there && !port_.failed
                                   ? port_.access(static_cast<std::uint8_t>((select_ & 0xf0) | reg),
                                                  reads ? Written() : value)
                                   : 0;
            if (reads) result_ = found;
        } else if (reads) {  // RDBUFF, 0xc: the result stays
            const std::uint32_t registers[] = {0x2ba01477 /* DPIDR */,
                                               control_ | (port_.failed ? sticky_error : 0),
                                               select_, result_};
            result_ = registers[reg / 4];
        } else if (reg == 4) {
            if ((value & sticky_error) != 0) port_.failed = false;
            control_ = (value & power_up) | (value & power_up) << 1;
        } else if (reg == 8) {
            select_ = value;
        }
    }

private:
    static constexpr std::uint32_t ack_ok = 2, sticky_error = 1u << 5;
    // Requests. They are acknowledged one bit above.
    static constexpr std::uint32_t power_up = 1u << 28 | 1u << 30;

    MemoryPort& port_;
    std::uint32_t control_ = 0, select_ = 0, result_ = 0;
};

// IEEE 1149.1's TAP controller, IR of 4 bits.
class Tap {
public:
    explicit Tap(DebugPort& port) : port_(port) {}

    bool tdo() const { return tdo_; }
    // Called at TCK's rising edge.
    void clock(bool tms, bool tdi) {
        // By state: the next state with TMS 0 and with TMS 1. The states of the IR are 7 above
        // those of the DR.
        static constexpr std::uint8_t next[16][2] = {
            {1, 0}, {1, 2},  {3, 9},   {4, 5},   {4, 5},   {6, 8},   {6, 7},   {4, 8},
            {1, 2}, {10, 0}, {11, 12}, {11, 12}, {13, 15}, {13, 14}, {11, 15}, {1, 2}};
        if (state_ == capture_dr) capture();
        if (state_ == capture_ir) shift_register_ = 1;
        if (state_ == shift_dr || state_ == shift_ir) {
            const unsigned bits = state_ == shift_dr ? dr_bits() : 4;
            shift_register_ = shift_register_ >> 1 | std::uint64_t{tdi} << (bits - 1);
        }
        state_ = next[state_][tms ? 1 : 0];
        if (state_ == reset) ir_ = idcode;
        if (state_ == update_ir) ir_ = static_cast<std::uint8_t>(shift_register_ & 15);
        if (state_ == update_dr && is_port()) port_.update(ir_ == apacc, shift_register_);
    }
    // Called at TCK's falling edge: sets the output for the next rising edge.
    void show() {
        if (state_ == shift_dr || state_ == shift_ir) tdo_ = (shift_register_ & 1) != 0;
    }

private:
    static constexpr std::uint8_t reset = 0, capture_dr = 3, shift_dr = 4, update_dr = 8,
                                  capture_ir = 10, shift_ir = 11, update_ir = 15;
    static constexpr std::uint8_t abort = 8, dpacc = 10, apacc = 11, idcode = 14;

    bool is_port() const { return ir_ == dpacc || ir_ == apacc; }
    unsigned dr_bits() const { return ir_ == idcode ? 32 : is_port() || ir_ == abort ? 35 : 1; }
    void capture() {
        shift_register_ = ir_ == idcode ? 0x4ba00477 : is_port() ? port_.capture() : 0;
    }

    DebugPort& port_;
    std::uint8_t state_ = reset, ir_ = idcode;
    std::uint64_t shift_register_ = 0;
    bool tdo_ = true;
};

int accept_one(const char* path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    const int connection =
        bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                listen(listener, 1) == 0
            ? accept(listener, nullptr, nullptr)
            : -1;
    if (connection < 0) die(path);
    return connection;
}

void serve(int connection, Tap& tap) {
    static char requests[65536];
    bool clock = false;
    for (;;) {
        const ssize_t count = read(connection, requests, sizeof requests);
        if (count <= 0) return;
        std::string answers;
        for (ssize_t i = 0; i < count; ++i) {
            const char request = requests[i];
            if (request >= '0' && request <= '7') {
                const bool before = clock;
                clock = (request & 4) != 0;
                if (clock && !before) tap.clock((request & 2) != 0, (request & 1) != 0);
                if (!clock && before) tap.show();
            } else if (request == 'R') {
                answers.push_back(tap.tdo() ? '1' : '0');
            } else if (request == 'Q') {
                return;
            }
        }
        for (std::size_t at = 0; at < answers.size();) {
            const ssize_t written = write(connection, answers.data() + at, answers.size() - at);
            if (written <= 0) return;
            at += static_cast<std::size_t>(written);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: virtual_probe SOCKET RAM-FILE BASE-ADDRESS\n");
        return 2;
    }
    MemoryPort port(argv[2], std::strtoull(argv[3], nullptr, 0));
    DebugPort debug(port);
    Tap tap(debug);
    serve(accept_one(argv[1]), tap);
}
