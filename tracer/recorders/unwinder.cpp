// SPDX-License-Identifier: Apache-2.0
// Lets libgcc's unwinder pass hooked calls: for C++ exceptions, _Unwind_ForcedUnwind() and
// _Unwind_Backtrace(). Only images that link nopscope::unwinding have this (docs/porting.md).
//
// The return address of a hooked call is a hook. So for the unwinder the hook is a frame of its own
// between the call and its caller, with the same SP. It asks _Unwind_Find_FDE() for the frame's
// description. The linker's --wrap puts ours before libgcc's. A hook's description has a DWARF
// expression for the caller's address: it looks for the call's SP on the shadow stack, from the top
// down (arch/arm64/hook_frame.S).
//
// The top is that of the running context, when the unwinder asks. What lies below it belongs to
// open calls of this context. No interrupt and no other context changes that.
#include "tracer/arch/machine.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/hooks.hpp"

extern "C" {

// libgcc's struct dwarf_eh_bases: where the function begins, and what addresses are relative to.
struct FunctionBases {
    std::uint64_t text;
    std::uint64_t data;
    std::uint64_t function;
};

// In: an address in the function: that before the return address. Null: there is no description.
const char* __real__Unwind_Find_FDE(std::uint64_t pc, FunctionBases* bases);
extern const char nopscope_hook_frame[];

// As in unwind.h, which is no header of freestanding C++. 0: go on.
struct _Unwind_Context;
using UnwindVisit = int (*)(_Unwind_Context* context, void* argument);
std::uint64_t _Unwind_GetIP(_Unwind_Context* context);
int __real__Unwind_Backtrace(UnwindVisit visit, void* argument);
}

namespace nopscope {
namespace {

constinit Machine machine;

// The top of the running context's shadow stack; 0: this core does not record. Interrupts are
// masked, so that the context does not move to another core in between.
std::uint64_t top_of_shadow_stack() {
    const std::uint64_t interrupts = machine.mask_interrupts();
    const Core* const core = joined_core();
    const std::uint64_t top = core != nullptr ? core->top : 0;
    machine.restore_interrupts(interrupts);
    return top;
}

struct Visitor {
    UnwindVisit visit;
    void* argument;
    bool is_first = true;
};

// Passes on the frames that are there without the tracer.
int visit_frame(_Unwind_Context* context, void* of) {
    auto& visitor = *static_cast<Visitor*>(of);
    const bool is_ours = visitor.is_first;  // the frame of __wrap__Unwind_Backtrace()
    visitor.is_first = false;
    if (is_ours || hook_of(_Unwind_GetIP(context)) != Hook::none) return 0;
    return visitor.visit(context, visitor.argument);
}

}  // namespace

extern "C" {

const char* __wrap__Unwind_Find_FDE(std::uint64_t pc, FunctionBases* bases) {
    if (hook_of(pc + 1) == Hook::none) return __real__Unwind_Find_FDE(pc, bases);
    const std::uint64_t top = top_of_shadow_stack();
    // `bases` still has those of the frame before. No hook returns to a hook, unless a call has
    // lost its frame (strays.hpp): the unwinding would have no end.
    if (top == 0 || hook_of(bases->function + 1) != Hook::none) return nullptr;
    // hook_frame.S adds 1 again: libgcc adds no base to an offset of 0.
    *bases = {.text = 0, .data = top - 1, .function = pc};
    return nopscope_hook_frame;
}

int __wrap__Unwind_Backtrace(UnwindVisit visit, void* argument) {
    Visitor visitor{visit, argument};
    return __real__Unwind_Backtrace(visit_frame, &visitor);
}
}

}  // namespace nopscope
