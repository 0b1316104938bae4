// SPDX-License-Identifier: Apache-2.0
// `diff` shows which functions became slower, faster, new, or gone.
#include "host-tools/figures/diff/diff.hpp"
#include "host-tools/figures/diff/clones.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/html.hpp"
#include "host-tools/views/json/json.hpp"
#include "host-tools/views/page/html.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

struct DiffOptions {
    ReportOptions report;  // image, raw
    std::vector<std::string> before;
    std::vector<std::string> after;
    enum Format : std::uint8_t { text, json, folded } format = text;
    Per per = Per::total;
    bool by_task = false;
    std::string page;                  // a differential flame graph to write; empty: none
    std::optional<double> fail_above;  // percent
    double min_percent = 0.1;          // of all functions' own time: smaller rows are only counted
    bool yes = false;                  // an output may have more than most_unasked_bytes
    std::size_t most = 30;             // rows of a table
};

// "5%" or "5".
CLI::Validator percentage() {
    return {[number = real_number(0, 1e6, "percent")](std::string& text) {
                if (text.ends_with('%')) text.pop_back();
                return number(text);
            },
            ""};
}

const char* verdict_text(Verdict verdict) {
    static constexpr const char* texts[] = {"slower", "faster", "new", "gone", "same"};
    return texts[static_cast<std::size_t>(verdict)];
}

std::string signed_time(double ns) { return (ns < 0 ? "-" : "+") + human_ns(std::abs(ns)); }
// "+12.3 %"; "new" if there is nothing to compare with.
std::string change_text(double before, double after) {
    if (before == 0) return after == 0 ? "0 %" : "new";
    return fmt::format("{:+.1f} %", 100 * (after - before) / before);
}

class Comparison {
public:
    explicit Comparison(const DiffOptions& options) : options_(options) {
        std::vector<RunSums> before = runs(options.before), after = runs(options.after);
        if (nameless_ && builds_.size() > 1 && !options.by_task) {
            throw Error(
                "diff: the recordings are of several builds, and not all have symbols, so nothing "
                "tells which functions are the same: record with --image ELF");
        }
        if (!options.by_task) names_ = fold_clones(names_, before, after);
        if (!options.report.calls.function.empty()) keep(before, after);
        difference_ = compare(std::move(before), std::move(after), options.per);
    }

    std::string text() const {
        std::string out = fmt::format(
            "{} before, {} after; {} of all {}{}: {} -> {}, {}{}\n", count(options_.before),
            count(options_.after), signed_time(difference_.after_ns - difference_.before_ns),
            options_.by_task ? "tasks' time" : "functions' own time", per_text(),
            human_ns(difference_.before_ns), human_ns(difference_.after_ns),
            change_text(difference_.before_ns, difference_.after_ns), probability(difference_.p));
        out +=
            difference_.tested
                ? fmt::format(
                      "slower and faster: significant at a false discovery rate of {:.0f} % "
                      "(Welch's test)\n",
                      100 * significant_rate)
                : std::string(
                      "one run on a side: nothing says which differences are more than chance\n");
        out += spans_text();
        for (const Verdict verdict :
             {Verdict::slower, Verdict::faster, Verdict::fresh, Verdict::gone}) {
            out += section(verdict, difference_.functions, false);
        }
        out += section(Verdict::slower, difference_.paths, true) +
               section(Verdict::faster, difference_.paths, true);
        return out + failures_text();
    }

    Json json() const {
        const auto name = [&](std::uint32_t function) {
            return to_utf8(names_.place(function).name);
        };
        const auto function = [&](const Compared& row) {
            Json one = json_of(row);
            one.update({{"clones", json_list(names_.clones(row.number), to_utf8)},
                        {"name", name(row.number)},
                        {"file", to_utf8(names_.place(row.number).file)}});
            return one;
        };
        Json paths = Json::array();
        for (const Compared& row : difference_.paths) {
            if (row.verdict == Verdict::same || !is_large(row)) continue;
            paths.push_back(json_of(row));
            paths.back()["path"] = json_list(names_.functions_of(row.number), name);
        }
        const auto failure = [&](const Compared* row) { return name(row->number); };
        return {{"before", options_.before},
                {"after", options_.after},
                {"tested", difference_.tested},
                {"by", options_.by_task ? "task" : "function"},
                {"per", options_.per == Per::call     ? "call"
                        : options_.per == Per::second ? "second"
                                                      : "total"},
                {"self_ns",
                 {{"before", difference_.before_ns},
                  {"after", difference_.after_ns},
                  {"p", difference_.p}}},
                {"span_ns",
                 {{"before", difference_.before_span_ns}, {"after", difference_.after_span_ns}}},
                {"functions", json_list(difference_.functions, function)},
                {"paths", std::move(paths)},
                {"failed", json_list(failures(), failure)},
                {"whole_failed", whole_failed()},
                {"compared", compared(true)}};
    }

