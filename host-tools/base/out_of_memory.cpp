// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/out_of_memory.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

void write_out(const char* text) {
    std::size_t left = std::strlen(text);
    while (left != 0) {
        const ssize_t count = write(STDERR_FILENO, text, left);
        if (count <= 0) return;
        text += count;
        left -= static_cast<std::size_t>(count);
    }
}

bool is_memory(const std::exception& error) {
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
           dynamic_cast<const std::length_error*>(&error) != nullptr;
}

[[noreturn]] void exit_with(const char* sentence) {
    write_out("nopscope: ");
    write_out(sentence);
    write_out("\n");
    _exit(static_cast<int>(Exit::input));
}

[[noreturn]] void on_terminate() {
    try {
        if (const std::exception_ptr current = std::current_exception())
            std::rethrow_exception(current);
    } catch (const std::exception& error) {
        if (is_memory(error)) exit_out_of_memory();
        exit_with(for_terminal(error.what()).c_str());
    } catch (...) {
    }
    std::abort();
}

}  // namespace

std::string sentence_of(const std::exception& error) {
    return is_memory(error) ? out_of_memory_sentence : error.what();
}

void exit_out_of_memory() { exit_with(out_of_memory_sentence); }

void catch_in_all_threads() { std::set_terminate(on_terminate); }

}  // namespace nopscope::host
