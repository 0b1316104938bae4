// SPDX-License-Identifier: Apache-2.0
// A simulated JTAG probe and its target: OpenOCD's remote_bitbang protocol on a Unix socket, one
// TAP, an ARM debug port, and one memory access port, whose memory is a file: the RAM of a QEMU
// (memory-backend-file,share=on). The machine runs meanwhile, as with a real bus access port.
//
//     virtual_probe SOCKET RAM-FILE BASE-ADDRESS
//
// remote_bitbang: a byte is a request. '0'..'7' set TCK (4), TMS (2), TDI (1); 'R' asks for TDO,
// '0' or '1'; 'r' to 'u' reset; 'B' 'b': a lamp; 'Q' ends. Debug port: ADIv5.2 (IHI 0031), B3, C2.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

[[noreturn]] void die(const char* what) {
    std::perror(what);
    std::exit(1);
}

// Accesses the RAM like another core: single words, in the order of the requests.
class Ram {
public:
    Ram(const char* path, std::uint64_t base) : base_(base) {
        const int file = open(path, O_RDWR);
        struct stat status {};
        if (file < 0 || fstat(file, &status) != 0) die(path);
        bytes_ = static_cast<std::uint64_t>(status.st_size);
        void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED) die(path);
        memory_ = static_cast<std::uint8_t*>(mapped);
    }
    // `size`: 1, 2 or 4, aligned. Returns false if the address is not in the RAM.
    template <typename Use>
    bool at(std::uint64_t address, unsigned size, Use use) {
        if (address < base_ || address - base_ > bytes_ - size || address % size != 0) return false;
        std::uint8_t* const place = memory_ + (address - base_);
        switch (size) {
        case 1: return use(reinterpret_cast<volatile std::uint8_t*>(place)), true;
        case 2: return use(reinterpret_cast<volatile std::uint16_t*>(place)), true;
        default: return use(reinterpret_cast<volatile std::uint32_t*>(place)), true;
        }
    }

private:
    std::uint64_t base_;
    std::uint64_t bytes_ = 0;
    std::uint8_t* memory_ = nullptr;
};

// Access port 0: an AXI-AP with 32-bit addresses. Registers of all other ports read as 0.
class MemoryPort {
public:
    explicit MemoryPort(Ram& ram) : ram_(ram) {}

    // Writes `value`, or reads without one. `failed`: sticky, for accesses to memory.
    std::uint32_t access(std::uint8_t reg, bool& failed, const std::uint32_t* value) {
        if (reg == 0x0c) return data(failed, value);
        if (reg >= 0x10 && reg <= 0x1c) return banked(reg, failed, value);
        if (value != nullptr && reg == 0x00) set_csw(*value);
        if (value != nullptr && reg == 0x04) tar_ = *value;
        switch (reg) {
        case 0x00: return csw_;
        case 0x04: return tar_;
        case 0xf8: return 0x2;         // BASE: no debug entries
        case 0xfc: return 0x24770004;  // IDR: Arm, a memory access port, AXI
        default: return 0;
        }
    }

private:
    static constexpr std::uint32_t size_mask = 7, increment_mask = 0x30, increment_single = 0x10;
    static constexpr std::uint32_t enabled = 0x40;

    void set_csw(std::uint32_t value) {
        csw_ = (value & ~(size_mask | increment_mask)) | enabled;
        csw_ |= (value & size_mask) <= 2 ? value & size_mask : 2;
        // Packed transfers are not implemented; the bit shows it.
        if ((value & increment_mask) == increment_single) csw_ |= increment_single;
    }
    // A byte or halfword uses the byte lanes of its address.
    std::uint32_t data(bool& failed, const std::uint32_t* value) {
        const unsigned size = 1u << (csw_ & size_mask);
        const unsigned lane = tar_ % 4 * 8;
        std::uint32_t result = 0;
        failed |= !ram_.at(tar_, size, [&](auto* place) {
            using Word = std::remove_cvref_t<decltype(*place)>;
            if (value != nullptr)
                *place = static_cast<Word>(*value >> lane);
            else
                result = std::uint32_t{*place} << lane;
        });
        // Only the low 10 bits are incremented.
        if ((csw_ & increment_mask) != 0) tar_ = (tar_ & ~0x3ffu) | ((tar_ + size) & 0x3ff);
        return result;
    }
    std::uint32_t banked(std::uint8_t reg, bool& failed, const std::uint32_t* value) {
        std::uint32_t result = 0;
        failed |= !ram_.at((tar_ & ~15u) + (reg & 12), 4, [&](auto* place) {
            if constexpr (sizeof *place == 4) {
                if (value != nullptr)
                    *place = *value;
                else
                    result = *place;
            }
        });
        return result;
    }

    Ram& ram_;
    std::uint32_t csw_ = enabled | 2;
    std::uint32_t tar_ = 0;
};

// DPACC and APACC. The next scan returns a read's result.
class DebugPort {
public:
    explicit DebugPort(MemoryPort& port) : port_(port) {}

