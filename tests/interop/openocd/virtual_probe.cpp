// SPDX-License-Identifier: Apache-2.0
// A simulated JTAG probe and its target: OpenOCD's remote_bitbang protocol, one TAP, an ARM debug
// port (ADIv5.2, IHI 0031, B3 and C2), and one memory access port, whose memory is a file: the RAM
// of a QEMU (memory-backend-file,share=on), which runs meanwhile.
//
//     virtual_probe RAM-FILE BASE-ADDRESS      standard input: a socket that listens
//
// remote_bitbang: a byte is a request. '0'..'7' set TCK (4), TMS (2), TDI (1); 'R' asks for TDO,
// '0' or '1'; 'r' to 'u' reset; 'B' 'b': a lamp; 'Q' ends.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

// Access port 0: an AXI-AP with 32-bit addresses and without packed transfers. It accesses the RAM
// like another core: single words, in the order of the requests.
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
    std::uint32_t access(std::uint32_t reg, Written value) {
        if (reg == 0x00 && value)
            csw_ = (*value & ~(size_mask | packed)) | std::min(*value & size_mask, 2u);
        if (reg == 0x04 && value) tar_ = *value;
        if (reg == 0x0c) return data(value);
        if (reg >= 0x10 && reg <= 0x1c) return word((tar_ & ~15u) + (reg & 12), value);
        return reg == 0x00 ? csw_ | enabled : reg == 0x04 ? tar_ : 0;
    }

private:
    static constexpr std::uint32_t size_mask = 7, increment = 0x10, packed = 0x20, enabled = 0x40;

    std::uint8_t* at(std::uint32_t address) {
        if (address < base_ || address - base_ >= bytes_) die("an access beyond the RAM");
        return memory_ + (address - base_);
    }
    std::uint32_t word(std::uint32_t address, Written value) {
        auto* const place = reinterpret_cast<volatile std::uint32_t*>(at(address & ~3u));
        if (value) *place = *value;
        return *place;
    }
    // A byte or halfword uses the byte lanes of its address.
    std::uint32_t data(Written value) {
        const unsigned size = csw_ & size_mask;
        const std::uint32_t found = word(tar_, size == 2 ? value : Written());
        if (value && size < 2) {
            const std::uint32_t low = *value >> tar_ % 4 * 8;
            std::memcpy(at(tar_), &low, 1 << size);
        }
        // Only the low 10 bits are incremented.
        if ((csw_ & increment) != 0) tar_ = (tar_ & ~0x3ffu) | ((tar_ + (1u << size)) & 0x3ff);
        return found;
    }

    std::uint64_t base_, bytes_ = 0;
    std::uint8_t* memory_ = nullptr;
    std::uint32_t csw_ = 2, tar_ = 0;
};

// DPACC and APACC. The next scan returns a read's result.
class DebugPort {
public:
    explicit DebugPort(MemoryPort& port) : port_(port) {}

    std::uint64_t capture() const { return std::uint64_t{result_} << 3 | ack_ok; }
    void update(bool is_access_port, std::uint64_t scan) {
        const bool reads = (scan & 1) != 0;
        const auto reg = static_cast<std::uint32_t>(scan >> 1 & 3) * 4;
        const auto value = reads ? Written() : static_cast<std::uint32_t>(scan >> 3);
        const std::uint32_t found =
            is_access_port ? port_.access((select_ & 0xf0) | reg, value) : access(reg, value);
        if (reads) result_ = found;
    }

private:
    static constexpr std::uint32_t ack_ok = 2, control = 4, select = 8;
    // Requests. They are acknowledged one bit above.
    static constexpr std::uint32_t power_up = 1u << 28 | 1u << 30;

    std::uint32_t access(std::uint32_t reg, Written value) {
        if (reg == control && value) control_ = (*value & power_up) | (*value & power_up) << 1;
        if (reg == select && value) select_ = *value;
        const std::uint32_t registers[] = {0x2ba01477 /* DPIDR */, control_, select_, result_};
        return registers[reg / 4];
    }

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
        if (state_ == capture_dr)
            register_ = ir_ == idcode ? 0x4ba00477 : is_port() ? port_.capture() : 0;
        if (state_ == capture_ir) register_ = 1;
        if (is_shifting()) {
            const unsigned bits = state_ == shift_ir ? 4 : ir_ == idcode ? 32 : is_port() ? 35 : 1;
            register_ = register_ >> 1 | std::uint64_t{tdi} << (bits - 1);
        }
        state_ = next[state_][tms ? 1 : 0];
        if (state_ == reset) ir_ = idcode;
        if (state_ == update_ir) ir_ = register_ & 15;
        if (state_ == update_dr && is_port()) port_.update(ir_ == apacc, register_);
    }
    // Called at TCK's falling edge: sets the output for the next rising edge.
    void show() {
        if (is_shifting()) tdo_ = (register_ & 1) != 0;
    }

private:
    static constexpr std::uint8_t reset = 0, capture_dr = 3, shift_dr = 4, update_dr = 8,
                                  capture_ir = 10, shift_ir = 11, update_ir = 15;
    static constexpr std::uint8_t dpacc = 10, apacc = 11, idcode = 14;

    bool is_port() const { return ir_ == dpacc || ir_ == apacc; }
    bool is_shifting() const { return state_ == shift_dr || state_ == shift_ir; }

    DebugPort& port_;
    std::uint64_t register_ = 0, ir_ = idcode;
    std::uint8_t state_ = reset;
    bool tdo_ = true;
};

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
        // A blocking socket takes all.
        if (write(connection, answers.data(), answers.size()) < 0) return;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) die("usage: virtual_probe RAM-FILE BASE-ADDRESS");
    MemoryPort port(argv[1], std::strtoull(argv[2], nullptr, 0));
    DebugPort debug(port);
    Tap tap(debug);
    serve(accept(STDIN_FILENO, nullptr, nullptr), tap);
}
