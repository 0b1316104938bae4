// SPDX-License-Identifier: Apache-2.0
// What the host asks of an architecture. Each architecture's folder has the answers; only such
// folders name an architecture. An image's ELF header says which one it is, and a target's hello.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tracer/protocol/hello.hpp"

namespace nopscope::host {

class ElfFile;

// Where the CPU may go after an instruction, except to the next one. A `call` links and a `jump`
// does not. The indirect kinds have their target in a register. A return counts as `next`.
struct Flow {
    enum class Kind : std::uint8_t { next, call, jump, indirect_call, indirect_jump };
    Kind kind = Kind::next;
    std::uint64_t target = 0;  // of a call or a jump
    bool has_target() const { return kind == Kind::call || kind == Kind::jump; }
};

struct Instruction {
    unsigned bytes = 4;
    Flow flow = {};
    std::optional<std::uint64_t> made = {};  // the address that it completes or loads
};

// Reads code. Pass it the instructions in ascending order. It tracks the upper parts of addresses
// in registers in that order and ignores branches. So it also finds an address that one path begins
// and another completes, because compilers place these two paths in order.
class CodeScan {
public:
    virtual ~CodeScan() = default;
    // Forgets the registers: another function begins.
    virtual void forget() = 0;
    // `word`: the four bytes at the address; beyond the end of the code they are 0.
    virtual Instruction step(std::uint64_t at, std::uint32_t word) = 0;

    // Calls use(address, instruction) for each whole instruction in `bytes`, which begin at `at`.
    template <typename Use>
    void each(std::uint64_t at, std::span<const std::uint8_t> bytes, Use use) {
        for (std::size_t done = 0; done != bytes.size();) {
            const Instruction one = step(at + done, first_word(bytes.subspan(done)));
            if (one.bytes > bytes.size() - done) break;
            use(at + done, one);
            done += one.bytes;
        }
    }
    static std::uint32_t first_word(std::span<const std::uint8_t> bytes) {
        std::uint32_t word = 0;
        for (std::size_t n = 0; n < 4 && n < bytes.size(); ++n)
            word |= std::uint32_t{bytes[n]} << (8 * n);
        return word;
    }
};

struct SiteWords {
    bool has_landing_pad = false;     // at the entry, before the two words
    std::uint64_t setup_address = 0;  // the word that init() writes at boot
    std::uint64_t word_address = 0;   // the word that toggles: idle, or a call
};

// Lengths of the graph recorder's paths, in instructions of which boot does not measure each. The
// tests truth.* fail if one differs from the code.
struct PathLengths {
    std::uint32_t graph;              // of an entry and a return, on the usual path
    std::uint32_t tail;               // extra ones of a tail call's entry
    std::uint32_t hook_before_clock;  // of a return hook, up to its reading of the clock
    std::uint32_t hook_after_clock;   // the others
};

struct Arch {
    // The words that users read and type.
    const char* name;              // "arm64"
    const char* landing_pad_text;  // the instruction; null: none
    const char* breakpoint_text;   // the instruction
    const char* setup_text;        // a site's two words as the target writes them
    const char* call_text;
    const char* pmu_name;          // its performance monitors; null: nopscope counts no events
    const char* event_registers;   // the registers that select the events
    const char* hypervisor_level;  // the level that gives the tracer event counters
    const char* timer_name;        // the counters that may be the target's clock
    const char* cycles_name;
    std::array<const char*, 8> arguments;  // the arguments' registers: a letter and a number
    const char* emulator;                  // QEMU's program
    std::array<const char*, 2> compilers;  // programs, the first one preferred
    const char* compiler_fix;              // how to get one

    // ELF.
    std::uint16_t machine;              // e_machine
    const char* narrow_elf;             // what a 32-bit file of it is; null: nothing is known
    std::uint64_t relative_relocation;  // the r_info that writes the load bias plus its addend
    // The property of .note.gnu.property that lists the features used by all code, and its bit for
    // landing pads.
    std::uint32_t feature_property;
    std::uint32_t landing_pads_feature;

    // Code.
    unsigned least_bytes;  // the shortest instruction's, and the unit of samples' addresses
    // GCC's DWARF says that a function begins after its patch site. That distance from the entry in
    // bytes, without a landing pad and with one.
    std::array<std::uint64_t, 2> body_distances;
    std::unique_ptr<CodeScan> (*scan)(const ElfFile& elf);  // for as long as `elf`
    // The address that a branch of any kind, or a load relative to the PC, refers to.
    std::optional<std::uint64_t> (*pc_relative_target)(std::uint64_t address, std::uint32_t word);
    bool (*is_landing_pad)(std::uint32_t word);  // for indirect calls, where the CPU enforces pads
    bool (*is_site_landing_pad)(std::uint32_t word);  // the one that compilers put before a site
    bool (*is_breakpoint)(std::uint32_t word);        // what debuggers write
    const char* llvm_triple;
    const char* llvm_features;

    // The patch site of the function at `address`: the compiler puts the slot's NOPs before the
    // function and two words of NOPs at its entry, after a landing pad if there is one. It also
    // recognises what boot initialisation wrote, in images dumped from memory.
    std::optional<SiteWords> (*site_words)(const ElfFile& elf, std::uint64_t address);
    // What to do if compiler options do not fit each other, by a site table's entry that is none;
    // null: they do.
    const char* (*site_remedy)(const ElfFile& elf, std::uint64_t address);

    // Functions that a traced call breaks: their callers count on registers that its hooks change.
    // Phrases behind a function's name, such as "must keep x9 to x15 (preserve_most)".
    // By the value of DWARF's DW_AT_calling_convention; null: a traced call is harmless.
    const char* (*broken_convention)(unsigned convention);
    // A function of this convention breaks only if its arguments take more than so many 8-byte
    // words.
    unsigned (*harmless_words)(unsigned convention);
    // Whether the function whose body begins here uses, before its first call or jump, a register
    // as its caller left it that a traced call changes. It keeps the register for its caller, or
    // has an argument there, or the register is reserved for a global variable. No usual function
    // does.
    bool (*takes_register_of_caller)(const ElfFile& elf, std::uint64_t body);
    const char* broken_by_its_code;  // of such a function
    // Of a function whose callers know which registers it changes, and keep values in others.
    const char* broken_by_its_callers;

    PathLengths paths;

    const char* clock_name(protocol::Clock clock) const;  // "cntvct"
};

// All that are known, by the number that hello has.
std::span<const Arch* const> all_archs();
// Their names, as in "arm64 and riscv64".
std::string arch_names(const char* separator);
// Null: this host does not know it.
const Arch* arch_of_machine(std::uint16_t machine);
const Arch* find_arch(protocol::Architecture architecture);
// For a hello that has passed find_arch().
const Arch& arch_of(protocol::Architecture architecture);

}  // namespace nopscope::host
