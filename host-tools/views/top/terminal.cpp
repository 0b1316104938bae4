// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/top/terminal.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"

#define NCURSES_NOMACROS
#include <curses.h>

namespace nopscope::host::top {
namespace {

using Kind = Key::Kind;

// After a crash, makes the terminal usable without ncurses, which a signal handler may not call.
struct Rescue {
    termios settings{};
    std::array<char, 256> bytes{};
    std::size_t count = 0;

    void add_capability(const char* name) {
        const char* text = tigetstr(name);
        if (text == nullptr || text == reinterpret_cast<const char*>(-1)) return;
        add(text);
    }
    void add(const char* text) {
        const std::size_t length = std::min(std::strlen(text), bytes.size() - count);
        std::memcpy(bytes.data() + count, text, length);
        count += length;
    }
} rescue;

constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

void on_crash(int number) {
    // There is no remedy if this fails.
    [[maybe_unused]] const ssize_t written =
        write(STDOUT_FILENO, rescue.bytes.data(), rescue.count);
    tcsetattr(STDIN_FILENO, TCSANOW, &rescue.settings);
    raise(number);  // SA_RESETHAND has restored the default action
}

void prepare_rescue() {
    for (const char* capability : {"sgr0", "cnorm", "rmkx", "rmcup"})
        rescue.add_capability(capability);
    rescue.add("\x1b[?1006l\x1b[?1000l");  // the mouse, as ncurses ends it
    struct sigaction action {};
    action.sa_handler = on_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (const int number : crashes) sigaction(number, &action, nullptr);
}
void forget_rescue() {
    for (const int number : crashes) signal(number, SIG_DFL);
}

enum Pair : short { green = 1, yellow, red, cyan };

// All: wget_wch() waits without a timeout for the next input after an event that is not asked for.
constexpr mmask_t mouse_events = ALL_MOUSE_EVENTS;

std::optional<Key> mouse() {
    MEVENT event{};
    if (getmouse(&event) != OK) return std::nullopt;
    if ((event.bstate & BUTTON4_PRESSED) != 0) return Key{Kind::wheel_up};
    if ((event.bstate & BUTTON5_PRESSED) != 0) return Key{Kind::wheel_down};
    if ((event.bstate & BUTTON1_PRESSED) == 0) return std::nullopt;
    return Key{.kind = Kind::click,
               .row = static_cast<std::size_t>(event.y),
               .column = static_cast<std::size_t>(event.x)};
}

std::optional<Key> special(int code) {
    switch (code) {
    case KEY_UP: return Key{Kind::up};
    case KEY_DOWN: return Key{Kind::down};
    case KEY_LEFT: return Key{Kind::left};
    case KEY_RIGHT: return Key{Kind::right};
    case KEY_PPAGE: return Key{Kind::page_up};
    case KEY_NPAGE: return Key{Kind::page_down};
    case KEY_HOME: return Key{Kind::home};
    case KEY_END: return Key{Kind::end};
    case KEY_ENTER: return Key{Kind::enter};
    case KEY_BACKSPACE:
    case KEY_DC: return Key{Kind::backspace};
    case KEY_F(1): return Key{Kind::help};
    case KEY_F(10): return Key{Kind::quit};
    case KEY_MOUSE: return mouse();
    default: return std::nullopt;
    }
}

std::optional<Key> plain(wint_t code) {
    switch (code) {
    case '\n':
    case '\r': return Key{Kind::enter};
    case 27: return Key{Kind::escape};
    case '\t': return Key{Kind::tab};
    case 127:
    case 8: return Key{Kind::backspace};
    default: break;
    }
    if (code < 32) return std::nullopt;
    std::mbstate_t state{};
    std::array<char, 16> bytes{};
    const std::size_t count = std::wcrtomb(bytes.data(), static_cast<wchar_t>(code), &state);
    if (count == static_cast<std::size_t>(-1)) return std::nullopt;
    return Key{Kind::text, std::string(bytes.data(), count)};
}

}  // namespace

Terminal::Terminal() {
    tcgetattr(STDIN_FILENO, &rescue.settings);
    SCREEN* const screen = newterm(nullptr, stdout, stdin);
    if (screen == nullptr) {
        const char* const kind = std::getenv("TERM");
        throw Error(
            fmt::format(
                "nothing is known of a terminal of kind `{}` (TERM): give --once, or TERM=xterm",
                kind == nullptr ? "" : for_cell(kind)),
            Exit::usage);
    }
    set_term(screen);
    prepare_rescue();
    cbreak();  // the terminal still handles Ctrl-C and Ctrl-Z
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    set_escdelay(25);
    const char* const no_colour = std::getenv("NO_COLOR");
    has_colour_ = (no_colour == nullptr || *no_colour == '\0') && has_colors();
    if (has_colour_) {
        start_color();
        use_default_colors();
        init_pair(green, COLOR_GREEN, -1);
        init_pair(yellow, COLOR_YELLOW, -1);
        init_pair(red, COLOR_RED, -1);
        init_pair(cyan, COLOR_CYAN, -1);
    }
    mouseinterval(0);  // a press counts at once, and is no part of a double click
    keep_errors();
}

void Terminal::use_mouse(bool on) {
    if (std::exchange(has_mouse_, on) != on) mousemask(on ? mouse_events : 0, nullptr);
}

Terminal::~Terminal() {
    endwin();
    forget_rescue();
    show_errors();
}

void Terminal::keep_errors() {
    if (isatty(STDERR_FILENO) == 0) return;  // standard error does not draw on the screen
    errors_ = std::tmpfile();
    if (errors_ == nullptr) return;
    standard_error_ = dup(STDERR_FILENO);
    dup2(fileno(errors_), STDERR_FILENO);
}

void Terminal::show_errors() {
    if (errors_ == nullptr) return;
    dup2(standard_error_, STDERR_FILENO);
    close(standard_error_);
    constexpr long most = 4096;
    std::fseek(errors_, 0, SEEK_END);
    const long size = std::ftell(errors_);
    std::fseek(errors_, size > most ? size - most : 0, SEEK_SET);
    std::string text(static_cast<std::size_t>(most), '\0');
    text.resize(std::fread(text.data(), 1, text.size(), errors_));
    std::fclose(errors_);
    fmt::print(stderr, "{}", for_terminal(text));
}

Size Terminal::size() const {
    return {static_cast<std::size_t>(LINES), static_cast<std::size_t>(COLS)};
}

int Terminal::attributes_of(Style style) const {
    const auto colour = [this](Pair pair, int without) {
        return has_colour_ ? static_cast<int>(COLOR_PAIR(pair)) : without;
    };
    switch (style) {
    case Style::plain: break;
    case Style::dim: return static_cast<int>(A_DIM);
    case Style::bold: return static_cast<int>(A_BOLD);
    case Style::head: return static_cast<int>(A_REVERSE);
    case Style::sorted:
        return static_cast<int>(A_REVERSE | A_BOLD) | colour(cyan, static_cast<int>(A_UNDERLINE));
    case Style::selected: return static_cast<int>(A_REVERSE) | colour(cyan, 0);
    case Style::match:
        return static_cast<int>(A_REVERSE) | colour(yellow, static_cast<int>(A_BOLD));
    case Style::good: return colour(green, 0);
    case Style::warn: return colour(yellow, static_cast<int>(A_BOLD));
    case Style::bad: return static_cast<int>(A_BOLD) | colour(red, 0);
    }
    return 0;
}

void Terminal::show(const Frame& frame) {
    werase(stdscr);
    for (std::size_t row = 0; row < frame.lines.size(); ++row) {
        wmove(stdscr, static_cast<int>(row), 0);
        for (const Span& span : frame.lines[row]) {
            wattrset(stdscr, attributes_of(span.style));
            waddnstr(stdscr, span.text.c_str(), -1);
        }
    }
    wattrset(stdscr, 0);
    curs_set(frame.has_cursor ? 1 : 0);
    if (frame.has_cursor) {
        wmove(stdscr, static_cast<int>(frame.cursor_row), static_cast<int>(frame.cursor_column));
    }
    wrefresh(stdscr);
}

std::optional<Key> Terminal::key(std::chrono::milliseconds timeout) {
    wtimeout(stdscr, static_cast<int>(timeout.count()));
    wint_t code = 0;
    const int kind = wget_wch(stdscr, &code);
    if (kind == ERR) return std::nullopt;
    constexpr wint_t control_l = 12;
    if (kind == OK && code == control_l) clearok(stdscr, TRUE);  // the next show() redraws all
    return kind == KEY_CODE_YES ? special(static_cast<int>(code)) : plain(code);
}

}  // namespace nopscope::host::top
