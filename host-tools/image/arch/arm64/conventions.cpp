// SPDX-License-Identifier: Apache-2.0
// An entry hook changes x9 to x17, and a return hook x9 to x17 and x30. AAPCS64 lets each function
// change them, and passes nothing in them.
#include "host-tools/image/arch/conventions.hpp"

namespace nopscope::host::arch {
namespace {

// A return hook finds its call by SP, which the callee has to leave as it was.
constexpr unsigned swift_tail = 0xcf;

}  // namespace

// DW_CC_LLVM_* (llvm/BinaryFormat/Dwarf.def). The others are harmless: Swift (0xc8) has its values
// in x20 to x22, and AAPCS (0xc3, aarch64_vector_pcs and aarch64_sve_pcs) keeps vector registers,
// which no hook changes.
const char* broken_convention(unsigned convention) {
    switch (convention) {
    case 0xc9: return "must keep x9 to x15 (preserve_most)";
    case 0xca: return "must keep x9 to x15 (preserve_all)";
    case 0xcd: return "may take arguments in x9 to x15 (preserve_none)";
    case swift_tail: return "takes its arguments off the stack (swiftasynccall)";
    default: return nullptr;
    }
}

// Arguments in x0 to x7 only. clang 19 has room for 17 words of preserve_none before x9 to x15, but
// its manual says that this may change.
unsigned harmless_words(unsigned convention) { return convention == swift_tail ? 8 : 0; }

const char* broken_by_its_code() { return "takes a register of x9 to x15 from its caller"; }
const char* broken_by_its_callers() {
    return "has callers that may keep values in x9 to x17 (GCC's -fipa-ra)";
}

}  // namespace nopscope::host::arch
