// SPDX-License-Identifier: Apache-2.0
#include "host-tools/recording/reader.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>

#include "host-tools/base/memory.hpp"
#include "host-tools/recording/payload.hpp"
#include "host-tools/recording/repair.hpp"
#include "host-tools/recording/replay.hpp"
#include "tracer/protocol/crc32c.hpp"

namespace nopscope::host::nsc {
namespace {

using Bytes = std::span<const std::uint8_t>;

// The most memory that symbols take for each of their bytes in the file.
constexpr std::size_t memory_of_symbol_byte = 16;
constexpr std::size_t step_bytes = std::size_t{1} << 16;

// In a larger payload, repair_byte() is too likely to change a byte that is not the damaged one.
constexpr std::size_t most_repaired_bytes = std::size_t{1} << 16;

bool is_known(Type type) {
    switch (type) {
    case Type::about:
    case Type::symbols:
    case Type::session:
    case Type::trace:
    case Type::items:
    case Type::counters:
    case Type::end: return true;
    }
    return false;
}

// Without one of these, all other chunks or all names would be lost.
bool is_repaired(Type type) {
    return type == Type::about || type == Type::symbols || type == Type::session;
}

struct ChunkHeader {
    bool ok = false;
    Type type{};
    std::uint32_t payload_bytes = 0;
    std::uint32_t payload_crc = 0;
};

ChunkHeader parse_header(const std::uint8_t* bytes) {
    protocol::Reader in(bytes, chunk_header_bytes);
    ChunkHeader header;
    header.type = static_cast<Type>(in.fixed<std::uint32_t>());
    header.payload_bytes = in.fixed<std::uint32_t>();
    header.payload_crc = in.fixed<std::uint32_t>();
    header.ok = in.fixed<std::uint32_t>() == protocol::crc32c(bytes, 12) &&
                header.payload_bytes <= max_payload_bytes;
    return header;
}

}  // namespace

// True if the buffer has `count` bytes from at_ on.
bool Reader::fill(const Input& input, std::size_t count) {
    while (buffer_.size() - at_ < count) {
        if (at_ > step_bytes) {
            buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<long>(at_));
            at_ = 0;
        }
        const std::size_t size = buffer_.size();
        buffer_.resize(size + step_bytes);
        const std::size_t got = input({buffer_.data() + size, step_bytes});
        buffer_.resize(size + got);
        if (got == 0) return false;
    }
    return true;
}

Result<> Reader::read(const Input& input, SessionSink& sink) {
    const Result<bool> is_recording = read_head(input);
    if (!is_recording) return std::unexpected(is_recording.error());
    if (*is_recording) return read_chunks(input, sink);
    counters_.file.is_raw = true;
    return read_line(input, sink);
}

// False: the file is not a recording. Consumes the file's header if it has the magic.
Result<bool> Reader::read_head(const Input& input) {
    if (!fill(input, file_header_bytes)) return false;
    constexpr std::size_t crc_at = 12;
    const auto crc = protocol::Reader(buffer_.data() + crc_at, 4).fixed<std::uint32_t>();
    const bool intact = protocol::crc32c(buffer_.data(), crc_at) == crc;
    const bool has_magic = std::equal(std::begin(magic), std::end(magic), buffer_.data());
    if (!has_magic && !has_chunk(input)) return false;
    const auto found = protocol::Reader(buffer_.data() + sizeof magic, 2).fixed<std::uint16_t>();
    if (has_magic && intact && found != version) {
        return failure(
            fmt::format("the recording has format {}, and this nopscope reads {}", found, version));
    }
    if (!has_magic || !intact) ++counters_.file.damaged_chunks;
    if (has_magic) at_ += file_header_bytes;
    return true;
}

// True if the file's first step_bytes have a chunk's header.
bool Reader::has_chunk(const Input& input) {
    (void)fill(input, step_bytes);
    for (std::size_t at = 0; at + chunk_header_bytes <= buffer_.size(); ++at) {
        const ChunkHeader header = parse_header(buffer_.data() + at);
        if (header.ok && is_known(header.type)) return true;
    }
    return false;
}