    // Writes stacks with their own time before and after, in ns, as difffolded.pl does for
    // flamegraph.pl.
    void folded(FileWriter& to) const {
        std::vector<std::string> frames;
        for (std::uint32_t function = 0; function < names_.function_count(); ++function) {
            std::string frame = for_cell(names_.label(function));
            std::replace(frame.begin(), frame.end(), ';', ':');
            frames.push_back(std::move(frame));
        }
        const auto times = [](const Compared& row) {
            return fmt::format(" {:.0f} {:.0f}\n", row.before.self_ns, row.after.self_ns);
        };
        std::vector<std::uint64_t> lengths(names_.path_count());  // of each path's text
        for (std::uint32_t path = 1; path < lengths.size(); ++path) {
            const std::uint32_t caller = names_.caller(path);
            lengths[path] = lengths[caller] + (caller == Names::root ? 0 : 1) +
                            frames[names_.last(path)].size();
        }
        std::uint64_t bytes = 0;
        for (const Compared& row : difference_.paths)
            bytes += lengths[row.number] + times(row).size();
        to.expect(bytes);
        for (const Compared& row : difference_.paths) {
            const char* before = "";
            for (const std::uint32_t function : names_.functions_of(row.number)) {
                to.write(std::exchange(before, ";"));
                to.write(frames[function]);
            }
            to.write(times(row));
        }
    }

    std::string view() const {
        return view_json(
            names_, difference_, "before and after",
            fmt::format("{} before, {} after · own times {} → {}, {}", count(options_.before),
                        count(options_.after), human_ns(difference_.before_ns),
                        human_ns(difference_.after_ns),
                        change_text(difference_.before_ns, difference_.after_ns)));
    }

    bool failed() const {
        return options_.fail_above &&
               (whole_failed() || !failures().empty() || compared(true) == 0);
    }

private:
    std::vector<RunSums> runs(const std::vector<std::string>& files) {
        std::vector<RunSums> list;
        for (const std::string& file : files) {
            ReportOptions options = options_.report;
            options.file = file;
            options.calls.function.clear();  // it may be in one side only: keep()
            const Loaded loaded = load(options, false, [&](const Symbols* symbols) {
                if (symbols != nullptr) names_.add_build(*symbols);
                nameless_ |= symbols == nullptr;
            });
            builds_.insert(loaded.report.build_id);
            if (!loaded.report.integrity.clean)
                say(file + ": " + integrity_line(loaded.report.integrity));
            list.push_back(options_.by_task ? sums_of_tasks(names_, loaded.report)
                                            : sums_of(names_, loaded.report, *loaded.profile));
        }
        return list;
    }

