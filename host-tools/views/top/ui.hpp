// SPDX-License-Identifier: Apache-2.0
// The state of `top`'s screen, and what each key changes in it. It knows no terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "host-tools/calls/part.hpp"
#include "host-tools/command/verbs.hpp"
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
        quit,
        click,
        wheel_up,
        wheel_down
    };
    Kind kind{};
    std::string text = {};   // for Kind::text: one UTF-8 character
    std::size_t row = 0;     // for Kind::click, from 0
    std::size_t column = 0;  // likewise
};

enum class View : std::uint8_t { functions, tree, tasks };
enum class Prompt : std::uint8_t { none, search, verb, recorder, record, core, task, ask };

struct Ui {
    View view = View::functions;
    Column sort = Column::now;
    bool reversed = false;
    bool help = false;
    std::size_t help_first = 0;  // the help's top line
    bool help_goes_on = false;   // lines follow below the screen
    bool paused = false;
    bool mouse = true;
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
    // Where draw() put the list: the row of its head, and where each column of the head ends.
    struct HeadEnd {
        std::size_t end;
        Column column;
    };
    std::optional<std::size_t> head_row;
    std::vector<HeadEnd> head_ends;

    std::uint32_t next_mark = 1;
    std::string recorder;  // the chosen one; empty: the target's current one
    std::vector<std::string> filter = {"*"};
    Part part;               // the core or the tasks that are shown
    bool recording = false;  // into a file
};

// An action outside the screen.
struct Quit {};
struct StartRecording {
    std::string path;
};
struct StopRecording {};
struct ShowPart {
    Part part;
};
using Act = std::variant<Quit, ControlRequest, StartRecording, StopRecording, ShowPart>;

// The lines of the view that is shown.
struct Lines {
    std::vector<FunctionLine> functions;
    std::vector<TreeLine> tree;
    std::vector<TaskRow> tasks;

    std::size_t size(View view) const {
        return view == View::tree    ? tree.size()
               : view == View::tasks ? tasks.size()
                                     : functions.size();
    }
    const std::string& name(View view, std::size_t at) const {
        return view == View::tree    ? tree[at].name
               : view == View::tasks ? tasks[at].name
                                     : functions[at].name;
    }
    std::uint64_t key(View view, std::size_t at) const {
        return view == View::tree    ? tree[at].key
               : view == View::tasks ? std::hash<std::string>()(tasks[at].task.name)
                                     : key_of(functions[at].place);
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
// What the open prompt asks for, as "untrace".
std::string prompt_text(const Ui& ui);
// What may be typed there: "GLOB...".
std::string prompt_hint(const Ui& ui);

}  // namespace nopscope::host::top
