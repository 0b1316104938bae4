// SPDX-License-Identifier: Apache-2.0
// Starts the C++ run-time and defines the symbols it needs. Static constructors run here in the
// order of the linker's sorted .init_array: after the HAL, before main() and the tracer.
#include <cstdlib>

#include "hal/newlib/run_main.hpp"

extern "C" {

using Constructor = void (*)();
extern const Constructor __init_array_start[], __init_array_end[];

int main(int argc, char** argv);

// Names the image to newlib's atexit, where destructors of statics are registered.
void* __dso_handle = nullptr;
void _init() {}
void _fini() {}
}

void nopscope_run_main() {
    static char name[] = "firmware";
    static char* arguments[] = {name, nullptr};
    for (const Constructor* next = __init_array_start; next != __init_array_end; ++next) (*next)();
    std::exit(main(1, arguments));
}
