// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/stream/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

using Chunk = std::vector<std::uint8_t>;

constexpr std::uint8_t lf = 0x0a, cr = 0x0d, xon = 0x11, xoff = 0x13;

// Tries chunks that may be frames, within a bounded time.
class Tries {
public:
    bool is_frame(const Chunk& chunk) {
        left_ -= std::min(left_, chunk.size() + 16);
        scratch_ = chunk;
        return protocol::parse_frame(scratch_.data(), scratch_.size()).ok;
    }
    bool are_over() const { return left_ == 0; }

private:
    std::size_t left_ = std::size_t{1} << 22;  // bytes: about 10 ms
    Chunk scratch_;
};

// Some of these bytes were sent as `sent`.
template <std::uint8_t sent, std::uint8_t came>
bool translated(const Chunk& chunk, Tries& tries) {
    constexpr std::size_t most_places = 12;
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at < chunk.size(); ++at) {
        if (chunk[at] == came) places.push_back(at);
    }
    if (places.empty() || places.size() > most_places) return false;
    Chunk tried = chunk;
    for (std::uint32_t n = 1; n < 1u << places.size() && !tries.are_over(); ++n) {
        std::uint8_t& byte = tried[places[static_cast<std::size_t>(std::countr_zero(n))]];
        byte = byte == sent ? came : sent;  // Gray's code: one differs from the last try
        if (tries.is_frame(tried)) return true;
    }
    return false;
}

// One of these bytes is missing.
template <std::uint8_t... lost>
bool swallowed(const Chunk& chunk, Tries& tries) {
    Chunk tried(chunk.size() + 1);
    for (const std::uint8_t byte : {lost...}) {
        std::copy(chunk.begin(), chunk.end(), tried.begin() + 1);
        for (std::size_t at = 0; at <= chunk.size() && !tries.are_over(); ++at) {
            tried[at] = byte;
            if (tries.is_frame(tried)) return true;
            if (at < chunk.size()) tried[at] = chunk[at];
        }
    }
    return false;
}

// One of these bytes was not sent.
template <std::uint8_t... added>
bool inserted(const Chunk& chunk, Tries& tries) {
    for (std::size_t at = 0; at < chunk.size() && !tries.are_over(); ++at) {
        if (((chunk[at] != added) && ...)) continue;
        Chunk tried = chunk;
        tried.erase(tried.begin() + static_cast<long>(at));
        if (tries.is_frame(tried)) return true;
    }
    return false;
}

// Each `first` came with `second` behind it. The one that was not sent is left out.
template <std::uint8_t first, std::uint8_t second, bool keeps_first>
bool paired(const Chunk& chunk, Tries& tries) {
    Chunk tried;
    for (std::size_t at = 0; at < chunk.size(); ++at) {
        const bool is_pair = chunk[at] == first && at + 1 < chunk.size() && chunk[at + 1] == second;
        tried.push_back(is_pair && !keeps_first ? second : chunk[at]);
        at += is_pair ? 1 : 0;
    }
    return tried.size() != chunk.size() && tries.is_frame(tried);
}

// A telnet server doubles 0xff, and sends CR with a zero byte, which on_corrupt() has taken out.
bool by_telnet(const Chunk& chunk, Tries& tries) {
    return paired<0xff, 0xff, true>(chunk, tries) || tries.is_frame(chunk);
}

// Bytes from 0x80 on came as two bytes of UTF-8.
bool as_utf8(const Chunk& chunk, Tries& tries) {
    Chunk tried;
    for (std::size_t at = 0; at < chunk.size(); ++at) {
        const bool is_two = (chunk[at] & 0xfe) == 0xc2 && at + 1 < chunk.size();
        tried.push_back(is_two ? static_cast<std::uint8_t>(chunk[at] << 6 | (chunk[at + 1] & 0x3f))
                               : chunk[at]);
        at += is_two ? 1 : 0;
    }
    return tried.size() != chunk.size() && tries.is_frame(tried);
}

constexpr const char* raw_terminal =
    "a terminal on the way does that: make it raw (stty -F PORT raw -echo)";