    static constexpr std::uint32_t ack_ok = 2;
    std::uint64_t capture() const { return std::uint64_t{result_} << 3 | ack_ok; }
    void update(bool is_access_port, std::uint64_t scan) {
        const bool reads = (scan & 1) != 0;
        const auto reg = static_cast<std::uint8_t>(scan >> 1 & 3) * 4;
        const auto value = static_cast<std::uint32_t>(scan >> 3);
        if (is_access_port)
            return access(static_cast<std::uint8_t>((select_ & 0xf0) | reg), reads, value);
        if (reg == 4) {
            if (reads)
                result_ = control_ | (failed_ ? sticky_error : 0);
            else
                set_control(value);
        } else if (reg == 8) {
            if (reads)
                result_ = select_;
            else
                select_ = value;
        } else if (reads && reg == 0) {
            result_ = 0x2ba01477;  // DPIDR
        }
        // RDBUFF, 0xc: the result stays.
    }

private:
    static constexpr std::uint32_t sticky_error = 1u << 5;
    static constexpr std::uint32_t power_up =
        1u << 28 | 1u << 30;  // requests; acknowledged one bit above

    void set_control(std::uint32_t value) {
        if ((value & sticky_error) != 0) failed_ = false;
        control_ = (value & power_up) | (value & power_up) << 1;
    }
    void access(std::uint8_t reg, bool reads, std::uint32_t value) {
        const bool is_there = select_ >> 24 == 0 && (control_ & power_up) == power_up;
        std::uint32_t found = 0;
        if (is_there && !failed_) found = port_.access(reg, failed_, reads ? nullptr : &value);
        if (reads) result_ = found;
    }

    MemoryPort& port_;
    std::uint32_t control_ = 0;
    std::uint32_t select_ = 0;
    std::uint32_t result_ = 0;
    bool failed_ = false;
};

// IEEE 1149.1's TAP controller, IR of 4 bits.
class Tap {
public:
    explicit Tap(DebugPort& port) : port_(port) {}

    bool tdo() const { return tdo_; }
    // Called at TCK's rising edge.
    void clock(bool tms, bool tdi) {
        if (state_ == capture_dr) capture();
        if (state_ == capture_ir) shift_register_ = 1;
        if (state_ == shift_dr || state_ == shift_ir)
            shift(tdi, state_ == shift_dr ? dr_bits() : 4);
        state_ = next(tms);
        if (state_ == reset) ir_ = idcode;
        if (state_ == update_ir) ir_ = static_cast<std::uint8_t>(shift_register_ & 15);
        if (state_ == update_dr) update();
    }
    // Called at TCK's falling edge: sets the output for the next rising edge.
    void show() {
        if (state_ == shift_dr || state_ == shift_ir) tdo_ = (shift_register_ & 1) != 0;
    }

private:
    using State = std::uint8_t;
    static constexpr State reset = 0, idle = 1, select_dr = 2, capture_dr = 3, shift_dr = 4,
                           exit1_dr = 5, pause_dr = 6, exit2_dr = 7, update_dr = 8, select_ir = 9,
                           capture_ir = 10, shift_ir = 11, exit1_ir = 12, pause_ir = 13,
                           exit2_ir = 14, update_ir = 15;
    static constexpr std::uint8_t dpacc = 10, apacc = 11, idcode = 14;
    static constexpr std::uint32_t id = 0x4ba00477;

    State next(bool tms) const {
        // By state: the next state with TMS 0 and with TMS 1.
        static constexpr State table[16][2] = {
            {idle, reset},         {idle, select_dr},     {capture_dr, select_ir},
            {shift_dr, exit1_dr},  {shift_dr, exit1_dr},  {pause_dr, update_dr},
            {pause_dr, exit2_dr},  {shift_dr, update_dr}, {idle, select_dr},
            {capture_ir, reset},   {shift_ir, exit1_ir},  {shift_ir, exit1_ir},
            {pause_ir, update_ir}, {pause_ir, exit2_ir},  {shift_ir, update_ir},
            {idle, select_dr}};
        return table[state_][tms ? 1 : 0];
    }
    unsigned dr_bits() const {
        if (ir_ == idcode) return 32;
        return ir_ == dpacc || ir_ == apacc || ir_ == 8 /* ABORT */ ? 35 : 1;
    }
    void capture() {
        if (ir_ == idcode)
            shift_register_ = id;
        else
            shift_register_ = ir_ == dpacc || ir_ == apacc ? port_.capture() : 0;
    }
    void shift(bool tdi, unsigned bits) {
        shift_register_ = shift_register_ >> 1 | std::uint64_t{tdi} << (bits - 1);
    }
    void update() {
        if (ir_ == dpacc || ir_ == apacc) port_.update(ir_ == apacc, shift_register_);
    }

    DebugPort& port_;
    State state_ = reset;
    std::uint8_t ir_ = idcode;
    std::uint64_t shift_register_ = 0;
    bool tdo_ = true;
};

int accept_one(const char* path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 ||
        bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, 1) != 0) {
        die(path);
    }
    const int connection = accept(listener, nullptr, nullptr);
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
                const bool rises = (request & 4) != 0 && !clock,
                           falls = (request & 4) == 0 && clock;
                clock = (request & 4) != 0;
                if (rises) tap.clock((request & 2) != 0, (request & 1) != 0);
                if (falls) tap.show();
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
    Ram ram(argv[2], std::strtoull(argv[3], nullptr, 0));
    MemoryPort port(ram);
    DebugPort debug(port);
    Tap tap(debug);
    serve(accept_one(argv[1]), tap);
}