// Repairs one wrong byte of the header where a chunk must begin. True: the payload's CRC proves it.
bool Reader::repair_header(const Input& input) {
    std::uint8_t bytes[chunk_header_bytes];
    std::copy_n(buffer_.begin() + static_cast<long>(at_), sizeof bytes, bytes);
    const auto crc = protocol::Reader(bytes + 12, 4).fixed<std::uint32_t>();
    if (!repair_byte({bytes, 12}, crc))
        protocol::Writer(bytes + 12).fixed(protocol::crc32c(bytes, 12));
    const ChunkHeader header = parse_header(bytes);
    if (!header.ok || !is_known(header.type) ||
        !fill(input, chunk_header_bytes + header.payload_bytes))
        return false;
    if (protocol::crc32c(buffer_.data() + at_ + chunk_header_bytes, header.payload_bytes) !=
        header.payload_crc)
        return false;
    std::copy_n(bytes, sizeof bytes, buffer_.begin() + static_cast<long>(at_));
    return true;
}

Result<> Reader::read_line(const Input& input, SessionSink& sink) {
    SessionReader line(sink);
    do {
        const Bytes here = Bytes(buffer_).subspan(at_);
        line.feed(here);
        at_ += here.size();
        if (const Error* const error = sink.failure()) return std::unexpected(*error);
    } while (fill(input, 1));
    line.finish();
    counters_.line = line.line();
    counters_.stream = line.counters();
    return {};
}

Result<> Reader::read_chunks(const Input& input, SessionSink& sink) {
    Replay replay(sink, only_first_);
    if (!replay.has_memory()) return failure("no memory to read the recording");
    FileCounters& file = counters_.file;
    bool is_begin = true;  // a chunk must begin here, because the one before ended here
    while (fill(input, chunk_header_bytes)) {
        ChunkHeader header = parse_header(buffer_.data() + at_);
        if (!header.ok && std::exchange(is_begin, false) && repair_header(input)) {
            header = parse_header(buffer_.data() + at_);
            ++file.damaged_chunks;
        }
        if (!header.ok) {
            ++file.skipped_bytes;
            ++at_;
            continue;
        }
        at_ += chunk_header_bytes;
        if (!fill(input, header.payload_bytes)) break;
        if (!replay.needs(header.type)) {
            at_ += header.payload_bytes;
            is_begin = true;
            continue;
        }
        const std::span<std::uint8_t> bytes = std::span(buffer_).subspan(at_, header.payload_bytes);
        const bool intact = protocol::crc32c(bytes.data(), bytes.size()) == header.payload_crc;
        const bool known =
            intact || (is_repaired(header.type) && bytes.size() <= most_repaired_bytes &&
                       repair_byte(bytes, header.payload_crc));
        const bool read = known && payload(header.type, bytes, replay);
        if (!intact || !read) ++file.damaged_chunks;
        if (const Error* const error = sink.failure()) return std::unexpected(*error);
        at_ += bytes.size();
        is_begin = true;
    }
    file.cut_bytes += buffer_.size() - at_;
    replay.finish();
    counters_.line = replay.line();
    counters_.stream = replay.stream();
    return {};
}

// False: malformed.
bool Reader::payload(Type type, Bytes bytes, Replay& replay) {
    const protocol::Reader in(bytes.data(), bytes.size());
    switch (type) {
    case Type::about: return read_about(in);
    case Type::symbols:
        if (!symbols_) allow_memory(bytes.size() * memory_of_symbol_byte);
        return read_symbols(in);
    case Type::trace: return !has_records_ || replay.chunk(type, bytes);
    case Type::session:
    case Type::items:
    case Type::counters: return replay.chunk(type, bytes);
    case Type::end: return read_end(in);
    }
    ++counters_.file.unknown_chunks;
    return true;
}

bool Reader::read_about(protocol::Reader in) {
    About about;
    about.started_unix_ns = in.fixed<std::uint64_t>();
    about.source = read_text(in);
    about.tool = read_text(in);
    if (in.ok()) about_ = std::move(about);
    return in.ok();
}