constexpr const char* text_copy =
    "a terminal on the way, or a copy as text, does that: make it raw (stty -F PORT raw -echo), "
    "and copy bytes unchanged";
constexpr const char* flow_control =
    "flow control by XON and XOFF does that: switch it off (stty -F PORT -ixon -ixoff)";
constexpr const char* text_program =
    "a program on the way reads the line as text: it must pass bytes on unchanged";
constexpr const char* eight_bits =
    "set the port, and all that passes its bytes on, to 8 bits without parity (stty -F PORT cs8 "
    "-parenb -istrip)";

constexpr const char* cr_to_lf = "CR (0x0d) came as LF (0x0a)";
constexpr const char* cr_lost = "CR (0x0d) is missing";
constexpr const char* flow_lost = "XON and XOFF (0x11, 0x13) are missing";
constexpr const char* control_lost = "control characters are missing, as 0x03 and 0x1a";

struct Change {
    bool (*undo)(const Chunk& chunk, Tries& tries);
    const char* what;
    const char* fix;
};
// In this order: quick ones first.
constexpr Change changes[] = {
    {translated<cr, lf>, cr_to_lf, raw_terminal},
    {translated<lf, cr>, "LF (0x0a) came as CR (0x0d)", raw_terminal},
    {paired<cr, lf, false>, "LF (0x0a) came as CR LF", text_copy},
    {paired<cr, lf, true>, "CR (0x0d) came as CR LF", text_copy},
    {by_telnet, "0xff came twice, or CR (0x0d) with a zero byte",
     "a telnet server does that: take its raw TCP port (`raw` in ser2net)"},
    {as_utf8, "bytes from 0x80 on came as UTF-8", text_program},
    {inserted<xon, xoff>, "XON or XOFF (0x11, 0x13) came that were not sent", flow_control},
    {swallowed<cr>, cr_lost, text_copy},
    {swallowed<xon, xoff>, flow_lost, flow_control},
    // INTR, EOF, DISCARD, REPRINT, KILL, LNEXT, WERASE, SUSP, QUIT, ERASE
    {swallowed<0x03, 0x04, 0x0f, 0x12, 0x15, 0x16, 0x17, 0x1a, 0x1c, 0x7f>, control_lost,
     raw_terminal},
};

}  // namespace

void ByteChange::add(const char* one, const char* its_fix) {
    what += (what.empty() ? "" : ", and ") + std::string(one);
    if (fix.find(its_fix) == std::string::npos)
        fix += (fix.empty() ? "" : "; ") + std::string(its_fix);
}

void DamagedChunks::on_corrupt(std::span<const std::uint8_t> bytes) {
    bytes_ += bytes.size();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        ++counts_[bytes[at]];
        odd_ += static_cast<std::uint64_t>(std::popcount(bytes[at]) & 1);
        const bool has_three = at + 2 < bytes.size() && bytes[at] == 0xef;
        replaced_ += has_three && bytes[at + 1] == 0xbf && bytes[at + 2] == 0xbd ? 1 : 0;
    }
    const bool is_part = !bytes.empty() && bytes.back() == cr;
    if (!parts_.empty() || is_part) parts_.insert(parts_.end(), bytes.begin(), bytes.end());
    if (parts_.size() > protocol::max_encoded_bytes * 2) parts_.clear();
    if (parts_.size() > bytes.size()) joined_.keep(parts_);
    if (!is_part) parts_.clear();
    chunks_.keep({bytes.begin(), bytes.end()});
}

void DamagedChunks::Shortest::keep(Chunk chunk) {
    constexpr std::size_t most_chunks = 64;
    const auto at = std::ranges::upper_bound(chunks_, chunk.size(), {}, &Chunk::size);
    chunks_.insert(at, std::move(chunk));
    if (chunks_.size() > most_chunks) chunks_.pop_back();
}

ByteChange DamagedChunks::proven() const {
    ByteChange found;
    for (const Change& change : changes) {
        Tries tries;
        const auto restores = [&](const Chunk& chunk) { return change.undo(chunk, tries); };
        if (std::ranges::any_of(chunks_, restores) ||
            (change.undo == by_telnet && std::ranges::any_of(joined_, restores)))
            found.add(change.what, change.fix);
    }
    found.is_proven = !found.what.empty();
    return found;
}

