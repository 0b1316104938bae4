// SPDX-License-Identifier: Apache-2.0
// Answers questions about one recording, each with JSON. The command uses it, and so does a page
// that carries its recording: there it is a WebAssembly module (wasm.cpp). So it reads no files and
// throws nothing.
//
//   {"ask":"view"}       the page's data (views/page/html.hpp), as `nopscope html` writes them.
//   With
//                        "time", "core", "task" or "under" those of a part: the values are those of
//                        the options --time (no markers), --core, --task and --under. A part has no
//                        timeline.
//   {"ask":"cost"}       {"records": N}: how many records the last view of a part unpacked
//   {"ask":"timeline","from":A,"to":B,"slots":N}
//                        the view's section `timeline`, of the calls from A to B (ns since the
//                        timeline's begin), for a picture that is N slots wide
//   {"ask":"calls","from":A,"to":B,"first":K,"count":N,"functions":[F...],"tracks":[T...]}
//                        of the calls that begin in [A, B) the N from the K-th on, which is 0 for
//                        the first, and how many there are; in the order of their begins. "from"
//                        and "to": ns since the timeline's begin; without them all. "functions":
//                        the functions' numbers in the section `timeline`; without them all.
//                        "tracks": positions in that section's tracks; without them all.
//   {"ask":"call","function":F,"which":"next","from":A,"to":B,"tracks":[T...]}
//                        a call of one function: "longest", "shortest", or the "next" or "previous"
//                        of a call with "track", "depth", "begin" and "duration", or of a time
//                        "begin"; null: there is none. It begins in [A, B), and "number" is its
//                        place among the function's calls there, from 0. The longest and the
//                        shortest also end by B.
//
// What cannot be answered gives {"error": a sentence}.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/analysis/report/load.hpp"
#include "host-tools/analysis/timeline/timeline.hpp"
#include "host-tools/views/page/html.hpp"

namespace nopscope::host {

class Engine {
public:
    // Parts will be asked for. open() takes longer and more memory then, and parts are quick. Call
    // it before open().
    void expect_parts() { checkpoints_.emplace(MemoryBudget(0.15)); }
    // The timeline, and the answers about calls, have the tracer's own time. Call it before open().
    void show_tracer() { axis_ = TimeAxis::wall; }
    // Reads the recording. After an Error the answer to every question is its sentence. `title`: of
    // the page; empty: the recording's name. `image`: without it the recording's own symbols name
    // its functions. `input` is read again for each part, unless it can be read only once. Call it
    // once.
    Result<void> open(RecordingInput input, const LoadOptions& options, const std::string& title,
                      std::optional<Symbols> image = std::nullopt);

    // The numbers of functions in answers: their positions in the page's view.
    const Positions& functions();
    // Those of the engine that made the page's view, which may have had another memory, or of a
    // comparison. Call it after open().
    void number_functions(Positions functions) { positions_ = std::move(functions); }

    std::string ask(std::string_view question);
    // The answer to {"ask":"view"}, with the section `code`.
    std::string view(const CodePart& code) const;
    // NamedRecording's warnings, after open().
    const std::vector<std::string>& warnings() const { return loaded_.warnings; }

private:
    std::string view_of(const Part& part);
    std::string timeline(const Json& question);
    std::string calls(const Json& question);
    std::string call(const Json& question);
    PositionOf position() { return position_in(functions()); }
    // The list of the calls of some functions on some tracks; nothing: of all. It is kept for the
    // next question.
    using Numbers = std::optional<std::set<std::int64_t>>;
    const CallList& calls_of(Numbers functions, Numbers tracks);

    RecordingInput input_;
    LoadOptions options_;
    std::optional<Symbols> image_;
    Loaded loaded_;
    Timeline timeline_;
    std::optional<TimeAxis> axis_;  // of `timeline_`; nothing: as the recording says
    std::optional<Checkpoints> checkpoints_;
    std::uint64_t records_read_ = 0;      // for the last part
    std::optional<Positions> positions_;  // functions(), once they were needed
    std::optional<CallList> all_calls_;   // once they were needed
    std::optional<CallList> some_calls_;  // of `functions_` and `call_tracks_`
    Numbers functions_, call_tracks_;
    std::string title_;
    Result<void> opened_ = failure("no recording is open");
};

// {"error": the sentence}, as the command prints it: without control characters.
std::string json_error(std::string_view sentence);

}  // namespace nopscope::host