bool Reader::read_functions(protocol::Reader& in, std::vector<Function>& functions) {
    const std::uint64_t count = in.varint();
    std::uint64_t address = 0;
    // Each function takes at least five bytes, so a hostile count ends with the payload.
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        Function function;
        const std::uint64_t step = in.varint();
        if (i != 0 && (step == 0 || step > ~address)) return false;
        function.address = address += step;
        function.size = in.varint();
        function.landing_pad = (function.size & 1) == 0;
        function.size &= ~std::uint64_t{1};
        function.name = read_text(in);
        function.file = read_text(in);
        function.line = static_cast<std::uint32_t>(in.varint());
        functions.push_back(std::move(function));
    }
    return in.ok();
}

bool Reader::read_tails(protocol::Reader& in, Symbols& symbols) {
    const auto tail_of = [](std::uint64_t value) {
        return (value & 3) == 3 ? Tail::never : static_cast<Tail>(value & 3);
    };
    const std::uint64_t count = in.varint();
    if (count != 0 && count != symbols.sites.size()) return false;
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        TailCalls tails;
        const std::uint64_t head = in.varint();
        tails.others = tail_of(head);
        std::uint64_t site = 0;
        // Each takes at least a byte, so a hostile number ends with the payload.
        for (std::uint64_t n = 0; n < head >> 2 && in.ok(); ++n) {
            const std::uint64_t value = in.varint();
            if (n != 0 && value >> 2 == 0) return false;
            site += value >> 2;
            if (site >= count) return false;
            tails.direct.push_back({static_cast<std::uint32_t>(site), tail_of(value)});
        }
        symbols.tails.push_back(std::move(tails));
    }
    return in.ok();
}

void Reader::read_aliases(protocol::Reader& in, Symbols& symbols) {
    for (std::vector<Function>* list : {&symbols.sites, &symbols.code}) {
        for (Function& function : *list) {
            for (std::uint64_t left = in.varint(); left != 0 && in.ok(); --left)
                function.aliases.push_back(read_text(in));
        }
    }
}

bool Reader::read_symbols(protocol::Reader in) {
    Symbols symbols;
    symbols.origin = read_text(in);
    symbols.build_id = read_text(in);
    symbols.site_table_crc = in.fixed<std::uint32_t>();
    if (!read_functions(in, symbols.sites)) return false;
    // Older recordings end here.
    if (in.left() != 0 && !read_functions(in, symbols.code)) return false;
    if (in.left() != 0 && !read_tails(in, symbols)) return false;
    if (in.left() != 0) read_aliases(in, symbols);
    if (in.ok()) symbols_ = std::move(symbols);
    return in.ok();
}

bool Reader::read_end(protocol::Reader in) {
    End end;
    end.reason = static_cast<EndReason>(in.fixed<std::uint8_t>());
    end.exit_status = in.fixed<std::int32_t>();
    end.line_bytes = in.fixed<std::uint64_t>();
    if (in.ok()) end_ = end;
    counters_.file.has_end = in.ok();
    return in.ok();
}

Result<> Reader::read_file(const std::string& path, SessionSink& sink,
                           const ReadSoFar& read_so_far) {
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const bool standard_input = path == "-";
    const std::unique_ptr<std::FILE, decltype(close)> file(
        standard_input ? nullptr : std::fopen(path.c_str(), "rb"), close);
    if (!standard_input && !file)
        return failure("cannot open " + path + ": " + system_error(errno));
    std::FILE* from = standard_input ? stdin : file.get();
    struct stat about {};
    const std::uint64_t total = fstat(fileno(from), &about) == 0 && S_ISREG(about.st_mode)
                                    ? static_cast<std::uint64_t>(about.st_size)
                                    : 0;
    std::uint64_t bytes = 0;
    int error = 0;
    const Result<> result = read(
        [&](std::span<std::uint8_t> to) {
            const std::size_t got = std::fread(to.data(), 1, to.size(), from);
            if (got == 0 && std::ferror(from) != 0) error = errno;
            bytes += got;
            if (read_so_far) read_so_far(bytes, total);
            return got;
        },
        sink);
    return error != 0 ? failure("cannot read " + path + ": " + system_error(error)) : result;
}

}  // namespace nopscope::host::nsc
