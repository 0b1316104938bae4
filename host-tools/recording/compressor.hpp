// SPDX-License-Identifier: Apache-2.0
// Compresses one zstd frame at a time, into a buffer that it reuses.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;

namespace nopscope::host::nsc {

class Compressor {
public:
    Compressor();
    // The result is valid until the next call. Throws Error if memory is short.
    std::span<const std::uint8_t> operator()(std::span<const std::uint8_t> body);

private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const;
    };
    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    std::vector<std::uint8_t> out_;
};

}  // namespace nopscope::host::nsc