    void keep(std::vector<RunSums>& before, std::vector<RunSums>& after) const {
        const std::string& glob = options_.report.calls.function;
        bool any = false;
        for (auto* const side : {&before, &after}) {
            for (RunSums& run : *side) {
                keep_functions(run, names_, glob);
                any |= !run.functions.empty();
            }
        }
        if (any) return;
        throw Error(
            fmt::format("--function: no {} is named {}",
                        options_.by_task ? "task" : "function that was called", for_cell(glob)),
            Exit::usage);
    }
    bool is_large(const Compared& row) const {
        return std::max(row.before.share, row.after.share) >= options_.min_percent / 100;
    }
    const char* per_text() const {
        return options_.per == Per::call     ? ", per call"
               : options_.per == Per::second ? ", per second of the recording"
                                             : "";
    }
    bool grew(double before, double after) const {
        return options_.fail_above && after > before * (1 + *options_.fail_above / 100);
    }
    bool whole_failed() const {
        return grew(difference_.before_ns, difference_.after_ns) &&
               (!difference_.tested || difference_.p <= significant_rate);
    }
    // How many rows are in both sides, or in one only.
    std::ptrdiff_t compared(bool in_both) const {
        return std::ranges::count_if(difference_.functions, [&](const Compared& row) {
            const bool in_one = row.verdict == Verdict::fresh || row.verdict == Verdict::gone;
            return is_large(row) && in_one != in_both;
        });
    }
    std::vector<const Compared*> failures() const {
        std::vector<const Compared*> list;
        for (const Compared& row : difference_.functions) {
            if (row.verdict == Verdict::slower && is_large(row) &&
                grew(row.before.self_ns, row.after.self_ns))
                list.push_back(&row);
        }
        return list;
    }
    std::string failures_text() const {
        if (!options_.fail_above) return {};
        std::string out = "\n";
        auto to = std::back_inserter(out);
        if (whole_failed())
            fmt::format_to(to, "failed: all functions together are more than {} % slower\n",
                           *options_.fail_above);
        for (const Compared* const row : failures()) {
            fmt::format_to(to, "failed: {} is more than {} % slower\n",
                           for_cell(names_.label(row->number)), *options_.fail_above);
        }
        if (compared(true) == 0)
            fmt::format_to(to,
                           "failed: nothing could be compared: no {} of at least {} % of the time "
                           "is in recordings of both sides\n",
                           options_.by_task ? "task" : "function", options_.min_percent);
        if (!failed())
            fmt::format_to(to, "nothing is more than {} % slower ({} compared, {} new or gone)\n",
                           *options_.fail_above, compared(true), compared(false));
        return out;
    }

    static std::string count(const std::vector<std::string>& files) {
        return fmt::format("{} run{}", files.size(), files.size() == 1 ? "" : "s");
    }
    std::string spans_text() const {
        const double before = difference_.before_span_ns, after = difference_.after_span_ns;
        if (std::max(before, after) <= similar_spans * std::min(before, after)) return {};
        return fmt::format(
            "recorded spans differ: {} before, {} after{}\n", human_ns(before), human_ns(after),
            options_.per == Per::total ? "; the times below are sums over them: see --per second"
                                       : "");
    }
    std::string name_text(std::uint32_t function) const {
        const std::vector<std::string> clones = names_.clones(function);
        return for_cell(names_.label(function)) +
               (clones.empty() ? "" : fmt::format(" (sum of {})", some_of(clones, clones.size())));
    }
    std::string probability(double p) const {
        return difference_.tested ? fmt::format(", p {:.3g}", p) : std::string();
    }

    std::string section(Verdict verdict, const std::vector<Compared>& rows, bool paths) const {
        const bool has_calls = !options_.by_task;
        std::vector<Line> lines{{"change", "", has_calls ? "self before" : "ran before", "after"}};
        if (has_calls) lines[0].insert(lines[0].end(), {"calls before", "after"});
        if (difference_.tested) lines[0].emplace_back("p");
        lines[0].emplace_back(paths ? "path" : has_calls ? "function" : "task");
        lines[0].emplace_back("");
        std::size_t small = 0;
        for (const Compared& row : rows) {
            if (row.verdict != verdict) continue;
            if (!is_large(row)) {
                ++small;
                continue;
            }
            if (lines.size() > options_.most) continue;
            Line line{signed_time(row.change_ns()),
                      change_text(row.before.self_ns, row.after.self_ns),
                      human_ns(row.before.self_ns), human_ns(row.after.self_ns)};
            if (has_calls)
                line.insert(line.end(),
                            {calls_text(row.before.calls), calls_text(row.after.calls)});
            if (difference_.tested) line.push_back(fmt::format("{:.2g}", row.p));
            line.push_back(paths ? path_text(row.number) : name_text(row.number));
            line.push_back(paths ? std::string() : short_place(names_.place(row.number)));
            lines.push_back(std::move(line));
        }
        if (lines.size() == 1 && small == 0) return {};
        std::string out =
            fmt::format("\n{}{}\n", verdict_text(verdict), paths ? ", by call path" : "");
        if (lines.size() > 1) out += table(lines);
        if (small != 0)
            out += fmt::format("and {} of less than {} % of the time\n", with_commas(small),
                               options_.min_percent);
        return out;
    }
    static std::string calls_text(double calls) {
        return calls == std::floor(calls) ? with_commas(static_cast<std::uint64_t>(calls))
                                          : fmt::format("{:.1f}", calls);
    }
    // The path's innermost functions.
    std::string path_text(std::uint32_t path) const {
        constexpr std::size_t shown = 4;
        const std::vector<std::uint32_t> functions = names_.functions_of(path);
        const bool is_cut = functions.size() > shown;
        std::vector<std::string> parts;
        if (is_cut) parts.emplace_back("...");
        for (std::size_t n = is_cut ? functions.size() - shown : 0; n < functions.size(); ++n)
            parts.push_back(for_cell(names_.label(functions[n])));
        return fmt::format("{}", fmt::join(parts, " > "));
    }
    Json json_of(const Compared& row) const {
        const auto side = [](const Amounts& of) {
            return Json{{"calls", of.calls}, {"self_ns", of.self_ns}, {"total_ns", of.total_ns}};
        };
        return {{"verdict", verdict_text(row.verdict)},
                {"before", side(row.before)},
                {"after", side(row.after)},
                {"p", json_if(difference_.tested, row.p)},
                {"q", json_if(difference_.tested, row.q)}};
    }