// From the bytes alone. Frames' bytes are random enough: each value is one in some 300. A value
// that did not come once, where eight were due, is missing.
ByteChange DamagedChunks::likely(bool has_frames) const {
    constexpr std::uint64_t enough = 64, enough_for_a_value = 2400;
    std::uint64_t high = 0, printable = 0;
    for (std::size_t byte = 0; byte < counts_.size(); ++byte) {
        high += byte >= 0x80 ? counts_[byte] : 0;
        printable += (byte >= ' ' && byte < 0x7f) || byte == lf || byte == cr ? counts_[byte] : 0;
    }
    if (bytes_ < enough || printable * 10 > bytes_ * 9) return {};
    if (!has_frames && high == 0) return {"all bytes are below 0x80, so bit 7 is lost", eight_bits};
    if (!has_frames && (odd_ == 0 || odd_ == bytes_))
        return {"bit 7 of all bytes is the parity of the others", eight_bits};
    if (replaced_ * 8 > bytes_) return {"bytes from 0x80 on came as U+FFFD", text_program};
    ByteChange found;
    if (high * 4 < bytes_) return found;
    const bool has_twice_lf = counts_[lf] * 170 > bytes_;
    if (counts_[cr] == 0 && bytes_ >= enough_for_a_value)
        found.add(has_twice_lf ? cr_to_lf : cr_lost, has_twice_lf ? raw_terminal : text_copy);
    if (counts_[xon] + counts_[xoff] == 0 && bytes_ >= enough_for_a_value / 2)
        found.add(flow_lost, flow_control);
    if (counts_[0x03] + counts_[0x1a] + counts_[0x1c] == 0 && bytes_ >= enough_for_a_value / 3)
        found.add(control_lost, raw_terminal);
    return found;
}

ByteChange DamagedChunks::change(bool has_frames) const {
    ByteChange found = proven();
    return found.what.empty() ? likely(has_frames) : found;
}

std::string DamagedChunks::sentence(const LineCounters& line, const StreamCounters& stream,
                                    const std::string& others) const {
    if (line.corrupt_frames == 0 && (others.empty() || stream.lost_frames == 0)) return {};
    const std::string what =
        line.corrupt_frames == 0
            ? fmt::format("{} frames are missing", with_commas(stream.lost_frames))
            : fmt::format("{} of {} frames are damaged", with_commas(line.corrupt_frames),
                          with_commas(line.frames + line.corrupt_frames));
    const ByteChange found = change(line.frames != 0);
    if (!found.what.empty()) return fmt::format("{}: {}", what, found.sentence());
    if (!others.empty()) return fmt::format("{}: {}", what, others_sentence(others));
    if (bytes_ == 0)
        return what + ": they are text: does the firmware print to this UART beside the tracer?";
    return what +
           ": bytes were lost or changed on the way: is another program reading this line, is its "
           "rate right, does the adapter keep up?";
}

std::string others_sentence(const std::string& others) {
    return fmt::format("{} has the port open, too, and takes bytes if it reads: end it", others);
}

ByteChange change_of(std::span<const std::uint8_t> line) {
    if (line.size() > 2 * protocol::max_encoded_bytes &&
        std::find(line.begin(), line.end(), 0) == line.end()) {
        return {"no byte is zero, and a zero byte ends each frame",
                "does something on the way drop zero bytes, or is the baud rate a wrong one?"};
    }
    DamagedChunks chunks;
    while (!line.empty()) {
        const auto end =
            static_cast<std::size_t>(std::find(line.begin(), line.end(), 0) - line.begin());
        const Chunk chunk(line.begin(), line.begin() + static_cast<long>(end));
        if (end != 0 && !Tries().is_frame(chunk)) chunks.on_corrupt(chunk);
        line = line.subspan(std::min(end + 1, line.size()));
    }
    return chunks.change(false);
}

}  // namespace nopscope::host
