// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "host-tools/views/top/ui.hpp"

namespace nopscope::host::top {
namespace {

using Kind = Key::Kind;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

void say(Ui& ui, const std::string& message, bool bad) {
    ui.message = message;
    ui.message_is_bad = bad;
}

void open_prompt(Ui& ui, Prompt prompt, const std::string& typed = "") {
    ui.prompt = prompt;
    ui.typed = typed;
    say(ui, "", false);
}

void select(Ui& ui, const Lines& lines, std::size_t at) {
    const std::size_t size = lines.size(ui.view);
    if (size == 0) return;
    at = std::min(at, size - 1);
    // At the first line, the selection stays at the top when lines move.
    ui.selected = at == 0 ? std::nullopt : std::optional(lines.key(ui.view, at));
}

// Selects the next line from `from` on that matches; wraps around at the end. `step`: 1 or -1.
void search_on(Ui& ui, const Lines& lines, std::size_t from, int step) {
    const std::size_t size = lines.size(ui.view);
    for (std::size_t n = 0; n < size; ++n) {
        const std::size_t at = step > 0 ? (from + n) % size : (from + size - n) % size;
        if (!matches(lines.name(ui.view, at), ui.search)) continue;
        ui.selected = lines.key(ui.view, at);
        say(ui, "", false);
        return;
    }
    say(ui, "no name here has that in it", true);
}
void search_again(Ui& ui, const Lines& lines, int step) {
    const std::size_t size = lines.size(ui.view);
    if (ui.search.empty() || size == 0) return;
    search_on(ui, lines, (lines.selected(ui) + size + static_cast<std::size_t>(step)) % size, step);
}

// The mouse's wheel: the list and the selection move together.
void roll(Ui& ui, const Lines& lines, int step) {
    constexpr std::size_t wheel_lines = 3;
    const std::size_t at = lines.selected(ui);
    if (step < 0) {
        ui.first -= std::min(ui.first, wheel_lines);
        return select(ui, lines, at - std::min(at, wheel_lines));
    }
    ui.first += wheel_lines;
    select(ui, lines, at + wheel_lines);
}

void open_or_close(Ui& ui, const Lines& lines, std::optional<bool> wanted) {
    if (ui.view != View::tree || lines.tree.empty()) return;
    const TreeLine& line = lines.tree[lines.selected(ui)];
    if (!line.has_children || wanted == line.is_open) return;
    if (ui.toggled.erase(line.key) == 0) ui.toggled.insert(line.key);
}

// On a column's head: sorts by it, or the other way round. On a line: selects it; a second click
// opens or closes its path.
void click(Ui& ui, const Lines& lines, const Key& key) {
    if (!ui.head_row || key.row < *ui.head_row) return;
    if (key.row == *ui.head_row) {
        for (const Ui::HeadEnd& head : ui.head_ends) {
            if (key.column >= head.end) continue;
            ui.reversed = ui.sort == head.column && !ui.reversed;
            ui.sort = head.column;
            return;
        }
        return;
    }
    const std::size_t line = key.row - *ui.head_row - 1;
    const std::size_t at = ui.first + line;
    if (line >= ui.page || at >= lines.size(ui.view)) return;
    const std::uint64_t wanted = lines.key(ui.view, at);
    if (ui.selected == wanted) return open_or_close(ui, lines, std::nullopt);
    ui.selected = wanted;
}

void sort_beside(Ui& ui, int step) {
    const auto count = static_cast<int>(std::size(all_columns));
    const auto at = static_cast<int>(ui.sort);
    ui.sort = all_columns[(at + step + count) % count];
    ui.view = View::functions;
}

// Shows the view, or the functions again.
void turn_to(Ui& ui, View view) {
    ui.view = ui.view == view ? View::functions : view;
    ui.selected.reset();
    ui.first = 0;
}

ControlRequest request_of(const Verb& verb, const std::vector<std::string>& words) {
    ControlRequest request{.words = {verb.name}};
    request.words.insert(request.words.end(), words.begin(), words.end());
    return request;
}
const Verb& verb_with_recorder() {
    return *std::find_if(verbs().begin(), verbs().end(),
                         [](const Verb& verb) { return verb.has_recorder; });
}
ControlRequest trace(const Ui& ui) {
    ControlRequest request = request_of(verb_with_recorder(), ui.filter);
    request.recorder = ui.recorder;
    return request;
}

std::optional<Act> show_core(Ui& ui) {
    Part part = ui.part;
    part.core.reset();
    if (!ui.typed.empty()) {
        unsigned core = 0;
        const char* const end = ui.typed.data() + ui.typed.size();
        const auto [last, error] = std::from_chars(ui.typed.data(), end, core);
        if (error != std::errc() || last != end) {
            say(ui, "core " + ui.typed + ": expected a number, or nothing for all", true);
            return std::nullopt;
        }
        part.core = core;
    }
    return ShowPart{part};
}
std::optional<Act> show_task(Ui& ui) {
    Part part = ui.part;
    part.task = ui.typed;
    return ShowPart{part};
}

std::optional<Act> accept(Ui& ui) {
    const Prompt prompt = std::exchange(ui.prompt, Prompt::none);
    const std::vector<std::string> words = words_of(ui.typed);
    switch (prompt) {
    case Prompt::none:
    case Prompt::search: break;
    case Prompt::verb:
        if (ui.verb->has_recorder) {
            ui.filter = words.empty() ? std::vector<std::string>{"*"} : words;
            return trace(ui);
        }
        if (words.size() >= ui.verb->argument.least) return request_of(*ui.verb, words);
        break;
    case Prompt::recorder:
        if (words.empty()) break;
        ui.recorder = words[0];
        return trace(ui);
    case Prompt::record:
        if (!ui.typed.empty()) return StartRecording{ui.typed};
        break;
    case Prompt::core: return show_core(ui);
    case Prompt::task: return show_task(ui);
    case Prompt::ask:
        if (!words.empty()) return ControlRequest{.words = words};
        break;
    }
    return std::nullopt;
}

// Asks for the verb's arguments, or returns the request at once.
std::optional<Act> on_verb(Ui& ui, const Verb& verb, const Lines& lines) {
    if (verb.is_numbered) return request_of(verb, {std::to_string(ui.next_mark++)});
    if (verb.argument.most <= 1 && verb.argument.least == 0) return request_of(verb, {});
    const bool is_of_line =
        verb.chooses && !verb.has_recorder && ui.view != View::tasks && lines.size(ui.view) != 0;
    open_prompt(ui, Prompt::verb, is_of_line ? lines.name(ui.view, lines.selected(ui)) : "");
    ui.verb = &verb;
    return std::nullopt;
}

std::optional<Act> on_prompt_key(Ui& ui, const Key& key, const Lines& lines) {
    const bool searching = ui.prompt == Prompt::search;
    switch (key.kind) {
    case Kind::enter: return accept(ui);
    case Kind::escape:
    case Kind::quit:
        if (searching) ui.search.clear();
        ui.prompt = Prompt::none;
        return std::nullopt;
    case Kind::backspace:
        // Removes all bytes of a UTF-8 character.
        while (!ui.typed.empty() && (static_cast<unsigned char>(ui.typed.back()) & 0xc0) == 0x80)
            ui.typed.pop_back();
        if (!ui.typed.empty()) ui.typed.pop_back();
        break;
    case Kind::text: ui.typed += key.text; break;
    default: return std::nullopt;
    }
    if (searching) {
        ui.search = ui.typed;
        if (!ui.search.empty()) search_on(ui, lines, lines.selected(ui), 1);
    }
    return std::nullopt;
}

void open_help(Ui& ui) {
    ui.help = true;
    ui.help_first = 0;
}

// A key that moves on shows the rest of a long help; any other key ends it.
void turn_help(Ui& ui, const Key& key) {
    const bool moves = key.kind == Kind::down || key.kind == Kind::page_down ||
                       key.kind == Kind::wheel_down || key.text == " ";
    if (moves && ui.help_goes_on)
        ui.help_first += ui.page;
    else
        ui.help = false;
}

std::optional<Act> on_letter(Ui& ui, char letter, const Lines& lines,
                             const std::string& recording_path) {
    switch (letter) {
    case 'q': return Quit{};
    case '?':
    case 'h': open_help(ui); break;
    case ' ':
    case 'p': ui.paused = !ui.paused; break;
    case 't': turn_to(ui, View::tree); break;
    case 'k': turn_to(ui, View::tasks); break;
    case 'c': ui.console = (ui.console + 1) % 3; break;
    case '<':
    case ',': sort_beside(ui, -1); break;
    case '>':
    case '.': sort_beside(ui, 1); break;
    case 'I': ui.reversed = !ui.reversed; break;
    case '/': open_prompt(ui, Prompt::search); break;
    case 'n': search_again(ui, lines, 1); break;
    case 'N': search_again(ui, lines, -1); break;
    case 'R': open_prompt(ui, Prompt::recorder); break;
    case 'C': open_prompt(ui, Prompt::core); break;
    case 'T': open_prompt(ui, Prompt::task); break;
    case 's': ui.mouse = !ui.mouse; break;
    case ':': open_prompt(ui, Prompt::ask); break;
    case 'r':
        if (ui.recording) return StopRecording{};
        open_prompt(ui, Prompt::record, recording_path);
        break;
    default:
        for (const Verb& verb : verbs()) {
            if (letter != '\0' && verb.key == letter) return on_verb(ui, verb, lines);
        }
    }
    return std::nullopt;
}

std::string listed(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<KeyHelp> all_key_help() {
    std::vector<KeyHelp> list{
        {"up, down", "move; also PgUp, PgDn, Home, End"},
        {"< > I", "sort by the column beside (also left, right); the other way round"},
        {"t, Tab", "functions, or the call tree"},
        {"k", "functions, or the tasks"},
        {"Enter", "in the tree: open and close a path (also left, right)"},
        {"/", "search while you type; n, N: the next, the one before; Esc: end"},
        {"C, T", "show only one core, only some tasks; Enter alone: all again"},
        {"p, space", "hold the picture; the line is read on"},
        {"c", "console: a fifth of the screen, half of it, none"},
        {"r", "record the line into a file on the side, or end that"},
        {"mouse", "select a line, scroll; on a column's head: sort by it"},
        {"s", "mouse off, so that the terminal itself selects text; on again"},
    };
    for (const Verb& verb : verbs()) {
        if (verb.key == '\0') continue;
        const bool is_listed = !verb.argument.has_other_values;
        list.push_back({std::string(1, verb.key),
                        fmt::format("{}: {}", verb.name,
                                    is_listed ? listed(verb.argument.values()) : verb.help)});
    }
    list.insert(list.end(),
                {{"R", "recorder: " + listed(recorder_names())},
                 {":", "ask anything that `nopscope ctl` does: stats, depth 3, only main, reset"},
                 {"q, F10", "quit (also Ctrl-C); Ctrl-L: draw the screen again"}});
    return list;
}

}  // namespace

std::size_t Lines::selected(const Ui& ui) const {
    if (!ui.selected) return 0;
    for (std::size_t at = 0; at < size(ui.view); ++at) {
        if (key(ui.view, at) == *ui.selected) return at;
    }
    return 0;
}

std::optional<Act> on_key(Ui& ui, const Key& key, const Lines& lines,
                          const std::string& recording_path) {
    if (ui.prompt != Prompt::none) return on_prompt_key(ui, key, lines);
    say(ui, "", false);
    if (ui.help && key.kind != Kind::quit) {
        turn_help(ui, key);
        return std::nullopt;
    }
    const std::size_t at = lines.selected(ui);
    switch (key.kind) {
    case Kind::text:
        return key.text.size() == 1 ? on_letter(ui, key.text[0], lines, recording_path)
                                    : std::nullopt;
    case Kind::quit: return Quit{};
    case Kind::help: open_help(ui); break;
    case Kind::escape: ui.search.clear(); break;
    case Kind::up: select(ui, lines, at - (at != 0)); break;
    case Kind::down: select(ui, lines, at + 1); break;
    case Kind::page_up: select(ui, lines, at - std::min(at, ui.page)); break;
    case Kind::page_down: select(ui, lines, at + ui.page); break;
    case Kind::home: select(ui, lines, 0); break;
    case Kind::end: select(ui, lines, lines.size(ui.view)); break;
    case Kind::enter: open_or_close(ui, lines, std::nullopt); break;
    case Kind::left:
        if (ui.view == View::tree)
            open_or_close(ui, lines, false);
        else
            sort_beside(ui, -1);
        break;
    case Kind::right:
        if (ui.view == View::tree)
            open_or_close(ui, lines, true);
        else
            sort_beside(ui, 1);
        break;
    case Kind::tab: return on_letter(ui, 't', lines, recording_path);
    case Kind::click: click(ui, lines, key); break;
    case Kind::wheel_up: roll(ui, lines, -1); break;
    case Kind::wheel_down: roll(ui, lines, 1); break;
    case Kind::backspace: break;
    }
    return std::nullopt;
}

void scroll(Ui& ui, const Lines& lines, std::size_t page) {
    const std::size_t size = lines.size(ui.view);
    const std::size_t at = lines.selected(ui);
    ui.page = std::max<std::size_t>(page, 1);
    if (at < ui.first) ui.first = at;
    if (at >= ui.first + ui.page) ui.first = at - ui.page + 1;
    if (size <= ui.page)
        ui.first = 0;
    else
        ui.first = std::min(ui.first, size - ui.page);
}

const std::vector<KeyHelp>& key_help() {
    static const std::vector<KeyHelp> list = all_key_help();
    return list;
}

std::string prompt_text(const Ui& ui) {
    switch (ui.prompt) {
    case Prompt::none: return "";
    case Prompt::search: return "search";
    case Prompt::verb: return ui.verb->name;
    case Prompt::recorder: return "recorder";
    case Prompt::record: return "record into";
    case Prompt::core: return "only core";
    case Prompt::task: return "only tasks";
    case Prompt::ask: return "ask the target";
    }
    return "";
}

std::string prompt_hint(const Ui& ui) {
    switch (ui.prompt) {
    case Prompt::verb: {
        const Argument& argument = ui.verb->argument;
        return argument.has_other_values ? argument.text : listed(argument.values());
    }
    case Prompt::recorder: return listed(recorder_names());
    case Prompt::core: return "a number, from 0; nothing: all";
    case Prompt::task: return "names or numbers of tasks, * and ? in them; nothing: all";
    default: return "";
    }
}

}  // namespace nopscope::host::top
