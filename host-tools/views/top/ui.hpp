// SPDX-License-Identifier: Apache-2.0
// The state of `top`'s screen, and what each key changes in it. It knows no terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "host-tools/target/control/verbs.hpp"
#include "host-tools/views/top/rows.hpp"

namespace nopscope::host::top {

struct Key {
    enum class Kind : std::uint8_t {
        text,
        enter,
        escape,
        backspace,
        tab,
        up,
        down,
        left,
        right,
        page_up,
        page_down,
        home,
        end,
        help,
        quit
    };
    Kind kind{};
    std::string text = {};  // for Kind::text: one UTF-8 character
};

enum class View : std::uint8_t { functions, tree };
enum class Prompt : std::uint8_t { none, search, verb, recorder, record, ask };

struct Ui {
    View view = View::functions;
    Column sort = Column::now;
    bool reversed = false;
    bool help = false;
    bool paused = false;
    unsigned console = 1;  // 0: hidden, 1: a fifth of the screen, 2: half of it

    Prompt prompt = Prompt::none;
    const Verb* verb = nullptr;  // for Prompt::verb
    std::string typed;
    std::string search;   // empty: no search
    std::string message;  // the last answer, one line
    bool message_is_bad = false;

    // Key of the selected line, which stays selected when lines move; nothing: the first line.
    std::optional<std::uint64_t> selected;
    std::size_t first = 0;            // index of the list's top line
    std::size_t page = 10;            // number of lines that fit
    std::set<std::uint64_t> toggled;  // paths of the tree

    std::uint32_t next_mark = 1;
    std::string recorder;  // the chosen one; empty: the target's current one
    std::vector<std::string> filter = {"*"};
    bool recording = false;  // into a file
};

// An action outside the screen.
struct Quit {};
struct StartRecording {
    std::string path;
};
struct StopRecording {};
using Act = std::variant<Quit, ControlRequest, StartRecording, StopRecording>;

// The lines of the view that is shown.
struct Lines {
    std::vector<FunctionLine> functions;
    std::vector<TreeLine> tree;

    std::size_t size(View view) const {
        return view == View::tree ? tree.size() : functions.size();
    }
    const std::string& name(View view, std::size_t at) const {
        return view == View::tree ? tree[at].name : functions[at].name;
    }
    std::uint64_t key(View view, std::size_t at) const {
        return view == View::tree ? tree[at].key : key_of(functions[at].place);
    }
    // Returns 0 if the selected line no longer exists.
    std::size_t selected(const Ui& ui) const;
};

// `recording_path`: the proposed file for a recording.
std::optional<Act> on_key(Ui& ui, const Key& key, const Lines& lines,
                          const std::string& recording_path);

// Call it before draw(): scrolls so that the selected line is among the `page` visible lines.
void scroll(Ui& ui, const Lines& lines, std::size_t page);

struct KeyHelp {
    std::string keys;
    std::string does;
};
const std::vector<KeyHelp>& key_help();
// "untrace GLOB...: ", for the open prompt.
std::string prompt_text(const Ui& ui);

}  // namespace nopscope::host::top
