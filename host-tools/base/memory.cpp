// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/memory.hpp"

#ifndef __wasi__
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string_view>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

// Buffers of a file, a compressed block and an output; they do not depend on the recording.
constexpr std::uint64_t fixed_bytes = 40'000'000;

// More memory than any machine has.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 48;

std::uint64_t limit = default_memory_bytes;

}  // namespace

std::optional<std::uint64_t> read_size(const std::string& text) {
    std::string_view unit = text;
    const auto number = take_decimal(unit);
    if (!number) return std::nullopt;
    static constexpr struct {
        std::string_view name;
        double bytes;
    } units[] = {{"", 1},     {"B", 1},        {"kB", 1e3},     {"KB", 1e3},    {"MB", 1e6},
                 {"GB", 1e9}, {"TB", 1e12},    {"k", 1e3},      {"K", 1e3},     {"M", 1e6},
                 {"G", 1e9},  {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
    for (const auto& [name, bytes] : units) {
        if (unit != name) continue;
        const double size = std::round(*number * bytes);
        if (size > static_cast<double>(most_bytes)) return std::nullopt;
        return static_cast<std::uint64_t>(size);
    }
    return std::nullopt;
}

std::uint64_t memory_limit() { return limit; }

MemoryBudget::MemoryBudget(double share)
    : left_(static_cast<std::uint64_t>(
          share * static_cast<double>(limit - std::min(limit, fixed_bytes)))) {}

#ifdef __wasi__  // the engine limits a module's memory
void allow_memory(std::uint64_t /*bytes*/) {}
#else
namespace {

// Bytes of private writable memory, which RLIMIT_DATA limits; 0: not known.
std::uint64_t data_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t pages[6] = {};
    for (std::uint64_t& count : pages) file >> count;
    return file ? pages[5] * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void set_soft_limit(rlim_t bytes) {
    rlimit both{};
    if (getrlimit(RLIMIT_DATA, &both) != 0) return;
    both.rlim_cur = both.rlim_max == RLIM_INFINITY ? bytes : std::min(bytes, both.rlim_max);
    setrlimit(RLIMIT_DATA, &both);
}

// std::bad_alloc must reach main. Destructors on the way take memory, as a large JSON value's does.
constexpr std::uint64_t reserve_bytes = 32'000'000;
void give_up() {
    allow_memory(reserve_bytes);
    throw std::bad_alloc();
}

constexpr bool has_sanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
    return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
    return false;
#endif
}

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

void limit_memory(std::uint64_t bytes) {
    limit = bytes;
    const std::uint64_t now = data_bytes();
    if (now == 0 || has_sanitizer()) return;
    set_soft_limit(now + bytes);
    std::set_new_handler(give_up);
}

void allow_memory(std::uint64_t bytes) {
    rlimit both{};
    if (getrlimit(RLIMIT_DATA, &both) != 0 || both.rlim_cur == RLIM_INFINITY) return;
    set_soft_limit(both.rlim_cur + std::min(bytes, most_bytes));
}

void allow_threads(unsigned count) {
    constexpr std::size_t stack_bytes = std::size_t{1} << 20;
#ifdef __GLIBC__
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, stack_bytes);
        pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
    }
#endif
    allow_memory(std::uint64_t{count} * stack_bytes);
}

void lift_memory_limit() { set_soft_limit(RLIM_INFINITY); }

std::string sentence_of(const std::exception& error) {
    return is_memory(error) ? out_of_memory_sentence : error.what();
}

void exit_out_of_memory() { exit_with(out_of_memory_sentence); }

void catch_in_all_threads() { std::set_terminate(on_terminate); }
#endif

}  // namespace nopscope::host
