// SPDX-License-Identifier: Apache-2.0
// `record`: line -> file, with the firmware's console on standard output meanwhile.
//
// The bytes go to the file before anything is made of them, and at least four times a second, so a
// killed recorder loses a quarter of a second and a decoder's mistake loses nothing. Decoding here
// only serves the console, the progress line and knowing when the target has finished.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "host-tools/base/text.hpp"
#include "host-tools/commands/commands.hpp"
#include "host-tools/nsc/writer.hpp"
#include "host-tools/transport/source.hpp"
#include "host-tools/version.hpp"

namespace nopscope {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

volatile sig_atomic_t interrupted = 0;
void on_signal(int /*number*/) { interrupted = 1; }

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;  // no SA_RESTART: a waiting read is to end
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
}

std::uint64_t unix_ns() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
}

class Monitor final : public SessionSink {
public:
    Monitor(bool quiet, const Symbols* symbols)
        : quiet_(quiet), progress_(!quiet && isatty(STDERR_FILENO) != 0), symbols_(symbols) {}

    void on_session(const HelloInfo& hello) override {
        if (symbols_ == nullptr) return;
        if (const auto sentence = mismatch(*symbols_, hello)) throw Error(*sentence);
    }
    void on_trace(unsigned /*core*/, const TraceBatch& batch) override {
        events_ += batch.records.size();
    }
    void on_console(std::string_view text) override { show(text); }
    void on_raw_text(std::string_view text) override { show(text); }

    void progress(const SessionReader& reader, Clock::time_point now) {
        if (!progress_ || now - drawn_ < 250ms) return;
        const std::chrono::duration<double> past = now - drawn_;
        const double rate = static_cast<double>(events_ - events_drawn_) / past.count();
        drawn_ = now;
        events_drawn_ = events_;
        const StreamCounters stream = reader.counters();
        fmt::print(
            stderr, "\r\x1b[K{} events, {:.0f} k/s, {} bytes, dropped {}, lost {}, corrupt {}",
            with_commas(events_), rate / 1000, with_commas(reader.line().bytes),
            with_commas(stream.dropped), with_commas(stream.lost), reader.line().corrupt_frames);
        line_drawn_ = true;
    }
    void clear_progress() {
        if (line_drawn_) fmt::print(stderr, "\r\x1b[K");
        line_drawn_ = false;
    }

private:
    void show(std::string_view text) {
        if (quiet_) return;
        clear_progress();
        const std::string safe = for_terminal(text);
        std::fwrite(safe.data(), 1, safe.size(), stdout);
        std::fflush(stdout);
    }

    bool quiet_;
    bool progress_;
    const Symbols* symbols_;
    bool line_drawn_ = false;
    std::uint64_t events_ = 0;
    std::uint64_t events_drawn_ = 0;
    Clock::time_point drawn_ = Clock::now();
};

// After the final stats a target that ends by itself gets this long to do so.
constexpr auto linger = 2s;
constexpr auto flush_interval = 250ms;
// A line silent for so long is not in the middle of a frame: what is pending may be shown as text.
constexpr auto text_silence = 200ms;

nsc::EndReason pump_line(Source& source, nsc::Writer& file, SessionReader& reader, Monitor& monitor,
                         const RecordOptions& options) {
    const auto start = Clock::now();
    auto flushed = start;
    auto last_byte = start;
    bool over = false;
    auto over_since = start;
    std::vector<std::uint8_t> buffer(std::size_t{1} << 16);
    for (;;) {
        if (interrupted != 0) return nsc::EndReason::interrupted;
        const Source::Result got = source.read(buffer, 50ms);
        const auto now = Clock::now();
        if (got.count != 0) {
            const std::span<const std::uint8_t> bytes(buffer.data(), got.count);
            file.line(bytes, unix_ns());
            reader.feed(bytes);
            last_byte = now;
        } else if (now - last_byte > text_silence) {
            reader.show_pending_text();
        }
        if (now - flushed >= flush_interval) {
            file.flush();
            flushed = now;
        }
        monitor.progress(reader, now);
        if (!over) over_since = now;
        over = reader.recording_is_over();
        if (got.closed) {
            return over ? nsc::EndReason::target_finished : nsc::EndReason::line_closed;
        }
        if (over && options.until_end && now - over_since > linger) {
            return nsc::EndReason::target_finished;
        }
        if (options.duration_seconds > 0 &&
            now - start >= std::chrono::duration<double>(options.duration_seconds)) {
            return nsc::EndReason::duration;
        }
    }
}

}  // namespace

Exit record(const RecordOptions& options) {
    std::optional<Symbols> symbols;
    if (!options.image.empty()) symbols = read_symbols(ElfFile::open(options.image));
    catch_signals();
    // The line first: a port that is not there must not cost an older recording.
    const auto source = open_source(options.from);
    nsc::Writer file(options.output, {.source = options.from,
                                      .tool = std::string("nopscope ") + version_text,
                                      .started_unix_ns = unix_ns()});
    if (symbols) file.symbols(*symbols);
    Monitor monitor(options.quiet, symbols ? &*symbols : nullptr);
    SessionReader reader(monitor);
    nsc::EndReason reason{};
    try {
        reason = pump_line(*source, file, reader, monitor, options);
    } catch (const Error&) {
        file.flush();
        monitor.clear_progress();
        throw;
    }
    const std::optional<int> status = source->close();
    reader.finish();
    file.end({.reason = reason, .exit_status = status.value_or(-1)});
    monitor.clear_progress();

    const StreamCounters stream = reader.counters();
    fmt::print(stderr,
               "nopscope: {}: {} bytes, {} events in {} session{}; dropped {}, lost {}, "
               "corrupt_frames {}, gaps {}\n",
               options.output, with_commas(reader.line().bytes), with_commas(stream.delivered),
               stream.sessions, stream.sessions == 1 ? "" : "s", with_commas(stream.dropped),
               with_commas(stream.lost), reader.line().corrupt_frames, stream.gaps);
    if (stream.refused_version != 0) {
        throw Error(fmt::format("the target speaks trace format {}, and this nopscope reads {}",
                                stream.refused_version, wire::format_version));
    }
    if (stream.sessions == 0) {
        fmt::print(stderr, "nopscope: no hello was heard: is this line a nopscope target's?\n");
    }
    if (status.value_or(0) != 0) {
        fmt::print(stderr, "nopscope: the command ended with exit status {}\n", *status);
        return Exit::target_failed;
    }
    return Exit::ok;
}

}  // namespace nopscope
