// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/gzip.hpp"

#include <utility>

#include "host-tools/base/error.hpp"

namespace nopscope::host {

Gzip::Gzip(Write write, int level) : write_(std::move(write)) {
    constexpr int with_gzip_header = MAX_WBITS + 16, memory_level = 8;
    if (deflateInit2(&stream_, level, Z_DEFLATED, with_gzip_header, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        throw Error("zlib cannot begin: is there memory left?");
    }
}

Gzip::~Gzip() { deflateEnd(&stream_); }

void Gzip::add(std::string_view bytes) {
    constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
    while (!bytes.empty()) {
        const std::string_view some = bytes.substr(0, most);
        // zlib only reads these bytes.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(some.data()));
        stream_.avail_in = static_cast<uInt>(some.size());
        run(Z_NO_FLUSH);
        bytes.remove_prefix(some.size());
    }
}

void Gzip::finish() { run(Z_FINISH); }

void Gzip::run(int flush) {
    char room[1 << 14];
    do {
        stream_.next_out = reinterpret_cast<Bytef*>(room);
        stream_.avail_out = sizeof room;
        deflate(&stream_, flush);
        const std::size_t made = sizeof room - stream_.avail_out;
        if (made != 0) write_({room, made});
    } while (stream_.avail_out == 0);
}

}  // namespace nopscope::host