    const DiffOptions& options_;
    bool nameless_ = false;         // a recording has no symbols
    std::set<std::string> builds_;  // build-ids
    Names names_;
    Difference difference_;
};

Exit diff(const DiffOptions& options) {
    const Comparison comparison(options);
    if (!options.page.empty()) {
        write_page(options.page, html_page(page_template(), comparison.view()), options.yes);
    }
    const Exit verdict = comparison.failed() ? Exit::check_failed : Exit::ok;
    if (is_standard_output(options.page)) return verdict;  // the page alone goes there
    if (!options.yes) standard_output().limit(most_unasked_bytes);
    switch (options.format) {
    case DiffOptions::text: print(comparison.text()); break;
    case DiffOptions::json: print(json_text(comparison.json())); break;
    case DiffOptions::folded: comparison.folded(standard_output()); break;
    }
    return verdict;
}

}  // namespace

Action add_diff(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<DiffOptions>();
    command = add_command(
        app, "diff", "Show what became slower, faster, new, or gone",
        {"nopscope diff before.nsc after.nsc",
         "nopscope diff old1.nsc old2.nsc old3.nsc -- new1.nsc new2.nsc new3.nsc --fail-above 5%"});
    add_value(command, "before", options->before, kind::recording, "Recordings before the change")
        ->required();
    add_value(command, "--after", options->after, kind::recording,
              "Recordings after it; -- is short for this");
    command
        ->add_option(
            "--fail-above", options->fail_above,
            "Exit with 1 when a function, or all together, is more than so much slower (5%)")
        ->transform(percentage())
        ->type_name("PERCENT");
    add_percent(command, "--min-share", options->min_percent,
                "Only functions and paths of so many percent of the time (0.1)");
    add_count(command, "--top", options->most, 1, most_rows,
              "Only the first so many rows of each table (30)");
    add_value(command, "--image", options->report.image, kind::elf,
              "The ELF that was recorded, if they carry no symbols");
    const std::map<std::string, DiffOptions::Format> kinds{
        {"text", DiffOptions::text}, {"json", DiffOptions::json}, {"folded", DiffOptions::folded}};
    add_choice(command, "--format", options->format, kinds, "Output; folded is for flamegraph.pl");
    const std::map<std::string, Per> pers{
        {"total", Per::total}, {"call", Per::call}, {"second", Per::second}};
    add_choice(command, "--per", options->per, pers,
               "Compare sums (total), or times divided by calls or by the recorded seconds");
    const std::map<std::string, bool> bys{{"function", false}, {"task", true}};
    add_choice(command, "--by", options->by_task, bys, "What a row is (function)");
    add_value(command, "--html", options->page, kind::file,
              "Write a page with a differential flame graph, too");
    add_part(command, options->report);
    add_kept_functions(command, options->report);
    add_raw(command, options->report.raw);
    add_on_cpu(command, options->report.on_cpu);
    add_yes(command, options->yes);
    return [options] {
        if (options->after.empty() && options->before.size() == 2) {
            options->after.push_back(options->before.back());
            options->before.pop_back();
        }
        if (options->after.empty()) {
            throw Error("diff: two recordings are wanted, or several before and after --",
                        Exit::usage);
        }
        const bool has_flames = !options->page.empty() || options->format == DiffOptions::folded;
        if (has_flames && (options->by_task || options->per == Per::call)) {
            throw Error(
                "diff: a flame graph has times by call path: neither --by task nor --per "
                "call",
                Exit::usage);
        }
        return diff(*options);
    };
}

}  // namespace nopscope::host
