// SPDX-License-Identifier: Apache-2.0
// The state of `top`'s screen, and what a key does to it. No terminal here.
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
        text, enter, escape, backspace, tab, up, down, left, right, page_up, page_down, home, end, help, quit
    };
    Kind kind{};
    std::string text = {};  // of Kind::text: one character, UTF-8
};

enum class View : std::uint8_t { functions, tree };
enum class Prompt : std::uint8_t { none, search, verb, recorder, record, ask };

struct Ui {
    View view = View::functions;
    Column sort = Column::now;
    bool reversed = false;
    bool help = false;
    bool paused = false;
    unsigned console = 1;  // 0: not shown, 1: a fifth of the screen, 2: half of it

    Prompt prompt = Prompt::none;
    const Verb* verb = nullptr;  // of Prompt::verb
    std::string typed;
    std::string search;   // empty: none
    std::string message;  // the last answer, one line
    bool message_is_bad = false;

    // The line that is marked, by what it is, so that it stays when lines move; nothing: the first.
    std::optional<std::uint64_t> selected;
    std::size_t first = 0;  // line that is at the top of the list
    std::size_t page = 10;  // lines that there is room for
    std::set<std::uint64_t> toggled;  // paths of the tree

    std::uint32_t next_mark = 1;
    std::string recorder;  // that was chosen; empty: as the target has it
    std::vector<std::string> filter = {"*"};
    bool recording = false;  // on the side
};

// What is to be done besides.
struct Quit {};
struct StartRecording {
    std::string path;
};
struct StopRecording {};
using Act = std::variant<Quit, ControlRequest, StartRecording, StopRecording>;

// The lines that are shown, of the view that is.
struct Lines {
    std::vector<FunctionLine> functions;
    std::vector<TreeLine> tree;

    std::size_t size(View view) const { return view == View::tree ? tree.size() : functions.size(); }
    const std::string& name(View view, std::size_t at) const {
        return view == View::tree ? tree[at].name : functions[at].name;
    }
    std::uint64_t key(View view, std::size_t at) const {
        return view == View::tree ? tree[at].key : key_of(functions[at].place);
    }
    // 0 where it is not there any more.
    std::size_t selected(const Ui& ui) const;
};

// `recording_path`: what is proposed for a recording on the side.
std::optional<Act> on_key(Ui& ui, const Key& key, const Lines& lines, const std::string& recording_path);

// Before it is drawn: scrolls until it shows the selected line among `page` of them.
void scroll(Ui& ui, const Lines& lines, std::size_t page);

struct KeyHelp {
    std::string keys;
    std::string does;
};
const std::vector<KeyHelp>& key_help();
// "untrace GLOB...: ", of the prompt that is open.
std::string prompt_text(const Ui& ui);

}  // namespace nopscope::host::top
