// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/run_main.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope {

int run_main(const char* program, int (*run)(int argc, char** argv), int argc, char** argv) {
    const auto complain = [program](const std::exception& error, Exit code) {
        fmt::print(stderr, "{}: {}\n", program, for_terminal(error.what()));
        return static_cast<int>(code);
    };
    try {
        return run(argc, argv);
    } catch (const Error& error) {
        return complain(error, error.code());
    } catch (const std::exception& error) {
        return complain(error, Exit::input);
    }
}

}  // namespace nopscope
