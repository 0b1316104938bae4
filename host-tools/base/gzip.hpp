// SPDX-License-Identifier: Apache-2.0
// Gzip compresses a stream of bytes into the format of the program gzip (RFC 1952).
#pragma once

#include <zlib.h>

#include <functional>
#include <string_view>

namespace nopscope::host {

class Gzip {
public:
    // Takes the compressed bytes, some at a time. May throw.
    using Write = std::function<void(std::string_view)>;

    // Throws Error if there is no memory left.
    explicit Gzip(Write write, int level = Z_DEFAULT_COMPRESSION);
    ~Gzip();
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    void add(std::string_view bytes);
    // Writes what is left, and the checksum. Then only the destructor may be called.
    void finish();

private:
    void run(int flush);

    Write write_;
    z_stream stream_{};
};

}  // namespace nopscope::host
