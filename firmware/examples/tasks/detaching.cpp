// SPDX-License-Identifier: Apache-2.0
// Checks what detach() promises, while tasks are preempted and move: when it has returned ok, no
// task is in the callback, nor comes to it. Callbacks use general registers only (CMakeLists.txt).
#include "workloads.hpp"

#include "hal/hal.hpp"
#include "nopscope/return_ops.hpp"

namespace hal = nopscope::hal;

namespace {

unsigned inside;   // calls of callbacks
bool is_attached;  // or attach() is about to

void be_inside() {
    __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < 100; ++i) {
        if (!__atomic_load_n(&is_attached, __ATOMIC_SEQ_CST))
            hal::panic("tasks: a callback runs after detach()");
    }
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}
void on_call(std::uint64_t, std::uint64_t, nopscope::Ops*, nopscope::Regs*) { be_inside(); }
bool on_entry(std::uint64_t, std::uint64_t, nopscope::ReturnOps*, nopscope::Regs*,
              nopscope::CallData*) {
    be_inside();
    return true;
}
void on_exit(std::uint64_t, std::uint64_t, nopscope::ReturnOps*, nopscope::ReturnRegs*,
             nopscope::CallData*) {
    be_inside();
}

nopscope::Ops guarded{.func = on_call};
nopscope::Ops unguarded{.func = on_call, .flags = nopscope::ops_unguarded};
nopscope::ReturnOps returning(on_entry, on_exit);
nopscope::Ops* const all[] = {&guarded, &unguarded, &returning};

void must(nopscope::Status status) {
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
}

nopscope::Status attach_one(nopscope::Ops& ops, const nopscope::Sites& sites) {
    return &ops == &returning ? nopscope::attach(returning, sites) : nopscope::attach(ops, sites);
}
nopscope::Status detach_one(nopscope::Ops& ops) {
    return &ops == &returning ? nopscope::detach(returning) : nopscope::detach(ops);
}

}  // namespace

unsigned attach_and_detach(unsigned number, std::span<const void* const> functions) {
    nopscope::Ops& ops = *all[number % 3];
    __atomic_store_n(&is_attached, true, __ATOMIC_SEQ_CST);
    unsigned timeouts = 0;
    nopscope::Status status = attach_one(ops, nopscope::Sites::of(functions));
    if (status == nopscope::Status::timeout) {  // it is attached all the same
        ++timeouts;
        status = nopscope::Status::ok;
    }
    must(status);
    for (unsigned i = 0; i < number % 64 * 100; ++i) asm volatile("");
    for (status = detach_one(ops); status == nopscope::Status::timeout; status = detach_one(ops))
        ++timeouts;
    must(status);
    if (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) != 0)
        hal::panic("tasks: a callback is running after detach()");
    __atomic_store_n(&is_attached, false, __ATOMIC_SEQ_CST);
    return timeouts;
}
