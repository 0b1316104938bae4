// SPDX-License-Identifier: Apache-2.0
// The engine as a WebAssembly module for a page (cmake/wasm.cmake). How JavaScript uses it:
//
//   1. Call _initialize() once.
//   2. Get memory with nopscope_buffer(), and fill it with the recording, and again with options.
//   3. Call nopscope_open(). It takes both buffers, and keeps the recording.
//   4. For each question: nopscope_buffer(), then nopscope_ask(). It takes the buffer.
//
// Each of 3 and 4 makes an answer, JSON in UTF-8, which is valid until the next call. The memory
// may grow in every call, so JavaScript makes its view of it anew each time.
//
// While it reads the recording, which a question may do again, it calls the import progress() with
// the bytes that it has read.
//
// Without memory, or after a fault in the engine, the import stop() gets a sentence and must not
// return. The instance is of no use then.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/base/memory.hpp"
#include "host-tools/base/out_of_memory.hpp"
#include "host-tools/base/process_memory.hpp"
#include "host-tools/views/engine/engine.hpp"

extern "C" [[clang::import_module("nopscope"), clang::import_name("stop")]] void nopscope_stop(
    const char* sentence, std::size_t bytes);
extern "C" [[clang::import_module("nopscope"), clang::import_name("progress")]] void
nopscope_progress(std::size_t bytes);

namespace {

using nopscope::host::Engine;
using nopscope::host::Json;
using nopscope::host::json_error;

[[noreturn]] void stop(std::string_view sentence) {
    nopscope_stop(sentence.data(), sentence.size());
    __builtin_trap();
}

struct Free {
    void operator()(void* buffer) const { std::free(buffer); }
};
// From nopscope_buffer().
using Buffer = std::unique_ptr<char, Free>;

Engine& engine() {
    static Engine one;
    return one;
}

std::string& answer() {
    static std::string text;
    return text;
}

// What the module can get for a recording and all that is made of it: its limit (cmake/wasm.cmake),
// less what vectors have twice while they grow.
constexpr std::uint64_t most_memory = 1'900'000'000;

// {"file": name, "title": text, "raw": bool, "on_cpu": bool, "tracer": bool, "memory": bytes,
// "functions": [key in hexadecimal, number, key, number...]}; all are optional. "tracer":
// Engine::show_tracer(); then no parts are asked for.
nopscope::host::Result<void> open(std::span<const std::uint8_t> recording,
                                  std::string_view options_text) {
    const Json json = Json::parse(options_text, nullptr, false);
    if (!json.is_object()) return nopscope::host::failure("the options are not a JSON object");
    const auto text = [&json](const char* name) {
        const auto found = json.find(name);
        return found != json.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
    };
    const auto flag = [&json](const char* name) {
        const auto found = json.find(name);
        return found != json.end() && found->is_boolean() && found->get<bool>();
    };
    const auto memory = json.find("memory");
    if (memory != json.end() && memory->is_number_unsigned()) {
        nopscope::host::limit_budgets(
            std::min(memory->get<std::uint64_t>(),
                     most_memory - std::min<std::uint64_t>(most_memory, recording.size())));
    }
    if (flag("tracer"))
        engine().show_tracer();
    else
        engine().expect_parts();
    const auto opened = engine().open(
        nopscope::host::input_of(recording, nopscope_progress),
        {.file = text("file"), .raw = flag("raw"), .on_cpu = flag("on_cpu")}, text("title"));
    if (const auto list = json.find("functions"); opened && list != json.end()) {
        nopscope::host::Positions numbers;
        for (std::size_t at = 0; at + 1 < list->size(); at += 2) {
            const Json &key = (*list)[at], &number = (*list)[at + 1];
            if (key.is_string() && number.is_number_unsigned())
                numbers.emplace(std::strtoull(key.get<std::string>().c_str(), nullptr, 16),
                                number.get<std::size_t>());
        }
        engine().number_functions(std::move(numbers));
    }
    return opened;
}

}  // namespace

namespace nopscope::host {

void exit_out_of_memory() {
    stop("out of memory: the recording is too large for a page; use the nopscope command");
}

// The module's memory has only the limit of its link.
void allow_memory(std::uint64_t /*bytes*/) {}

}  // namespace nopscope::host

// What libc++ calls where it would throw.
void std::__libcpp_verbose_abort(const char* format, ...) { stop(format); }

extern "C" {

// Debian's compiler-rt guards its frames, and its wasi-libc has nothing for that.
std::uintptr_t __stack_chk_guard = 0x595e'9fbd;
[[noreturn]] void __stack_chk_fail() { stop("the engine's stack was overwritten"); }

// Memory of this size. Null: there is none, or `bytes` is 0.
[[clang::export_name("nopscope_buffer")]] char* nopscope_buffer(std::size_t bytes) {
    return bytes == 0 ? nullptr : static_cast<char*>(std::malloc(bytes));
}

// Opens the recording. The answer is {} or an error. Call it once.
[[clang::export_name("nopscope_open")]] void nopscope_open(char* recording,
                                                           std::size_t recording_bytes,
                                                           char* options,
                                                           std::size_t options_bytes) {
    std::set_new_handler(nopscope::host::exit_out_of_memory);
    static Buffer kept;
    kept.reset(recording);
    const Buffer taken(options);
    const auto opened = open({reinterpret_cast<const std::uint8_t*>(recording), recording_bytes},
                             {options, options_bytes});
    answer() = opened ? "{}" : json_error(opened.error().what());
}

[[clang::export_name("nopscope_ask")]] void nopscope_ask(char* question, std::size_t bytes) {
    const Buffer taken(question);
    answer() = engine().ask({question, bytes});
}

[[clang::export_name("nopscope_answer")]] const char* nopscope_answer() { return answer().data(); }
[[clang::export_name("nopscope_answer_bytes")]] std::size_t nopscope_answer_bytes() {
    return answer().size();
}
}
